package import HTTPCore

/// Decides how a download continues from its bytes, and what an origin's response means for them. Bytes of two
/// different files are never mixed.
///
/// One value serves a download from a user's command until its end. Each attempt begins with `begin`. Each head of a
/// response goes through `evaluate`, which may ask again within the same attempt. An origin that contradicts itself is
/// granted one restart. The value remembers whether it has been used, and which sources a mirror has replaced.
///
/// The rules are those of RFC 9110 §8.8, §13.1.5, §14 and §15.3.7.
package struct ResumeDecision: Sendable, Equatable {
    /// A request to make. It always goes to a URL that the client gave, because the targets of redirects expire.
    package struct Ask: Sendable, Equatable {
        /// The first requested byte; 0 requests the whole file, without a range.
        package var offset: Int64 = 0
        /// The value of `If-Range`; `nil` for none.
        package var ifRange: FieldValue?
        /// Whether a range is requested even from byte 0, because later bytes are worth keeping.
        var keepsLaterBytes = false
        /// Whether the present bytes have become worthless. The part file is then emptied and the entity removed first.
        var discardsBytes = false

        /// The value of `Range`; `nil` for none.
        package var range: String? { offset > 0 || keepsLaterBytes ? "bytes=\(offset)-" : nil }
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
        /// The response is of no use. Its body is discarded, and this request follows.
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

    private enum Request: Sendable, Equatable {
        case whole
        case conditionalRange
        case plainRange
    }

    /// Whether the restart after a contradiction has been used.
    private(set) var hasRestarted = false
    /// Whether the origin has responded to plain ranges with the whole file.
    private(set) var ignoresRanges = false
    /// Whether segments have contradicted each other, so that one connection has to fetch everything.
    package private(set) var usesOneStream = false
    /// The URLs of failed sources that others have replaced. They are not asked again before a user's next command.
    package private(set) var replacedSources: Set<String> = []
    /// The source of the last entity; `nil` for the download's own URL. `hasRestarted`, `ignoresRanges` and
    /// `usesOneStream` are facts about this source.
    private var source: String?
    private var entity = SavedEntity()
    private var offset: Int64 = 0
    private var hasLaterBytes = false
    private var request = Request.whole
    private var body: Body?

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
    ///     a response has to prove the bytes even if none is missing. The last one is then requested again.
    package mutating func begin(
        entity: SavedEntity?, offset: Int64, hasLaterBytes: Bool = false, isVouchedFor: Bool = true
    ) -> Beginning {
        self.entity = entity ?? SavedEntity()
        source = self.entity.source
        self.offset = entity == nil ? 0 : max(offset, 0)
        self.hasLaterBytes = hasLaterBytes && entity != nil
        body = nil
        if self.offset > 0, let total = self.entity.total {
            if self.offset == total {
                if isVouchedFor { return .complete }
                self.offset = total - 1
                // The repeated last byte shows whether the others may stay. If it is the only one, this makes the
                // request a conditional range from byte 0.
                if self.offset == 0, Validator(of: self.entity) != nil { self.hasLaterBytes = true }
            }
            // A file cannot have more bytes than its length, so these bytes belong to another file.
            if self.offset > total { return .ask(askWhole(discardsBytes: true)) }
        }
        return .ask(askRest())
    }

    /// Requests the missing bytes if a validator can prove the present ones, and otherwise the whole file.
    private mutating func askRest() -> Ask {
        guard offset > 0 || hasLaterBytes else { return askWhole(discardsBytes: false) }
        guard let validator = Validator(of: entity) else { return askWhole(discardsBytes: true) }
        request = .conditionalRange
        return Ask(offset: offset, ifRange: validator.fieldValue, keepsLaterBytes: hasLaterBytes)
    }

    private mutating func askWhole(discardsBytes: Bool) -> Ask {
        request = .whole
        if discardsBytes {
            entity = SavedEntity()
            offset = 0
            hasLaterBytes = false
        }
        return Ask(discardsBytes: discardsBytes)
    }

    /// Requests the whole file from another source. The present bytes stay until its response has been accepted.
    package mutating func askOtherSource() -> Ask {
        request = .whole
        return Ask()
    }

    /// Replaces a source whose entity was accepted in this attempt. An attempt has one entity, so the next attempt asks
    /// another source.
    ///
    /// - Parameter written: The present bytes, which stay until another source's response has been accepted.
    package mutating func replace(_ source: String, keeping written: Coverage) -> Ask {
        replacedSources.insert(source)
        return Ask(offset: written.prefix, keepsLaterBytes: written.end > written.prefix)
    }

    /// Starts over after connections brought contradicting bytes. From then on there is only one connection.
    package mutating func restartAsOneStream(because reason: String, httpStatus: Int) -> Verdict {
        usesOneStream = true
        return restart(because: reason, httpStatus: httpStatus)
    }

    /// Starts over, once. A second contradiction is a failure.
    private mutating func restart(because reason: String, httpStatus: Int) -> Verdict {
        guard !hasRestarted else {
            return .fail(DownloadFailure(.entityChanged, "the file changed again: \(reason)", httpStatus: httpStatus))
        }
        hasRestarted = true
        return .askAgain(askWhole(discardsBytes: true))
    }
}

// MARK: - Evaluating

extension ResumeDecision {
    /// Evaluates the head of the response to the last request.
    /// - Parameter source: The mirror that was asked; `nil` for the download's own URL.
    package mutating func evaluate(_ response: OriginResponse, from source: String? = nil) -> Verdict {
        let verdict: Verdict
        switch response.status {
        case 200, 203: verdict = evaluateWhole(response, from: source)
        case 206: verdict = evaluatePart(response, from: source)
        case 416: verdict = evaluateUnsatisfied(response)
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
            (hasRestarted, ignoresRanges, usesOneStream) = (false, false, false)
        }
        if request != .whole, isSameEntityByTag(response) {
            // The validator still holds, so RFC 9110 §13.1.5 requires a 206: this origin does not support If-Range. It
            // may support Range, and its response to a plain range is verified.
            if request == .conditionalRange, !ignoresRanges {
                request = .plainRange
                return .askAgain(Ask(offset: offset, keepsLaterBytes: hasLaterBytes))
            }
            // RFC 9110 §14.2 lets the origin ignore ranges. It is the same file, so the present bytes stay.
            ignoresRanges = true
            entity.source = source
            entity.digest = entity.digest ?? response.digest
            if entity.total != nil {
                return .append(Body(offset: 0, end: entity.total, entity: entity, isResumable: false))
            }
        }
        entity = response.entity
        entity.source = source
        offset = 0
        hasLaterBytes = false
        let isResumable = !ignoresRanges && Validator(of: entity) != nil && !response.refusesRanges
        return .restart(Body(offset: 0, end: entity.total, entity: entity, isResumable: isResumable))
    }

    /// Evaluates a 206. Its part must be the requested one, and belong to the saved entity.
    private mutating func evaluatePart(_ response: OriginResponse, from source: String?) -> Verdict {
        guard request != .whole else {
            return .fail(DownloadFailure(.httpStatus, "the origin sent a part that nobody asked for", httpStatus: 206))
        }
        if let contradiction = response.contradiction(to: entity, from: offset) {
            return restart(because: contradiction, httpStatus: response.status)
        }
        guard let range = response.partRange else {
            return restart(because: "no valid Content-Range", httpStatus: response.status)
        }
        self.source = source
        entity.source = source
        entity.total = entity.total ?? range.total
        // The response for the rest need not repeat the digest of the first response, and must not replace it.
        entity.digest = entity.digest ?? response.digest
        return .append(Body(offset: offset, end: range.bytes.upperBound, entity: entity, isResumable: true))
    }

    /// Evaluates a 416: the origin has no bytes at the offset.
    private mutating func evaluateUnsatisfied(_ response: OriginResponse) -> Verdict {
        guard request != .whole else { return .fail(.refusal(response)) }
        let range = response.contentRange.flatMap(ContentRange.init(parsing:))
        if let range, range.start == nil, let total = range.total, total == offset, total == entity.total {
            return .complete
        }
        return restart(because: "the origin has nothing from byte \(offset) on", httpStatus: response.status)
    }

    /// Whether the response is about the saved entity, by its strong tag.
    private func isSameEntityByTag(_ response: OriginResponse) -> Bool {
        guard case .entityTag = Validator(of: entity) else { return false }
        return response.isWhole(of: entity)
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
        return DownloadFailure(.httpStatus, "the origin answered \(words)", httpStatus: response.status)
    }
}

// MARK: - Ending

extension ResumeDecision {
    /// Evaluates the end of an accepted body that ended as its framing says.
    ///
    /// - Parameters:
    ///   - position: The number of bytes from the file's start to the first gap.
    ///   - hasLaterBytes: Whether there are more bytes behind that gap.
    package mutating func ended(at position: Int64, hasLaterBytes: Bool = false) -> Ending {
        guard let body else { return .fail(DownloadFailure(.transferBroken, "the transfer ended before it began")) }
        if let end = body.end, position < end {
            return .fail(DownloadFailure(.transferBroken, "the transfer ended at byte \(position) of \(end)"))
        }
        guard let total = body.entity.total, position < total else { return .complete(total: position) }
        // RFC 9110 §15.3.7: a part may be shorter than the requested range.
        entity = body.entity
        offset = position
        self.hasLaterBytes = hasLaterBytes
        self.body = nil
        return .askAgain(askRest())
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
