public import DownloadCore
internal import DownloadIndex
internal import DownloadTransfer
internal import System

/// Commands, changes and removals of downloads.
extension DownloadService {
    /// Carries out a command. When it returns, the new state is durable and in effect.
    /// - Parameters:
    ///   - command: The command.
    ///   - id: The download.
    /// - Returns: The download as the command made it.
    /// - Throws: `notFound`, `illegalTransition`, `insufficientStorage`, `storeFailed`, `overloaded` (nothing was
    ///   done), `unconfirmed` (it may still happen), `shuttingDown`.
    public func perform(_ command: DownloadCommand, on id: RecordID) async throws(DownloadError) -> Download {
        try await ask(DownloadMachine.Command.Request(command), of: id)
    }

    /// Carries out a command on all matching downloads, in pieces of limited size that each become durable together.
    /// Downloads for which the command is illegal stay as they are.
    /// - Parameters:
    ///   - command: The command.
    ///   - states: The states of matching downloads; empty: all states.
    ///   - label: The label of matching downloads; `nil`: any.
    ///   - folder: The folder of matching downloads; empty: no folder; `nil`: any.
    /// - Returns: The number of changed downloads.
    /// - Throws: `storeFailed`, `insufficientStorage`, `overloaded`, `unconfirmed`, `shuttingDown`. Some downloads may
    ///   have changed then.
    public func performOnAll(
        _ command: DownloadCommand, states: Set<DownloadState> = [], label: String? = nil, folder: String? = nil
    ) async throws(DownloadError) -> Int {
        let states = states.isEmpty ? Set(DownloadState.allCases.filter(command.changes)) : states.filter(command.changes)
        if states.isEmpty { return 0 }
        let selection = ListQuery(states: states, label: label, folder: folder)
        let order: CommandOrder = command == .pause || command == .cancel ? .slotsLast : .queue
        return try await inPieces(selection, order) { ids throws(DownloadError) in
            let found = self.downloads(ids, in: selection)
            // A download with a slot stops first. If another command changes it before, only that one counts it. In a fleet,
            // the version here may be outdated.
            let isExpected = !self.isShared && found.contains { $0.download.mayHaveSlot } ? selection.includes : nil
            return try await self.ask(.init(command), ofPiece: found.map { $0.download.id }, if: isExpected)
        }
    }

    /// The maximum number of attempts when downloads or settings change concurrently.
    static let maximumPasses = 8

    /// Passes the ids of all matching downloads to a function, in pieces, and adds up the results. While a piece is being
    /// made durable, the next one begins.
    ///
    /// They are found once, since a search takes longer the more downloads there are. Downloads that are added later are
    /// not part of it.
    func inPieces(
        _ selection: ListQuery, _ order: CommandOrder,
        _ body: @escaping (ArraySlice<RecordID>) async throws(DownloadError) -> Int
    ) async throws(DownloadError) -> Int {
        try await catchUp()
        var left = index.ids(selection, order)[...]
        var count = 0
        var before: Task<Result<Int, DownloadError>, Never>?
        while !left.isEmpty || before != nil {
            let piece = left.prefix(Self.bulkPiece)
            left = left.dropFirst(Self.bulkPiece)
            var next: Task<Result<Int, DownloadError>, Never>?
            if !piece.isEmpty {
                next = Task {
                    guard !self.isShuttingDown else { return .failure(.shuttingDown) }
                    do throws(DownloadError) { return .success(try await body(piece)) } catch { return .failure(error) }
                }
            }
            if let before {
                do throws(DownloadError) { count += try await before.value.get() } catch {
                    _ = await next?.value
                    throw error
                }
            }
            before = next
        }
        return count
    }

    /// Returns the downloads with these ids that match a selection at present, as they were last published. Their text is not
    /// searched again.
    func downloads(_ ids: some Sequence<RecordID>, in selection: ListQuery) -> [IndexEntry] {
        index.entries(ids).filter { selection.includes($0.download) }
    }

