import HTTPCore

/// Decides how a download goes on from the bytes it has, and what an origin's response means for them, so that bytes of two
/// different files are never mixed.
///
/// One value serves a download from a user's command until its end: each attempt begins with `begin`, and each head goes
/// through `evaluate`, which may ask again within the same attempt. It remembers whether the one restart that a contradicting
/// origin is granted has been used, and which sources a mirror has replaced. The rules: RFC 9110 §8.8, §13.1.5, §14 and §15.3.7.
struct ResumeDecision: Sendable, Equatable {
    /// A request to make. It always goes to a URL that the download was given: the targets of redirects expire.
    struct Ask: Sendable, Equatable {
        /// The first byte wanted; 0 asks for the whole file, without a range.
        var offset: Int64 = 0
        /// The value of `If-Range`.
        var ifRange: FieldValue?
        /// Whether a range is asked for although it starts at 0: there are bytes further on that are worth keeping.
        var keepsLaterBytes = false
        /// Whether the bytes there are have become worthless: the part file is emptied and the entity forgotten first.
        var discardsBytes = false

        /// The value of `Range`.
        var range: String? { offset > 0 || keepsLaterBytes ? "bytes=\(offset)-" : nil }
    }

    /// A body to take.
    struct Body: Sendable, Equatable {
        /// Where its first byte goes in the file.
        var offset: Int64
        /// Where its last byte ends in the file, exclusively; `nil` if that is not known. Nothing is written beyond it.
        var end: Int64?
        /// What to save with the bytes, replacing what was saved.
        var entity: SavedEntity
        /// Whether the download can go on from these bytes after a break.
        var isResumable: Bool
    }

    /// How an attempt begins.
    enum Beginning: Sendable, Equatable {
        /// With a request.
        case ask(Ask)
        /// It does not: every byte is there already.
        case complete
    }

    /// What a response means.
    enum Verdict: Sendable, Equatable {
        /// The body is of the entity that the bytes are of, which stay. It goes on where they end, or starts at 0 once more if the
        /// origin sends no ranges.
        case append(Body)
        /// The body starts the file: whatever bytes there are go, also those beyond its end.
        case restart(Body)
        /// The response is of no use; drop its body and ask this.
        case askAgain(Ask)
        /// Every byte is there already.
        case complete
        /// The attempt has failed. Whether it is tried again is for `RetryBudget` to say; the bytes stay.
        case fail(DownloadFailure)
    }

    /// What the end of a body means.
    enum Ending: Sendable, Equatable {
        /// Every byte is there, so many.
        case complete(total: Int64)
        /// The origin sent less than it could have, but all that it announced: ask for the rest.
        case askAgain(Ask)
        /// The attempt has failed.
        case fail(DownloadFailure)
    }

    private enum Request: Sendable, Equatable {
        case whole
        case conditionalRange
        case plainRange
    }

    /// Whether the restart that a contradicting origin is granted has been used.
    private(set) var hasRestarted = false
    /// Whether the origin has been seen to respond to plain ranges with the whole file.
    private(set) var ignoresRanges = false
    /// Whether segments have contradicted each other, so that one connection has to bring everything.
    private(set) var usesOneStream = false
    /// URLs of sources that have failed and are not asked again before a user's next command: others have taken their place.
    private(set) var replacedSources: Set<String> = []
    /// Who sent the entity last; `nil`: the download's own URL. What was seen of an origin holds for that one.
    private var source: String?
    private var entity = SavedEntity()
    private var offset: Int64 = 0
    private var hasLaterBytes = false
    private var request = Request.whole
    private var body: Body?

    init() {}

    /// What the bytes there are belong to; empty if there are none.
    var savedEntity: SavedEntity { entity }
}

// MARK: - Asking

