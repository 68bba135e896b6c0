/// A server's frame of a WebSocket: RFC 6455 §5.2.
public struct ServerFrame: Sendable, Equatable, CustomStringConvertible {
    /// 0–15.
    public var opcode: UInt8
    /// The unmasked payload.
    public var payload: [UInt8]

    /// A frame of any opcode.
    public init(_ opcode: UInt8, _ payload: [UInt8] = []) {
        self.opcode = opcode
        self.payload = payload
    }

    /// A text.
    public static func text(_ text: String) -> ServerFrame { ServerFrame(1, Array(text.utf8)) }

    /// The code of a close frame; nil for a close without one, and for other frames.
    public var closeCode: Int? {
        opcode == 8 && payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : nil
    }

    /// The payload as text.
    public var text: String { String(decoding: payload, as: UTF8.self) }

    /// Opcode, length, and the beginning.
    public var description: String {
        "opcode \(opcode), \(payload.count) bytes: \(String(decoding: payload.prefix(40), as: UTF8.self))"
    }

    /// Takes all whole frames from the start of the bytes. Throws if one is masked, fragmented, or has reserved bits.
    public static func takeAll(from bytes: inout [UInt8]) throws -> [ServerFrame] {
        var frames: [ServerFrame] = []
        var position = 0
        while bytes.count - position >= 2 {
            guard bytes[position] & 0xF0 == 0x80, bytes[position + 1] & 0x80 == 0 else {
                throw TestConnection.Failure.malformed("frame of \(bytes[position]), \(bytes[position + 1])")
            }
            var length = Int(bytes[position + 1])
            var start = position + 2
            if length >= 126 {
                let size = length == 126 ? 2 : 8
                guard bytes.count - start >= size else { break }
                length = bytes[start..<start + size].reduce(0) { $0 << 8 | Int($1) }
                start += size
            }
            guard bytes.count - start >= length else { break }
            frames.append(ServerFrame(bytes[position] & 0x0F, Array(bytes[start..<start + length])))
            position = start + length
        }
        bytes.removeFirst(position)
        return frames
    }
}

extension TestConnection {
    /// The fields of a valid handshake with the key of RFC 6455 §1.3.
    public static let handshakeFields = [
        ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]

    /// Connects, and opens a WebSocket.
    public static func webSocket(_ port: Int, _ target: String = "/", fields: [(String, String)] = []) throws -> TestConnection {
        let connection = try TestConnection(port)
        try connection.send("GET", target, fields: handshakeFields + fields)
        let head = try connection.readHead()
        guard head.status == 101 else { throw Failure.malformed("\(head)") }
        return connection
    }

    /// Sends frames in one write.
    public func send(_ frames: ClientFrame...) throws {
        try send(frames.flatMap(\.bytes))
    }

    /// Waits for the next frame.
    public func takeFrame() throws -> ServerFrame {
        var bytes = try take(2)
        if bytes[1] & 0x7F >= 126 { bytes += try take(bytes[1] & 0x7F == 126 ? 2 : 8) }
        let length = bytes[1] & 0x7F < 126 ? Int(bytes[1] & 0x7F) : bytes.dropFirst(2).reduce(0) { $0 << 8 | Int($1) }
        bytes += try take(length)
        let frames = try ServerFrame.takeAll(from: &bytes)
        guard let frame = frames.first, bytes.isEmpty else { throw Failure.malformed("frame") }
        return frame
    }
}
