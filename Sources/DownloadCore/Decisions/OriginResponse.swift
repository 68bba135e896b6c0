package import HTTPCore

/// The values in the head of an origin's response that decide about the bytes of its body.
package struct OriginResponse: Sendable, Equatable {
    /// The status code.
    package var status: Int
    /// The ETag field's value.
    package var etag: FieldValue?
    /// The Last-Modified field's value.
    package var lastModified: FieldValue?
    /// The Date field's value.
    package var date: String?
    /// The Content-Range field's value.
    package var contentRange: String?
    /// The length of the body in bytes, if it is known.
    package var contentLength: Int64?
    /// The Content-Encoding field's value.
    package var contentEncoding: String?
    /// The Content-Type field's value.
    package var contentType: String?
    /// The Accept-Ranges field's value.
    package var acceptRanges: String?
    /// The Retry-After field's value.
    package var retryAfter: String?
    /// The digest of the whole file, if the origin sent one.
    package var digest: Checksum?
    /// The names given to the file by its URL, its origin and the user. They show whether the file itself is in the
    /// format of a content coding.
    package var names: [String] = []
    /// The target of the redirects that led to the response (``HTTPURL/target(of:)``); `nil` without any.
    package var target: String?

    /// Creates the values from a response.
    ///
    /// - Parameter contentLength: The body's length according to Content-Length and Transfer-Encoding.
    package init(status: HTTPStatus, fields: Fields, contentLength: Int64?) {
        self.status = status.code
        etag = fields.value(.etag)
        lastModified = fields.value(.lastModified)
        date = fields[.date]
        contentRange = fields[.contentRange]
        self.contentLength = contentLength
        contentEncoding = fields.combined(.contentEncoding)
        contentType = Self.contentType(fields)
        acceptRanges = fields.combined(.acceptRanges)
        retryAfter = fields[.retryAfter]
        digest = OriginDigests.strongest(fields)
    }

    /// Returns the media type of a response. Of several types, a page's type decides, since it distinguishes a page
    /// from the file.
    private static func contentType(_ fields: Fields) -> String? {
        let values = fields.values(.contentType)
        let comma = UInt8(ascii: ",")
        if values.count == 1, !values[0].utf8.contains(comma) { return values[0] }
        let types = values.flatMap { $0.utf8.split(separator: comma).compactMap(String.init) }
        return types.first { PageFormat(contentType: $0) != nil } ?? values.first
    }

    /// The content codings that change bytes, by their registered names; `nil` without any.
    package var coding: String? {
        let codings = contentEncoding.map(ContentCoding.all) ?? []
        return codings.isEmpty ? nil : codings.map(\.rawValue).joined(separator: ", ")
    }

    /// Whether a content coding has been applied to the file.
    ///
    /// `false` if the file itself is in that format, as gzip with `a.tar.gz`: the bytes are then the file's own.
    package var isCoded: Bool {
        let codings = contentEncoding.map(ContentCoding.all) ?? []
        guard let first = codings.first else { return false }
        let isGenerated = etag == nil && lastModified == nil && contentLength == nil
        return codings.count > 1 || !first.isFormat(ofFileNamed: names, contentType: contentType, isGenerated: isGenerated)
    }

    /// The entity of a body that starts at byte 0.
    package var entity: SavedEntity {
        SavedEntity(etag: etag, lastModified: lastModified, date: date, total: contentLength, coding: coding, digest: digest)
    }

    /// Whether the body consists of several parts (RFC 9110 §14.6), which are never requested.
    var isMultipart: Bool {
        contentType.flatMap(MediaType.init(parsing:))?.essence == "multipart/byteranges"
    }

    /// Returns the delay that the origin asks for; `nil` if it asks for none, or not in a valid form.
    package func retryDelay(now: Timestamp) -> Duration? {
        retryAfter.flatMap { RetryAfter.delay($0, date: date, now: now) }
    }
}

// MARK: - Validation of a 206

