import HTTPCore
import TestSupport
import Testing

/// The frames of a client, and their reading. Groups and numbers of cases are as in Autobahn's test suite.
@Suite struct WebSocketParserTests {
    /// Frames, and the result of reading them.
    nonisolated struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let frames: [ClientFrame]
        let events: [WebSocketParser.Event]
        /// The close code at the end of the reading; nil if all bytes are read.
        let code: WebSocketCloseCode?

        init(_ name: String, _ frames: [ClientFrame], _ events: [WebSocketParser.Event] = [], _ code: WebSocketCloseCode? = nil) {
            self.name = name
            self.frames = frames
            self.events = events
            self.code = code
        }

        var testDescription: String { name }
    }

    /// The result of bytes that arrive in pieces of this length.
    private func read(_ bytes: [UInt8], pieces: Int, limit: Int) -> (events: [WebSocketParser.Event], error: WebSocketError?) {
        var parser = WebSocketParser(messageLimit: limit)
        var events: [WebSocketParser.Event] = []
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            let end = min(start + pieces, bytes.count)
            var position = start
            while position < end {
                do throws(WebSocketError) {
                    let (consumed, event) = try parser.parse(bytes.span.extracting(position..<end))
                    position += consumed
                    if let event { events.append(event) }
                } catch {
                    return (events, error)
                }
            }
        }
        return (events, nil)
    }

    private func check(_ item: Case, pieces: [Int] = [.max, 1, 3], limit: Int = 32 << 20) {
        let bytes = item.frames.flatMap(\.bytes)
        for length in pieces {
            let (events, error) = read(bytes, pieces: min(length, bytes.count), limit: limit)
            // Not in the expectation, which would compute and print the differences of long values.
            let isAsExpected = events == item.events
            #expect(isAsExpected, "in pieces of \(length)")
            #expect(error?.code == item.code, "in pieces of \(length): \(String(describing: error))")
        }
    }

    private nonisolated static func text(_ text: String) -> WebSocketParser.Event {
        .message(WebSocketMessage(.text, Array(text.utf8)))
    }
    private nonisolated static func binary(_ bytes: [UInt8]) -> WebSocketParser.Event {
        .message(WebSocketMessage(.binary, bytes))
    }

    private nonisolated static let lengths = [0, 1, 125, 126, 127, 128, 65535, 65536]

    nonisolated static let framing: [Case] = lengths.flatMap { length in
        let bytes = [UInt8](repeating: 0x2A, count: length)
        let other = [UInt8](repeating: 0xFE, count: length)
        return [
            Case("1.1, a text of \(length)", [ClientFrame(1, bytes)], [.message(WebSocketMessage(.text, bytes))]),
            Case("1.2, a binary message of \(length)", [ClientFrame(2, other)], [binary(other)]),
        ]
    }

    nonisolated static let pings: [Case] = {
        let payload: [UInt8] = [0x00, 0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0x00, 0xFF]
        let full = [UInt8](repeating: 0xFE, count: 125)
        let ten = (0..<10).map { [UInt8](repeating: UInt8($0), count: $0) }
        return [
            Case("2.1", [ClientFrame(9)], [.ping([])]),
            Case("2.2", [ClientFrame(9, Array("Hello, world!".utf8))], [.ping(Array("Hello, world!".utf8))]),
            Case("2.3", [ClientFrame(9, payload)], [.ping(payload)]),
            Case("2.4", [ClientFrame(9, full)], [.ping(full)]),
            Case("2.5, 126 bytes", [ClientFrame(9, full + [1])], [], .protocolError),
            Case("2.7", [ClientFrame(10)], [.pong([])]),
            Case("2.8", [ClientFrame(10, payload)], [.pong(payload)]),
            Case("2.9", [ClientFrame(10, payload), ClientFrame(9, full)], [.pong(payload), .ping(full)]),
            Case("2.10", ten.map { ClientFrame(9, $0) }, ten.map { .ping($0) }),
        ]
    }()

    nonisolated static let reservedBits: [Case] = (1...7).flatMap { (bits: UInt8) in
        [UInt8(0), 1, 2, 8, 9, 10].map { opcode in
            var frame = ClientFrame(opcode)
            frame.reserved = bits
            return Case("3, bits \(bits) of opcode \(opcode)", [.text("x"), frame, ClientFrame(9)], [text("x")], .protocolError)
        }
    }

    nonisolated static let opcodes: [Case] = [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].flatMap { (opcode: UInt8) in
        [
            Case("4, opcode \(opcode)", [ClientFrame(opcode), ClientFrame(9)], [], .protocolError),
            Case(
                "4, opcode \(opcode) with bytes", [.text("x"), ClientFrame(opcode, [1, 2]), ClientFrame(9)], [text("x")],
                .protocolError),
        ]
    }

    nonisolated static let fragments: [Case] = [
        Case("5.1", [ClientFrame(9, [1], isFinal: false), ClientFrame(0, [2])], [], .protocolError),
        Case("5.2", [ClientFrame(10, [1], isFinal: false), ClientFrame(0, [2])], [], .protocolError),
        Case("5.3", [.text("one ", isFinal: false), ClientFrame(0, Array("two".utf8))], [text("one two")]),
        Case(
            "5.6", [.text("one ", isFinal: false), ClientFrame(9, [7]), ClientFrame(0, Array("two".utf8))],
            [.ping([7]), text("one two")]),
        Case("5.9", [ClientFrame(0, [1]), .text("x")], [], .protocolError),
        Case("5.12", [ClientFrame(0, [1], isFinal: false), .text("x")], [], .protocolError),
        Case(
            "5.15",
            [.text("a", isFinal: false), ClientFrame(0, Array("b".utf8)), ClientFrame(0, [1], isFinal: false), .text("x")],
            [text("ab")], .protocolError),
        Case("5.18", [.text("a", isFinal: false), .text("b")], [], .protocolError),
        Case("5.18, binary", [.text("a", isFinal: false), ClientFrame(2, [1])], [], .protocolError),
        Case(
            "5.19",
            [
                .text("1", isFinal: false), ClientFrame(0, Array("2".utf8), isFinal: false), ClientFrame(9, [1]),
                ClientFrame(0, Array("3".utf8), isFinal: false), ClientFrame(0, [], isFinal: false), ClientFrame(9, [2]),
                ClientFrame(0, Array("5".utf8)),
            ], [.ping([1]), .ping([2]), text("1235")]),
        Case("6.1.2", [ClientFrame(1, [], isFinal: false), ClientFrame(0, [], isFinal: false), ClientFrame(0)], [text("")]),
        Case("a close between", [.text("a", isFinal: false), .close(1000)], [.close(.normal)]),
    ]

    nonisolated static let masks: [Case] = {
        var unmasked = ClientFrame(1, [0x61])
        unmasked.mask = nil
        var long = ClientFrame(2, [1, 2, 3])
        long.lengthSize = 2
        var longer = ClientFrame(2, [UInt8](repeating: 1, count: 300))
        longer.lengthSize = 8
        var longControl = ClientFrame(9, [1])
        longControl.lengthSize = 2
        return [
            Case("no mask", [.text("x"), unmasked], [text("x")], .protocolError),
            Case("3 bytes by a length of 2", [long], [], .protocolError),
            Case("300 bytes by a length of 8", [longer], [], .protocolError),
            Case("a ping's byte by a length of 2", [longControl], [], .protocolError),
        ]
    }()

    nonisolated static let closes: [Case] = {
        let valid: [UInt16] = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999]
        let invalid: [UInt16] = [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535]
        return valid.map { Case("7.7, \($0)", [.close($0)], [.close(WebSocketCloseCode(rawValue: $0))]) }
            + invalid.map { Case("7.9 and 7.13, \($0)", [.close($0)], [], .protocolError) } + [
                Case("7.1.2", [.close(1000), .close(1000)], [.close(.normal), .close(.normal)]),
                Case("7.3.1, empty", [ClientFrame(8)], [.close(nil)]),
                Case("7.3.2, half a code", [ClientFrame(8, [3])], [], .protocolError),
                Case("7.3.4", [.close(1000, "Hello World!")], [.close(.normal)]),
                Case("7.3.5, 123 bytes", [.close(1000, String(repeating: "*", count: 123))], [.close(.normal)]),
                Case("7.3.6, 124 bytes", [.close(1000, String(repeating: "*", count: 124))], [], .protocolError),
                Case("7.5.1", [ClientFrame(8, [3, 0xE8, 0xCE, 0xBA, 0xED, 0xA0, 0x80])], [], .invalidData),
                Case("half a character", [ClientFrame(8, [3, 0xE8, 0xCE])], [], .invalidData),
            ]
    }()

    @Test("Reads frames as in RFC 6455", arguments: framing + pings + reservedBits + opcodes + fragments + masks + closes)
    func framesAreReadAsRFC6455Says(item: Case) {
        check(item)
    }

    // MARK: - UTF-8 (6)

    private nonisolated static let validTexts: [[UInt8]] = [
        Array("Hello-µ@ßöäüàá-UTF-8!!".utf8), Array("κόσμε".utf8), [0x00], [0x7F], [0xC2, 0x80], [0xDF, 0xBF],
        [0xE0, 0xA0, 0x80],
        [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBD], [0xEF, 0xBF, 0xBE], [0xEF, 0xBF, 0xBF],
        [0xF0, 0x90, 0x80, 0x80],
        [0xF4, 0x8F, 0xBF, 0xBF], Array(String(repeating: "a", count: 70).utf8) + [0xC3, 0xA9] + Array("b".utf8),
    ]

    @Test("Accepts valid UTF-8 in every division", arguments: validTexts)
    func aTextOfValidUTF8(bytes: [UInt8]) {
        for cut in 0...bytes.count {
            let frames = [ClientFrame(1, Array(bytes[..<cut]), isFinal: false), ClientFrame(0, Array(bytes[cut...]))]
            check(Case("cut at \(cut)", frames, [.message(WebSocketMessage(.text, bytes))]))
        }
    }

    /// Bytes that are not UTF-8, and the number of bytes until this is certain.
    private nonisolated static let invalidTexts: [(bytes: [UInt8], known: Int)] = [
        ([0x80], 1), ([0xBF], 1), ([0xC0, 0x80], 1), ([0xC1, 0xBF], 1), ([0xC3, 0x28], 2), ([0xE0, 0x9F, 0xBF], 2),
        ([0xE2, 0x28, 0xA1], 2), ([0xED, 0xA0, 0x80], 2), ([0xED, 0xBF, 0xBF], 2), ([0xF0, 0x8F, 0xBF, 0xBF], 2),
        ([0xF0, 0x90, 0x28, 0xBC], 3), ([0xF4, 0x90, 0x80, 0x80], 2), ([0xF5, 0x80, 0x80, 0x80], 1),
        ([0xF8, 0x88, 0x80, 0x80, 0x80], 1),
        ([0xFE], 1), ([0xFF], 1), (Array("κόσμε".utf8) + [0xED, 0xA0, 0x80], 12),
        (Array(String(repeating: "a", count: 100).utf8) + [0xFF], 101),
    ]

    @Test("A text fails at the first byte that makes it invalid UTF-8", arguments: invalidTexts)
    func aTextFailsWithTheFirst(bytes: [UInt8], known: Int) throws {
        let frame = ClientFrame(1, bytes + Array("and more".utf8), isFinal: false).bytes
        let header = frame.count - bytes.count - 8
        var parser = WebSocketParser(messageLimit: 1000)
        let (consumed, event) = try parser.parse(frame.span.extracting(0..<header + known - 1))
        #expect(consumed == header + known - 1)
        #expect(event == nil)
        #expect(throws: WebSocketError.invalidText) {
            try parser.parse(frame.span.extracting((header + known - 1)..<(header + known)))
        }
    }

    @Test(
        "A text that ends within a character fails at its end",
        arguments: [[0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0x61, 0xF4, 0x8F]] as [[UInt8]])
    func aTextThatEndsWithin(bytes: [UInt8]) {
        check(Case("at once", [ClientFrame(1, bytes)], [], .invalidData))
        check(Case("open", [ClientFrame(1, bytes, isFinal: false)]))
        check(Case("ended later", [ClientFrame(1, bytes, isFinal: false), ClientFrame(0)], [], .invalidData))
        check(Case("binary", [ClientFrame(2, bytes)], [Self.binary(bytes)]))
    }

    // MARK: - Limits and large messages (9 and 10)

    @Test("Accepts large messages, whole and in fragments", arguments: [1 << 18, 1 << 20, 16 << 20])
    func largeMessagesComeThrough(length: Int) {
        let bytes = [UInt8](repeating: 0x62, count: length)
        for pieces in [4096, 65536, 100_003] {
            let whole = read(ClientFrame(1, bytes).bytes, pieces: pieces, limit: length)
            let isWhole = whole.events == [.message(WebSocketMessage(.text, bytes))]
            #expect(isWhole)
        }
        var frames = ClientFrame(2, Array(bytes.prefix(1000)), isFinal: false).bytes
        let half = ClientFrame(0, Array(bytes.dropFirst(1000).prefix(length / 2)), isFinal: false).bytes
        frames += half + ClientFrame(0, Array(bytes.dropFirst(1000 + length / 2))).bytes
        let isWhole = read(frames, pieces: 65536, limit: length).events == [.message(WebSocketMessage(.binary, bytes))]
        #expect(isWhole)
    }

    @Test("Refuses a message that is too long before its bytes, also by a fragment")
    func aMessageThatIsTooLong() throws {
        var parser = WebSocketParser(messageLimit: 100)
        let header = Array(ClientFrame(2, [UInt8](repeating: 1, count: 101)).bytes.prefix(2))
        #expect(throws: WebSocketError.messageTooBig(limit: 100)) { try parser.parse(header.span) }
        let full = [UInt8](repeating: 1, count: 100)
        check(Case("100", [ClientFrame(2, full)], [Self.binary(full)]), limit: 100)
        let fragments = [ClientFrame(2, Array(full.prefix(60)), isFinal: false), ClientFrame(0, Array(full.prefix(41)))]
        check(Case("60 and 41", fragments, [], .messageTooBig), limit: 100)
        var huge = ClientFrame(2, []).bytes
        huge[1] = 0xFF
        huge += [0x7F, 0xFF, 0xFF, 0xFF]
        #expect(read(huge, pieces: 1, limit: 100).error?.code == .messageTooBig)
        huge = [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0]
        #expect(read(huge, pieces: 10, limit: .max).error?.code == .protocolError)
    }

    @Test("Allocates no memory for announced bytes, and none of a message's for control frames")
    func announcedBytesUseNoMemory() throws {
        var parser = WebSocketParser(messageLimit: 1 << 30)
        let frame = ClientFrame(2, [UInt8](repeating: 1, count: 1 << 20)).bytes
        _ = try parser.parse(frame.span.extracting(0..<20))
        #expect(parser.heldBytes < 1000)
        #expect(parser.isInMessage)
        var pings = WebSocketParser(messageLimit: 1 << 20)
        _ = try pings.parse(ClientFrame(9, [1, 2, 3]).bytes.span)
        #expect(pings.heldBytes == 0)
        #expect(!pings.isInMessage)
    }

    @Test(
        "Unmasks bytes in every division",
        arguments: [[0, 0, 0, 0], [1, 2, 3, 4], [0xFF, 0, 0x80, 0x7F]] as [[UInt8]])
    func everyMaskIsUndone(mask: [UInt8]) {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var frame = ClientFrame(2, bytes)
        frame.mask = mask
        for pieces in [1, 2, 3, 5, 7, 16, 17, 31, 64, 1008] {
            #expect(read(frame.bytes, pieces: pieces, limit: 1000).events == [Self.binary(bytes)])
        }
    }

    // MARK: - Written frames

    @Test(
        "Writes a length in the minimum number of bytes",
        arguments: [
            (0, [0x81, 0]), (125, [0x81, 125]), (126, [0x81, 126, 0, 126]), (65535, [0x81, 126, 255, 255]),
            (65536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])])
    func aLengthIsWritten(length: Int, header: [UInt8]) {
        let payload = [UInt8](repeating: 0x61, count: length)
        var bytes: [UInt8] = []
        WebSocketEncoder.encode(.text, payload.span, into: &bytes)
        #expect(bytes == header + payload)
    }

    @Test("Writes control frames in the short form")
    func controlFramesAreWrittenShort() {
        func written(_ write: (inout [UInt8]) -> Void) -> [UInt8] {
            var bytes: [UInt8] = []
            write(&bytes)
            return bytes
        }
        #expect(written { WebSocketEncoder.encodePing(into: &$0) } == [0x89, 0])
        #expect(written { WebSocketEncoder.encodePong([1, 2].span, into: &$0) } == [0x8A, 2, 1, 2])
        #expect(written { WebSocketEncoder.encodeClose(nil, into: &$0) } == [0x88, 0])
        #expect(written { WebSocketEncoder.encodeClose(.goingAway, reason: "x", into: &$0) } == [0x88, 3, 0x03, 0xE9, 0x78])
        #expect(
            written { WebSocketEncoder.encodeClose(WebSocketCloseCode(rawValue: 1005), reason: "x", into: &$0) } == [0x88, 0])
        let long = written { WebSocketEncoder.encodeClose(.normal, reason: String(repeating: "é", count: 100), into: &$0) }
        #expect(long.count == 2 + 2 + 122)
        #expect(String(validating: long.dropFirst(4), as: UTF8.self) != nil)
    }
}
