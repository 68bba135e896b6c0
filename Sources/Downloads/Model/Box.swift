/// An immutable value kept on the heap, so that a struct holding it stays small and cheap to copy.
final class Box<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
