internal import HTTPCore

extension Property {
    /// The result of a WebSocket's bytes does not depend on their division, stays within its limit, and equals a
    /// reading frame by frame; the frames that a server writes of it are read equally.
    func checkFrames(_ bytes: [UInt8]) throws(Violation) {
        for limit in [1 << 20, 20] {
            let whole = FrameReading(bytes, cuts: [], limit: limit)
            try expectSame(FrameReading(bytes, cuts: Array(0..<bytes.count), limit: limit), whole, "byte by byte and as a whole")
            let cuts = Pieces.cuts(of: bytes)
            try expectSame(FrameReading(bytes, cuts: cuts, limit: limit), whole, "cut at \(cuts) and as a whole")
            for case .message(let message) in whole.events {
                try expect(message.bytes.count <= limit, "a message of \(message.bytes.count) bytes")
                guard message.kind == .text else { continue }
                try expect(String(validating: message.bytes, as: UTF8.self) != nil, "a text that isn't UTF-8")
            }
            try checkByFrames(bytes, whole)
            try checkWrittenFrames(whole)
        }
    }

    private func checkByFrames(_ bytes: [UInt8], _ reading: FrameReading) throws(Violation) {
        let frames = SimpleFrames(bytes)
        if reading.error == nil { try expect(frames.isSound, "frame by frame it is broken, and as a whole it isn't") }
        try expect(frames.events.count >= reading.events.count, "frame by frame there is less")
        try expectSame(Array(frames.events.prefix(reading.events.count)), reading.events, "frame by frame, and as a whole")
        if reading.error == nil { try expectSame(frames.events.count, reading.events.count, "events") }
    }

    private func checkWrittenFrames(_ reading: FrameReading) throws(Violation) {
        var written: [UInt8] = []
        var expected: [WebSocketParser.Event] = []
        for event in reading.events {
            var frame: [UInt8] = []
            switch event {
            case .message(let message): WebSocketEncoder.encode(message.kind, message.bytes.span, into: &frame)
            case .ping(let payload), .pong(let payload): WebSocketEncoder.encodePong(payload.span, into: &frame)
            case .close(let code): WebSocketEncoder.encodeClose(code, reason: "because", into: &frame)
            }
            written += SimpleFrames.masked(frame)
            if case .ping(let payload) = event { expected.append(.pong(payload)) } else { expected.append(event) }
        }
        let again = FrameReading(written, cuts: [], limit: 1 << 20)
        try expect(again.error == nil, "written again, it is broken: \(again)")
        try expectSame(again.events, expected, "written again")
    }
}

/// The result of a client's bytes.
private struct FrameReading: Equatable {
    var events: [WebSocketParser.Event] = []
    var error: WebSocketError?

    init(_ bytes: [UInt8], cuts: [Int], limit: Int) {
        var parser = WebSocketParser(messageLimit: limit)
        var start = 0
        for cut in cuts + [bytes.count] {
            while start < cut {
                do throws(WebSocketError) {
                    let (consumed, event) = try parser.parse(bytes.span.extracting(start..<cut))
                    start += consumed
                    if let event { events.append(event) }
                } catch {
                    self.error = error
                    return
                }
            }
        }
    }
}

/// A second, simple reading: RFC 6455 §5.2 taken literally, with all bytes present.
private struct SimpleFrames {
    var events: [WebSocketParser.Event] = []
    /// The present bytes are valid.
    var isSound = true

    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        var begun: (opcode: UInt8, bytes: [UInt8])?
        while let frame = Self.take(&rest) {
            let isControl = frame.opcode >= 8
            switch frame.opcode {
            case 0 where begun != nil: begun?.bytes += frame.payload
            case 1 where begun == nil, 2 where begun == nil: begun = (frame.opcode, frame.payload)
            case 8:
                if frame.payload.isEmpty {
                    events.append(.close(nil))
                } else if frame.payload.count > 1 {
                    let code = UInt16(frame.payload[0]) << 8 | UInt16(frame.payload[1])
                    events.append(.close(WebSocketCloseCode(rawValue: code)))
                }
            case 9: events.append(.ping(frame.payload))
            case 10: events.append(.pong(frame.payload))
            default: isSound = false
            }
            if !frame.isRegular || isControl && (!frame.isFinal || frame.payload.count > 125) { isSound = false }
            if !isControl, frame.isFinal, let message = begun {
                events.append(.message(WebSocketMessage(message.opcode == 1 ? .text : .binary, message.bytes)))
                begun = nil
            }
            guard isSound else { return }
        }
    }

    private struct Frame {
        var opcode: UInt8
        var isFinal: Bool
        /// Reserved bits, mask and length are valid.
        var isRegular: Bool
        var payload: [UInt8]
    }

    private static func take(_ rest: inout ArraySlice<UInt8>) -> Frame? {
        var bytes = rest
        guard let first = bytes.popFirst(), let second = bytes.popFirst() else { return nil }
        var isRegular = first & 0x70 == 0 && second & 0x80 != 0
        var length = UInt64(second & 0x7F)
        if length >= 126 {
            let size = length == 126 ? 2 : 8
            guard bytes.count >= size else { return nil }
            length = bytes.prefix(size).reduce(0) { $0 << 8 | UInt64($1) }
            bytes = bytes.dropFirst(size)
            isRegular = isRegular && length >= (size == 2 ? 126 : 65536)
        }
        guard bytes.count >= 4, length <= UInt64(bytes.count - 4) else { return nil }
        let mask = Array(bytes.prefix(4))
        let payload = bytes.dropFirst(4).prefix(Int(length))
        rest = bytes.dropFirst(4 + Int(length))
        return Frame(
            opcode: first & 0x0F, isFinal: first & 0x80 != 0, isRegular: isRegular,
            payload: payload.enumerated().map { $1 ^ mask[$0 & 3] })
    }

    /// A server's frame as a client would send it.
    static func masked(_ frame: [UInt8]) -> [UInt8] {
        let mask: [UInt8] = [0x3A, 0x00, 0xFF, 0x81]
        let size = frame[1] == 127 ? 10 : frame[1] == 126 ? 4 : 2
        var bytes = Array(frame.prefix(size)) + mask
        bytes[1] |= 0x80
        return bytes + frame.dropFirst(size).enumerated().map { $1 ^ mask[$0 & 3] }
    }
}
