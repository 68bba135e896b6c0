internal import HTTPClient
internal import HTTPCore
internal import Threading

/// One request for a download's bytes: judges the head, places the bytes as they come, and reports how it ended.
///
/// When the origin answers with another version than the one whose bytes are kept, the new bytes go to a replacement beside the
/// part file, and the service swaps the two only after the store has recorded that the old bytes are given up. Until then
/// a crash finds the old bytes untouched under the old validators; at no moment do records of one version point at bytes of another.
final class TransferAttempt: TransferSink {
    /// Bytes received, for everybody to read.
    let counters: TransferCounters

    private struct State {
        var resume: ResumeDecision
        var digest: SHA256
        var offset: Int64
        /// Where the last byte ends; nothing is written beyond it.
        var end: Int64?
        var part: PartFile?
        /// The outcome that was decided while the transfer ran; without one the transfer's own result counts.
        var decided: TransferReport.Outcome?
        var handle: TransferHandle?
        var isCancelled = false
    }

    private let id: DownloadID
    private let generation: UInt64
    private let directory: DataDirectory
    private let hasRecordedBytes: Bool
    private let requestedMediaType: String?
    private let reporter: AsyncStream<TransferReport>.Continuation
    /// Uncontended but for `cancel`: the sink's functions are called by one thread.
    private let state: Locked<State>

    /// - Parameters:
    ///   - resume: has asked what is sent, and judges the answer.
    ///   - offset: how many bytes of the part file are valid.
    ///   - hasRecordedBytes: whether the store counts on bytes of the part file, so that it must not be overwritten unasked.
    ///   - digest: the hash of the first bytes.
    init(
        id: DownloadID, generation: UInt64, directory: DataDirectory, resume: ResumeDecision,
        offset: Int64, hasRecordedBytes: Bool, digest: SHA256, requestedMediaType: String?,
        reporter: AsyncStream<TransferReport>.Continuation
    ) {
        self.id = id
        self.generation = generation
        self.directory = directory
        self.hasRecordedBytes = hasRecordedBytes
        self.requestedMediaType = requestedMediaType
        self.reporter = reporter
        counters = TransferCounters(received: offset)
        state = Locked(State(resume: resume, digest: digest, offset: offset))
    }

    /// Begins; the end is reported even if it comes at once.
    func start(_ client: HTTPClient, _ request: ClientRequest) {
        let handle = client.start(request, sink: self)
        let isCancelled = state.withLock { state in
            state.handle = handle
            return state.isCancelled
        }
        if isCancelled { handle.cancel() }
    }

    /// Whether it waits for a speed limit, rather than for the origin.
    var isHeldBack: Bool { state.withLock { $0.handle }?.isHeldBack ?? false }

    /// Stops; the end is still reported.
    func cancel() {
        let handle = state.withLock { state in
            state.isCancelled = true
            return state.handle
        }
        handle?.cancel()
    }

    // MARK: - Sink

    func received(_ head: ClientResponseHead) -> SinkDecision {
        state.withLock { state in
            if state.isCancelled { return .stop }
            let answer = AnswerHead(status: head.status, fields: head.fields, contentLength: head.contentLength)
            switch state.resume.judge(answer) {
            case .append(let body), .restart(let body):
                return accept(head, body, &state)
            case .complete:
                state.decided = .whole
            case .askAgain(let ask):
                state.decided = .askAgain(ask)
            case .fail(let failure):
                state.decided = .failed(failure, retryAfter: answer.retryDelay(now: .now()))
            }
            return .stop
        }
    }

    func received(_ bytes: RawSpan) -> SinkDecision {
        state.withLock { state in
            guard let part = state.part, !state.isCancelled else { return .stop }
            if let end = state.end, state.offset + Int64(bytes.byteCount) > end {
                state.decided = .failed(
                    DownloadFailure(.transferBroken, "the origin sent more than the \(end) bytes it announced"), retryAfter: nil)
                return .stop
            }
            do throws(FileError) {
                try part.write(bytes, at: state.offset)
            } catch {
                state.decided = .failed(DownloadFailure(error), retryAfter: nil)
                return .stop
            }
            if state.digest.length == state.offset { state.digest.update(bytes) }
            state.offset += Int64(bytes.byteCount)
            counters.add(bytes.byteCount)
            return .proceed
        }
    }

    func finished(_ outcome: Result<TransferSummary, ClientError>) {
        let ending = state.withLock { state in
            let outcome = conclude(outcome, &state)
            return TransferReport.Ending(
                outcome: outcome, offset: state.offset, digest: state.digest, resume: state.resume)
        }
        report(.ended(ending))
    }

    // MARK: - Parts

    private func accept(
        _ head: ClientResponseHead, _ body: ResumeDecision.Body, _ state: inout State
    ) -> SinkDecision {
        let mediaType = head.fields[.contentType].flatMap { MediaType(parsing: $0)?.essence }
        if let requestedMediaType, mediaType.flatMap({ MediaType(parsing: $0)?.matches(pattern: requestedMediaType) }) != true {
            let found = mediaType ?? "no media type"
            state.decided = .failed(
                DownloadFailure(.mediaTypeMismatch, "the origin sent \(found), and \(requestedMediaType) was asked for"),
                retryAfter: nil)
            return .stop
        }
        let offset = body.offset
        let isReplacement = offset == 0 && hasRecordedBytes
        let startedOver = offset == 0 && state.offset > 0
        do throws(FileError) {
            let path = isReplacement ? directory.replacement(id) : directory.part(id)
            let part = try PartFile(path: path, truncating: offset == 0)
            // Bytes behind the offset were never vouched for: they are cut before room is reserved anew.
            if offset > 0 { try part.truncate(to: offset) }
            if let total = body.entity.total { try part.preallocate(total) }
            state.part = part
            state.end = body.end
            state.offset = offset
            if offset == 0 { state.digest = SHA256() }
            counters.received = offset
            report(
                .accepted(
                    TransferReport.Accepted(
                        body: body, startedOver: startedOver, part: part, isReplacement: isReplacement,
                        mediaType: mediaType, contentDisposition: head.fields[.contentDisposition])))
            return .proceed
        } catch {
            state.decided = .failed(DownloadFailure(error), retryAfter: nil)
            return .stop
        }
    }

    private func conclude(_ outcome: Result<TransferSummary, ClientError>, _ state: inout State) -> TransferReport.Outcome {
        if let decided = state.decided { return decided }
        switch outcome {
        case .success:
            switch state.resume.ended(at: state.offset) {
            case .complete: return .whole
            case .askAgain(let ask): return .askAgain(ask)
            case .fail(let failure): return .failed(failure, retryAfter: nil)
            }
        case .failure(.cancelled), .failure(.stopped):
            return .cancelled
        case .failure(let error):
            return .failed(DownloadFailure(error), retryAfter: nil)
        }
    }

    private func report(_ event: TransferReport.Event) {
        reporter.yield(TransferReport(id: id, generation: generation, event: event))
    }
}