extension ResumeDecision {
    /// Begins an attempt with what is saved.
    ///
    /// - Parameters:
    ///   - entity: What the bytes belong to; `nil`: there are none.
    ///   - offset: How many bytes from the file's start are known to be on disk.
    ///   - hasLaterBytes: Whether there are more behind the gap that begins there.
    ///   - isVouchedFor: Whether one of the download's present URLs sent the entity. Otherwise, as after a change of URL, the bytes have
    ///     to prove themselves to it even if none is missing: the last one is asked for again.
    mutating func begin(
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
                // One byte that comes again tells whether the others may stay; without any left, the whole is asked for.
                if self.offset == 0, Validator(of: self.entity) != nil { self.hasLaterBytes = true }
            }
            // More bytes than the file has cannot be bytes of that file.
            if self.offset > total { return .ask(askWhole(discardsBytes: true)) }
        }
        return .ask(askRest())
    }

    /// Asks for what is missing, if the bytes can be vouched for, and otherwise for everything.
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

    /// Asks another source for the whole file. The bytes there are stay until its response has been accepted.
    mutating func askOtherSource() -> Ask {
        request = .whole
        return Ask()
    }

    /// Gives up a source whose entity was accepted in this attempt: an attempt has one entity, so the next one asks another source.
    ///
    /// - Parameter written: the bytes there are, which stay until another source's response has been accepted.
    mutating func replace(_ source: String, keeping written: Coverage) -> Ask {
        replacedSources.insert(source)
        return Ask(offset: written.prefix, keepsLaterBytes: written.end > written.prefix)
    }

    /// Starts over because connections brought parts that do not belong together; from then on there is only one of them.
    mutating func restartAsOneStream(because reason: String, httpStatus: Int) -> Verdict {
        usesOneStream = true
        return restart(because: reason, httpStatus: httpStatus)
    }

    /// Starts over, once: an origin that contradicts itself a second time is not asked a third.
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
    /// Evaluates the head of the response to what was asked last.
    /// - Parameter source: The mirror that was asked; `nil`: the download's own URL.
    mutating func evaluate(_ response: OriginResponse, from source: String? = nil) -> Verdict {
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

    /// 200: the whole file, asked for or not.
    private mutating func evaluateWhole(_ response: OriginResponse, from source: String?) -> Verdict {
        if response.isCoded, let coding = response.coding { return .fail(Self.codingFailure(coding, response)) }
        if source != self.source {
            self.source = source
            (hasRestarted, ignoresRanges, usesOneStream) = (false, false, false)
        }
        if request != .whole, isSameEntityByTag(response) {
            // The validator still holds, so RFC 9110 §13.1.5 wants a 206: this origin does not know If-Range. It may know
            // Range, and what it then sends is verified.
            if request == .conditionalRange, !ignoresRanges {
                request = .plainRange
                return .askAgain(Ask(offset: offset, keepsLaterBytes: hasLaterBytes))
            }
            // RFC 9110 §14.2 lets it ignore ranges. It is the same file, so what is there is not given up for that.
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

    /// 206: a part, which must be the one asked for, of the entity it was asked of.
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
        // The response for a rest need not repeat what the first one said, and must not replace it.
        entity.digest = entity.digest ?? response.digest
        return .append(Body(offset: offset, end: range.bytes.upperBound, entity: entity, isResumable: true))
    }

    /// 416: nothing there.
    private mutating func evaluateUnsatisfied(_ response: OriginResponse) -> Verdict {
        guard request != .whole else { return .fail(.refusal(response)) }
        let range = response.contentRange.flatMap(ContentRange.init(parsing:))
        if let range, range.start == nil, let total = range.total, total == offset, total == entity.total {
            return .complete
        }
        return restart(because: "the origin has nothing from byte \(offset) on", httpStatus: response.status)
    }

    /// Whether the response is about the saved entity by its strong tag.
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
    /// What a client is told of a response without the file in it.
    static func refusal(_ response: OriginResponse) -> DownloadFailure {
        let status = HTTPStatus(response.status)
        let words = status.reason.isEmpty ? "\(response.status)" : "\(response.status) \(status.reason)"
        return DownloadFailure(.httpStatus, "the origin answered \(words)", httpStatus: response.status)
    }
}

// MARK: - Ending

extension ResumeDecision {
    /// Evaluates the end of a body that was taken and ended as its framing says.
    ///
    /// - Parameters:
    ///   - position: How many bytes there are from the file's start on.
    ///   - hasLaterBytes: Whether there are more behind the gap that begins there.
    mutating func ended(at position: Int64, hasLaterBytes: Bool = false) -> Ending {
        guard let body else { return .fail(DownloadFailure(.transferBroken, "the transfer ended before it began")) }
        if let end = body.end, position < end {
            return .fail(DownloadFailure(.transferBroken, "the transfer ended at byte \(position) of \(end)"))
        }
        guard let total = body.entity.total, position < total else { return .complete(total: position) }
        // RFC 9110 §15.3.7: a part may be less than was asked for.
        entity = body.entity
        offset = position
        self.hasLaterBytes = hasLaterBytes
        self.body = nil
        return .askAgain(askRest())
    }
}

extension OriginResponse {
    /// Whether the origin says that it knows no ranges (RFC 9110 §14.3).
    fileprivate var refusesRanges: Bool {
        acceptRanges?.lowercased() == "none"
    }
}
