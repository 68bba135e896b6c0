internal import HTTPClient
internal import HTTPCore
internal import System

/// One attempt at a download's bytes: judges the answer, places the bytes as they come, over one connection or several, and reports how
/// it ended.
///
/// The first connection's answer tells what the file is (`+Heads`); if it is large and comes in ranges, others are opened besides,
/// as `SegmentPlan` says. When the origin answers with another version than the one whose bytes are kept, the new bytes go to a
/// replacement beside the part file, and the service swaps the two only after the store has recorded that the old bytes are given up. Until
/// then a crash finds the old bytes untouched under the old validators; at no moment do records of one version point at bytes of another.
final class TransferAttempt: CoverageSource {
    /// What does not change while the attempt runs.
    struct Order: Sendable {
        let id: DownloadID
        let generation: UInt64
        let depot: any FileDepot
        /// The part file, if there are bytes of it to continue.
        let part: PartFile?
        /// Whether the store counts on bytes of the part file, so that it must not be overwritten unasked.
        let hasRecordedBytes: Bool
        let requestedMediaType: String?
        /// The digest that the client named, if it did.
        let checksum: Checksum?
        let reservations: DiskReservations
        /// The most connections.
        let connections: Int
        /// The request to the download's URL and to each mirror, but for range and condition. The first one is asked first.
        let sources: [ClientRequest]
        /// The download's own URL.
        let url: String
    }

    struct State {
        /// Has asked what the first connection sends, and judges its answer.
        var resume: ResumeDecision
        var plan: SegmentPlan
        var sources: SourceTable
        var hasher: StreamingHasher
        /// What the bytes are of, once an answer was accepted.
        var entity: SavedEntity?
        var part: PartFile?
        /// The outcome that was decided while connections ran; without one their own results count.
        var decided: TransferReport.Outcome?
        var isCancelled = false
        /// Those that have not ended.
        var connections: [Int: SegmentConnection] = [:]
        /// Answers that were of no use, by connection, until those have ended.
        var refusals: [Int: Trouble] = [:]
        /// What went wrong last: the reason if nothing else is left to try.
        var trouble: Trouble?
        /// What went wrong with the first source before mirrors were to bring the rest.
        var handedOver: Trouble?

        struct Trouble {
            let failure: DownloadFailure
            var retryAfter: Duration?
        }

        /// Why nothing more comes, if that is a failure.
        var failure: Trouble? {
            switch decided {
            case .failed(let failure, let retryAfter): Trouble(failure: failure, retryAfter: retryAfter)
            case nil: trouble
            case .whole, .askAgain, .cancelled: nil
            }
        }

        /// Settles the outcome and stops whatever still runs.
        mutating func decide(_ outcome: TransferReport.Outcome) {
            if decided == nil { decided = outcome }
            for connection in connections.values { connection.cancel() }
        }
    }

    let order: Order
    /// Bytes received, for everybody to read.
    let counters: TransferCounters
    let state: Locked<State>
    /// What the bytes there were at the beginning belong to.
    let saved: SavedEntity
    private let client: HTTPClient
    private let reporter: AsyncStream<TransferReport>.Continuation

    /// - Parameters:
    ///   - resume: has asked what is sent first, and judges the answer.
    ///   - written: which bytes of the part file are valid.
    ///   - hasher: follows the first of them.
    init(
        _ order: Order, client: HTTPClient, resume: ResumeDecision, written: Coverage, hasher: StreamingHasher,
        reporter: AsyncStream<TransferReport>.Continuation
    ) {
        self.order = order
        self.client = client
        self.reporter = reporter
        saved = resume.savedEntity
        counters = TransferCounters(received: written.byteCount)
        let plan = SegmentPlan(written: written, limits: SegmentPlan.Limits(connections: max(1, order.connections)))
        state = Locked(State(resume: resume, plan: plan, sources: SourceTable(count: order.sources.count), hasher: hasher))
        counters.ask(self)
    }

