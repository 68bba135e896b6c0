internal import HTTPClient
internal import HTTPCore
internal import System

extension TransferAttempt {
    /// The head of a connection's answer.
    func received(_ head: ClientResponseHead, on connection: SegmentConnection) -> SinkDecision {
        let answer = AnswerHead(status: head.status, fields: head.fields, contentLength: head.contentLength)
        let (decision, opened) = state.withLock { state -> (SinkDecision, [SegmentConnection]) in
            if state.isCancelled || state.decided != nil { return (.stop, []) }
            if let range = connection.range {
                return connection.source == state.sources.first
                    ? (judge(answer, of: connection.number, range, &state), [])
                    : (judgeMirror(answer, of: connection, range, &state), [])
            }
            return judgeFirst(head, answer, &state)
        }
        start(opened)
        return decision
    }

    // MARK: - The first answer

    private func judgeFirst(
        _ head: ClientResponseHead, _ answer: AnswerHead, _ state: inout State
    ) -> (SinkDecision, [SegmentConnection]) {
        switch state.resume.judge(answer) {
        case .append(let body):
            return accept(head, body, &state)
        case .restart(let body):
            let startedOver = state.plan.written.byteCount > 0
            let kept = (plan: state.plan, hasher: state.hasher)
            state.plan = SegmentPlan(limits: state.plan.limits)
            state.hasher = StreamingHasher([order.checksum, body.entity.digest].compactMap { $0?.algorithm })
            let answer = accept(head, body, startedOver: startedOver, &state)
            // What is not taken, a page instead of the file or one that the disk has no room for, costs nothing of what is there.
            if state.part == nil { (state.plan, state.hasher) = kept }
            return answer
        case .complete:
            state.decided = .whole
        case .askAgain(let ask):
            state.decided = .askAgain(ask)
        case .fail(let failure):
            state.decided = .failed(failure, retryAfter: answer.retryDelay(now: .now()))
        }
        return (.stop, [])
    }

    private func accept(
        _ head: ClientResponseHead, _ accepted: ResumeDecision.Body, startedOver: Bool = false, _ state: inout State
    ) -> (SinkDecision, [SegmentConnection]) {
        var body = accepted
        let source = order.sources[state.sources.first].url.string
        body.entity.source = source == order.url ? nil : source
        let mediaType = head.fields[.contentType].flatMap { MediaType(parsing: $0)?.essence }
        if let failure = mediaTypeFailure(mediaType, httpStatus: head.status.code) {
            state.decided = .failed(failure, retryAfter: nil)
            return (.stop, [])
        }
        if let digest = body.entity.digest, let checksum = order.checksum, digest.algorithm == checksum.algorithm,
            digest != checksum
        {
            let message = "the origin says that the file is \(digest), and it should be \(checksum)"
            state.decided = .failed(DownloadFailure(.checksumMismatch, message), retryAfter: nil)
            return (.stop, [])
        }
        let openings = state.plan.begin(
            at: body.offset, end: body.end, total: body.entity.total,
            dividing: body.isResumable && !state.resume.usesOneStream)
        let written = state.plan.written
        let isReplacement = written.byteCount == 0 && order.hasRecordedBytes
        do throws(FileError) {
            let part = try partFile(state.plan, isReplacement: isReplacement)
            state.hasher.bind(to: part, holding: written.prefix)
            if let total = body.entity.total {
                try order.reservations.reserve(total, in: part, for: order.id, counters: counters)
            }
            state.part = part
            state.entity = body.entity
            state.sources.note(body.entity, of: state.sources.first)
            counters.received = written.byteCount
            report(
                .accepted(
                    TransferReport.Accepted(
                        body: body, written: written, startedOver: startedOver, part: part, isReplacement: isReplacement,
                        mediaType: mediaType, contentDisposition: head.fields[.contentDisposition])))
            return (.proceed, prepare(openings, &state))
        } catch {
            state.decided = .failed(DownloadFailure(error), retryAfter: nil)
            return (.stop, [])
        }
    }

    private func mediaTypeFailure(_ mediaType: String?, httpStatus: Int) -> DownloadFailure? {
        guard let requested = order.requestedMediaType,
            mediaType.flatMap({ MediaType(parsing: $0)?.matches(pattern: requested) }) != true
        else { return nil }
        let found = mediaType ?? "no media type"
        return DownloadFailure(
            .mediaTypeMismatch, "the origin sent \(found), and \(requested) was asked for", httpStatus: httpStatus)
    }

    // MARK: - Answers for segments

    private func judge(_ answer: AnswerHead, of number: Int, _ range: Range<Int64>, _ state: inout State) -> SinkDecision {
        guard let entity = state.entity else { return .stop }
        switch SegmentAnswer(answer, range: range, entity: entity, now: .now()) {
        case .part(let end):
            state.plan.accepted(number, end: end)
            return .proceed
        case .refusal(let failure, let retryAfter):
            state.refusals[number] = State.Trouble(failure: failure, retryAfter: retryAfter)
        case .whole:
            continueAsOneStream(&state)
        case .contradiction(let reason):
            restartAsOneStream(because: reason, httpStatus: answer.status, &state)
        }
        return .stop
    }

    /// A mirror's answer: what is wrong with it is the mirror's fault, and the others go on.
    private func judgeMirror(
        _ answer: AnswerHead, of connection: SegmentConnection, _ range: Range<Int64>, _ state: inout State
    ) -> SinkDecision {
        let expected = state.sources.expectation(of: connection.source, answer, total: state.entity?.total)
        let reason: String
        switch SegmentAnswer(answer, range: range, entity: expected, now: .now()) {
        case .part(let end):
            // Without either nobody would notice that two of its answers are of different versions.
            guard Validator(of: expected) != nil || order.checksum != nil else {
                reason = "it has no validator, and the download no checksum"
                break
            }
            if let digest = answer.digest {
                // The client's word comes before the origin's.
                let known = [order.checksum, state.entity?.digest].compactMap(\.self)
                if let known = known.first(where: { $0.algorithm == digest.algorithm }), known != digest {
                    reason = "its file is \(digest)"
                    break
                }
                state.sources.note(digest, of: connection.source)
            }
            state.sources.note(expected, of: connection.source)
            state.plan.accepted(connection.number, end: end)
            return .proceed
        case .refusal(let failure, _): reason = failure.message
        case .whole: reason = "it does no ranges"
        case .contradiction(let contradiction): reason = contradiction
        }
        state.refusals[connection.number] = State.Trouble(failure: DownloadFailure(.transferBroken, reason))
        return .stop
    }

    /// The origin does no ranges after all: what the first connection brings is enough, if it still runs.
    private func continueAsOneStream(_ state: inout State) {
        guard let stream = state.plan.continueAsOneStream() else {
            return restartAsOneStream(because: "the origin has stopped sending ranges", httpStatus: 200, &state)
        }
        for connection in state.connections.values where connection.number != stream { connection.cancel() }
        counters.received = state.plan.written.byteCount
    }

    /// Nothing tells which of the bytes belong together: all are fetched anew, over one connection.
    private func restartAsOneStream(because reason: String, httpStatus: Int, _ state: inout State) {
        switch state.resume.restartAsOneStream(because: reason, httpStatus: httpStatus) {
        case .askAgain(let ask): state.decide(.askAgain(ask))
        case .fail(let failure): state.decide(.failed(failure, retryAfter: nil))
        case .append, .restart, .complete: break
        }
    }
}