    /// Sends the same command to several downloads, and waits for all results.
    /// - Returns: The number of downloads that have carried it out.
    func ask(
        _ request: DownloadMachine.Command.Request, ofPiece piece: [RecordID],
        if isExpected: (@Sendable (Download) -> Bool)? = nil, by deadline: ContinuousClock.Instant? = nil
    ) async throws(DownloadError) -> Int {
        try await ask(piece.map { (request, $0) }[...], if: isExpected, by: deadline)
    }

    /// Sends a command to each of several downloads, and waits for all results.
    /// - Returns: The number of downloads that have carried out theirs.
    func ask(
        _ steps: ArraySlice<(DownloadMachine.Command.Request, RecordID)>,
        if isExpected: (@Sendable (Download) -> Bool)? = nil, by deadline: ContinuousClock.Instant? = nil
    ) async throws(DownloadError) -> Int {
        if steps.isEmpty { return 0 }
        let deadline = deadline ?? .now + Self.answerLimit
        let pins = try await pin(steps.map(\.1), by: deadline)
        defer { unpin(pins) }
        let result = await withCheckedContinuation { continuation in
            let receiver = ResultCount(steps.count, continuation).add
            var others: [ForwardedCommand] = []
            together {
                for (request, id) in steps {
                    if entries[id] == nil {
                        others.append(
                            ForwardedCommand(
                                id: id, request: request, owner: pins.owners[id], receiver: receiver, isExpected: isExpected,
                                deadline: deadline))
                    } else {
                        let waiter = wait(by: deadline, for: receiver)
                        send(.command(.init(waiter: waiter, request: request, isExpected: isExpected)), to: id)
                    }
                }
            }
            if !others.isEmpty { coordination.forward(others, in: self) }
            schedule()
        }
        return try result.get()
    }

    /// Changes a download. When it returns, the change is durable and in effect: the queue has the new priority or
    /// position, and a transfer has the new speed limit. If the URL changes, the transfer is stopped, and continues at
    /// the new URL from the bytes that are still valid there. Mirrors and the number of connections take effect in the
    /// next attempt. A paused, failed or cancelled download stays so.
    /// - Parameters:
    ///   - id: The download.
    ///   - change: The changes.
    ///   - isExpected: Whether the download is still the version that the client means; `nil`: any version.
    /// - Returns: The download as the change made it.
    /// - Throws: `preconditionFailed`, `invalid`, `destinationForbidden`; `illegalTransition` (`url`, `mirrors`,
    ///   `segments`, `filename` or `folder` of a completed download, or `position` of one that is neither queued nor
    ///   paused); the other errors of ``perform(_:on:)``.
    public func change(
        _ id: RecordID, _ change: DownloadChange, if isExpected: (@Sendable (Download) -> Bool)? = nil
    ) async throws(DownloadError) -> Download {
        try parts.rules.check(change.options, change.url, of: id, names)
        return try await ask(.change(change), of: id, if: isExpected)
    }

    /// Moves a queued or paused download to another position in the queue. When it returns, the move is durable.
    /// Between downloads of other priorities, it gets the possible priority that is nearest to its own.
    /// - Returns: The number of downloads that precede it then.
    /// - Throws: The errors of ``perform(_:on:)``; `illegalTransition` if the download is neither queued nor paused.
    public func move(_ id: RecordID, to move: QueueMove) async throws(DownloadError) -> Int {
        var change = DownloadChange()
        change.move = move
        return try await ask(.change(change), of: id).position ?? 0
    }

    /// Returns details of a download beyond its published state, as of this moment.
    /// - Throws: `notFound`, `overloaded`, `storeFailed`.
    public func details(of id: RecordID) async throws(DownloadError) -> DownloadDetails {
        if let entry = entries[id], let download = index.download(id) {
            return DownloadDetails(download, entry.machine.record, connections: entry.resources?.attempt?.openConnections ?? [])
        }
        let record: DownloadRecord?
        do throws(StoreError) {
            record = try await records([id], by: .now + Self.answerLimit).first
        } catch {
            throw error.isInterruption ? .overloaded : DownloadError(error)
        }
        guard let record, let download = index.download(id) else { throw .notFound }
        return DownloadDetails(download, record, connections: [])
    }

