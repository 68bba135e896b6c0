/// Sizes and delays of a ``GroupCommitter``.
package struct GroupCommitOptions: Sendable {
    /// The maximum number of changes of a transaction, which bounds the wait of its first change. The changes of a
    /// single write stay together even if they are more.
    var largestGroup = 1_024
    /// The number of outstanding changes, and the duration of a transaction, above which no new downloads are
    /// accepted.
    var congestion: (changes: Int, age: Duration) = (50_000, .seconds(10))
    /// The pause before a group whose outcome is unknown is tried again.
    package var retryDelay: Duration = .milliseconds(200)
    /// The time after a transaction for which writes gather that no caller waits for.
    package var gatherTime: Duration = .zero
    /// The time for which notes of progress gather before they cause a transaction of their own.
    var noteDelay: Duration = .milliseconds(250)
    /// The time from a transaction to a look for work that can wait, and the pause between its parts.
    var (tidyDelay, tidyPause): (Duration, Duration) = (.seconds(1), .milliseconds(100))
    /// Called on the store's thread with the duration and the number of changes of each transaction.
    package var committed: @Sendable (Duration, Int) -> Void

    package init(
        largestGroup: Int = 1_024, gatherTime: Duration = .zero, noteDelay: Duration = .milliseconds(250),
        committed: @escaping @Sendable (Duration, Int) -> Void = { _, _ in }
    ) {
        self.largestGroup = max(largestGroup, 1)
        self.gatherTime = gatherTime
        self.noteDelay = noteDelay
        self.committed = committed
    }
}
