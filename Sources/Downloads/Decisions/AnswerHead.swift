import HTTPCore

/// What of a response's head decides about the bytes that follow it.
struct AnswerHead: Sendable, Equatable {
    /// The status code.
    var status: Int
    /// The ETag field's value.
    var etag: String?
    /// The Last-Modified field's value.
    var lastModified: String?
    /// The Date field's value.
    var date: String?
    /// The Content-Range field's value.
    var contentRange: String?
    /// The length of the body in bytes, if it was told.
    var contentLength: Int64?
    /// The Content-Encoding field's value.
    var contentEncoding: String?
    /// The Content-Type field's value.
    var contentType: String?
    /// The Accept-Ranges field's value.
    var acceptRanges: String?
    /// The Retry-After field's value.
    var retryAfter: String?
    /// What the whole file hashes to, says the origin.
    var digest: Checksum?

    init(status: Int) {
        self.status = status
    }

    /// Takes the members from a response.
    ///
    /// - Parameter contentLength: What the transfer makes of Content-Length and Transfer-Encoding.
    init(status: HTTPStatus, fields: Fields, contentLength: Int64?) {
        self.status = status.code
        etag = fields[.etag]
        lastModified = fields[.lastModified]
        date = fields[.date]
        contentRange = fields[.contentRange]
        self.contentLength = contentLength
        contentEncoding = fields.combined(.contentEncoding)
        contentType = fields[.contentType]
        acceptRanges = fields.combined(.acceptRanges)
        retryAfter = fields[.retryAfter]
        digest = OriginDigests.strongest(fields)
    }

    /// The content coding, unless there is none or it is `identity`, which is none by another name.
    var coding: String? {
        guard let contentEncoding else { return nil }
        let codings = contentEncoding.split { $0 == "," || $0 == " " || $0 == "\t" }
        return codings.allSatisfy { $0.lowercased() == "identity" } ? nil : contentEncoding
    }

    /// What a body that starts at zero is a body of.
    var entity: SavedEntity {
        SavedEntity(etag: etag, lastModified: lastModified, date: date, total: contentLength, coding: coding, digest: digest)
    }

    /// Whether the body consists of several parts (RFC 9110 §14.6), which nobody asked for.
    var isMultipart: Bool {
        contentType.flatMap(MediaType.init(parsing:))?.essence == "multipart/byteranges"
    }

    /// How long the origin asks to be left alone; `nil` if it does not, or not understandably.
    func retryDelay(now: Timestamp) -> Duration? {
        retryAfter.flatMap { RetryPolicy.delay(fromRetryAfter: $0, date: date, now: now) }
    }
}
