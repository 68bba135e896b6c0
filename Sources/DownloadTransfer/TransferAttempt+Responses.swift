package import DownloadCore
package import DownloadFiles
package import HTTPClient
internal import HTTPCore
internal import System

extension TransferAttempt {
    /// Evaluates the head of a connection's response.
    package func received(_ head: ClientResponseHead, on connection: SegmentConnection) -> SinkDecision {
        evaluate(head, beginning: nil, on: connection)
    }

    /// Evaluates a response.
    /// - Parameter beginning: The first bytes of the body, empty if it has none; `nil` if they have not been received.
    func evaluate(_ head: ClientResponseHead, beginning: [UInt8]?, on connection: SegmentConnection) -> SinkDecision {
        var response = OriginResponse(status: head.status, fields: head.fields, contentLength: head.contentLength)
        if response.contentEncoding != nil { response.names = names(head, of: connection) }
        // RFC 9110 §6.6.1: a recipient notes the time of a response without Date.
        response.date = response.date ?? HTTPDate(secondsSinceEpoch: Timestamp.now().millisecondsSinceEpoch / 1000).description
        response.target = head.url.target(of: connection.sourceURL.string)
        let (decision, opened) = state.withLock { state -> (SinkDecision, [SegmentConnection]) in
            if state.isCancelled || state.decided != nil { return (.stop, []) }
            if !head.status.isSuccessful || head.status.code == 202, let delay = response.retryDelay(now: .now()) {
                let time = ContinuousClock.now + delay
                state.retryTimes[connection.source] = max(state.retryTimes[connection.source] ?? time, time)
            }
            if beginning == nil, needsBytes(response, on: connection, state) {
                state.held[connection.number] = head
                return (.proceed, [])
            }
            if beginning?.isEmpty == true { response.contentLength = 0 }
            if let failure = state.expectation.failure(for: response, beginning: beginning) {
                // Other connections do bring bytes of the file, so only this one fails.
                if connection.range == nil { state.fail(failure) } else { state.refusals[connection.number] = failure }
                return (.stop, [])
            }
            if connection.range == nil, isTail(response, beginning, state) {
                decide(state.resume.unproven(), &state)
                return (.stop, [])
            }
            if let range = connection.range {
                return connection.source == state.sources.first
                    ? (evaluate(response, of: connection.number, range, &state), [])
                    : (evaluateMirror(response, of: connection, range, &state), [])
            }
            return evaluateFirst(head, response, &state)
        }
        start(opened)
        return decision
    }

    /// Returns the names given to the file by the user, the requested URL, the response's URL, and the origin.
    private func names(_ head: ClientResponseHead, of connection: SegmentConnection) -> [String] {
        let disposition = head.fields[.contentDisposition].flatMap { ContentDisposition(parsing: $0) }
        return [
            parameters.filename, connection.sourceURL.lastPathComponent, head.url.lastPathComponent,
            disposition?.filename,
        ].compactMap(\.self)
    }

    // MARK: - The first response

    private func evaluateFirst(
        _ head: ClientResponseHead, _ response: OriginResponse, _ state: inout State
    ) -> (SinkDecision, [SegmentConnection]) {
        var response = response
        if let failure = prove(&response, head, &state) {
            state.fail(failure)
            return (.stop, [])
        }
        let source = state.requests[state.sources.first].url.string
        switch state.resume.evaluate(response, from: source == parameters.url ? nil : source) {
        case .append(let body):
            return accept(head, body, hasRanges: response.hasRanges, &state)
        case .restart(let body):
            let kept = (plan: state.plan, hasher: state.hasher)
            let startedOver = kept.plan.written.byteCount > 0
            // A source that replaces another one should have the same file. Present bytes are not discarded for a file
            // of another length.
            if startedOver, state.sources.first != expectedSource, let total = body.entity.total, let known = saved.total,
                total != known
            {
                state.fail(DownloadFailure(.entityChanged, "its file has \(total) bytes and not \(known)"))
                break
            }
            state.plan = SegmentPlan(limits: state.plan.limits)
            let algorithms = [parameters.checksum, body.entity.digest].compactMap { $0?.algorithm }
            if startedOver || !state.hasher.computes(algorithms) {
                state.hasher = StreamingHasher(algorithms, isDivided: state.hasher.isDivided)
            }
            let accepted = accept(head, body, hasRanges: response.hasRanges, startedOver: startedOver, &state)
            // A response may be refused, because it is a page or because the disk has no room. The
            // present bytes then stay.
            if state.part == nil, state.newGeneration == nil { (state.plan, state.hasher) = kept }
            return accepted
        case let verdict:
            decide(verdict, &state)
        }
        return (.stop, [])
    }

