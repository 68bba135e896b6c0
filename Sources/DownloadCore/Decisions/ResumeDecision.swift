package import HTTPCore

/// Decides how a download continues from its bytes, and what an origin's response means for them. Bytes of two
/// different files are never mixed.
///
/// One value serves a download from a user's command until its end. Each attempt begins with `begin`. Each head of a
/// response goes through `evaluate`, which may ask again within the same attempt. An origin that contradicts itself is
/// granted one restart. The value remembers whether it has been used, and which sources a mirror has replaced.
///
/// Bytes are joined only under two proofs: the origin's validator, and equal bytes where a body meets present ones.
///
/// The rules follow RFC 9110 §8.8, §13.1.5, §14 and §15.3.7.
package struct ResumeDecision: Sendable, Equatable {
    /// A request to make. It always goes to a URL that the client gave, because the targets of redirects expire.
    package struct Ask: Sendable, Equatable {
        /// The first requested byte. It precedes the first missing one, so that the body overlaps present bytes.
        package var offset: Int64 = 0
        /// The value of `If-Range`; `nil` for none.
        package var ifRange: FieldValue?
        /// Whether a range is requested, and not the whole file.
        var isRange = false
        /// The reason why the present bytes have become worthless; `nil` if they are kept. The part file is then emptied
        /// and the entity removed first.
        package var discards: String?

        /// The value of `Range`; `nil` for none.
        package var range: String? { isRange ? "bytes=\(offset)-" : nil }
    }

    /// A body to accept.
    package struct Body: Sendable, Equatable {
        /// The offset of its first byte in the file.
        package var offset: Int64
        /// The offset behind its last byte in the file; `nil` if it is unknown. Nothing is written beyond it.
        package var end: Int64?
        /// The entity to save with the bytes, in place of the saved one.
        package var entity: SavedEntity
        /// Whether the download can continue from these bytes after a break.
        package var isResumable: Bool

        package init(offset: Int64, end: Int64? = nil, entity: SavedEntity, isResumable: Bool) {
            self.offset = offset
            self.end = end
            self.entity = entity
            self.isResumable = isResumable
        }
    }

    /// The beginning of an attempt.
    package enum Beginning: Sendable, Equatable {
        /// The attempt makes a request.
        case ask(Ask)
        /// The attempt is not needed: every byte is present.
        case complete
    }

    /// The meaning of a response.
    package enum Verdict: Sendable, Equatable {
        /// The body belongs to the entity of the present bytes, which stay. It continues where they end, or starts at 0
        /// again if the origin sends no ranges.
        case append(Body)
        /// The body starts the file anew. All present bytes are discarded, including those beyond its end.
        case restart(Body)
        /// The response is of no use. Its body is not read, and this request follows.
        case askAgain(Ask)
        /// Every byte is present.
        case complete
        /// The attempt has failed; the bytes stay. `RetryBudget` decides whether another attempt follows.
        case fail(DownloadFailure)
    }

    /// The meaning of a body's end.
    package enum Ending: Sendable, Equatable {
        /// Every byte of a file of `total` bytes is present.
        case complete(total: Int64)
        /// The body was complete but shorter than the requested range. This request for the rest follows.
        case askAgain(Ask)
        /// The attempt has failed.
        case fail(DownloadFailure)
    }

    /// The maximum number of bytes by which a body overlaps another request's.
    package static let overlap: Int64 = 16 << 10

    private enum Request: Sendable, Equatable {
        case whole
        case conditionalRange
        case plainRange
    }

    /// Whether the restart after different bytes under one validator has been used.
    private(set) var hasRestarted = false
    /// Whether the origin has responded to plain ranges with the whole file.
    private(set) var ignoresRanges = false
    /// The number of responses to ranges that proved nothing.
    private(set) var unprovenParts = 0
    /// The number of such responses from which an origin counts as one without ranges.
    private static let maximumUnprovenParts = 2
    /// Whether the file had bytes in an earlier attempt, so that an empty one is not believed.
    package private(set) var hadBytes = false
    /// Whether segments have contradicted each other, so that one connection has to fetch everything.
    package private(set) var usesOneStream = false
    /// The URLs of failed sources that others have replaced. They are not asked again before a user's next command.
    package private(set) var replacedSources: Set<String> = []
    /// The failure of the sources that are left out; `nil` if none has sent wrong bytes.
    private var wrongBytes: DownloadFailure?
    /// The lengths of bodies whose end the origin did not confirm.
    private var unconfirmedEnds: [Int64] = []
    /// The maximum number of such bodies.
    private static let maximumUnconfirmedEnds = 3
    /// The number of redirects to targets that have sent wrong bytes.
    private var wrongTargets = 0
    /// The maximum number of such redirects. Another request may be led to another target.
    private static let maximumWrongTargets = 2
    /// The source of the last entity; `nil` for the download's own URL. Another one resets what is known of its ranges.
    private var source: String?
    private var entity = SavedEntity()
    private var offset: Int64 = 0
    private var hasLaterBytes = false
    /// The maximum number of bytes before the first missing one that are requested again. It falls below ``overlap`` if the
    /// origin sends no more than these.
    private var repeated = Self.overlap
    /// Whether the next request begins with the first missing byte: a part that ended before it has just been compared.
    private var skipsOverlap = false
    private var request = Request.whole
    private var body: Body?
    /// Whether the body that is read from byte 0 may be a part of the file. Its bytes show that.
    private var mayBePart = false

    package init() {}

    /// The entity of the present bytes; empty if there are none.
    package var savedEntity: SavedEntity { entity }
}

