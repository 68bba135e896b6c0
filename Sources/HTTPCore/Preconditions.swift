/// Evaluation of conditional requests and range requests.
public enum Preconditions {
    /// The kind of response to a request.
    public enum Outcome: Sendable, Hashable {
        /// Perform the method; for GET, 200 with the whole representation.
        case proceed
        /// 304 Not Modified.
        case notModified
        /// 412 Precondition Failed.
        case failed
        /// 206 with these ranges, one or more.
        case partial([ByteRange])
        /// 416 Range Not Satisfiable.
        case unsatisfiable
    }

    /// Whether a request has a field that ``evaluate(method:fields:etag:lastModified:length:now:)`` considers. Without
    /// one, the outcome is always ``Outcome/proceed``.
    public static func arePresent(in fields: borrowing Fields) -> Bool {
        fields.contains(names)
    }

    private static let names = FieldNameSet([
        .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .range, .ifRange,
    ])

    /// Evaluates the conditional fields in the order of RFC 9110 §13.2.2, then Range (GET only, §14.2).
    ///
    /// The representation must exist. A malformed If-Match fails, since it was sent as protection. Other malformed
    /// conditions are ignored, as §13.1.3, §13.1.4 and §14.2 require. An If-Range with a date is met only by exactly
    /// `lastModified`. If-Match and If-None-Match also take the tags that compressing proxies make of `etag`, since clients
    /// know no other ones: weak, or with the name of a coding.
    /// - Parameters:
    ///   - method: The request's method.
    ///   - fields: The request's fields.
    ///   - etag: The representation's entity tag, if it has one.
    ///   - lastModified: The time of its last change. Pass it only if it changes whenever the bytes do (§8.8.2.2).
    ///   - length: Its length in bytes; nil where ranges are not served.
    ///   - now: The current time, which determines the century of dates with two digits of the year (§5.6.7).
    public static func evaluate(
        method: HTTPMethod, fields: borrowing Fields, etag: EntityTag?, lastModified: HTTPDate?, length: Int64? = nil,
        now: HTTPDate? = nil
    ) -> Outcome {
        guard arePresent(in: fields) else { return .proceed }
        let isRead = method == .get || method == .head
        if let value = fields.combined(.ifMatch) {
            guard matches(value, { tag in etag.map { !$0.isWeak && $0.isNamed(by: tag) } ?? false }, ifMalformed: false) else {
                return .failed
            }
        } else if let limit = date(fields, .ifUnmodifiedSince, now), let lastModified {
            guard lastModified <= limit else { return .failed }
        }
        if let etag, fields.count(.ifNoneMatch) == 1, let value = fields.bytes(.ifNoneMatch), etag.isSpelled(value.span) {
            // The common case: the client sent the tag that it had received.
            return isRead ? .notModified : .failed
        } else if let value = fields.combined(.ifNoneMatch) {
            if matches(value, { tag in etag.map { $0.isNamed(by: tag) } ?? false }, ifMalformed: false) {
                return isRead ? .notModified : .failed
            }
        } else if isRead, let limit = date(fields, .ifModifiedSince, now), let lastModified {
            guard lastModified > limit else { return .notModified }
        }
        guard method == .get, let length, fields.count(.range) == 1, let range = fields[.range] else { return .proceed }
        guard meetsIfRange(fields, etag: etag, lastModified: lastModified, now: now) else { return .proceed }
        switch RangeSet.resolve(range, length: length) {
        case .ignore: return .proceed
        case .satisfiable(let ranges): return .partial(ranges)
        case .unsatisfiable: return .unsatisfiable
        }
    }

    private static func matches(_ value: String, _ isMatch: (EntityTag) -> Bool, ifMalformed: Bool) -> Bool {
        switch EntityTagList(parsing: value) {
        case .any: true
        case .tags(let tags): tags.contains(where: isMatch)
        case nil: ifMalformed
        }
    }

    /// The date of a field; nil if the field is missing, repeated or not a date.
    private static func date(_ fields: borrowing Fields, _ name: FieldName, _ now: HTTPDate?) -> HTTPDate? {
        guard fields.count(name) == 1, let bytes = fields.bytes(name) else { return nil }
        return HTTPDate(parsing: bytes, now: now)
    }

    /// Whether If-Range is absent, or is a matching strong entity tag or exact date: RFC 9110 §13.1.5.
    private static func meetsIfRange(
        _ fields: borrowing Fields, etag: EntityTag?, lastModified: HTTPDate?, now: HTTPDate?
    ) -> Bool {
        guard let value = fields[.ifRange] else { return true }
        guard fields.count(.ifRange) == 1 else { return false }
        if let tag = EntityTag(parsing: value) {
            guard let etag else { return false }
            return tag.stronglyMatches(etag)
        }
        guard let date = HTTPDate(parsing: value, now: now), let lastModified else { return false }
        return date == lastModified
    }
}
