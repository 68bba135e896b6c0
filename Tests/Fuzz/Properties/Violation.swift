/// A violation of a property by an input.
public struct Violation: Error, Sendable, CustomStringConvertible {
    /// The expected and the actual result.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Throws unless `condition` holds.
func expect(_ condition: Bool, _ text: @autoclosure () -> String) throws(Violation) {
    guard condition else { throw Violation(text()) }
}

/// Throws unless both are the same.
func expectSame<Value: Equatable>(_ left: Value, _ right: Value, _ text: @autoclosure () -> String) throws(Violation) {
    guard left == right else { throw Violation("\(text()): \(left), and \(right)") }
}
