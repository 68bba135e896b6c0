import HTTPCore

/// Decides how a download goes on from the bytes it has, and what an origin's answer means for them, so that bytes of two
/// different files are never mixed.
///
/// One value serves a download from a user's command until its end: each attempt begins with `begin`, and each head goes
/// through `judge`, which may ask again within the same attempt. It remembers whether the one restart that a contradicting
/// origin is granted has been used. The rules: RFC 9110 §8.8, §13.1.5, §14 and §15.3.7.
struct ResumeDecision: Sendable, Equatable {
    /// A request to make. It always goes to the download's own URL: the targets of redirects expire.
    struct Ask: Sendable, Equatable {
        /// The first byte wanted; 0 asks for the whole file, without a range.
        var offset: Int64 = 0
        /// The value of `If-Range`.
        var ifRange: String?
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

    /// What an answer means.
    enum Verdict: Sendable, Equatable {
        /// The body goes on where the bytes end.
        case append(Body)
        /// The body starts the file: whatever bytes there are go, also those beyond its end.
        case restart(Body)
        /// The answer is of no use; drop its body and ask this.
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

    private enum Question: Sendable, Equatable {
        case whole
        case conditionalRange
        case plainRange
    }

    /// Whether the restart that a contradicting origin is granted has been used.
    private(set) var hasRestarted = false
    /// Whether the origin has been seen to answer ranges with the whole file, so that asking for them is of no use.
    private(set) var ignoresRanges = false
    /// Whether segments have contradicted each other, so that one connection has to bring everything.
    private(set) var usesOneStream = false
    private var entity = SavedEntity()
    private var offset: Int64 = 0
    private var hasLaterBytes = false
    private var question = Question.whole
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
    mutating func begin(entity: SavedEntity?, offset: Int64, hasLaterBytes: Bool = false) -> Beginning {
        self.entity = entity ?? SavedEntity()
        self.offset = entity == nil ? 0 : max(offset, 0)
        self.hasLaterBytes = hasLaterBytes && entity != nil
        body = nil
        if self.offset > 0, let total = self.entity.total {
            if self.offset == total { return .complete }
            // More bytes than the file has cannot be bytes of that file.
            if self.offset > total { return .ask(askWhole(discardsBytes: true)) }
        }
        return .ask(askRest())
    }

    /// Asks for what is missing, if the bytes can be vouched for, and otherwise for everything.
    private mutating func askRest() -> Ask {
        guard offset > 0 || hasLaterBytes else { return askWhole(discardsBytes: false) }
        guard !ignoresRanges, let validator = Validator(of: entity) else { return askWhole(discardsBytes: true) }
        question = .conditionalRange
        return Ask(offset: offset, ifRange: validator.fieldValue, keepsLaterBytes: hasLaterBytes)
    }

