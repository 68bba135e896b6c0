import System

/// The store's thread and the backlog it works off: everything that has been queued goes into one transaction, and then all
/// who waited for it go on.
final class GroupCommitter: Sendable {
    /// Sizes and delays.
    struct Options: Sendable {
        /// Most changes that go into one transaction, but for those of a single write, which stay together: bounds how long
        /// the first of them waits.
        var largestGroup = 1_024
        /// Outstanding changes, and how long a transaction may take, from which on no new downloads are accepted.
        var congestion: (changes: Int, age: Duration) = (50_000, .seconds(10))
        /// How long to wait before a group is tried again of which it is not known whether it was written.
        var retryDelay: Duration = .milliseconds(200)
        /// How long notes of progress gather before they cause a transaction themselves.
        var noteDelay: Duration = .milliseconds(250)
        /// Told on the store's thread how long each transaction took.
        var committed: @Sendable (Duration, Int) -> Void

        init(
            largestGroup: Int = 1_024, noteDelay: Duration = .milliseconds(250),
            committed: @escaping @Sendable (Duration, Int) -> Void = { _, _ in }
        ) {
            self.largestGroup = max(largestGroup, 1)
            self.noteDelay = noteDelay
            self.committed = committed
        }
    }

    private struct Write: Sendable {
        var changes: [StoreChange]
        var commit: StoreCommit

        /// Whether it adds to what is kept, or asks whether that is possible.
        var needsRoom: Bool {
            changes.contains { change in
                switch change {
                case .add, .remember, .probe: true
                case .save, .progress, .remove, .set, .forget, .keepDelivery, .dropDelivery, .beginEpoch, .show, .enqueue,
                    .leaveQueue, .holdURL, .letGo, .claim, .send:
                    false
                }
            }
        }
    }

    /// What somebody wants to do with the database other than write changes: to read, for instance.
    private struct Request: Sendable {
        /// The downloads whose noted progress belongs to what is read.
        let ids: [DownloadID]
        /// How many writes were queued before it: they come first.
        let after: UInt64
        /// Nothing is passed in once the store is closed.
        let body: @Sendable ((any RecordWriter)?) -> Void
    }

    /// What the writers and the thread share.
    private struct Backlog {
        var writes: [Write] = []
        var requests: [Request] = []
        /// How many writes were ever queued, and how many of them were taken.
        var queuedWrites: UInt64 = 0
        var takenWrites: UInt64 = 0
        /// Changes in `writes`.
        var changeCount = 0
        /// When the transaction that is being written was begun.
        var begun: ContinuousClock.Instant?
        /// When the last one ended.
        var lastCommit = ContinuousClock.now
        /// Progress noted after every write of the same download in `writes`.
        var notes: [DownloadID: StoredProgress] = [:]
        /// When the notes cause a transaction; `nil` without notes.
        var notesDue: ContinuousClock.Instant?
        var isStopping = false
        var isClosed = false
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    /// What the thread does next.
    private enum Job {
        /// With nothing to write, it shows that this run lives.
        case commit([Write], notes: [StoredProgress])
        case perform(Request, notes: [StoredProgress])
        case close
    }

    private let backlog = Monitor(Backlog())
    /// Used by the thread; and by whoever loads, before anything is written.
    private let writer: Locked<any RecordWriter>
    private let longestSilence: Duration?
    private let options: Options
    /// Whether the store closes while the database cannot be reached: then no further change is tried.
    private let isCutOff = Locked(false)

    init(_ writer: sending any RecordWriter, options: Options) {
        longestSilence = writer.longestSilence
        self.writer = Locked(writer)
        self.options = options
    }

    /// Reads everything.
    func load() throws(StoreError) -> StoredContents {
        try writer.withLock { writer throws(StoreError) in try writer.load() }
    }
}

// MARK: - Writers

extension GroupCommitter {
    func enqueue(_ changes: [StoreChange], _ commit: StoreCommit) {
        let isOpen = backlog.withLock { backlog in
            if backlog.isStopping { return (false, wake: false) }
            for change in changes {
                // A record that is saved or removed after a note says all that the note does.
                switch change {
                case .add(let record), .save(let record): backlog.notes[record.id] = nil
                case .remove(let id, _): backlog.notes[id] = nil
                case .progress(let progress): backlog.notes[progress.id] = nil
                case .set, .probe, .remember, .forget, .keepDelivery, .dropDelivery, .beginEpoch, .show, .enqueue, .leaveQueue,
                    .holdURL, .letGo, .claim, .send:
                    break
                }
            }
            backlog.writes.append(Write(changes: changes, commit: commit))
            backlog.queuedWrites += 1
            backlog.changeCount += changes.count
            return (true, wake: backlog.writes.count == 1)
        }
        if !isOpen { commit.conclude(.failure(.closed)) }
    }

    var isCongested: Bool {
        backlog.withLock { backlog in
            let age = backlog.begun.map { ContinuousClock.now - $0 } ?? .zero
            return (backlog.changeCount > options.congestion.changes || age > options.congestion.age, wake: false)
        }
    }

    /// Calls the body on the store's thread, behind the writes that were queued before.
    /// - Parameters:
    ///   - ids: the downloads whose noted progress is written first.
    ///   - body: gets the writer; nothing if the store is closed.
    func perform(_ ids: [DownloadID] = [], _ body: @escaping @Sendable ((any RecordWriter)?) -> Void) {
        let isOpen = backlog.withLock { backlog in
            if backlog.isStopping { return (false, wake: false) }
            backlog.requests.append(Request(ids: ids, after: backlog.queuedWrites, body: body))
            return (true, wake: true)
        }
        if !isOpen { body(nil) }
    }