    private func accept(
        _ head: ClientResponseHead, _ body: ResumeDecision.Body, hasRanges: Bool, startedOver: Bool = false,
        _ state: inout State
    ) -> (SinkDecision, [SegmentConnection]) {
        let mediaType = head.fields[.contentType].flatMap { MediaType(parsing: $0)?.essence ?? PageFormat.mediaType(of: $0) }
        if let failure = mediaTypeFailure(mediaType, httpStatus: head.status.code) ?? digestFailure(body.entity.digest) {
            state.fail(failure)
            return (.stop, [])
        }
        guard parameters.quota.reserve(body.entity.total ?? body.end ?? body.offset, for: parameters.id) else {
            state.decide(.awaitRoom(body.entity.total))
            return (.stop, [])
        }
        let openings = state.plan.begin(
            at: body.offset, end: body.end, total: body.entity.total,
            dividing: body.isResumable && !state.resume.usesOneStream)
        let written = state.plan.written
        let isReplacement = written.byteCount == 0 && (parameters.hasRecordedBytes || startedOver)
        // The first bytes of a small file may be all of them. Its part file is then created as a whole one.
        let isSmall = body.entity.total.map { 1...PublishedFile.smallLength ~= $0 } ?? false
        do throws(FileError) {
            let generation: UInt64?
            if isSmall, written.byteCount == 0, !isReplacement, openings.isEmpty {
                generation = PartFiles.newGeneration()
                state.newGeneration = generation
            } else {
                let part = try openPart(continuing: written.byteCount > 0, keepsOthers: isReplacement)
                state.hasher.bind(to: part, holding: written.prefix)
                if let total = body.entity.total { try reserve(total, in: part, isReplacement: isReplacement) }
                state.part = part
                generation = part.generation
                report(.opened(part))
            }
            state.entity = body.entity
            state.expectation.mediaType = mediaType ?? state.expectation.mediaType
            state.firstFailure = nil
            state.isResumable = body.isResumable && hasRanges
            state.sources.note(body.entity, of: state.sources.first)
            state.announcedDigest = body.entity.digest
            adopt(state.announcement, known: body.entity.digest, &state)
            progress.set(state.plan)
            counters.received = written.byteCount
            report(
                .accepted(
                    TransferAcceptance(
                        body: body, written: written, startedOver: startedOver, isReplacement: isReplacement,
                        partGeneration: generation,
                        mediaType: mediaType, contentDisposition: head.fields[.contentDisposition], finalURL: head.url,
                        announcedMirrors: announcedURLs(body.entity, state))))
            return (.proceed, prepare(openings, &state))
        } catch {
            state.decide(.fileFailed(error))
            return (.stop, [])
        }
    }

    /// Reserves the space of a whole file.
    ///
    /// If there is none for both, the bytes of an earlier version are removed before the record has the new version.
    /// This is done only if it makes enough room.
    private func reserve(_ total: Int64, in part: PartFile, isReplacement: Bool) throws(FileError) {
        do throws(FileError) {
            try parameters.reservations.reserve(total, in: part, of: parameters.partFiles, for: parameters.id, counters: counters)
        } catch {
            guard [.full, .noRoom].contains(error.kind), isReplacement else { throw error }
            if let old = try parameters.part?.allocatedBytes() {
                guard
                    try parameters.reservations.fits(total, in: part, of: parameters.partFiles, for: parameters.id, freeing: old)
                else {
                    throw error
                }
            }
            _ = try parameters.partFiles.removeOtherParts(parameters.id, than: part.generation)
            // The file may still be open here. Until it is cut, it keeps its space.
            try parameters.part?.cut(to: 0)
            try parameters.reservations.reserve(total, in: part, of: parameters.partFiles, for: parameters.id, counters: counters)
        }
    }

    /// Opens the part file for the bytes: the present one if they continue it, or a new one.
    package func openPart(continuing: Bool, keepsOthers: Bool = false) throws(FileError) -> PartFile {
        guard continuing else { return try parameters.partFiles.createPart(parameters.id, keepsOthers: keepsOthers) }
        guard let part = parameters.part else { throw FileError(.transient, "the part file of \(parameters.id) is not open") }
        return part
    }