    /// Removes a record. A live download is cancelled first.
    /// - Parameters:
    ///   - id: The download.
    ///   - deletesFile: Whether the finished file is removed too.
    ///   - isExpected: Whether the download is still the version that the client means; `nil`: any version.
    ///   - changes: More changes of the same commit. They need a download that no other replica owns at present.
    /// - Throws: `preconditionFailed`, `directoryAway`, and the errors of ``perform(_:on:)``.
    package func remove(
        _ id: RecordID, deletingFile deletesFile: Bool, with changes: [StoreChange] = [],
        if isExpected: (@Sendable (Download) -> Bool)? = nil
    ) async throws(DownloadError) {
        let deadline = ContinuousClock.now + Self.answerLimit
        if deletesFile {
            if let download = index.download(id) { try checkFilesAreThere([download]) }
            try await recogniseFile(of: id, by: deadline)
        }
        _ = try await ask(.remove(deletingFile: deletesFile), of: id, with: changes, if: isExpected, by: deadline)
    }

    /// Sends a command to a download's machine or owner, and waits for its result.
    /// - Parameter changes: Changes of the same commit as a removal, for which the machine has to be here.
    func ask(
        _ request: DownloadMachine.Command.Request, of id: RecordID, with changes: [StoreChange] = [],
        if isExpected: (@Sendable (Download) -> Bool)? = nil, by deadline: ContinuousClock.Instant? = nil
    ) async throws(DownloadError) -> Download {
        guard !isShuttingDown else { throw .shuttingDown }
        let deadline = deadline ?? .now + Self.answerLimit
        // A version that is not known here may be another replica's.
        if let isExpected, index.download(id).map(isExpected) != true { try await catchUp(within: deadline - .now) }
        let pins = try await pin([id], by: deadline)
        defer { unpin(pins) }
        let result: Result<Download, DownloadError> = await withCheckedContinuation { continuation in
            guard let entry = entries[id] else {
                if !changes.isEmpty, pins.owners[id] != nil { return continuation.resume(returning: .failure(.overloaded)) }
                let command = ForwardedCommand(
                    id: id, request: request, owner: pins.owners[id], receiver: { continuation.resume(returning: $0) },
                    isExpected: isExpected, deadline: deadline)
                return coordination.forward([command], in: self)
            }
            let waiter = wait(by: deadline) { continuation.resume(returning: $0) }
            if !changes.isEmpty { entry.removalChanges = changes }
            // A move may give other downloads new arrivals. All changes become durable together.
            together { send(.command(.init(waiter: waiter, request: request, isExpected: isExpected)), to: id) }
            schedule()
        }
        if !changes.isEmpty, case .failure(let error) = result, error != .unconfirmed { entries[id]?.removalChanges = [] }
        var download = try result.get()
        download.waitingFor = index.waitingReason(of: download)
        download.position = download.position ?? index.position(of: download)
        return download
    }
}

extension DownloadMachine.Command.Request {
    init(_ command: DownloadCommand) {
        self =
            switch command {
            case .pause: .pause
            case .resume: .resume
            case .cancel: .cancel
            case .retry: .retry
            }
    }
}

extension DownloadCommand {
    /// Whether the command changes a download in this state.
    func changes(_ state: DownloadState) -> Bool {
        switch (self, state) {
        case (.pause, .queued), (.pause, .downloading), (.pause, .retrying): true
        case (.resume, .paused), (.resume, .failed): true
        case (.cancel, .queued), (.cancel, .downloading), (.cancel, .retrying), (.cancel, .paused), (.cancel, .failed): true
        case (.retry, .failed), (.retry, .cancelled): true
        default: false
        }
    }
}
