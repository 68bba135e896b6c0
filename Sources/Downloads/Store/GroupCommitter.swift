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
        /// How long notes of progress gather before they cause a transaction themselves.
        var noteDelay: Duration = .milliseconds(250)
        /// Told on the store's thread how long each transaction took.
        var committed: @Sendable (Duration) -> Void

        init(
            largestGroup: Int = 1_024, noteDelay: Duration = .milliseconds(250),
            committed: @escaping @Sendable (Duration) -> Void = { _ in }
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
                case .save, .progress, .remove, .set, .forget, .keepDelivery, .dropDelivery, .beginEpoch: false
                }
            }
        }
    }

    /// Records that somebody wants to have.
    private struct Read: Sendable {
        let ids: [DownloadID]
        let reader: CheckedContinuation<Result<[DownloadRecord], StoreError>, Never>
    }

    /// What the writers and the thread share.
    private struct Backlog {
        var writes: [Write] = []
        var reads: [Read] = []
        /// Changes in `writes`.
        var changeCount = 0
        /// When the transaction that is being written was begun.
        var begun: ContinuousClock.Instant?
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
        case commit([Write], notes: [StoredProgress])
        case read([Read], notes: [StoredProgress])
        case close
    }

    private let backlog = Monitor(Backlog())
    /// Used by the thread; and by whoever loads, before anything is written.
    private let writer: Locked<any RecordWriter>
    private let options: Options

    init(_ writer: sending any RecordWriter, options: Options) {
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
                case .set, .probe, .remember, .forget, .keepDelivery, .dropDelivery, .beginEpoch: break
                }
            }
            backlog.writes.append(Write(changes: changes, commit: commit))
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

    func read(_ ids: [DownloadID], _ reader: CheckedContinuation<Result<[DownloadRecord], StoreError>, Never>) {
        let isOpen = backlog.withLock { backlog in
            if backlog.isStopping { return (false, wake: false) }
            backlog.reads.append(Read(ids: ids, reader: reader))
            return (true, wake: true)
        }
        if !isOpen { reader.resume(returning: .failure(.closed)) }
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
            case .read(let reads, let notes):
                commit([], notes: notes)
                for read in reads { read.reader.resume(returning: records(read.ids)) }
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
            if !backlog.reads.isEmpty {
                defer { backlog.reads = [] }
                // What has been noted of them belongs to what is read.
                let notes = backlog.reads.flatMap(\.ids).compactMap { backlog.notes.removeValue(forKey: $0) }
                return .done(.read(backlog.reads, notes: notes))
            }
            if !backlog.writes.isEmpty {
                let writes = takeWrites(&backlog)
                backlog.begun = .now
                // Notes are newer than all the writes: they wait for the last of them.
                return .done(.commit(writes, notes: backlog.writes.isEmpty ? takeNotes(&backlog) : []))
            }
            guard let due = backlog.notesDue else { return backlog.isStopping ? .done(.close) : .wait(nil) }
            let remaining = ContinuousClock.now.duration(to: due)
            if backlog.isStopping || remaining <= .zero { return .done(.commit([], notes: takeNotes(&backlog))) }
            return .wait(remaining)
        }
    }

    private func records(_ ids: [DownloadID]) -> Result<[DownloadRecord], StoreError> {
        writer.withLock { writer in
            do throws(StoreError) { return .success(try writer.records(ids)) } catch { return .failure(error) }
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
        if case .success = attempt(group.changes) {
            for write in writes { write.commit.conclude(.success(())) }
            return
        }
        // Somebody's changes cannot be written. Each on its own, so that only those fail whose own are to blame.
        for write in writes { write.commit.conclude(attempt(write.changes)) }
        for note in notes { _ = attempt([.progress(note)]) }
    }

    private func reserveRoom() -> Bool {
        writer.withLock { $0.reserveRoom() }
    }

    private func attempt(_ changes: [StoreChange]) -> Result<Void, StoreError> {
        if changes.isEmpty { return .success(()) }
        return writer.withLock { writer in
            let begun = ContinuousClock.now
            defer { options.committed(.now - begun) }
            do throws(StoreError) { return .success(try writer.commit(changes)) } catch { return .failure(error) }
        }
    }
}
