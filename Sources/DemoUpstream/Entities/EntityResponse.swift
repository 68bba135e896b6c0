internal import HTTPCore

/// The response to a request for an entity, derived from the request's fields and the faults.
struct EntityResponse: Sendable {
    let entity: Entity
    private(set) var status: HTTPStatus
    private(set) var fields = Fields()
    /// The body; `nil` if there is none.
    private(set) var source: EntityBody?
    let hidesLength: Bool

    private let faults: ActiveFaults
    private static let boundary = "pawl-5f3b1c9e2d7a"

    init(entity original: Entity, faults: ActiveFaults, method: HTTPMethod, fields requestFields: Fields) {
        var entity = original
        var request = requestFields
        if faults.has(.weakTag) { entity.makeTagWeak() }
        if faults.has(.noValidator) {
            entity.etag = nil
            entity.lastModified = nil
        }
        if faults.has(.gzip), let tag = entity.etag {
            // Another content coding is another representation (RFC 9110 §8.8.3.3).
            entity.etag = EntityTag(opaque: tag.opaque + "-gzip", isWeak: tag.isWeak)
        }
        if faults.has(.ignoreIfRange) { request.remove(.ifRange) }
        let servesRanges = entity.servesRanges && !faults.has(.ignoreRanges) && !faults.has(.gzip)
        if !servesRanges { request.remove(.range) }

        self.entity = entity
        self.faults = faults
        hidesLength = faults.has(.chunked) || faults.has(.chunkedWithoutEnd)
        status = entity.status
        if let tag = entity.etag { fields.append(.etag, tag) }
        if let date = entity.lastModified { fields.append(.lastModified, date.description) }
        if let control = entity.cacheControl { fields.append(.cacheControl, control) }
        if servesRanges { fields.append(.acceptRanges, "bytes") }
        guard entity.status == .ok else {
            sendWhole()
            return
        }
        if let range = request[.range], refuseByFault(range) { return }
        let outcome = Preconditions.evaluate(
            method: method, fields: request, etag: entity.etag, lastModified: entity.lastModified, length: entity.content.length)
        switch outcome {
        case .notModified: status = .notModified
        case .failed: status = .preconditionFailed
        case .unsatisfiable: refuseRange("bytes */\(entity.content.length)")
        case .partial(let ranges): sendParts(ranges)
        case .proceed where faults.has(.unaskedPartial) && method == .get && entity.content.length > 1:
            sendParts([ByteRange(start: 0, length: entity.content.length / 2)])
        case .proceed: sendWhole()
        }
    }

    private mutating func sendWhole() {
        if !entity.mediaType.isEmpty { fields.append(.contentType, entity.mediaType) }
        if let disposition = entity.disposition { fields.append(.contentDisposition, disposition) }
        if faults.has(.gzip) { fields.append(.contentEncoding, "gzip") }
        source = EntityBody(content: entity.content, pieces: [.range(0..<entity.content.length)])
    }

    private mutating func sendParts(_ ranges: [ByteRange]) {
        status = .partialContent
        if let disposition = entity.disposition { fields.append(.contentDisposition, disposition) }
        if ranges.count == 1, let range = ranges.first, !faults.has(.multipart) {
            if !entity.mediaType.isEmpty { fields.append(.contentType, entity.mediaType) }
            fields.append(.contentRange, contentRange(range))
            source = EntityBody(content: entity.content, pieces: [.range(range.start..<range.end)])
            return
        }
        fields.append(.contentType, "multipart/byteranges; boundary=" + Self.boundary)
        var pieces: [EntityBody.Piece] = []
        for range in ranges {
            let type = entity.mediaType.isEmpty ? "" : "Content-Type: \(entity.mediaType)\r\n"
            let head = "\r\n--\(Self.boundary)\r\n\(type)Content-Range: \(contentRange(range))\r\n\r\n"
            pieces += [.bytes(Array(head.utf8)), .range(range.start..<range.end)]
        }
        pieces.append(.bytes(Array("\r\n--\(Self.boundary)--\r\n".utf8)))
        source = EntityBody(content: entity.content, pieces: pieces)
    }

    private func contentRange(_ range: ByteRange) -> String {
        let shift: Int64 = faults.has(.wrongRange) ? 1 : 0
        let total = entity.content.length + (faults.has(.wrongTotal) ? 1 : 0)
        return "bytes \(range.start + shift)-\(range.end - 1 + shift)/\(total)"
    }

    /// Refuses a range if a fault requires it; returns whether it did.
    private mutating func refuseByFault(_ range: String) -> Bool {
        if faults.has(.unsatisfiable) {
            refuseRange("bytes */\(entity.content.length)")
        } else if faults.has(.unsatisfiableComplete) {
            let start = range.drop { $0 != "=" }.dropFirst().prefix { $0 != "-" }
            refuseRange("bytes */\(Int64(start) ?? entity.content.length)")
        } else if faults.has(.unsatisfiableBare) {
            refuseRange(nil)
        } else {
            return false
        }
        return true
    }

    private mutating func refuseRange(_ contentRange: String?) {
        status = .rangeNotSatisfiable
        if let contentRange { fields.append(.contentRange, contentRange) }
    }
}
