internal import Synchronization

/// A number of bytes or sockets that all loops share.
final class SharedBudget: Sendable {
    private let taken = Atomic<Int>(0)

    /// The number taken by all loops.
    var used: Int { taken.load(ordering: .relaxed) }

    /// Takes `change` more, or returns that many if negative. Returns false, and takes nothing, if the sum would exceed
    /// `limit`.
    func add(_ change: Int, limit: Int) -> Bool {
        let sum = taken.add(change, ordering: .relaxed).newValue
        guard change > 0, sum > limit else { return true }
        taken.subtract(change, ordering: .relaxed)
        return false
    }
}
