extension DownloadMachine {
    /// The saves of a download's record that are not durable yet, with the results and messages that wait for them.
    ///
    /// Saves may end in any order. A failed save is repeated unless a newer one is under way.
    package struct PendingSaves: Sendable {
        /// The result of a command, once the save with it is durable.
        package typealias Answer = (waiter: Waiter, download: Download)

        /// A save that is under way.
        package struct Commit: Sendable {
            let number: Operation
            /// Whether the saved record counts on no bytes.
            let countsOnNothing: Bool
            /// The ids of the webhook messages that the commit makes durable.
            let announces: [RecordID]
            fileprivate(set) var answers: [Answer]
        }

        private enum EntityState: Sendable, Equatable {
            case unsaved
            case saving(Operation)
            case saved
        }

        /// Messages to webhooks that no commit has made durable yet.
        var announcements = EndAnnouncements()
        /// The number of failed saves of the present state.
        package private(set) var failures = 0
        /// The newest commit that has failed. Commits before it may end later and do not concern the present state.
        private var lastFailure: Operation = 0
        /// The state of the record's entity and generation in the store.
        private var entity: EntityState
        /// The commits under way, oldest first.
        private var commits: [Commit] = []

        init(isEntitySaved: Bool) {
            entity = isEntitySaved ? .saved : .unsaved
        }

        /// Whether no commit is under way.
        var isEmpty: Bool { commits.isEmpty }
        /// Whether no save and no message has to be repeated.
        var isSettled: Bool { failures == 0 && announcements.isEmpty }
        /// Whether the record's entity and generation are durable.
        var isEntitySaved: Bool { entity == .saved }
        /// Whether a commit of the present state is under way.
        var hasPresentState: Bool { commits.last.map { $0.number > lastFailure } ?? false }

        /// Notes that the record has another entity or generation.
        mutating func changeEntity() {
            entity = .unsaved
        }

        // MARK: - Commits

        /// Begins to save the record.
        /// - Parameter answers: The results of commands that wait for this save.
        mutating func begin(_ operation: Operation, countsOnNothing: Bool, answers: [Answer]) {
            beginEnd(operation, countsOnNothing: countsOnNothing, answers: answers)
            if entity == .unsaved { entity = .saving(operation) }
        }

        /// Begins to save a completion or a removal, which has no entity.
        mutating func beginEnd(_ operation: Operation, countsOnNothing: Bool = true, answers: [Answer] = []) {
            commits.append(
                Commit(
                    number: operation, countsOnNothing: countsOnNothing, announces: announcements.ids, answers: answers))
        }

        /// Adds the result of a command that has no effect to the commit of the present state.
        /// - Returns: False if there is no such commit.
        mutating func add(_ answer: Answer) -> Bool {
            guard hasPresentState else { return false }
            commits[commits.count - 1].answers.append(answer)
            return true
        }

        /// Ends a commit.
        /// - Returns: The commit, and the messages that are durable now; `nil` if it is not under way.
        package mutating func end(_ operation: Operation, _ error: StoreError?) -> (commit: Commit, announced: [EndAnnouncement])?
        {
            guard let index = commits.firstIndex(where: { $0.number == operation }) else { return nil }
            let commit = commits.remove(at: index)
            if error != nil { lastFailure = max(lastFailure, commit.number) }
            if entity == .saving(operation) { entity = error == nil ? .saved : .unsaved }
            return (commit, error == nil ? announcements.confirm(commit.announces) : [])
        }

        /// Whether no commit that began later is under way.
        func isNewest(_ commit: Commit) -> Bool { commits.allSatisfy { $0.number < commit.number } }

        // MARK: - Failures

        /// Notes a failed save of the present state.
        /// - Returns: The delay after which it is repeated.
        @discardableResult
        mutating func fail() -> Duration {
            let delay = DownloadMachine.firstSaveDelay * Double(1 << min(failures, 6))
            failures += 1
            return min(delay, DownloadMachine.longestSaveDelay)
        }

        /// Notes a durable save, which ends the failures before it.
        /// - Returns: Whether there were failures.
        mutating func recover(with commit: Commit) -> Bool {
            guard failures > 0, isNewest(commit), commit.number > lastFailure else { return false }
            failures = 0
            return true
        }

        /// Forgets failures once nothing is left to save.
        mutating func forgetFailures() {
            failures = 0
        }
    }
}
