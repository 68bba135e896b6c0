internal import HTTPClient
internal import HTTPCore
internal import Threading

/// One attempt at a download's bytes: judges the answer, places the bytes as they come, over one connection or several, and reports how
/// it ended.
///
/// The first connection's answer tells what the file is (`+Heads`); if it is large and comes in ranges, others are opened besides,
/// as `SegmentPlan` says. When the origin answers with another version than the one whose bytes are kept, the new bytes go to a
/// replacement beside the part file, and the service swaps the two only after the store has recorded that the old bytes are given up. Until
/// then a crash finds the old bytes untouched under the old validators; at no moment do records of one version point at bytes of another.
final class TransferAttempt: Sendable {
    /// What does not change while the attempt runs.
    struct Order: Sendable {
        let id: DownloadID
        let generation: UInt64
        let directory: DataDirectory
        /// Whether the store counts on bytes of the part file, so that it must not be overwritten unasked.
        let hasRecordedBytes: Bool
        let requestedMediaType: String?
        /// The most connections.
        let connections: Int
        /// The request, but for its range and condition.
        let request: ClientRequest
    }

    struct State {
        /// Has asked what the first connection sends, and judges its answer.
        var resume: ResumeDecision
        var plan: SegmentPlan
        var digest: SHA256
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

        struct Trouble {
            let failure: DownloadFailure
            var retryAfter: Duration?
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
    private let client: HTTPClient
    private let reporter: AsyncStream<TransferReport>.Continuation

    /// - Parameters:
    ///   - resume: has asked what is sent first, and judges the answer.
    ///   - written: which bytes of the part file are valid.
    ///   - digest: the hash of the first of them.
    init(
        _ order: Order, client: HTTPClient, resume: ResumeDecision, written: Coverage, digest: SHA256,
        reporter: AsyncStream<TransferReport>.Continuation
    ) {
        self.order = order
        self.client = client
        self.reporter = reporter
        counters = TransferCounters(received: written.byteCount)
        let plan = SegmentPlan(written: written, limits: SegmentPlan.Limits(connections: max(1, order.connections)))
        state = Locked(State(resume: resume, plan: plan, digest: digest))
    }

    /// Begins; the end is reported even if it comes at once.
    func start(_ ask: ResumeDecision.Ask) {
        let connection = SegmentConnection(number: SegmentPlan.first, range: nil, of: self)
        let isCancelled = state.withLock { state in
            state.connections[connection.number] = connection
            return state.isCancelled
        }
        if isCancelled { connection.cancel() }
        var request = order.request
        request.range = ask.range
        request.ifRange = ask.ifRange
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

    func report(_ event: TransferReport.Event) {
        reporter.yield(TransferReport(id: order.id, generation: order.generation, event: event))
    }

    // MARK: - Bytes

    /// Bytes came on a connection. They are written without the lock, so that connections do not wait for each other's disk.
    func received(_ bytes: RawSpan, on connection: SegmentConnection) -> SinkDecision {
        let place = state.withLock { state -> (SegmentPlan.Placement, PartFile)? in
            guard let part = state.part, !state.isCancelled, state.decided == nil,
                let placement = state.plan.place(connection.number, bytes.byteCount)
            else { return nil }
            if placement.isOverlong {
                let failure = DownloadFailure(.transferBroken, "the origin sent more than it announced")
                state.decide(.failed(failure, retryAfter: nil))
                return nil
            }
            for number in placement.superseded { state.connections[number]?.cancel() }
            return (placement, part)
        }
        guard let (placement, part) = place else { return .stop }
        let piece = bytes.extracting(first: placement.count)
        do throws(FileError) {
            try part.write(piece, at: placement.offset)
        } catch {
            state.withLock { $0.decide(.failed(DownloadFailure(error), retryAfter: nil)) }
            return .stop
        }
        state.withLock { state in
            guard state.plan.wrote(connection.number, placement.offset..<placement.offset + Int64(placement.count)) else {
                return
            }
            if state.digest.length == placement.offset { state.digest.update(piece) }
            counters.received = state.plan.written.byteCount
        }
        // A body that ends where its segment does is let end by itself: then its connection can be used again.
        return placement.isLast && placement.count < bytes.byteCount ? .stop : .proceed
    }

    // MARK: - Ends

    /// A connection has ended.
    func finished(_ outcome: Result<TransferSummary, ClientError>, on connection: SegmentConnection) {
        let (opened, ending) = state.withLock { state in
            state.connections[connection.number] = nil
            let opened = follow(outcome, of: connection.number, &state)
            counters.connections = state.connections.count
            return (opened, state.connections.isEmpty ? end(outcome, &state) : nil)
        }
        start(opened)
        if let ending { report(.ended(ending)) }
    }

    /// Gives what an ended connection has left undone to others; returns new ones.
    private func follow(
        _ outcome: Result<TransferSummary, ClientError>, of number: Int, _ state: inout State
    ) -> [SegmentConnection] {
        let trouble = state.refusals.removeValue(forKey: number) ?? Self.trouble(outcome, state.plan.segments[number])
        if let trouble { state.trouble = trouble }
        guard state.part != nil else { return [] }
        let consequence = state.plan.ended(number, trouble == nil ? .orderly : .broken)
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
            outcome: conclude(outcome, &state), written: state.plan.written, digest: state.digest, resume: state.resume)
    }

    private func conclude(_ outcome: Result<TransferSummary, ClientError>, _ state: inout State) -> TransferReport.Outcome {
        if let decided = state.decided { return decided }
        if state.part != nil, state.plan.isWhole { return .whole }
        if let trouble = state.trouble { return .failed(trouble.failure, retryAfter: trouble.retryAfter) }
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
        let opened = openings.map { SegmentConnection(number: $0.connection, range: $0.range, of: self) }
        for connection in opened { state.connections[connection.number] = connection }
        counters.connections = state.connections.count
        return opened
    }

    /// Asks for segments, each with the validator that the file had when the attempt began.
    func start(_ opened: [SegmentConnection]) {
        guard !opened.isEmpty, let entity = state.withLock({ $0.entity }) else { return }
        for connection in opened {
            guard let range = connection.range else { continue }
            var request = order.request
            request.range = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
            request.ifRange = Validator(of: entity)?.fieldValue
            connection.start(client, request)
        }
    }
}
