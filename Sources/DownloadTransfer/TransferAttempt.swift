package import DownloadCore
package import DownloadFiles
package import HTTPClient
internal import HTTPCore
package import System

/// One attempt to fetch a download's bytes over one connection or several. It evaluates responses, writes the bytes,
/// and reports its outcome.
///
/// The response to the first connection describes the file (`+Responses`). If the file is large and available in
/// ranges, further connections are opened as `SegmentPlan` decides. An attempt accepts one entity at most.
///
/// If the kept bytes are of another entity, the new bytes go to a part file of another generation. The service removes
/// the old part file only after the store has recorded the new generation. After a crash before that, the old bytes are
/// intact under the old validators. At no time do records of one version refer to bytes of another.
package final class TransferAttempt: Sendable {
    /// The values that do not change during the attempt.
    package struct Parameters: Sendable {
        package let id: RecordID
        package let operation: UInt64
        package let partFiles: PartFiles
        /// Whether the store has recorded bytes of the part file, so that they must not be overwritten.
        package let hasRecordedBytes: Bool
        package let requestedMediaType: String?
        /// The file's name, if the user or an earlier response has given one.
        package var filename: String?
        /// The known facts about the file, which distinguish it from a page in its place.
        package var expectation = ContentExpectation()
        /// The digest that the client named; `nil` for none.
        package let checksum: Checksum?
        package let reservations: DiskReservations
        /// The quota. Bytes are reserved before a response is accepted, and as a body of unknown length grows.
        package var quota = QuotaReservations()
        /// The maximum number of connections.
        package let connections: Int
        /// The requests to the download's URL and to each mirror, without range and condition. The
        /// first one is sent first.
        package let sources: [ClientRequest]
        /// The sources that the origin has announced in an earlier attempt, as indices of ``sources``.
        package var announced: Set<Int> = []
        /// The treatment of mirrors that the origin announces.
        package var announcements = Announcements.used
        /// The decision about long waits.
        package var patience: Patience
        /// Whether another request can continue the bytes; `nil` before the first head of the download.
        package var isResumable: Bool?
        /// The download's own URL.
        package let url: String
        /// The part file, if the service has opened it to continue its bytes.
        package var part: PartFile?
        /// Whether the download fails if this attempt fails and brings nothing.
        package var isLastAttempt = false

        package init(
            id: RecordID, operation: UInt64, partFiles: PartFiles, hasRecordedBytes: Bool, requestedMediaType: String?,
            filename: String? = nil, expectation: ContentExpectation = ContentExpectation(), checksum: Checksum?,
            reservations: DiskReservations, quota: QuotaReservations = QuotaReservations(), connections: Int,
            sources: [ClientRequest], announced: Set<Int> = [], announcements: Announcements = .used,
            patience: Patience = Patience(Patience.Limits(connect: nil, response: nil, stall: nil)),
            isResumable: Bool? = nil, url: String, part: PartFile? = nil, isLastAttempt: Bool = false
        ) {
            self.id = id
            self.operation = operation
            self.partFiles = partFiles
            self.hasRecordedBytes = hasRecordedBytes
            self.requestedMediaType = requestedMediaType
            self.filename = filename
            self.expectation = expectation
            self.checksum = checksum
            self.reservations = reservations
            self.quota = quota
            self.connections = connections
            self.sources = sources
            self.announced = announced
            self.announcements = announcements
            self.patience = patience
            self.isResumable = isResumable
            self.url = url
            self.part = part
            self.isLastAttempt = isLastAttempt
        }
    }

    package struct State {
        /// The decision that made the request of the first connection. It evaluates the response.
        package var resume: ResumeDecision
        package var plan: SegmentPlan
        package var sources: SourceTable
        /// The requests to the sources, by their numbers in ``sources``.
        package var requests: [ClientRequest]
        /// The sources that the origin has announced, and the digest that proves their bytes.
        package var announced: Set<Int>
        package var announcedDigest: Checksum?
        /// The announcement of the last redirect that had one.
        package var announcement: AnnouncedMirrors?
        /// Whether another request can continue the bytes; `nil` before a head has shown that.
        package var isResumable: Bool?
        package var hasher: StreamingHasher
        package var expectation: ContentExpectation
        /// The entity of the bytes; `nil` before a response has been accepted.
        package var entity: SavedEntity?
        package var part: PartFile?
        /// The generation of the part file that the first bytes of a small file create; `nil` otherwise.
        var newGeneration: UInt64?
        /// The outcome that was decided while connections ran. Without one, the results of the connections decide.
        var decided: Decision?
        package var isCancelled = false
        /// The connections that have not ended, by number.
        package var connections: [Int: SegmentConnection] = [:]
        /// The failures of refused responses by connection, until these connections have ended.
        var refusals: [Int: DownloadFailure] = [:]
        /// The last failure, which is the outcome if there is nothing else to try.
        package var lastFailure: SourceFailure?
        /// The failure that made others replace the first source.
        var firstFailure: SourceFailure?
        /// The heads of responses whose first bytes have to show what they are, by connection.
        var held: [Int: ClientResponseHead] = [:]
        /// The times at which sources may be asked again, according to their responses.
        var retryTimes: [Int: ContinuousClock.Instant] = [:]

        package enum Decision {
            case whole
            case askAgain(ResumeDecision.Ask)
            /// The quota has no room for a file of this many bytes; `nil` if the length is unknown.
            case awaitRoom(Int64?)
            case lostBytes(FileError)
            case fileFailed(FileError)
            case failed
        }

        package struct SourceFailure {
            let source: Int
            let failure: DownloadFailure
        }

        /// The failure that ended the bytes; `nil` if there is another reason or none.
        package var failure: SourceFailure? {
            switch decided {
            case .failed, nil: lastFailure
            case .whole, .askAgain, .awaitRoom, .lostBytes, .fileFailed: nil
            }
        }

        /// The failure to report: the first source's. If that is final and the last one may pass, it is the last one.
        var reportedFailure: SourceFailure? {
            guard let failure, let firstFailure else { return failure }
            return firstFailure.failure.retryable || !failure.failure.retryable ? firstFailure : failure
        }

        /// Decides the outcome, and stops all running connections.
        package mutating func decide(_ decision: Decision) {
            if decided == nil { decided = decision }
            for connection in connections.values { connection.cancel() }
        }

        /// Stops all running connections, without an outcome.
        package mutating func cancel() {
            isCancelled = true
            for connection in connections.values { connection.cancel() }
        }

        /// Decides that the attempt has failed.
        package mutating func fail(_ failure: DownloadFailure) {
            if decided == nil { lastFailure = SourceFailure(source: sources.first, failure: failure) }
            decide(.failed)
        }
    }

    package let parameters: Parameters
    /// The counters of received bytes, for readers on any thread.
    package let counters: TransferCounters
    package let state: Locked<State>
    /// The written bytes and open connections, for readers on any thread.
    ///
    /// The lock of `state` is held while a response is accepted, which may wait for a disk. It is also held for a
    /// moment with every piece of bytes.
    package let progress: TransferProgress
    /// The entity of the bytes that were present at the beginning.
    package let saved: SavedEntity
    /// The number of bytes that were present at the beginning.
    let savedCount: Int64
    /// The source that sent the entity of those bytes, or has to prove that it has the same one.
    let expectedSource: Int
    private let client: HTTPClient
    private let reporter: @Sendable (TransferReport) -> Void

    /// Creates an attempt.
    /// - Parameters:
    ///   - resume: The decision that made the first request. It evaluates the response.
    ///   - written: The valid bytes of the part file.
    ///   - hasher: The hasher, which follows the valid bytes from the first one on.
    package init(
        _ parameters: Parameters, client: HTTPClient, resume: ResumeDecision, written: Coverage, hasher: StreamingHasher,
        reporter: @escaping @Sendable (TransferReport) -> Void
    ) {
        self.parameters = parameters
        self.client = client
        self.reporter = reporter
        let saved = resume.savedEntity
        self.saved = saved
        savedCount = written.byteCount
        expectedSource = parameters.sources.firstIndex { $0.url.string == saved.source ?? parameters.url } ?? 0
        progress = TransferProgress(written: written)
        counters = TransferCounters(received: written.byteCount, progress: progress)
        let plan = SegmentPlan(written: written, limits: SegmentPlan.Limits(connections: max(1, parameters.connections)))
        let replaced = parameters.sources.indices.filter { resume.replacedSources.contains(parameters.sources[$0].url.string) }
        let sources = SourceTable(count: parameters.sources.count, excluding: Set(replaced))
        state = Locked(
            State(
                resume: resume, plan: plan, sources: sources, requests: parameters.sources, announced: parameters.announced,
                announcedDigest: saved.digest, isResumable: parameters.isResumable, hasher: hasher,
                expectation: parameters.expectation))
    }

    /// Starts the attempt. Its end is reported even if it comes at once.
    package func start(_ ask: ResumeDecision.Ask) {
        let (connection, request, sent, isCancelled) = state.withLock { state in
            let source = state.sources.first
            let connection = open(SegmentPlan.first, range: nil, source: source, &state)
            let sent = source == expectedSource ? ask : state.resume.askOtherSource()
            return (connection, state.requests[source], sent, state.isCancelled)
        }
        if isCancelled { connection.cancel() }
        send(request, on: connection, range: sent.range, ifRange: sent.ifRange)
    }

    private func send(
        _ request: ClientRequest, on connection: SegmentConnection, range: String? = nil, ifRange: FieldValue? = nil
    ) {
        var request = request
        request.range = range
        request.ifRange = ifRange
        connection.start(client, request)
    }

    /// Stops the attempt. Its end is still reported.
    ///
    /// This does not wait. While a response is being accepted, which may wait for a disk, another
    /// thread stops the attempt.
    package func cancel() {
        if state.withLockIfAvailable({ $0.cancel() }) == nil {
            BlockingExecutor.disk.submit { self.state.withLock { $0.cancel() } }
        }
    }

    /// The bytes that have been written to the part file so far.
    package var written: Coverage { progress.written }

    /// Whether the attempt waits for a speed limit or for the local disk, instead of the origin. The lock is held
    /// during a wait for the disk.
    package var isHeldBack: Bool { progress.connections.contains { $0.isHeldBack } || state.withLockIfAvailable({ _ in }) == nil }

    /// Samples the connections for their speeds. To be called a few times a second.
    package func sampleConnections(at now: ContinuousClock.Instant) {
        for connection in progress.connections { connection.sample(at: now) }
    }

    /// The connections that are open or being opened, in the order of their creation.
    package var openConnections: [DownloadDetails.Connection] {
        progress.connections.sorted { $0.number < $1.number }.map { connection in
            let facts = connection.facts(at: .now)
            let url = connection.sourceURL.string
            return DownloadDetails.Connection(
                url: url, currentURL: facts.url?.string ?? url, bytesPerSecond: facts.bytesPerSecond)
        }
    }

    package func report(_ event: TransferReport.Event) {
        reporter(TransferReport(id: parameters.id, operation: parameters.operation, event: event))
    }

    // MARK: - Bytes

    /// Writes bytes received on a connection. This is done without the lock, so that connections do not wait for each
    /// other's disk.
    package func received(_ bytes: RawSpan, on connection: SegmentConnection) -> SinkDecision {
        if let head = takeHeld(connection) {
            let beginning = [UInt8](copying: bytes.extracting(first: min(bytes.byteCount, Self.pageLength)))
            if evaluate(head, beginning: beginning, on: connection) == .stop { return .stop }
        }
        let place = state.withLock { state -> (SegmentPlan.Placement, PlacedPiece, PartFile?, isSmall: Bool)? in
            guard state.part != nil || state.newGeneration != nil, !state.isCancelled, state.decided == nil,
                let placement = state.plan.place(connection.number, bytes.byteCount)
            else { return nil }
            if placement.isOverlong {
                state.fail(DownloadFailure(.transferBroken, "the origin sent more than it announced"))
                return nil
            }
            // A body of unknown length reserves its bytes as they arrive.
            if state.plan.total == nil, !parameters.quota.reserve(placement.offset + Int64(placement.count), for: parameters.id) {
                state.decide(.awaitRoom(nil))
                return nil
            }
            for number in placement.superseded { state.connections[number]?.cancel() }
            return (
                placement, PlacedPiece(placement, state.plan.written), state.part,
                state.plan.total.map { $0 <= PublishedFile.smallLength } ?? false
            )
        }
        guard let (placement, pieces, present, isSmall) = place else { return .stop }
        let piece = bytes.extracting(first: placement.count)
        do throws(FileError) {
            let part = if let present { present } else { try createPart(for: piece) }
            for range in pieces.present where try !part.holds(piece.extracting(pieces.place(of: range)), at: range.lowerBound) {
                differs(at: range.lowerBound, on: connection)
                return .stop
            }
            for range in pieces.missing { try part.write(piece.extracting(pieces.place(of: range)), at: range.lowerBound) }
        } catch {
            state.withLock { $0.decide(.fileFailed(error)) }
            return .stop
        }
        let (hasher, prefix) = state.withLock { state -> (StreamingHasher, Int64) in
            let range = pieces.own
            for late in pieces.uncompared {
                let bytes = [UInt8](copying: piece.extracting(pieces.place(of: late)))
                state.plan.keep(bytes, at: late.lowerBound, of: connection.number)
            }
            if state.plan.wrote(connection.number, range) {
                compareLate(&state)
                // The ranges come first. A reader that has the count then finds at least as many bytes in the ranges.
                progress.insert(range, seams: state.plan.seams)
                if !range.isEmpty { connection.count(placement.count) }
                counters.received = state.plan.written.byteCount
            }
            return (state.hasher, state.plan.written.prefix)
        }
        if isSmall {
            hasher.take(piece, at: placement.offset)
        } else if let alteration = hasher.follow(upTo: prefix) {
            state.withLock { $0.decide(.lostBytes(alteration)) }
            return .stop
        }
        // A body that ends with its segment is read to its end, so that its connection can be used again.
        return placement.isLast && !placement.endsBody ? .stop : .proceed
    }

    // MARK: - Ends

    /// Handles the end of a connection.
    package func finished(_ outcome: Result<TransferSummary, ClientError>, on connection: SegmentConnection) {
        if case .success = outcome, let head = takeHeld(connection) { _ = evaluate(head, beginning: [], on: connection) }
        let (opened, ending, hasher) = state.withLock { state -> ([SegmentConnection], TransferEnding?, StreamingHasher) in
            state.connections[connection.number] = nil
            state.held[connection.number] = nil
            if state.newGeneration != nil, state.part == nil, !state.isCancelled { createEmptyPart(&state) }
            let opened = follow(outcome, of: connection, &state) + tryMirrors(&state)
            // This comes last. Readers then find either the connection or those that replace it.
            progress.ended(connection)
            counters.connections = state.connections.count
            return (opened, state.connections.isEmpty ? end(outcome, &state) : nil, state.hasher)
        }
        start(opened)
        guard let ending else { return }
        parameters.reservations.release(parameters.id)
        report(.ended(ending, hasher))
    }

    /// Assigns the unfinished bytes of an ended connection to others.
    /// - Returns: New connections to start.
    private func follow(
        _ outcome: Result<TransferSummary, ClientError>, of connection: SegmentConnection, _ state: inout State
    ) -> [SegmentConnection] {
        let number = connection.number
        let segment = state.plan.segments[number]
        let failure = state.refusals.removeValue(forKey: number) ?? Self.failure(outcome, segment, state.plan.limits)
        // Useful bytes of a mirror are kept. A mirror that brings none is dropped. It is no
        // reason to ask others for less.
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

    /// Returns the failure of a connection; `nil` if there is none that matters.
    private static func failure(
        _ outcome: Result<TransferSummary, ClientError>, _ segment: SegmentPlan.Segment?, _ limits: SegmentPlan.Limits
    ) -> DownloadFailure? {
        if case .failure(.cancelled) = outcome { return nil }
        if case .failure(.stopped) = outcome { return nil }
        if case .success = outcome, let segment, segment.isProof || segment.endsInOverlap { return nil }
        // After a body has brought its segment, the rest of it does not matter.
        if let segment, let end = segment.end, segment.position >= end {
            guard segment.isShort, !limits.isWorthwhile(segment) else { return nil }
            // RFC 9110 §15.3.7 allows less than the requested range. An origin that sends very little is not asked
            // again at once.
            return DownloadFailure(.transferBroken, "the origin sent only \(segment.count) bytes of what was asked for")
        }
        if case .failure(let error) = outcome { return DownloadFailure(error) }
        guard let segment else { return nil }
        guard let end = segment.end ?? (segment.position < segment.start ? segment.start : nil) else { return nil }
        return DownloadFailure(.transferBroken, "the transfer ended at byte \(segment.position) of \(end)")
    }

    /// Returns the end of the attempt, after the last connection has ended.
    private func end(_ outcome: Result<TransferSummary, ClientError>, _ state: inout State) -> TransferEnding {
        TransferEnding(
            outcome: conclude(outcome, &state), written: state.plan.proven, resume: state.resume,
            hasMixedSources: state.sources.hasMixed || state.announced.contains(state.sources.first),
            mirrorDigests: state.sources.mirrorDigests)
    }

    private func conclude(_ outcome: Result<TransferSummary, ClientError>, _ state: inout State) -> TransferEnding.Outcome {
        switch state.decided {
        case .whole: return .whole
        case .askAgain(let ask): return .askAgain(ask)
        case .awaitRoom(let total): return .awaitRoom(total)
        case .lostBytes(let error): return .lostBytes(error)
        case .fileFailed(let error): return .fileFailed(error)
        case nil where state.part != nil && state.plan.isWhole: return .whole
        case .failed, nil: break
        }
        if let reported = state.reportedFailure {
            let delay = state.retryTimes[reported.source].map { $0 - .now }
            return .failed(reported.failure, retryAfter: delay.map { max($0, .zero) })
        }
        guard case .success(let summary) = outcome else { return .cancelled }
        let (written, isConfirmed) = (state.plan.proven, !summary.lacksCloseNotify)
        switch state.resume.ended(at: written.prefix, hasLaterBytes: written.end > written.prefix, isConfirmed: isConfirmed) {
        case .complete:
            if !isConfirmed {
                report(
                    .warning(
                        "\(parameters.id) is whole if it ends at byte \(written.prefix): its origin sent no close_notify of TLS"))
            }
            return .whole
        case .askAgain(let ask): return .askAgain(ask)
        case .fail(let failure): return .failed(failure, retryAfter: nil)
        }
    }

    // MARK: - More connections

    /// Creates the connections that the plan wants. The caller starts them without the lock.
    package func prepare(_ openings: [SegmentPlan.Opening], _ state: inout State) -> [SegmentConnection] {
        let opened = openings.map { opening in
            let source = state.sources.next(busy: state.connections.values.map(\.source), combining: isProven(state))
            return open(opening.connection, range: opening.range, source: source, &state)
        }
        counters.connections = state.connections.count
        return opened
    }

    /// Creates a connection, and counts it as open.
    package func open(_ number: Int, range: Range<Int64>?, source: Int, _ state: inout State) -> SegmentConnection {
        let url = state.requests[source].url
        let connection = SegmentConnection(number: number, range: range, source: source, at: url, of: self)
        state.connections[number] = connection
        progress.opened(connection)
        return connection
    }

    /// Requests segments, each with the validator from the first response of its source.
    package func start(_ opened: [SegmentConnection]) {
        for connection in opened {
            let (request, entity) = state.withLock {
                ($0.requests[connection.source], $0.sources.entity(of: connection.source))
            }
            guard let range = connection.range else {
                send(request, on: connection)
                continue
            }
            send(
                request, on: connection, range: "bytes=\(range.lowerBound)-\(range.upperBound - 1)",
                ifRange: entity.flatMap(Validator.init(of:))?.fieldValue)
        }
    }

    /// Whether a digest verifies all bytes together: the client's, or one that the file's source sent.
    ///
    /// Only then may bytes of several sources be combined.
    package func isProven(_ state: State) -> Bool {
        parameters.checksum != nil || (state.entity ?? saved).digest != nil
    }

    /// Drops a mirror, and reports it.
    func dropMirror(_ source: Int, _ reason: String, _ state: inout State) {
        state.sources.drop(source)
        report(.mirrorDropped("\(host(of: source, state)): \(reason)"))
    }

    /// Returns the host and port of a source. The rest of its URL may hold a secret.
    package func host(of source: Int, _ state: State) -> String {
        "\(state.requests[source].url.host):\(state.requests[source].url.port)"
    }
}
