internal import HTTPCore

/// What a request for an entity is answered with: decided from its fields and the faults, without sending anything.
struct EntityAnswer: Sendable {
    let entity: Entity
    private(set) var status: HTTPStatus
    private(set) var fields = Fields()
    /// Nil where there is no body.
    private(set) var source: BodySource?
    let cut: BodyCut?
    let hidesLength: Bool

    private let faults: ActiveFaults
    private let boundary = "pawl-5f3b1c9e2d7a"

    init(entity: Entity, faults: ActiveFaults, method: HTTPMethod, fields requestFields: Fields) {
        var entity = entity
        var request = requestFields
        if faults.has(.weakTag), let tag = entity.etag { entity.etag = EntityTag(opaque: tag.opaque, isWeak: true) }
        if faults.has(.noValidator) {
            entity.etag = nil
            entity.lastModified = nil
        }
        if faults.has(.ignoreIfRange) { request.remove(.ifRange) }
        let compresses = faults.has(.gzip)
        if compresses, let tag = entity.etag {
            // Another coding is another representation (RFC 9110 §8.8.3.3).
            entity.etag = EntityTag(opaque: tag.opaque + "-gzip", isWeak: tag.isWeak)
        }
        let servesRanges = entity.servesRanges && !faults.has(.ignoreRanges) && !compresses
        if !servesRanges { request.remove(.range) }

        self.entity = entity
        self.faults = faults
        cut = faults.cut
        hidesLength = entity.hidesLength || faults.isChunked
        status = entity.status
        appendDescription(acceptsRanges: servesRanges)
        guard entity.status == .ok else {
            appendRepresentation()
            source = BodySource(content: entity.content, pieces: [.range(0..<entity.content.length)])
            return
        }
        if let what = faults.unsatisfiable, let range = request[.range] {
            refuseRange(what, range)
            return
        }
        let outcome = Preconditions.evaluate(
            method: method, fields: request, etag: entity.etag, lastModified: entity.lastModified,
            length: entity.content.length)
        switch outcome {
        case .notModified: status = .notModified
        case .failed: status = .preconditionFailed
        case .unsatisfiable: refuseRange(.length, "")
        case .partial(let ranges): answerPart(ranges)
        case .proceed:
            if faults.has(.unaskedPartial), method == .get, entity.content.length > 1 {
                answerPart([ByteRange(start: 0, length: entity.content.length / 2)])
            } else {
                answerWhole(compressed: compresses)
            }
        }
    }

    private mutating func appendDescription(acceptsRanges: Bool) {
        if let tag = entity.etag { fields.append(.etag, tag) }
        if let date = entity.lastModified { fields.append(.lastModified, date.description) }
        if let control = entity.cacheControl { fields.append(.cacheControl, control) }
        if acceptsRanges { fields.append(.acceptRanges, "bytes") }
    }

    /// What only an answer with content carries.
    private mutating func appendRepresentation() {
        if !entity.mediaType.isEmpty { fields.append(.contentType, entity.mediaType) }
        if let disposition = entity.disposition { fields.append(.contentDisposition, disposition) }
    }

    private mutating func answerWhole(compressed: Bool) {
        appendRepresentation()
        if compressed {
            fields.append(.contentEncoding, "gzip")
            source = BodySource(content: entity.content, pieces: [.gzip(GzipContent(entity.content))])
        } else {
            source = BodySource(content: entity.content, pieces: [.range(0..<entity.content.length)])
        }
    }

    private mutating func answerPart(_ ranges: [ByteRange]) {
        status = .partialContent
        if ranges.count == 1, let range = ranges.first, !faults.has(.multipart) {
            appendRepresentation()
            fields.append(.contentRange, contentRange(range))
            source = BodySource(content: entity.content, pieces: [.range(range.start..<range.end)])
            return
        }
        if let disposition = entity.disposition { fields.append(.contentDisposition, disposition) }
        fields.append(.contentType, "multipart/byteranges; boundary=" + boundary)
        var pieces: [BodySource.Piece] = []
        for range in ranges {
            let type = entity.mediaType.isEmpty ? "" : "Content-Type: \(entity.mediaType)\r\n"
            let head = "\r\n--\(boundary)\r\n\(type)Content-Range: \(contentRange(range))\r\n\r\n"
            pieces.append(.bytes(Array(head.utf8)))
            pieces.append(.range(range.start..<range.end))
        }
        pieces.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
        source = BodySource(content: entity.content, pieces: pieces)
    }

    private func contentRange(_ range: ByteRange) -> String {
        let shift: Int64 = faults.has(.wrongRange) ? 1 : 0
        let total = entity.content.length + (faults.has(.wrongTotal) ? 1 : 0)
        return "bytes \(range.start + shift)-\(range.end - 1 + shift)/\(total)"
    }

    private mutating func refuseRange(_ what: Fault.Unsatisfiable, _ range: String) {
        status = .rangeNotSatisfiable
        switch what {
        case .length: fields.append(.contentRange, "bytes */\(entity.content.length)")
        case .complete:
            let start = range.drop { $0 != "=" }.dropFirst().prefix { $0 != "-" }
            fields.append(.contentRange, "bytes */\(Int64(start) ?? entity.content.length)")
        case .nothing: break
        }
    }
}
