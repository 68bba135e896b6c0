internal import DownloadCore
internal import System

/// The changes of one caller.
struct QueuedWrite: Sendable {
    var changes: [StoreChange]
    var commit: StoreCommit

    /// Whether the write adds data, or tests whether data can be added.
    var needsRoom: Bool {
        changes.contains { change in
            switch change {
            case .add, .remember, .probe, .subscription(.save), .subscription(.saveItem): true
            case .save, .progress, .remove, .set, .forget, .keepDelivery, .dropDelivery, .beginEpoch, .subscription, .fleet: false
            }
        }
    }
}

/// An operation on the database that is not a write of changes, such as a read.
struct QueuedRequest: Sendable {
    /// The downloads whose noted progress is written first.
    let ids: [RecordID]
    /// The number of writes that were queued before the request, and precede it.
    let after: UInt64
    let body: @Sendable () -> Void
}

/// The state that callers and the thread share.
struct Backlog {
    var writes: [QueuedWrite] = []
    var requests: [QueuedRequest] = []
    /// The number of writes that were ever queued. `takenWrites` is the number of those that the thread has taken.
    var queuedWrites: UInt64 = 0
    var takenWrites: UInt64 = 0
    /// The number of changes in `writes`.
    var changeCount = 0
    /// Whether a caller waits for one of `writes`.
    var isAwaited = false
    /// The start of the transaction in progress; `nil` if there is none.
    var begun: ContinuousClock.Instant?
    /// The end of the last transaction.
    var lastCommit = ContinuousClock.now
    /// Progress that was noted after all writes of the same download in `writes`.
    var notes: [RecordID: StoredProgress] = [:]
    /// The time at which the notes cause a transaction; `nil` without notes.
    var notesDue: ContinuousClock.Instant?
    /// The time of the next part of the work that can wait; `nil`: there is none.
    var tidyDue: ContinuousClock.Instant?
    var isStopping = false
}

/// The next step of the thread.
private enum Job {
    /// Without changes, the commit renews the lease.
    case commit([QueuedWrite], notes: [StoredProgress])
    case perform(QueuedRequest, notes: [StoredProgress])
    case tidy
    case close
}

/// The thread of a ``GroupCommitStore``.
final class GroupCommitter<Writer: RecordWriter>: Sendable {
    let backlog = Monitor(Backlog())
    /// Used by the thread, and by `load()` before anything is written.
    let writer: Locked<Writer>
    private let longestSilence: Duration?
    let options: GroupCommitOptions
    /// Whether the store closes while the database is unreachable. No further change is then tried.
    private let isCutOff = Locked(false)
    /// The end of the thread, after which the store is closed.
    let end = Outcome<Void>()

    init(_ writer: sending Writer, options: GroupCommitOptions) {
        longestSilence = writer.longestSilence
        self.writer = Locked(writer)
        self.options = options
    }

    func run() {
        _ = reserveRoom()
        work: while true {
            switch nextTask() {
            case .commit(let writes, let notes):
                commit(writes, notes: notes)
                _ = reserveRoom()
                backlog.withLock { ($0.tidyDue = $0.tidyDue ?? .now + options.tidyDelay, wake: false) }
            case .tidy:
                let hasMore = writer.withLock { $0.tidy() }
                backlog.withLock { ($0.tidyDue = hasMore ? .now + options.tidyPause : nil, wake: false) }
            case .perform(let request, let notes):
                if !notes.isEmpty { commit([], notes: notes) }
                request.body()
            case .close: break work
            }
        }
        writer.withLock { $0.close() }
        end.set(())
    }

    private func nextTask() -> Job {
        backlog.wait { backlog in
            backlog.begun = nil
            let silenceEnds = longestSilence.map { backlog.lastCommit + $0 }
            // The lease must be renewed however many requests are queued.
            if let silenceEnds, silenceEnds <= .now, !backlog.requests.isEmpty { return .done(.commit([], notes: [])) }
            if let request = backlog.requests.first, request.after <= backlog.takenWrites {
                backlog.requests.removeFirst()
                return .done(.perform(request, notes: request.ids.compactMap { backlog.notes.removeValue(forKey: $0) }))
            }
            let gathering = ContinuousClock.now.duration(to: backlog.lastCommit + options.gatherTime)
            if !backlog.writes.isEmpty, gathering > .zero, mayGather(backlog) { return .wait(gathering) }
            if !backlog.writes.isEmpty {
                let writes = takeWrites(&backlog)
                backlog.begun = .now
                // Notes are newer than all writes, so they wait for the last write.
                return .done(.commit(writes, notes: backlog.writes.isEmpty ? takeNotes(&backlog) : []))
            }
            if backlog.isStopping, backlog.notesDue == nil { return .done(.close) }
            guard let due = [backlog.notesDue, silenceEnds, backlog.tidyDue].compactMap(\.self).min() else { return .wait(nil) }
            let remaining = ContinuousClock.now.duration(to: due)
            guard backlog.isStopping || remaining <= .zero else { return .wait(remaining) }
            return .done(!backlog.isStopping && due == backlog.tidyDue ? .tidy : .commit([], notes: takeNotes(&backlog)))
        }
    }