// MARK: - Requests

extension ResumeDecision {
    /// Begins an attempt with the saved state.
    ///
    /// - Parameters:
    ///   - entity: The entity of the present bytes; `nil` if there are none.
    ///   - offset: The number of bytes from the file's start that are known to be on disk.
    ///   - hasLaterBytes: Whether there are more bytes behind the gap that begins at `offset`.
    ///   - isVouchedFor: Whether one of the download's present URLs sent the entity. If not, as after a change of URL,
    ///     a response has to prove the bytes even if none is missing. The last ones are then requested again.
    package mutating func begin(
        entity: SavedEntity?, offset: Int64, hasLaterBytes: Bool = false, isVouchedFor: Bool = true
    ) -> Beginning {
        self.entity = entity ?? SavedEntity()
        source = self.entity.source
        self.offset = max(offset, 0)
        self.hasLaterBytes = hasLaterBytes
        body = nil
        skipsOverlap = false
        if hasBytes { hadBytes = true }
        if entity == nil, hasBytes { return .ask(askWhole(discarding: "the origin of its bytes is unknown")) }
        if let total = self.entity.total, self.offset >= total, self.offset > 0 {
            if self.offset == total, isVouchedFor { return .complete }
            if self.offset > total { return .ask(askWhole(discarding: "it has more bytes than the file")) }
        }
        return .ask(askRest())
    }

    /// Whether bytes are present.
    private var hasBytes: Bool { offset > 0 || hasLaterBytes }

    /// The first byte of a range that continues the present bytes.
    private var start: Int64 { max(0, offset - (skipsOverlap ? 0 : repeated)) }

    /// Requests the missing bytes if a validator can prove the present ones, and otherwise the whole file.
    private mutating func askRest() -> Ask {
        guard hasBytes else { return askWhole() }
        guard let validator = Validator(of: entity) else {
            return askWhole(discarding: "the origin sent no validator that proves its bytes")
        }
        if unprovenParts >= Self.maximumUnprovenParts { return askWhole() }
        request = validator.fieldValue == nil ? .plainRange : .conditionalRange
        return Ask(offset: start, ifRange: validator.fieldValue, isRange: true)
    }

    private mutating func askPlainRange() -> Ask {
        request = .plainRange
        return Ask(offset: start, isRange: true)
    }

    /// Requests the whole file. Without a reason to discard them, present bytes stay until the response has shown what
    /// they are worth.
    private mutating func askWhole(discarding reason: String? = nil) -> Ask {
        request = .whole
        if reason != nil {
            entity = SavedEntity()
            offset = 0
            hasLaterBytes = false
        }
        return Ask(discards: reason)
    }

    /// Requests the whole file from another source. The present bytes stay until its response has been accepted.
    package mutating func askOtherSource() -> Ask { askWhole() }

    /// Replaces a source whose entity was accepted in this attempt. An attempt has one entity, so the next attempt asks
    /// another source, and keeps the present bytes until its response has been accepted.
    package mutating func replace(_ source: String) -> Ask {
        replacedSources.insert(source)
        return Ask()
    }

    /// Creates a decision that leaves out sources and redirect targets that have sent wrong bytes, because of a failure.
    package init(replacing sources: Set<String>, because failure: DownloadFailure) {
        replacedSources = sources
        wrongBytes = failure
        usesOneStream = true
    }

    /// Starts over after the responses to several connections contradicted each other. From then on there is only one
    /// connection.
    package mutating func restartAsOneStream(because reason: String) -> Ask {
        usesOneStream = true
        hadBytes = true
        return askWhole(discarding: reason)
    }

    /// Handles a body whose bytes differ from present ones at the same place.
    ///
    /// A body that may be a part is of no use. After any other one it is unknown which version the bytes belong to. The
    /// download starts over as one stream, once.
    /// - Parameter offset: The place of the first different piece.
    package mutating func differs(at offset: Int64) -> Verdict {
        if mayBePart { return unproven() }
        let reason = "the origin sends different bytes under one validator, at byte \(offset)"
        guard !hasRestarted else { return .fail(DownloadFailure(.entityChanged, reason)) }
        hasRestarted = true
        return .askAgain(restartAsOneStream(because: reason))
    }

