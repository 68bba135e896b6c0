internal import HTTPClient
internal import HTTPCore
internal import System

/// One attempt at a download's bytes: evaluates the responses, places the bytes as they come, over one connection or several, and reports
/// how it ended.
///
/// The first connection's response tells what the file is (`+Responses`); if it is large and comes in ranges, others are opened besides,
/// as `SegmentPlan` says. An attempt accepts one entity at most. If that is another one than the kept bytes are of, the new bytes go to a
/// part file of another generation. The service removes the old part file only after the store has recorded the new generation. Until
/// then a crash finds the old bytes untouched under the old validators; at no moment do records of one version point at bytes of another.
final class TransferAttempt: Sendable {
    /// What does not change while the attempt runs.
    struct Order: Sendable {
        let id: DownloadID
        let generation: UInt64
        let depot: any FileDepot
        /// Whether the store counts on bytes of the part file, so that it must not be overwritten unasked.
        let hasRecordedBytes: Bool
        let requestedMediaType: String?
        /// The file's name, if the user or an earlier response has given one.
        var filename: String?
        /// What is known of the file, by which a page in its place is recognised.
        var expectation = ContentExpectation()
        /// The digest that the client named, if it did.
        let checksum: Checksum?
        let reservations: DiskReservations
        /// Asked before a response is accepted, and as a body of unknown length grows.
        var quota = QuotaReservations()
        /// The most connections.
        let connections: Int
        /// The request to the download's URL and to each mirror, but for range and condition. The first one is asked first.
        let sources: [ClientRequest]
        /// The download's own URL.
        let url: String
        /// The part file, if the service has opened it because bytes are continued.
        var part: PartFile?
        /// Whether the download fails if this attempt does and brings nothing.
        var isLastAttempt = false
    }

    struct State {
        /// Has asked what the first connection sends, and evaluates its response.
        var resume: ResumeDecision
        var plan: SegmentPlan
        var sources: SourceTable
        var hasher: StreamingHasher
        var expectation: ContentExpectation
        /// What the bytes are of, once a response was accepted.
        var entity: SavedEntity?
        var part: PartFile?
        /// The outcome that was decided while connections ran; without one their own results count.
        var decided: Decision?
        var isCancelled = false
        /// Those that have not ended.
        var connections: [Int: SegmentConnection] = [:]
        /// Why responses were not taken, by connection, until those have ended.
        var refusals: [Int: DownloadFailure] = [:]
        /// The last failure: the reason if nothing else is left to try.
        var lastFailure: SourceFailure?
        /// Why the first source gave way to others.
        var firstFailure: SourceFailure?
        /// When sources may be asked again, by their own word.
        var retryTimes: [Int: ContinuousClock.Instant] = [:]

        enum Decision {
            case whole
            case askAgain(ResumeDecision.Ask)
            /// The quota has no room for a file of this many bytes, if that is known.
            case awaitRoom(Int64?)
            case failed
        }

        struct SourceFailure {
            let source: Int
            let failure: DownloadFailure
        }

        /// Why nothing more comes, if that is a failure.
        var failure: SourceFailure? {
            switch decided {
            case .failed, nil: lastFailure
            case .whole, .askAgain, .awaitRoom: nil
            }
        }

        /// The failure to report: the first source's, unless that is final and the last one may pass.
        var reportedFailure: SourceFailure? {
            guard let failure, let firstFailure else { return failure }
            return firstFailure.failure.retryable || !failure.failure.retryable ? firstFailure : failure
        }

        /// Decides the outcome and stops whatever still runs.
        mutating func decide(_ decision: Decision) {
            if decided == nil { decided = decision }
            for connection in connections.values { connection.cancel() }
        }

        /// Stops whatever still runs, without an outcome.
        mutating func cancel() {
            isCancelled = true
            for connection in connections.values { connection.cancel() }
        }

        /// Decides that the attempt has failed.
        mutating func fail(_ failure: DownloadFailure) {
            if decided == nil { lastFailure = SourceFailure(source: sources.first, failure: failure) }
            decide(.failed)
        }
    }

    let order: Order
    /// Bytes received, for everybody to read.
    let counters: TransferCounters
    let state: Locked<State>
    /// Written bytes and open connections, for readers: `state` is locked while a response is accepted, which may wait for a disk, and for
    /// a moment with every piece that comes.
    let progress: TransferProgress
    /// What the bytes there were at the beginning belong to.
    let saved: SavedEntity
    /// How many bytes there were at the beginning.
    let savedCount: Int64
    /// The source that sent the entity of those bytes, or is to prove that it has it.
    let expectedSource: Int
    private let client: HTTPClient
    private let reporter: @Sendable (TransferReport) -> Void

