internal import Synchronization

/// A number of bytes that all loops take from.
final class SharedBudget: Sendable {
    private let taken = Atomic<Int>(0)

    /// How much is taken.
    var used: Int { taken.load(ordering: .relaxed) }

    /// Takes so much more, or gives back if negative. Takes nothing and returns false if that would be more than `limit` in all.
    func add(_ change: Int, limit: Int) -> Bool {
        let sum = taken.add(change, ordering: .relaxed).newValue
        guard change > 0, sum > limit else { return true }
        taken.subtract(change, ordering: .relaxed)
        return false
    }
}