    /// Creates the part file of a small file, whose first bytes have arrived. If they are all, and match the known
    /// digests, the file gets the name of a whole one.
    package func createPart(for bytes: RawSpan) throws(FileError) -> PartFile {
        let (generation, total, hasher, announced) = state.withLock {
            ($0.newGeneration, $0.plan.total, $0.hasher, $0.announcedDigest)
        }
        let digest = total == Int64(bytes.byteCount) ? hasher.digest(ofAll: bytes) : nil
        let isExpected = [parameters.checksum, announced].compactMap(\.self).allSatisfy { digest?.checksum($0.algorithm) == $0 }
        let part = try parameters.partFiles.createPart(
            parameters.id, generation, keepsOthers: false, whole: isExpected ? digest?.sha256 : nil)
        if let total {
            try parameters.reservations.reserve(total, in: part, of: parameters.partFiles, for: parameters.id, counters: counters)
        }
        if let digest { hasher.bind(to: part, with: digest) } else { hasher.bind(to: part, holding: 0) }
        report(.opened(part))
        state.withLock { $0.part = part }
        return part
    }

    /// Creates the part file of a small file whose connection has ended before its first byte.
    package func createEmptyPart(_ state: inout State) {
        do throws(FileError) {
            let part = try parameters.partFiles.createPart(parameters.id, state.newGeneration, keepsOthers: false)
            state.hasher.bind(to: part, holding: 0)
            state.part = part
            report(.opened(part))
        } catch {
            state.decide(.fileFailed(error))
        }
    }

    private func digestFailure(_ digest: Checksum?) -> DownloadFailure? {
        guard let digest, let checksum = parameters.checksum, digest.algorithm == checksum.algorithm, digest != checksum else {
            return nil
        }
        return DownloadFailure(.checksumMismatch, "the origin says that the file is \(digest), and it should be \(checksum)")
    }

    private func mediaTypeFailure(_ mediaType: String?, httpStatus: Int) -> DownloadFailure? {
        guard let requested = parameters.requestedMediaType,
            mediaType.flatMap({ MediaType(parsing: $0)?.matches(pattern: requested) }) != true
        else { return nil }
        let found = mediaType ?? "no media type"
        return DownloadFailure(
            .mediaTypeMismatch, "the origin sent \(found), and \(requested) was asked for", httpStatus: httpStatus)
    }

    // MARK: - Responses for segments

    private func evaluate(
        _ response: OriginResponse, of number: Int, _ range: Range<Int64>, _ state: inout State
    ) -> SinkDecision {
        guard let entity = state.entity else { return .stop }
        switch SegmentResponse(response, range: range, entity: entity) {
        case .part(let end):
            state.plan.accepted(number, end: end)
            return .proceed
        case .refusal(let failure):
            state.refusals[number] = failure
            if response.status == 200 { noteNoRanges(entity, &state) }
        case .whole:
            noteNoRanges(entity, &state)
            guard let superseded = state.plan.takeWhole(number) else {
                state.refusals[number] = DownloadFailure(.transferBroken, "the origin sends no ranges now")
                return .stop
            }
            for number in superseded { state.connections[number]?.cancel() }
            return .proceed
        case .contradiction(let reason):
            state.decide(.askAgain(state.resume.restartAsOneStream(because: reason)))
        }
        return .stop
    }

    /// Evaluates a mirror's response. A failure concerns only the mirror; other connections continue.
    private func evaluateMirror(
        _ response: OriginResponse, of connection: SegmentConnection, _ range: Range<Int64>, _ state: inout State
    ) -> SinkDecision {
        let expected = state.sources.expectation(of: connection.source, response, total: state.entity?.total)
        let failure: DownloadFailure
        switch SegmentResponse(response, range: range, entity: expected) {
        case .part(let end):
            // The client's digest takes precedence over the origin's.
            let known = [parameters.checksum, state.entity?.digest].compactMap(\.self)
            if let digest = response.digest {
                if let known = known.first(where: { $0.algorithm == digest.algorithm }), known != digest {
                    failure = DownloadFailure(.checksumMismatch, "its file is \(digest)")
                    break
                }
                state.sources.note(digest, of: connection.source)
            }
            state.sources.note(expected, of: connection.source)
            state.plan.accepted(connection.number, end: end)
            return .proceed
        case .refusal(let refusal): failure = refusal
        case .whole: failure = DownloadFailure(.transferBroken, "it does no ranges", retryable: false)
        case .contradiction(let reason): failure = DownloadFailure(.entityChanged, reason)
        }
        state.refusals[connection.number] = failure
        return .stop
    }

    /// Reports that the origin does not send the ranges of a file that it has announced with ranges.
    private func noteNoRanges(_ entity: SavedEntity, _ state: inout State) {
        guard state.isResumable != false, let part = state.part else { return }
        state.isResumable = false
        report(
            .accepted(
                TransferAcceptance(
                    body: ResumeDecision.Body(offset: 0, end: entity.total, entity: entity, isResumable: false),
                    written: state.plan.written, startedOver: false, isReplacement: false, partGeneration: part.generation,
                    mediaType: state.expectation.mediaType, contentDisposition: nil,
                    announcedMirrors: announcedURLs(entity, state))))
    }
}
