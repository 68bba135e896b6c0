/// Encodes responses: RFC 9112 §4 and §7.1. It allocates nothing if the arrays have the capacity.
public enum ResponseEncoder {
    /// Appends a status line such as `HTTP/1.1 200 OK` CRLF. RFC 9110 §2.5: the version is the server's own, even for a
    /// 1.0 client.
    public static func encodeStatusLine(_ status: HTTPStatus, into bytes: inout [UInt8]) {
        bytes.append(contentsOf: statusLines[status.code - 100])
    }

    /// Appends the Content-Length field.
    public static func encodeContentLength(_ length: Int64, into bytes: inout [UInt8]) {
        bytes.append(contentsOf: "Content-Length: ".utf8)
        bytes.append(decimal: length)
        encodeHeadEnd(into: &bytes)
    }

    /// Appends the empty line that ends a head.
    public static func encodeHeadEnd(into bytes: inout [UInt8]) {
        bytes.append(addingCapacity: 2) { output in
            output.append(ASCII.carriageReturn)
            output.append(ASCII.lineFeed)
        }
    }

    /// Appends a chunk or a part of one. Empty data appends nothing, since an empty chunk would end the body.
    /// - Parameters:
    ///   - continues: Whether an earlier call has begun the chunk.
    ///   - rest: The number of bytes that later calls append to it.
    public static func encodeChunk(_ data: Span<UInt8>, continues: Bool = false, rest: Int = 0, into bytes: inout [UInt8]) {
        guard !data.isEmpty else { return }
        if !continues {
            bytes.append(contentsOf: String(data.count + rest, radix: 16, uppercase: true).utf8)
            encodeHeadEnd(into: &bytes)
        }
        bytes.append(data)
        if rest == 0 { encodeHeadEnd(into: &bytes) }
    }

    /// Appends the last chunk and an empty trailer section, which end a chunked body.
    public static func encodeLastChunk(into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "0"))
        encodeHeadEnd(into: &bytes)
        encodeHeadEnd(into: &bytes)
    }

    /// Appends the interim response on which a client sends its body: RFC 9110 §10.1.1.
    public static func encodeContinue(into bytes: inout [UInt8]) {
        encodeStatusLine(.continue, into: &bytes)
        encodeHeadEnd(into: &bytes)
    }

    /// The status lines of HTTP/1.1 for 100–999.
    private static let statusLines: [[UInt8]] = (100...999).map { code in
        // RFC 9112 §4: the space before the reason is required even if the reason is empty.
        Array("HTTP/1.1 \(code) \(HTTPStatus(code).reason)\r\n".utf8)
    }
}
