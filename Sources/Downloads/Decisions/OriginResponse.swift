import HTTPCore

/// What of the head of an origin's response decides about the bytes that follow it.
struct OriginResponse: Sendable, Equatable {
    /// The status code.
    var status: Int
    /// The ETag field's value.
    var etag: FieldValue?
    /// The Last-Modified field's value.
    var lastModified: FieldValue?
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
    /// Names given to the file by its URL, its origin and the user: they tell whether it is itself in the format of a content coding.
    var names: [String] = []

    init(status: Int) {
        self.status = status
    }

    /// Takes the members from a response.
    ///
    /// - Parameter contentLength: What the transfer makes of Content-Length and Transfer-Encoding.
    init(status: HTTPStatus, fields: Fields, contentLength: Int64?) {
        self.status = status.code
        etag = fields.value(.etag)
        lastModified = fields.value(.lastModified)
        date = fields[.date]
        contentRange = fields[.contentRange]
        self.contentLength = contentLength
        contentEncoding = fields.combined(.contentEncoding)
        // Of several, the one that tells a page from the file.
        let types = fields.values(.contentType).flatMap { $0.split(separator: ",").map(String.init) }
        contentType = types.first { PageFormat(contentType: $0) != nil } ?? fields[.contentType]
        acceptRanges = fields.combined(.acceptRanges)
        retryAfter = fields[.retryAfter]
        digest = OriginDigests.strongest(fields)
    }

    /// The content codings that change bytes, by their registered names; nil without any.
    var coding: String? {
        let codings = contentEncoding.map(ContentCoding.all) ?? []
        return codings.isEmpty ? nil : codings.map(\.rawValue).joined(separator: ", ")
    }

    /// Whether a content coding has been applied to the file. One that the file itself is in, as gzip with `a.tar.gz`, has not: the bytes
    /// are the file's.
    var isCoded: Bool {
        let codings = contentEncoding.map(ContentCoding.all) ?? []
        guard let first = codings.first else { return false }
        return codings.count > 1 || !first.isFormat(ofFileNamed: names, contentType: contentType)
    }

    /// What a body that starts at zero is a body of.
    var entity: SavedEntity {
        SavedEntity(etag: etag, lastModified: lastModified, date: date, total: contentLength, coding: coding, digest: digest)
    }

    /// Whether the body consists of several parts (RFC 9110 §14.6), which nobody asked for.
    var isMultipart: Bool {
        contentType.flatMap(MediaType.init(parsing:))?.essence == "multipart/byteranges"
    }

    /// How long the origin asks not to be asked again; `nil` if it does not, or not understandably.
    func retryDelay(now: Timestamp) -> Duration? {
        retryAfter.flatMap { RetryPolicy.delay(fromRetryAfter: $0, date: date, now: now) }
    }
}

// MARK: - What a 206 has to prove

extension OriginResponse {
    /// Why its body is no part of an entity; `nil` if it has proved to be one.
    ///
    /// RFC 9110 §15.3.7 requires the ETag in a 206 where a 200 would carry it, and §15.3.7.3 lets parts be combined only under a strong
    /// validator that they share. So a saved ETag has to be there again, and a Last-Modified that is not the saved one belongs to
    /// another version whichever validator was asked with. Only a date that is missing is accepted where the date was the validator.
    /// - Parameters:
    ///   - entity: what it has to be a part of. Without a known length the response has to tell it.
    ///   - start: the first byte that was asked for.
    func contradiction(to entity: SavedEntity, from start: Int64) -> String? {
        // RFC 9110 §15.3.7 lets a part under If-Range leave such fields out; then the length has to tell.
        if coding != entity.coding, coding != nil || entity.total == nil {
            return coding == nil ? "the part has no content coding" : "the part has another content coding"
        }
        if isMultipart { return "the response has several parts" }
        guard let range = partRange else { return "no valid Content-Range" }
        if range.bytes.lowerBound != start { return "the part starts at \(range.bytes.lowerBound) and not at \(start)" }
        // Without a length, nobody could tell where the file ends once it has been appended to.
        guard let total = range.total else { return "the part does not tell the file's length" }
        if let saved = entity.total, total != saved { return "the length is \(total) and no longer \(saved)" }
        if let contentLength, contentLength != range.bytes.upperBound - start { return "Content-Length and Content-Range differ" }
        if etag != entity.etag { return etag == nil ? "the part has no ETag" : "the ETag is no longer the same" }
        if let lastModified, let saved = entity.lastModified, lastModified != saved {
            return "Last-Modified is no longer the same"
        }
        return nil
    }

    /// The bytes that a 206 carries, and the length of the whole; `nil` without a valid Content-Range that names bytes.
    var partRange: (bytes: Range<Int64>, total: Int64?)? {
        guard let range = contentRange.flatMap(ContentRange.init(parsing:)), let start = range.start, let last = range.end,
            last < .max
        else { return nil }
        return (start..<last + 1, range.total)
    }

    /// Whether a 200 is of the same entity, under a strong validator that both have. A Last-Modified that is not the saved one belongs to
    /// another version, whatever the tag says.
    func isWhole(of entity: SavedEntity) -> Bool {
        guard coding == entity.coding, contentLength == nil || contentLength == entity.total else { return false }
        if let lastModified, let saved = entity.lastModified, lastModified != saved { return false }
        switch Validator(of: entity) {
        case .entityTag(let tag): return etag == tag
        case .lastModified(let date): return lastModified == date && etag == nil
        case nil: return false
        }
    }
}
