import HTTPCore

/// What the answer to a request for one segment means: RFC 9110 §14 and §15.3.7. The file itself is known by then, from the answer
/// to the first connection.
enum SegmentAnswer: Sendable, Equatable {
    /// Its body is the segment, up to `end`, exclusively, which may be earlier than was asked for.
    case part(end: Int64)
    /// It is of another version of the file, or contradicts what is known: nothing that came can be trusted to belong together.
    case contradiction(String)
    /// It is the same file, whole: the origin does not do ranges, or not now.
    case whole
    /// There is nothing for now; the others may go on.
    case refusal(DownloadFailure, retryAfter: Duration?)

    /// Judges the head of an answer.
    /// - Parameters:
    ///   - head: the answer's.
    ///   - range: what was asked for.
    ///   - entity: what the bytes have to be of.
    ///   - now: for a `Retry-After` that is a date.
    init(_ head: AnswerHead, range: Range<Int64>, entity: SavedEntity, now: Timestamp) {
        switch head.status {
        case 206:
            self = Self.judge(head, range, entity)
        case 200, 203:
            self = Self.isSame(head, as: entity) ? .whole : .contradiction("the file has changed")
        case 412, 416:
            self = .contradiction("the origin has nothing at bytes \(range.lowerBound) to \(range.upperBound - 1)")
        default:
            self = .refusal(.refusal(head), retryAfter: head.retryDelay(now: now))
        }
    }

    private static func judge(_ head: AnswerHead, _ range: Range<Int64>, _ entity: SavedEntity) -> SegmentAnswer {
        if head.coding != nil { return .contradiction("the part has a content coding") }
        if head.isMultipart { return .contradiction("the answer has several parts") }
        guard let text = head.contentRange, let part = ContentRange(parsing: text), let start = part.start, let last = part.end,
            last < .max
        else { return .contradiction("no valid Content-Range") }
        if start != range.lowerBound { return .contradiction("the part starts at \(start) and not at \(range.lowerBound)") }
        guard last >= start, last < range.upperBound else {
            return .contradiction("the part ends at \(last), beyond what was asked for")
        }
        guard let total = part.total, total == entity.total else { return .contradiction("the length is no longer the same") }
        if let length = head.contentLength, length != last - start + 1 {
            return .contradiction("Content-Length and Content-Range differ")
        }
        if let etag = head.etag, etag != entity.etag { return .contradiction("the ETag is no longer the same") }
        if let lastModified = head.lastModified, entity.etag == nil, lastModified != entity.lastModified {
            return .contradiction("Last-Modified is no longer the same")
        }
        return .part(end: last + 1)
    }

    private static func isSame(_ head: AnswerHead, as entity: SavedEntity) -> Bool {
        guard head.coding == nil, head.contentLength == nil || head.contentLength == entity.total else { return false }
        switch Validator(of: entity) {
        case .entityTag(let tag): return head.etag == tag
        case .lastModified(let date): return head.lastModified == date && head.etag == nil
        case nil: return false
        }
    }
}