    /// Returns the present bytes with which a 200 begins if it brings the requested range, and not the file from its start.
    /// `nil` if it cannot bring the range, or if that does not matter.
    package func repeatedBytes(in response: OriginResponse) -> Range<Int64>? {
        guard [200, 203].contains(response.status), request != .whole, start > 0, start < offset,
            response.contentLength == nil || response.contentLength != entity.total
        else { return nil }
        return start..<offset
    }

    /// Requests the whole file after a response to a range that proved nothing. The origin's second such response shows
    /// that its ranges are of no use.
    package mutating func unproven() -> Verdict {
        unprovenParts += 1
        return .askAgain(askWhole())
    }
}

// MARK: - Evaluating

extension ResumeDecision {
    /// Evaluates the head of the response to the last request.
    /// - Parameter source: The mirror that was asked; `nil` for the download's own URL.
    package mutating func evaluate(_ response: OriginResponse, from source: String? = nil) -> Verdict {
        mayBePart = false
        if let target = response.target, replacedSources.contains(target), let wrongBytes {
            wrongTargets += 1
            return wrongTargets > Self.maximumWrongTargets ? .fail(wrongBytes) : .askAgain(askWhole())
        }
        let verdict: Verdict
        switch response.status {
        case 200, 203: verdict = evaluateWhole(response, from: source)
        case 206: verdict = evaluatePart(response, from: source)
        // A range, or its condition, may be what the origin refuses. Only its response to a request without them counts.
        case 304, 400, 403, 405, 406, 409, 412, 413, 414, 416, 417, 422, 428, 431, 500, 501: verdict = evaluateRefusal(response)
        default: verdict = .fail(.refusal(response))
        }
        if case .append(let body) = verdict { self.body = body }
        if case .restart(let body) = verdict { self.body = body }
        return verdict
    }

    /// Evaluates a 200 with the whole file, which may not have been requested.
    private mutating func evaluateWhole(_ response: OriginResponse, from source: String?) -> Verdict {
        if response.isCoded, let coding = response.coding { return .fail(Self.codingFailure(coding, response)) }
        if source != self.source {
            self.source = source
            (hasRestarted, ignoresRanges, usesOneStream, unprovenParts) = (false, false, wrongBytes != nil, 0)
        }
        if hadBytes, response.contentLength == 0, entity.total != 0 {
            return .fail(
                DownloadFailure(
                    .unexpectedEmpty, "the origin sent an empty file in place of the rest", httpStatus: response.status))
        }
        let requested = request == .whole ? nil : start..<(entity.total ?? .max)
        if let part = response.partialContent(of: entity, requested: requested) {
            if request != .whole { return unproven() }
            return .fail(
                DownloadFailure(.transferBroken, "the origin answered without a range with \(part)", httpStatus: response.status))
        }
        let isReadAgain = !unconfirmedEnds.isEmpty && response.contentLength == nil
        // Validators of another source say nothing, unless it was asked to continue these bytes.
        if hasBytes, request != .whole || source == entity.source, response.isWhole(of: entity) || isReadAgain {
            return evaluateSame(response, from: source)
        }
        entity = response.entity
        entity.source = source
        offset = 0
        hasLaterBytes = false
        let isResumable =
            !ignoresRanges && unprovenParts < Self.maximumUnprovenParts && Validator(of: entity) != nil && !response.refusesRanges
        return .restart(Body(offset: 0, end: entity.total, entity: entity, isResumable: isResumable))
    }

    /// Evaluates a 200 with the whole of the present bytes' entity. These stay, and the body is compared with them.
    private mutating func evaluateSame(_ response: OriginResponse, from source: String?) -> Verdict {
        // The validator still holds, so RFC 9110 §13.1.5 requires a 206: this origin does not support If-Range. It may
        // support Range, and its response to a plain range is verified.
        if request == .conditionalRange, !ignoresRanges, response.etag != nil || response.hasRanges {
            return .askAgain(askPlainRange())
        }
        // RFC 9110 §14.2 lets the origin ignore ranges.
        if request != .whole {
            ignoresRanges = true
            mayBePart = response.contentLength == nil
        }
        entity.source = source
        entity.digest = entity.digest ?? response.digest
        return .append(Body(offset: 0, end: entity.total, entity: entity, isResumable: false))
    }