    /// - Parameters:
    ///   - resume: has asked what is sent first, and evaluates the response.
    ///   - written: which bytes of the part file are valid.
    ///   - hasher: follows the first of them.
    init(
        _ order: Order, client: HTTPClient, resume: ResumeDecision, written: Coverage, hasher: StreamingHasher,
        reporter: @escaping @Sendable (TransferReport) -> Void
    ) {
        self.order = order
        self.client = client
        self.reporter = reporter
        let saved = resume.savedEntity
        self.saved = saved
        savedCount = written.byteCount
        expectedSource = order.sources.firstIndex { $0.url.string == saved.source ?? order.url } ?? 0
        progress = TransferProgress(written: written)
        counters = TransferCounters(received: written.byteCount, progress: progress)
        let plan = SegmentPlan(written: written, limits: SegmentPlan.Limits(connections: max(1, order.connections)))
        let replaced = order.sources.indices.filter { resume.replacedSources.contains(order.sources[$0].url.string) }
        let sources = SourceTable(count: order.sources.count, excluding: Set(replaced))
        state = Locked(State(resume: resume, plan: plan, sources: sources, hasher: hasher, expectation: order.expectation))
    }

    /// Begins; the end is reported even if it comes at once.
    func start(_ ask: ResumeDecision.Ask) {
        let (connection, sent, isCancelled) = state.withLock { state in
            let source = state.sources.first
            let connection = SegmentConnection(number: SegmentPlan.first, range: nil, source: source, of: self)
            open(connection, &state)
            return (connection, source == expectedSource ? ask : state.resume.askOtherSource(), state.isCancelled)
        }
        if isCancelled { connection.cancel() }
        send(connection, range: sent.range, ifRange: sent.ifRange)
    }

    private func send(_ connection: SegmentConnection, range: String? = nil, ifRange: FieldValue? = nil) {
        var request = order.sources[connection.source]
        request.range = range
        request.ifRange = ifRange
        connection.start(client, request)
    }

    /// Stops; the end is still reported. Does not wait: while a response is being accepted, which may have to wait for a disk, another
    /// thread does.
    func cancel() {
        if state.withLockIfAvailable({ $0.cancel() }) == nil {
            BlockingExecutor.disk.submit { self.state.withLock { $0.cancel() } }
        }
    }

    /// The bytes that have been written to the part file so far.
    var written: Coverage { progress.written }

    /// Whether it waits for a speed limit, rather than for the origin; or for a disk here, which holds the lock meanwhile.
    var isHeldBack: Bool { progress.connections.contains { $0.isHeldBack } || state.withLockIfAvailable({ _ in }) == nil }

    /// Measures the connections' speeds; to be called a few times a second.
    func sampleConnections(at now: ContinuousClock.Instant) {
        for connection in progress.connections { connection.sample(at: now) }
    }

    /// The connections that are open or being opened, in the order of their making.
    var openConnections: [DownloadDetails.Connection] {
        progress.connections.sorted { $0.number < $1.number }.map { connection in
            let facts = connection.facts(at: .now)
            let url = order.sources[connection.source].url.string
            return DownloadDetails.Connection(
                url: url, currentURL: facts.url?.string ?? url, bytesPerSecond: facts.bytesPerSecond)
        }
    }

    func report(_ event: TransferReport.Event) {
        reporter(TransferReport(id: order.id, generation: order.generation, event: event))
    }

    // MARK: - Bytes

