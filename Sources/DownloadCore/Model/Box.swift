/// An immutable value on the heap. A struct with a box stays small and cheap to copy.
@usableFromInline final class Box<Value: Sendable>: Sendable {
    @usableFromInline let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