    /// Begins; the end is reported even if it comes at once.
    func start(_ ask: ResumeDecision.Ask) {
        let connection = SegmentConnection(number: SegmentPlan.first, range: nil, source: 0, of: self)
        let isCancelled = state.withLock { state in
            state.connections[connection.number] = connection
            return state.isCancelled
        }
        if isCancelled { connection.cancel() }
        send(connection, range: ask.range, ifRange: ask.ifRange)
    }

    private func send(_ connection: SegmentConnection, range: String? = nil, ifRange: String? = nil) {
        var request = order.sources[connection.source]
        request.range = range
        request.ifRange = ifRange
        connection.start(client, request)
    }

    /// Stops; the end is still reported.
    func cancel() {
        let connections = state.withLock { state in
            state.isCancelled = true
            return state.connections.values
        }
        for connection in connections { connection.cancel() }
    }

    /// Which bytes have been written to the part file so far.
    var written: Coverage { state.withLock { $0.plan.written } }

    /// Whether it waits for a speed limit, rather than for the origin.
    var isHeldBack: Bool { state.withLock { $0.connections.values }.contains { $0.isHeldBack } }

    /// The file that bytes are placed in: the one there is, if some of its bytes are continued, or a new one.
    func partFile(_ plan: SegmentPlan, isReplacement: Bool = false) throws(FileError) -> PartFile {
        if plan.written.byteCount == 0 { return try order.depot.createPart(order.id, replacement: isReplacement) }
        guard let part = order.part else { throw FileError(.transient, "the part file of \(order.id) could not be opened") }
        return part
    }

    func report(_ event: TransferReport.Event) {
        reporter.yield(TransferReport(id: order.id, generation: order.generation, event: event))
    }

    // MARK: - Bytes

    /// Bytes came on a connection. They are written without the lock, so that connections do not wait for each other's disk.
    func received(_ bytes: RawSpan, on connection: SegmentConnection) -> SinkDecision {
        let place = state.withLock { state -> (SegmentPlan.Placement, PartFile, isSmall: Bool)? in
            guard let part = state.part, !state.isCancelled, state.decided == nil,
                let placement = state.plan.place(connection.number, bytes.byteCount)
            else { return nil }
            if placement.isOverlong {
                let failure = DownloadFailure(.transferBroken, "the origin sent more than it announced")
                state.decide(.failed(failure, retryAfter: nil))
                return nil
            }
            for number in placement.superseded { state.connections[number]?.cancel() }
            return (placement, part, state.plan.total.map { $0 <= StreamingHasher.smallFile } ?? false)
        }
        guard let (placement, part, isSmall) = place else { return .stop }
        let piece = bytes.extracting(first: placement.count)
        do throws(FileError) {
            try part.write(piece, at: placement.offset)
        } catch {
            state.withLock { $0.decide(.failed(DownloadFailure(error), retryAfter: nil)) }
            return .stop
        }
        let (hasher, prefix) = state.withLock { state -> (StreamingHasher, Int64) in
            if state.plan.wrote(connection.number, placement.offset..<placement.offset + Int64(placement.count)) {
                counters.received = state.plan.written.byteCount
            }
            return (state.hasher, state.plan.written.prefix)
        }
        if isSmall { hasher.take(piece, at: placement.offset) } else { hasher.follow(upTo: prefix) }
        // A body that ends where its segment does is let end by itself: then its connection can be used again.
        return placement.isLast && !placement.endsBody ? .stop : .proceed
    }

    // MARK: - Ends

    /// A connection has ended.
    func finished(_ outcome: Result<TransferSummary, ClientError>, on connection: SegmentConnection) {
        let (opened, ending) = state.withLock { state -> ([SegmentConnection], TransferReport.Ending?) in
            state.connections[connection.number] = nil
            let opened = follow(outcome, of: connection, &state) + tryMirrors(&state)
            counters.connections = state.connections.count
            return (opened, state.connections.isEmpty ? end(outcome, &state) : nil)
        }
        start(opened)
        guard let ending else { return }
        order.reservations.release(order.id)
        report(.ended(ending))
    }