    func note(_ progress: StoredProgress) {
        backlog.withLock { backlog in
            if backlog.isStopping { return ((), wake: false) }
            backlog.notes[progress.id] = progress
            guard backlog.notesDue == nil else { return ((), wake: false) }
            backlog.notesDue = .now + options.noteDelay
            return ((), wake: backlog.writes.isEmpty)
        }
    }

    func stop(_ closer: CheckedContinuation<Void, Never>?) {
        let isClosed = backlog.withLock { backlog in
            backlog.isStopping = true
            if !backlog.isClosed, let closer { backlog.closers.append(closer) }
            return (backlog.isClosed, wake: true)
        }
        if isClosed { closer?.resume() }
    }
}

// MARK: - The thread

extension GroupCommitter {
    func run() {
        _ = reserveRoom()
        work: while true {
            switch nextTask() {
            case .commit(let writes, let notes):
                commit(writes, notes: notes)
                _ = reserveRoom()
            case .perform(let request, let notes):
                if !notes.isEmpty { commit([], notes: notes) }
                writer.withLock { request.body($0) }
            case .close: break work
            }
        }
        writer.withLock { $0.close() }
        let closers = backlog.withLock { backlog in
            backlog.isClosed = true
            defer { backlog.closers = [] }
            return (backlog.closers, wake: false)
        }
        for closer in closers { closer.resume() }
    }

    private func nextTask() -> Job {
        backlog.wait { backlog in
            backlog.begun = nil
            let silenceEnds = longestSilence.map { backlog.lastCommit + $0 }
            // However much is asked for, the lease does not end for want of a sign of life.
            if let silenceEnds, silenceEnds <= .now, !backlog.requests.isEmpty { return .done(.commit([], notes: [])) }
            if let request = backlog.requests.first, request.after <= backlog.takenWrites {
                backlog.requests.removeFirst()
                return .done(.perform(request, notes: request.ids.compactMap { backlog.notes.removeValue(forKey: $0) }))
            }
            if !backlog.writes.isEmpty {
                let writes = takeWrites(&backlog)
                backlog.begun = .now
                // Notes are newer than all the writes: they wait for the last of them.
                return .done(.commit(writes, notes: backlog.writes.isEmpty ? takeNotes(&backlog) : []))
            }
            if backlog.isStopping, backlog.notesDue == nil { return .done(.close) }
            guard let due = [backlog.notesDue, silenceEnds].compactMap(\.self).min() else { return .wait(nil) }
            let remaining = ContinuousClock.now.duration(to: due)
            if backlog.isStopping || remaining <= .zero { return .done(.commit([], notes: takeNotes(&backlog))) }
            return .wait(remaining)
        }
    }

    private func takeWrites(_ backlog: inout Backlog) -> [Write] {
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
        return writes
    }

    private func takeNotes(_ backlog: inout Backlog) -> [StoredProgress] {
        defer {
            backlog.notes.removeAll(keepingCapacity: true)
            backlog.notesDue = nil
        }
        return Array(backlog.notes.values)
    }

    private func commit(_ writes: [Write], notes: [StoredProgress]) {
        var writes = writes
        // Room that has been made since the last time is found now.
        if writes.contains(where: \.needsRoom), !reserveRoom() {
            for write in writes where write.needsRoom { write.commit.conclude(.failure(.full)) }
            writes.removeAll(where: \.needsRoom)
        }
        let group = WriteGroup(writes.map(\.changes), notes: notes)
        let outcome = attempt(group.changes)
        backlog.withLock { ($0.lastCommit = .now, wake: false) }
        // Nobody's changes are to blame if this run has nothing to say any more, or if the store closes before it is known whether they
        // were written: then they must not be written again.
        let isNobodysFault =
            switch outcome {
            case .success, .failure(.fenced), .failure(.interrupted): true
            case .failure: false
            }
        if isNobodysFault || writes.count + notes.count == 1 {
            for write in writes { write.commit.conclude(outcome) }
            return
        }
        // Somebody's changes cannot be written. Each on its own, so that only those fail whose own are to blame.
        for write in writes { write.commit.conclude(attempt(write.changes)) }
        for note in notes { _ = attempt([.progress(note)]) }
    }

    private func reserveRoom() -> Bool {
        writer.withLock { $0.reserveRoom() }
    }

    /// Writes a group, and does not give up before it is known whether it is written.
    private func attempt(_ changes: [StoreChange]) -> Result<Void, StoreError> {
        if changes.isEmpty, longestSilence == nil { return .success(()) }
        if isCutOff.withLock({ $0 }) { return .failure(.interrupted("the service stops")) }
        let begun = ContinuousClock.now
        // A sign of life is no group of changes.
        defer { if !changes.isEmpty { options.committed(.now - begun, changes.count) } }
        var isRepeated = false
        while true {
            do throws(StoreError) {
                try writer.withLock { [isRepeated] writer throws(StoreError) in try writer.commit(changes, isRepeated: isRepeated)
                }
                return .success(())
            } catch {
                guard case .interrupted = error else { return .failure(error) }
                guard pause() else {
                    isCutOff.withLock { $0 = true }
                    return .failure(error)
                }
                isRepeated = true
            }
        }
    }

    /// Waits before the next attempt.
    /// - Returns: false if there is to be none, as the store is being closed.
    private func pause() -> Bool {
        let due = ContinuousClock.now + options.retryDelay
        return backlog.wait { backlog in
            if backlog.isStopping { return .done(false) }
            let remaining = ContinuousClock.now.duration(to: due)
            return remaining <= .zero ? .done(true) : .wait(remaining)
        }
    }
}