    private mutating func askWhole(discardsBytes: Bool) -> Ask {
        question = .whole
        if discardsBytes {
            entity = SavedEntity()
            offset = 0
            hasLaterBytes = false
        }
        return Ask(discardsBytes: discardsBytes)
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

// MARK: - Judging

extension ResumeDecision {
    /// Judges the head of the answer to what was asked last.
    mutating func judge(_ head: AnswerHead) -> Verdict {
        let verdict: Verdict
        switch head.status {
        case 200, 203: verdict = judgeWhole(head)
        case 206: verdict = judgePart(head)
        case 416: verdict = judgeUnsatisfied(head)
        default: verdict = .fail(.refusal(head))
        }
        if case .append(let body) = verdict { self.body = body }
        if case .restart(let body) = verdict { self.body = body }
        return verdict
    }

    /// 200: the whole file, asked for or not.
    private mutating func judgeWhole(_ head: AnswerHead) -> Verdict {
        if let coding = head.coding { return .fail(Self.codingFailure(coding, head)) }
        if question == .conditionalRange, isSameEntityByTag(head), head.contentLength == nil || head.contentLength == entity.total
        {
            // The validator still holds, so RFC 9110 §13.1.5 wants a 206: this origin does not know If-Range. It may know
            // Range, and what it then sends is verified.
            question = .plainRange
            return .askAgain(Ask(offset: offset, keepsLaterBytes: hasLaterBytes))
        }
        // Another entity, or an origin that does not know ranges: RFC 9110 §14.2 lets it ignore them.
        if question == .plainRange { ignoresRanges = true }
        entity = head.entity
        offset = 0
        hasLaterBytes = false
        let isResumable = !ignoresRanges && Validator(of: entity) != nil && !head.refusesRanges
        return .restart(Body(offset: 0, end: entity.total, entity: entity, isResumable: isResumable))
    }

    /// 206: a part, which must be the one asked for, of the entity it was asked of.
    private mutating func judgePart(_ head: AnswerHead) -> Verdict {
        guard question != .whole else {
            return .fail(DownloadFailure(.httpStatus, "the origin sent a part that nobody asked for", httpStatus: 206))
        }
        if let contradiction = contradiction(in: head) {
            return restart(because: contradiction, httpStatus: head.status)
        }
        guard let range = head.contentRange.flatMap(ContentRange.init(parsing:)), let last = range.end else {
            return restart(because: "no valid Content-Range", httpStatus: head.status)
        }
        entity.total = entity.total ?? range.total
        // The answer for a rest need not repeat what the first one said, and must not replace it.
        entity.digest = entity.digest ?? head.digest
        return .append(Body(offset: offset, end: last + 1, entity: entity, isResumable: true))
    }

    /// What tells that a part is not one of the saved entity, from `offset` on; `nil` if nothing does.
    private func contradiction(in head: AnswerHead) -> String? {
        if head.coding != nil { return "the part has a content coding" }
        if head.isMultipart { return "the answer has several parts" }
        guard let text = head.contentRange, let range = ContentRange(parsing: text), let start = range.start,
            let end = range.end, end < .max
        else { return "no valid Content-Range" }
        if start != offset { return "the part starts at \(start) and not at \(offset)" }
        // Without a length, nobody could tell where the file ends once it has been appended to.
        guard let total = range.total else { return "the part does not tell the file's length" }
        if let saved = entity.total, total != saved { return "the length is \(total) and no longer \(saved)" }
        if let length = head.contentLength, length != end - start + 1 { return "Content-Length and Content-Range differ" }
        if let etag = head.etag, etag != entity.etag { return "the ETag is no longer the same" }
        if let lastModified = head.lastModified, entity.etag == nil, lastModified != entity.lastModified {
            return "Last-Modified is no longer the same"
        }
        // RFC 9110 §15.3.7: only a part that was asked for with If-Range may leave the ETag out. Without it nothing would
        // tell that the entity did not change since the answer before.
        if question == .plainRange, head.etag == nil { return "the part has no ETag" }
        return nil
    }

    /// 416: nothing there.
    private mutating func judgeUnsatisfied(_ head: AnswerHead) -> Verdict {
        guard question != .whole else { return .fail(.refusal(head)) }
        let range = head.contentRange.flatMap(ContentRange.init(parsing:))
        if let range, range.start == nil, let total = range.total, total == offset, total == entity.total {
            return .complete
        }
        return restart(because: "the origin has nothing from byte \(offset) on", httpStatus: head.status)
    }

    /// Whether the answer is about the saved entity by its strong tag.
    private func isSameEntityByTag(_ head: AnswerHead) -> Bool {
        guard case .entityTag(let tag) = Validator(of: entity) else { return false }
        return head.etag == tag
    }

    private static func codingFailure(_ coding: String, _ head: AnswerHead) -> DownloadFailure {
        DownloadFailure(
            .unsupportedEncoding, "the origin sends the file with content coding '\(coding)' although none was acceptable",
            httpStatus: head.status)
    }
}

extension DownloadFailure {
    /// What a client is told of an answer without the file in it.
    static func refusal(_ head: AnswerHead) -> DownloadFailure {
        let status = HTTPStatus(head.status)
        let words = status.reason.isEmpty ? "\(head.status)" : "\(head.status) \(status.reason)"
        return DownloadFailure(.httpStatus, "the origin answered \(words)", httpStatus: head.status)
    }
}

// MARK: - Ending

extension ResumeDecision {
    /// Judges the end of a body that was taken and ended as its framing says.
    ///
    /// - Parameter position: Where its last byte ended in the file, exclusively.
    mutating func ended(at position: Int64) -> Ending {
        guard let body else { return .fail(DownloadFailure(.transferBroken, "the transfer ended before it began")) }
        if let end = body.end, position != end {
            return .fail(DownloadFailure(.transferBroken, "the transfer ended at byte \(position) of \(end)"))
        }
        guard let total = body.entity.total, position < total else { return .complete(total: position) }
        // RFC 9110 §15.3.7: a part may be less than was asked for.
        entity = body.entity
        offset = position
        hasLaterBytes = false
        self.body = nil
        return .askAgain(askRest())
    }
}

extension AnswerHead {
    /// Whether the origin says that it knows no ranges (RFC 9110 §14.3).
    fileprivate var refusesRanges: Bool {
        acceptRanges?.lowercased() == "none"
    }
}