    /// Whether the queued writes may wait for further ones.
    private func mayGather(_ backlog: Backlog) -> Bool {
        !backlog.isAwaited && backlog.requests.isEmpty && !backlog.isStopping && backlog.changeCount < options.largestGroup
    }

    private func takeWrites(_ backlog: inout Backlog) -> [QueuedWrite] {
        var changes = 0
        var count = 0
        for write in backlog.writes {
            if count > 0, changes + write.changes.count > options.largestGroup { break }
            changes += write.changes.count
            count += 1
        }
        let writes = Array(backlog.writes.prefix(count))
        backlog.writes.removeFirst(count)
        backlog.takenWrites += UInt64(count)
        backlog.changeCount -= changes
        if backlog.writes.isEmpty { backlog.isAwaited = false }
        return writes
    }

    private func takeNotes(_ backlog: inout Backlog) -> [StoredProgress] {
        defer {
            backlog.notes.removeAll(keepingCapacity: true)
            backlog.notesDue = nil
        }
        return Array(backlog.notes.values)
    }

    private func commit(_ writes: [QueuedWrite], notes: [StoredProgress]) {
        var writes = writes
        // Space may have become free since the last attempt.
        if writes.contains(where: \.needsRoom), !reserveRoom() {
            for write in writes where write.needsRoom { write.commit.set(.full) }
            writes.removeAll(where: \.needsRoom)
        }
        let group = WriteGroup(writes.map(\.changes), notes: notes)
        let failure = attempt(group.changes)
        backlog.withLock { ($0.lastCommit = .now, wake: false) }
        // The changes are not at fault if this instance is fenced. If the store closes while the outcome is unknown,
        // they may be written already, and must not be written again.
        let concernsAllWrites = failure.map { $0 == .fenced || $0.isInterruption } ?? true
        if concernsAllWrites || writes.count + notes.count == 1 {
            for write in writes { write.commit.set(failure) }
            return
        }
        // Some of the changes cannot be written. Each write is tried alone, so that only the faulty ones fail.
        for write in writes { write.commit.set(attempt(write.changes)) }
        for note in notes { _ = attempt([.progress(note)]) }
    }

    private func reserveRoom() -> Bool {
        writer.withLock { $0.reserveRoom() }
    }

    /// Writes a group, and repeats that until the outcome is known.
    /// - Returns: The reason of a failure; `nil`: the changes are durable.
    private func attempt(_ changes: [StoreChange]) -> StoreError? {
        if changes.isEmpty, longestSilence == nil { return nil }
        if isCutOff.withLock({ $0 }) { return .interrupted("the service stops") }
        let begun = ContinuousClock.now
        // A mere renewal of the lease is not counted.
        defer { if !changes.isEmpty { options.committed(.now - begun, changes.count) } }
        var isRepeated = false
        while true {
            do throws(StoreError) {
                try writer.withLock { [isRepeated] writer throws(StoreError) in try writer.commit(changes, isRepeated: isRepeated)
                }
                return nil
            } catch {
                guard case .interrupted = error else { return error }
                guard pause() else {
                    isCutOff.withLock { $0 = true }
                    return error
                }
                isRepeated = true
            }
        }
    }

    /// Waits before the next attempt.
    /// - Returns: False if the store is closing, so that there is no next attempt.
    private func pause() -> Bool {
        let due = ContinuousClock.now + options.retryDelay
        return backlog.wait { backlog in
            if backlog.isStopping { return .done(false) }
            let remaining = ContinuousClock.now.duration(to: due)
            return remaining <= .zero ? .done(true) : .wait(remaining)
        }
    }
}
