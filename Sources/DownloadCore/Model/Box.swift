/// An immutable value on the heap. A struct with a box stays small and cheap to copy.
@usableFromInline final class Box<Value: Sendable>: Sendable {
    @usableFromInline let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

extension Box: Equatable where Value: Equatable {
    @usableFromInline static func == (left: Box, right: Box) -> Bool { left === right || left.value == right.value }
}