extension OriginResponse {
    /// Returns the reason why the body does not belong to an entity; `nil` if it has proved to.
    ///
    /// RFC 9110 §15.3.7 requires the ETag in a 206 if a 200 would have it. §15.3.7.3 allows parts to be combined only
    /// under a validator that they share. A saved ETag therefore has to be present again, also a weak or malformed one.
    /// A Last-Modified other than the saved one belongs to another version, whichever validator the request had. A
    /// missing Last-Modified is accepted: the tag, the length and the overlap of bytes stay.
    /// - Parameters:
    ///   - entity: The entity that the body has to belong to.
    ///   - start: The first requested byte.
    package func contradiction(to entity: SavedEntity, from start: Int64) -> String? {
        // RFC 9110 §15.3.7 lets a part under If-Range omit such fields. The length then has to be the proof.
        if coding != entity.coding, coding != nil || entity.total == nil {
            return coding == nil ? "the part has no content coding" : "the part has another content coding"
        }
        if isMultipart { return "the response has several parts" }
        guard let range = partRange else { return "no valid Content-Range" }
        if range.bytes.lowerBound != start { return "the part starts at \(range.bytes.lowerBound) and not at \(start)" }
        // Without a length, the end of the file would be unknown once bytes have been appended.
        guard let total = range.total else { return "the part does not tell the file's length" }
        if let saved = entity.total, total != saved { return "the length is \(total) and no longer \(saved)" }
        if let contentLength, contentLength != range.bytes.upperBound - start { return "Content-Length and Content-Range differ" }
        if etag != entity.etag { return etag == nil ? "the part has no ETag" : "the ETag is no longer the same" }
        if let lastModified, let saved = entity.lastModified, lastModified != saved {
            return "Last-Modified is no longer the same"
        }
        return nil
    }

    /// The bytes that a 206 carries, and the length of the whole file; `nil` without a valid Content-Range for bytes.
    package var partRange: (bytes: Range<Int64>, total: Int64?)? {
        guard let range = contentRange.flatMap(ContentRange.init(parsing:)), let start = range.start, let last = range.end,
            last < .max
        else { return nil }
        return (start..<last + 1, range.total)
    }

    /// The response as a 200, if it is a 206 with the whole file; `nil` for any other response.
    package var asWhole: OriginResponse? {
        guard status == 206, !isMultipart, let part = partRange, part.bytes.lowerBound == 0, part.bytes.upperBound == part.total
        else { return nil }
        var whole = self
        whole.status = 200
        whole.contentRange = nil
        whole.contentLength = contentLength ?? part.total
        return whole
    }

    /// Returns the reason why the body of a 200 may be a part of the file; `nil` if it is the whole.
    /// - Parameters:
    ///   - entity: The saved entity.
    ///   - range: The requested bytes; `nil` if no range was requested. Without a known length, it ends at `.max`.
    package func partialContent(of entity: SavedEntity, requested range: Range<Int64>?) -> String? {
        if let contentRange {
            let part = partRange
            let isPart = part.map { $0.bytes.lowerBound > 0 || $0.bytes.upperBound != $0.total ?? $0.bytes.upperBound }
            // RFC 9110 §14.4 gives the field no meaning in a 200. If no range was requested, only a valid one counts.
            if isPart ?? (range != nil) || (range != nil && part?.total == nil) {
                return "a 200 with the Content-Range '\(contentRange)'"
            }
        }
        guard let range, let contentLength, contentLength != entity.total else { return nil }
        if contentLength == range.upperBound - range.lowerBound { return "a 200 with exactly the length of the range" }
        if entity.total != nil, case .entityTag(etag) = Validator(of: entity) {
            return "a 200 with the same ETag and another length"
        }
        return nil
    }

    /// Whether a 200 is of the same entity, by the validators of both.
    ///
    /// A Last-Modified other than the saved one belongs to another version, with any ETag.
    package func isWhole(of entity: SavedEntity) -> Bool {
        guard coding == entity.coding, contentLength == nil || contentLength == entity.total else { return false }
        if let lastModified, let saved = entity.lastModified, lastModified != saved { return false }
        guard let validator = Validator(of: entity), etag == entity.etag else { return false }
        if case .entityTag = validator { return true }
        return lastModified == entity.lastModified
    }
}

extension HTTPURL {
    /// Returns this URL without its query, if redirects have led to it from another one; `nil` otherwise. Queries of
    /// targets often differ with each redirect.
    package func target(of asked: String) -> String? {
        let target = Self.withoutSecrets(in: string)
        return target == Self.withoutSecrets(in: asked) ? nil : target
    }
}