    /// Bytes came on a connection. They are written without the lock, so that connections do not wait for each other's disk.
    func received(_ bytes: RawSpan, on connection: SegmentConnection) -> SinkDecision {
        let place = state.withLock { state -> (SegmentPlan.Placement, [Range<Int64>], PartFile, isSmall: Bool)? in
            guard let part = state.part, !state.isCancelled, state.decided == nil,
                let placement = state.plan.place(connection.number, bytes.byteCount)
            else { return nil }
            if placement.isOverlong {
                state.fail(DownloadFailure(.transferBroken, "the origin sent more than it announced"))
                return nil
            }
            // A body of unknown length takes its room as it comes.
            if state.plan.total == nil, !order.quota.claim(placement.offset + Int64(placement.count), for: order.id) {
                state.decide(.awaitRoom(nil))
                return nil
            }
            for number in placement.superseded { state.connections[number]?.cancel() }
            // A body that passes over bytes which are there does not write over them: they are what has been hashed.
            let missing = state.plan.written.gaps(in: placement.offset..<placement.offset + Int64(placement.count))
            return (placement, missing, part, state.plan.total.map { $0 <= StreamingHasher.smallFile } ?? false)
        }
        guard let (placement, missing, part, isSmall) = place else { return .stop }
        let piece = bytes.extracting(first: placement.count)
        do throws(FileError) {
            for range in missing {
                let start = Int(range.lowerBound - placement.offset)
                try part.write(piece.extracting(start..<start + range.count), at: range.lowerBound)
            }
        } catch {
            state.withLock { $0.fail(DownloadFailure(error)) }
            return .stop
        }
        let (hasher, prefix) = state.withLock { state -> (StreamingHasher, Int64) in
            let range = placement.offset..<placement.offset + Int64(placement.count)
            if state.plan.wrote(connection.number, range) {
                // First the ranges: a reader that has the count finds at least as much in them.
                progress.insert(range)
                connection.count(placement.count)
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
        let (opened, ending, hasher) = state.withLock { state -> ([SegmentConnection], TransferReport.Ending?, StreamingHasher) in
            state.connections[connection.number] = nil
            let opened = follow(outcome, of: connection, &state) + tryMirrors(&state)
            // Last: readers find the connection or those that take its place.
            progress.ended(connection)
            counters.connections = state.connections.count
            return (opened, state.connections.isEmpty ? end(outcome, &state) : nil, state.hasher)
        }
        start(opened)
        guard let ending else { return }
        order.reservations.release(order.id)
        report(.ended(ending, hasher))
    }

    /// Gives what an ended connection has left undone to others; returns new ones.
    private func follow(
        _ outcome: Result<TransferSummary, ClientError>, of connection: SegmentConnection, _ state: inout State
    ) -> [SegmentConnection] {
        let number = connection.number
        let segment = state.plan.segments[number]
        let failure = state.refusals.removeValue(forKey: number) ?? Self.failure(outcome, segment, state.plan.limits)
        // What a mirror brings well is kept; one that brings nothing is of no use, and no reason to ask others for less.
        let isUselessMirror = connection.source != state.sources.first && (segment?.count ?? 0) < state.plan.limits.worthwhile
        if let failure {
            if state.decided == nil { state.lastFailure = State.SourceFailure(source: connection.source, failure: failure) }
            if isUselessMirror { dropMirror(connection.source, failure.message, &state) }
        }
        guard state.part != nil else { return [] }
        let consequence = state.plan.ended(number, failure == nil || isUselessMirror ? .orderly : .broken)
        guard state.decided == nil, !state.isCancelled, case .goOn(let openings) = consequence else { return [] }
        return prepare(openings, &state)
    }

    /// What went wrong with a connection; nil if nothing that matters.
    private static func failure(
        _ outcome: Result<TransferSummary, ClientError>, _ segment: SegmentPlan.Segment?, _ limits: SegmentPlan.Limits
    ) -> DownloadFailure? {
        if case .failure(.cancelled) = outcome { return nil }
        if case .failure(.stopped) = outcome { return nil }
        // Once a body has brought its segment, nothing that happens to the rest of it matters.
        if let segment, let end = segment.end, segment.position >= end {
            guard segment.isShort, !limits.isWorthwhile(segment) else { return nil }
            // RFC 9110 §15.3.7 allows less than was asked for; who sends next to nothing is not asked for more at once.
            return DownloadFailure(.transferBroken, "the origin sent only \(segment.count) bytes of what was asked for")
        }
        if case .failure(let error) = outcome { return DownloadFailure(error) }
        guard let segment, let end = segment.end else { return nil }
        return DownloadFailure(.transferBroken, "the transfer ended at byte \(segment.position) of \(end)")
    }

    /// What the attempt has come to, now that no connection is left.
    private func end(_ outcome: Result<TransferSummary, ClientError>, _ state: inout State) -> TransferReport.Ending {
        TransferReport.Ending(
            outcome: conclude(outcome, &state), written: state.plan.written, resume: state.resume,
            hasMixedSources: state.sources.hasMixed, mirrorDigests: state.sources.mirrorDigests)
    }

    private func conclude(_ outcome: Result<TransferSummary, ClientError>, _ state: inout State) -> TransferReport.Ending.Outcome
    {
        switch state.decided {
        case .whole: return .whole
        case .askAgain(let ask): return .askAgain(ask)
        case .awaitRoom(let total): return .awaitRoom(total)
        case nil where state.part != nil && state.plan.isWhole: return .whole
        case .failed, nil: break
        }
        if let reported = state.reportedFailure {
            let delay = state.retryTimes[reported.source].map { $0 - .now }
            return .failed(reported.failure, retryAfter: delay.map { max($0, .zero) })
        }
        guard case .success = outcome else { return .cancelled }
        let written = state.plan.written
        switch state.resume.ended(at: written.prefix, hasLaterBytes: written.end > written.prefix) {
        case .complete: return .whole
        case .askAgain(let ask): return .askAgain(ask)
        case .fail(let failure): return .failed(failure, retryAfter: nil)
        }
    }

    // MARK: - More connections

    /// Makes connections that the plan wants; the caller starts them without the lock.
    func prepare(_ openings: [SegmentPlan.Opening], _ state: inout State) -> [SegmentConnection] {
        let opened = openings.map { opening in
            let source = state.sources.next(busy: state.connections.values.map(\.source), combining: isProven(state))
            let connection = SegmentConnection(number: opening.connection, range: opening.range, source: source, of: self)
            open(connection, &state)
            return connection
        }
        counters.connections = state.connections.count
        return opened
    }

    /// Counts a connection as open from now on.
    func open(_ connection: SegmentConnection, _ state: inout State) {
        state.connections[connection.number] = connection
        progress.opened(connection)
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

    /// Whether there is a digest that all bytes together are verified against: the client's, or one that the file's source sent. Only then
    /// may bytes of several sources be combined.
    func isProven(_ state: State) -> Bool {
        order.checksum != nil || (state.entity ?? saved).digest != nil
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