    /// Evaluates a 206. Its part must be the requested one, and belong to the saved entity.
    private mutating func evaluatePart(_ response: OriginResponse, from source: String?) -> Verdict {
        if request == .whole || start > 0, let whole = response.asWhole { return evaluateWhole(whole, from: source) }
        guard request != .whole else {
            return .fail(
                DownloadFailure(
                    .httpStatus, "the origin sent a partial response (206) to a request without Range", httpStatus: 206))
        }
        guard response.contradiction(to: entity, from: start) == nil, let range = response.partRange else { return unproven() }
        let end = range.bytes.upperBound
        // An origin that sends few bytes of each range is asked for a shorter overlap. A part that ends where the present
        // bytes do may be a slice of the file, and does not show that.
        if !skipsOverlap, end < offset + repeated, end != offset, end != range.total { repeated = Int64(range.bytes.count) / 2 }
        self.source = source
        entity.source = source
        entity.total = entity.total ?? range.total
        // The response for the rest need not repeat the digest of the first response, and must not replace it.
        entity.digest = entity.digest ?? response.digest
        return .append(Body(offset: range.bytes.lowerBound, end: end, entity: entity, isResumable: true))
    }

    /// Evaluates a status that may refuse the range or its condition.
    private mutating func evaluateRefusal(_ response: OriginResponse) -> Verdict {
        guard request != .whole else { return .fail(.refusal(response)) }
        let range = response.status == 416 ? response.contentRange.flatMap(ContentRange.init(parsing:)) : nil
        if let range, range.start == nil, let total = range.total {
            // The file ends where the present bytes do, or has another length.
            return total == offset && total == entity.total ? .complete : unproven()
        }
        return request == .conditionalRange ? .askAgain(askPlainRange()) : unproven()
    }

    private static func codingFailure(_ coding: String, _ response: OriginResponse) -> DownloadFailure {
        DownloadFailure(
            .unsupportedEncoding, "the origin sends the file with content coding '\(coding)' although none was acceptable",
            httpStatus: response.status)
    }
}

extension DownloadFailure {
    /// Creates the failure for a response that does not bring the file.
    package static func refusal(_ response: OriginResponse) -> DownloadFailure {
        let status = HTTPStatus(response.status)
        let words = status.reason.isEmpty ? "\(response.status)" : "\(response.status) \(status.reason)"
        let isNotReady = response.status == 202 && response.retryAfter != nil
        return DownloadFailure(
            .httpStatus, "the origin answered \(words)" + (isNotReady ? ": the file is not ready yet" : ""),
            httpStatus: response.status, retryable: isNotReady ? true : nil)
    }
}

// MARK: - Ending

extension ResumeDecision {
    /// Evaluates the end of an accepted body that ended as its framing says.
    ///
    /// - Parameters:
    ///   - position: The number of bytes from the file's start to the first gap.
    ///   - hasLaterBytes: Whether there are more bytes behind that gap.
    ///   - isConfirmed: Whether the framing or TLS has confirmed the end. Another one counts once two bodies have had it.
    package mutating func ended(at position: Int64, hasLaterBytes: Bool = false, isConfirmed: Bool = true) -> Ending {
        guard let body else { return .fail(DownloadFailure(.transferBroken, "the transfer ended before it began")) }
        if let end = body.end, position < end {
            return .fail(DownloadFailure(.transferBroken, "the transfer ended at byte \(position) of \(end)"))
        }
        guard let total = body.entity.total, position < total else {
            if isConfirmed || unconfirmedEnds.last == position { return .complete(total: position) }
            unconfirmedEnds.append(position)
            guard unconfirmedEnds.count < Self.maximumUnconfirmedEnds else {
                return .fail(
                    DownloadFailure(.transferBroken, "the body ended at other bytes each time, without TLS's close_notify"))
            }
            keep(body.entity, before: position, hasLaterBytes: false)
            return .askAgain(askWhole())
        }
        // RFC 9110 §15.3.7: a part may be shorter than the requested range.
        let isNew = position > offset
        if !isNew, skipsOverlap {
            return .fail(DownloadFailure(.transferBroken, "the origin sent none of the missing bytes, from byte \(position)"))
        }
        skipsOverlap = !isNew
        keep(body.entity, before: position, hasLaterBytes: hasLaterBytes)
        return .askAgain(askRest())
    }

    private mutating func keep(_ entity: SavedEntity, before position: Int64, hasLaterBytes: Bool) {
        (self.entity, offset, body) = (entity, position, nil)
        self.hasLaterBytes = hasLaterBytes
    }
}

extension OriginResponse {
    /// Whether the origin states that it does not support ranges (RFC 9110 §14.3).
    fileprivate var refusesRanges: Bool {
        acceptRanges?.lowercased() == "none"
    }

    /// Whether the origin has shown that it supports ranges. Many origins have validators and no ranges.
    package var hasRanges: Bool { status == 206 || acceptRanges?.lowercased() == "bytes" }
}
