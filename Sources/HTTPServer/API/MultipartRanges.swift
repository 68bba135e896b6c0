internal import HTTPCore

/// A body with several ranges: `multipart/byteranges`, RFC 9110 §14.6.
struct MultipartRanges {
    /// A piece of the body.
    enum Piece: Sendable {
        /// Delimiters and the fields of parts.
        case bytes([UInt8])
        /// Bytes of the representation.
        case range(ByteRange)
    }

    let pieces: [Piece]
    /// The Content-Type of the body, with its boundary.
    let mediaType: String

    init(_ ranges: [ByteRange], of representation: Representation) {
        // 128 random bits do not occur in the content by chance, and its authors cannot predict them.
        let boundary = String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
        // The type becomes a field's value here, too, so it must not contain a line end.
        var fields = Fields()
        fields.append(.contentType, representation.mediaType)
        var pieces: [Piece] = []
        for (index, range) in ranges.enumerated() {
            var part = Array("\(index == 0 ? "" : "\r\n")--\(boundary)\r\n".utf8)
            fields.encode(into: &part)
            part.append(contentsOf: "Content-Range: \(ContentRange(range, total: representation.length))\r\n\r\n".utf8)
            pieces.append(.bytes(part))
            pieces.append(.range(range))
        }
        pieces.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
        self.pieces = pieces
        mediaType = "multipart/byteranges; boundary=\(boundary)"
    }
}
