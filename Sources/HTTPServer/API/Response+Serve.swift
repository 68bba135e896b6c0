public import HTTPCore

extension Response {
    /// Responds with a file by the request's conditional fields and its Range: 200, 206 (one part, or several as
    /// `multipart/byteranges`), 304, 412 or 416. RFC 9110 §13 and §14.
    ///
    /// Sets the status, the body, `ETag`, `Last-Modified`, `Accept-Ranges`, `Content-Type` and `Content-Range`. Other
    /// fields are kept. A 412 or 416 has no body; an application can check `status` afterwards and set `body`. The
    /// default of `lastModified` is the file's own.
    public mutating func serve(
        _ file: FileHandle, for request: borrowing Request, mediaType: String, etag: EntityTag?, lastModified: HTTPDate? = nil
    ) {
        let representation = Representation(
            length: file.size, mediaType: mediaType, etag: etag, lastModified: lastModified ?? file.lastModified)
        switch select(representation, for: request) {
        case .nothing: content = .bytes
        case .one(let range):
            content = .parts([.file(FileSection(file: file, offset: range.start, length: range.length))])
        case .several(let multipart):
            content = .parts(
                multipart.pieces.map { piece in
                    switch piece {
                    case .bytes(let bytes): .bytes(bytes)
                    case .range(let range): .file(FileSection(file: file, offset: range.start, length: range.length))
                    }
                })
        }
    }

    /// Responds with a body in memory by the request's conditional fields and its Range.
    public mutating func serve(
        _ bytes: [UInt8], for request: borrowing Request, mediaType: String, etag: EntityTag?, lastModified: HTTPDate? = nil
    ) {
        let representation = Representation(
            length: Int64(bytes.count), mediaType: mediaType, etag: etag, lastModified: lastModified)
        let slice = { (range: ByteRange) in bytes[Int(range.start)..<Int(range.end)] }
        content = .bytes
        switch select(representation, for: request) {
        case .nothing: break
        case .one(let range): body = range.length == representation.length ? bytes : Array(slice(range))
        case .several(let multipart):
            for piece in multipart.pieces {
                switch piece {
                case .bytes(let bytes): body.append(contentsOf: bytes)
                case .range(let range): body.append(contentsOf: slice(range))
                }
            }
        }
    }

    /// Makes a 200 with a body in `body` conditional, with its Content-Type and the given validators. A response with
    /// another status or another kind of content is unchanged.
    public mutating func serveBody(for request: borrowing Request, etag: EntityTag?, lastModified: HTTPDate? = nil) {
        // RFC 9110 §13.2.1: conditions apply only to requests that would succeed without them.
        guard status == .ok, case .bytes = content else { return }
        guard Preconditions.arePresent(in: request.head.fields) else {
            if let etag, !fields.contains(.etag) { fields.append(.etag, etag) }
            if let lastModified { fields.append(.lastModified, lastModified) }
            return
        }
        var bytes: [UInt8] = []
        swap(&bytes, &body)
        let mediaType = fields[.contentType] ?? "application/octet-stream"
        serve(bytes, for: request, mediaType: mediaType, etag: etag, lastModified: lastModified)
    }

    private static let servedFields = FieldNameSet([.etag, .lastModified, .acceptRanges, .contentType, .contentRange])

    private enum Selection {
        case nothing
        case one(ByteRange)
        case several(MultipartRanges)
    }

    /// Sets the status and the fields; returns the byte ranges of the body.
    private mutating func select(_ representation: Representation, for request: borrowing Request) -> Selection {
        body.removeAll(keepingCapacity: true)
        let length = representation.length
        let outcome = Preconditions.evaluate(
            method: request.head.method, fields: request.head.fields, etag: representation.etag,
            lastModified: representation.lastModified, length: length,
            now: HTTPDate(secondsSinceEpoch: Moment.secondsSinceEpoch))
        // RFC 9110 §15.4.5: a 304 has the validators that a 200 would have.
        fields.remove(Self.servedFields)
        if let etag = representation.etag { fields.append(.etag, etag) }
        if let lastModified = representation.lastModified { fields.append(.lastModified, lastModified) }
        fields.append(.acceptRanges, "bytes")
        switch outcome {
        case .notModified:
            status = .notModified
            return .nothing
        case .failed:
            status = .preconditionFailed
            return .nothing
        case .unsatisfiable:
            status = .rangeNotSatisfiable
            fields.append(.contentRange, ContentRange(unsatisfiedOf: length).description)
            return .nothing
        case .proceed:
            status = .ok
            fields.append(.contentType, representation.mediaType)
            return length == 0 ? .nothing : .one(ByteRange(start: 0, length: length))
        case .partial(let ranges):
            status = .partialContent
            if ranges.count == 1, let range = ranges.first {
                fields.append(.contentType, representation.mediaType)
                fields.append(.contentRange, ContentRange(range, total: length).description)
                return .one(range)
            }
            let multipart = MultipartRanges(ranges, of: representation)
            fields.append(.contentType, multipart.mediaType)
            return .several(multipart)
        }
    }
}
