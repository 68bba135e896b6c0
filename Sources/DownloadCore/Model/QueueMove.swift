/// The target of a move in the queue. A target beyond an end of the queue means this end.
public enum QueueMove: Sendable, Equatable {
    /// The position at this distance behind the first one.
    case start(Int)
    /// The position at this distance behind the present one. A negative number is towards the first one.
    case current(Int)
    /// The position at this distance behind the end of the queue: 0, or a negative number.
    case end(Int)
}