    /// Gives what an ended connection has left undone to others; returns new ones.
    private func follow(
        _ outcome: Result<TransferSummary, ClientError>, of connection: SegmentConnection, _ state: inout State
    ) -> [SegmentConnection] {
        let number = connection.number
        let trouble = state.refusals.removeValue(forKey: number) ?? Self.trouble(outcome, state.plan.segments[number])
        let isMirror = connection.source != state.sources.first
        let count = state.plan.segments[number]?.count ?? 0
        if let trouble {
            state.trouble = trouble
            // What a mirror brings well is kept; one that brings nothing is of no use, and no reason to ask others for less.
            if isMirror, count < state.plan.limits.worthwhile { dropMirror(connection.source, trouble.failure.message, &state) }
        }
        guard state.part != nil else { return [] }
        let isRefused = trouble != nil && !(isMirror && count < state.plan.limits.worthwhile)
        let consequence = state.plan.ended(number, isRefused ? .broken : .orderly)
        guard state.decided == nil, !state.isCancelled, case .goOn(let openings) = consequence else { return [] }
        return prepare(openings, &state)
    }

    /// What went wrong with a connection; nil if nothing that matters.
    private static func trouble(
        _ outcome: Result<TransferSummary, ClientError>, _ segment: SegmentPlan.Segment?
    ) -> State.Trouble? {
        switch outcome {
        case .success:
            guard let segment, let end = segment.end, segment.position < end else { return nil }
            let message = "the transfer ended at byte \(segment.position) of \(end)"
            return State.Trouble(failure: DownloadFailure(.transferBroken, message))
        case .failure(.cancelled), .failure(.stopped):
            return nil
        case .failure(let error):
            // Once a segment is whole, nothing that happens to the rest of its body matters.
            if let segment, segment.end != nil, segment.remainder == 0 { return nil }
            return State.Trouble(failure: DownloadFailure(error))
        }
    }

    /// What the attempt has come to, now that no connection is left.
    private func end(_ outcome: Result<TransferSummary, ClientError>, _ state: inout State) -> TransferReport.Ending {
        TransferReport.Ending(
            outcome: conclude(outcome, &state), written: state.plan.written, hasher: state.hasher, resume: state.resume,
            hasMixedSources: state.sources.hasMixed, mirrorDigests: state.sources.mirrorDigests)
    }

    private func conclude(_ outcome: Result<TransferSummary, ClientError>, _ state: inout State) -> TransferReport.Outcome {
        if let decided = state.decided { return decided }
        if state.part != nil, state.plan.isWhole { return .whole }
        if let trouble = state.handedOver ?? state.trouble { return .failed(trouble.failure, retryAfter: trouble.retryAfter) }
        guard case .success = outcome else { return .cancelled }
        switch state.resume.ended(at: state.plan.written.prefix) {
        case .complete: return .whole
        case .askAgain(let ask): return .askAgain(ask)
        case .fail(let failure): return .failed(failure, retryAfter: nil)
        }
    }

    // MARK: - More connections

    /// Makes connections that the plan wants; the caller starts them without the lock.
    func prepare(_ openings: [SegmentPlan.Opening], _ state: inout State) -> [SegmentConnection] {
        let opened = openings.map { opening in
            let source = state.sources.next(busy: state.connections.values.map(\.source))
            let connection = SegmentConnection(number: opening.connection, range: opening.range, source: source, of: self)
            state.connections[connection.number] = connection
            return connection
        }
        counters.connections = state.connections.count
        return opened
    }

    /// Asks for segments, each with the validator that the file had when its source was first asked.
    func start(_ opened: [SegmentConnection]) {
        for connection in opened {
            guard let range = connection.range else {
                send(connection)
                continue
            }
            let entity = state.withLock { $0.sources.entity(of: connection.source) }
            send(
                connection, range: "bytes=\(range.lowerBound)-\(range.upperBound - 1)",
                ifRange: entity.flatMap(Validator.init(of:))?.fieldValue)
        }
    }

    /// Asks a mirror no more, and says so.
    func dropMirror(_ source: Int, _ reason: String, _ state: inout State) {
        state.sources.drop(source)
        report(.mirrorDropped("\(host(of: source)): \(reason)"))
    }

    /// What of a URL may be shown: the rest may hold a secret.
    func host(of source: Int) -> String {
        "\(order.sources[source].url.host):\(order.sources[source].url.port)"
    }
}
