import HTTPCore
@testable import HTTPServer
import TestSupport
import Testing

/// WebSockets over a socket pair: the bytes are real, and the time is simulated.
@Suite(.timeLimit(.minutes(2))) struct WebSocketOverPairTests {
    private static let request =
        "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

    /// An open socket whose head has been read.
    private func open(
        _ handler: TestWebSocket = TestWebSocket(), permit: Permit? = nil, limits: (inout ServerLimits) -> Void = { _ in }
    ) throws -> ConnectionPair {
        let pair = try ConnectionPair(limits: limits, opening({ handler }, permit: permit))
        pair.receive(Self.request)
        #expect(pair.readText().hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        return pair
    }

    private func frames(_ pair: ConnectionPair) throws -> [ServerFrame] {
        var bytes = pair.read(1 << 20)
        let frames = try ServerFrame.takeAll(from: &bytes)
        #expect(bytes.isEmpty)
        return frames
    }

    @Test("Reads frames right behind the handshake in every division")
    func framesBehindTheHandshake() throws {
        let bytes = Array(Self.request.utf8) + ClientFrame.text("one").bytes + ClientFrame.text("two").bytes
        for cut in [1, Self.request.utf8.count, Self.request.utf8.count + 1, Self.request.utf8.count + 9, bytes.count - 1] {
            let pair = try ConnectionPair(opening())
            pair.receive(Array(bytes[..<cut]))
            pair.receive(Array(bytes[cut...]))
            var output = pair.read(1 << 20)
            let head = try #require(output.indices.first { output[$0...].starts(with: "\r\n\r\n".utf8) })
            output.removeFirst(head + 4)
            #expect(try ServerFrame.takeAll(from: &output) == [.text("one"), .text("two")])
        }
    }

    @Test("Pings a quiet client, keeps it if it responds, and drops it otherwise")
    func aQuietClientIsPinged() throws {
        let handler = TestWebSocket()
        let pair = try open(handler)
        for _ in 0..<3 {
            pair.wait(.seconds(30))
            #expect(try frames(pair) == [ServerFrame(9)])
            pair.wait(.seconds(29))
            pair.receive(ClientFrame(10).bytes)
        }
        pair.wait(.seconds(30))
        #expect(try frames(pair) == [ServerFrame(9)])
        #expect(handler.state.current.closed == 0)
        pair.wait(.seconds(30))
        #expect(pair.isClosed)
        #expect(handler.state.current.closed == 1)
    }

    @Test("An open socket with a permit is not idle, and is not closed for new connections")
    func anOpenSocketIsNotIdle() throws {
        let pair = try open(permit: Permit())
        #expect(pair.connection.state.idleSince == nil)
        pair.receive(ClientFrame.text("x").bytes)
        #expect(pair.connection.state.idleSince == nil)
        pair.wait(.seconds(29))
        #expect(!pair.isClosed)
    }

    @Test("Refuses a message that takes too long, despite pings")
    func aMessageThatTakesTooLong() throws {
        let pair = try open()
        pair.receive(ClientFrame.text("begin", isFinal: false).bytes)
        for _ in 0..<3 {
            pair.wait(.seconds(20))
            pair.receive(ClientFrame(9).bytes)
        }
        let last = try #require(try frames(pair).last)
        #expect(last.closeCode == 1008)
        pair.wait(.seconds(5))
        #expect(pair.isClosed)
        #expect(pair.bodyStorage == 0)
    }

    @Test("The server's close waits for the client's, and ignores everything else")
    func ourCloseWaits() throws {
        let handler = TestWebSocket()
        let pair = try open(handler)
        let socket = try #require(handler.state.current.socket)
        #expect(socket.send(OutgoingMessage(text: "last")))
        socket.close(.normal, reason: "done")
        #expect(!socket.send(OutgoingMessage(text: "late")))
        socket.close(.goingAway)
        pair.wake()
        #expect(try frames(pair) == [.text("last"), ServerFrame(8, [3, 0xE8] + Array("done".utf8))])
        pair.receive(ClientFrame.text("x").bytes + ClientFrame(9).bytes)
        #expect(try frames(pair) == [])
        #expect(handler.state.current.messages.isEmpty)
        #expect(!pair.isClosed)
        pair.receive(ClientFrame.close(1000).bytes)
        #expect(try frames(pair) == [])
        #expect(pair.isClosed)
        #expect(handler.state.current.closed == 1)
    }

    @Test("Drops a client that does not respond to the close in time")
    func aClientThatDoesntAnswer() throws {
        let handler = TestWebSocket()
        let pair = try open(handler)
        try #require(handler.state.current.socket).close()
        pair.wake()
        pair.wait(.seconds(4.9))
        #expect(!pair.isClosed)
        pair.wait(.seconds(0.1))
        #expect(pair.isClosed)
        #expect(handler.state.current.closed == 1)
    }

    @Test(
        "Echoes a client's close behind its pending responses, and ends the connection",
        arguments: [nil, 1000, 1001, 4999] as [UInt16?])
    func aClientsCloseIsEchoed(code: UInt16?) throws {
        let handler = TestWebSocket()
        let pair = try open(handler)
        let close = code.map { ClientFrame.close($0, "reason") } ?? ClientFrame(8)
        pair.receive(ClientFrame.text("x").bytes + close.bytes + ClientFrame.text("late").bytes + ClientFrame(9).bytes)
        #expect(try frames(pair) == [.text("x"), ServerFrame(8, code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? [])])
        #expect(pair.isClosed)
        #expect(handler.state.current.messages.count == 1)
        #expect(handler.state.current.closed == 1)
        #expect(try #require(handler.state.current.socket).send(OutgoingMessage(text: "late")) == false)
    }

    @Test("Reports broken framing, and discards the remaining input for a while")
    func brokenFramingIsReported() throws {
        let handler = TestWebSocket()
        let pair = try open(handler)
        pair.receive(ClientFrame.text("x").bytes + ClientFrame(3).bytes + ClientFrame(9).bytes)
        let frames = try frames(pair)
        #expect(frames.count == 2)
        #expect(frames.first == .text("x"))
        #expect(frames.last?.closeCode == 1002)
        #expect(handler.state.current.closed == 1)
        pair.receive(ClientFrame.text("late").bytes)
        #expect(!pair.isClosed)
        #expect(handler.state.current.messages.count == 1)
        pair.wait(.seconds(5))
        #expect(pair.isClosed)
    }

    @Test("Pings of a client that does not read use bounded memory")
    func pingsOfAClientThatDoesntRead() throws {
        let pair = try open()
        let pings = (0..<100).flatMap { _ in ClientFrame(9, [UInt8](repeating: 7, count: 125)).bytes }
        for _ in 0..<400 where pair.canReceive { pair.receive(pings, allowsShort: true) }
        #expect(!pair.canReceive)
        #expect(pair.heldOutput <= 128 * 1024 + pings.count * 2)
        pair.wait(.seconds(60))
        pair.wait(.seconds(60))
        #expect(pair.isClosed)
    }

    @Test("Drops a listener that does not read when too much waits for it")
    func aListenerThatDoesntRead() throws {
        let handler = TestWebSocket()
        let pair = try open(handler, limits: { $0.webSocket.unreadEvents = 100_000 })
        let socket = try #require(handler.state.current.socket)
        let event = OutgoingMessage(text: String(repeating: "x", count: 1000))
        var count = 0
        while socket.send(event) {
            pair.wake()
            count += 1
            #expect(pair.heldOutput <= 100_000 + 1004 + 16 * 1024)
            guard count < 10_000 else { break }
        }
        #expect(count > 100 && count < 10_000)
        #expect(!pair.isClosed)
        pair.wake()
        #expect(pair.isClosed)
        #expect(handler.state.current.closed == 1)
    }

    @Test("Responses to a client that does not read stop the reading until it reads")
    func answersStopTheReading() throws {
        let handler = TestWebSocket()
        let pair = try open(handler, limits: { $0.webSocket.unreadEvents = 0 })
        let message = ClientFrame.text(String(repeating: "x", count: 30_000)).bytes
        var sent = 0
        while pair.canReceive, sent < 1000 {
            pair.receive(message)
            sent += 1
        }
        #expect(sent < 1000)
        #expect(pair.heldOutput <= 128 * 1024 + 64 * 1024)
        var bytes: [UInt8] = []
        var frames: [ServerFrame] = []
        while frames.count < sent {
            let piece = pair.read(1 << 20)
            bytes += piece
            frames += try ServerFrame.takeAll(from: &bytes)
            pair.becomeReady()
            if piece.isEmpty, pair.isClosed { break }
        }
        #expect(frames.count == sent)
        #expect(handler.state.current.messages.count == sent)
    }

    @Test("Large and small messages arrive in order, with pings between them")
    func largeAndSmallComeInOrder() throws {
        let handler = TestWebSocket()
        let pair = try open(handler)
        let socket = try #require(handler.state.current.socket)
        let lengths = [10, 300_000, 5, 0, 100_000, 20_000, 1, 16_384, 16_380, 3]
        for length in lengths { socket.send(OutgoingMessage(binary: [UInt8](repeating: UInt8(length & 0xFF), count: length))) }
        pair.wake()
        pair.receive(ClientFrame(9, [1, 2, 3]).bytes)
        var bytes: [UInt8] = []
        var frames: [ServerFrame] = []
        while frames.count < lengths.count + 1, !pair.isClosed {
            bytes += pair.read(1 << 20)
            frames += try ServerFrame.takeAll(from: &bytes)
            pair.becomeReady()
        }
        #expect(frames.contains(ServerFrame(10, [1, 2, 3])))
        #expect(frames.filter { $0.opcode == 2 }.map(\.payload.count) == lengths)
    }

    @Test("A revoked permit closes the socket")
    func aPermitThatIsRevoked() throws {
        let permit = Permit()
        let pair = try open(permit: permit)
        pair.endIfRevoked()
        #expect(try frames(pair) == [])
        permit.revoke()
        pair.endIfRevoked()
        #expect(try frames(pair).map(\.closeCode) == [1008])
        pair.receive(ClientFrame.close(1008).bytes)
        #expect(pair.isClosed)
    }

    @Test("Discards unsent messages when a permit is revoked")
    func unsentMessagesAreDiscarded() throws {
        let permit = Permit()
        let handler = TestWebSocket()
        let pair = try open(handler, permit: permit)
        try #require(handler.state.current.socket).send(OutgoingMessage(binary: [UInt8](repeating: 1, count: 4 << 20)))
        pair.wake()
        permit.revoke()
        pair.endIfRevoked()
        #expect(pair.isClosed)
        #expect(handler.state.current.closed == 1)
    }

    @Test("Messages that are arriving share the limit of all bodies, and release their bytes")
    func messagesShareTheBound() throws {
        let pair = try open(limits: { $0.bodyStorage = 50_000 })
        pair.receive(ClientFrame(2, [UInt8](repeating: 1, count: 20_000), isFinal: false).bytes)
        #expect(pair.bodyStorage >= 20_000)
        pair.receive(ClientFrame(0).bytes)
        #expect(pair.bodyStorage == 0)
        #expect(try frames(pair).map(\.payload.count) == [20_000])
        pair.receive(ClientFrame(2, [UInt8](repeating: 1, count: 60_000), isFinal: false).bytes)
        #expect(try frames(pair).map(\.closeCode) == [1013])
        #expect(pair.bodyStorage == 0)
    }

    @Test("A response that waits to be read shares the limit of all bodies")
    func answersShareTheBound() throws {
        // Bytes in the kernel do not count, so the response is larger.
        let size = 8 << 20
        let handler = TestWebSocket { _, _ in .ready(OutgoingMessage(binary: [UInt8](repeating: 1, count: size))) }
        let pair = try open(handler, limits: { $0.bodyStorage = 2 * size })
        pair.receive(ClientFrame.text("one").bytes)
        #expect(pair.bodyStorage > size / 2)
        var count = 0
        while pair.bodyStorage > 0 { count += try pair.exchange() }
        #expect(count > size / 2)
        #expect(!pair.isClosed)
    }

    @Test("A shutdown closes the socket, and waits a moment for the client")
    func aShutdownCloses() throws {
        let pair = try open()
        pair.stop()
        #expect(try frames(pair).map(\.closeCode) == [1001])
        #expect(!pair.isClosed)
        pair.receive(ClientFrame.close(1001).bytes)
        #expect(pair.isClosed)
        let late = try open()
        late.stop()
        late.wait(.seconds(1))
        #expect(late.isClosed)
    }

    @Test("The end of the client's output ends the socket")
    func theEndOfTheClientsOutput() throws {
        let handler = TestWebSocket()
        let pair = try open(handler)
        pair.receiveEnd()
        #expect(pair.isClosed)
        #expect(handler.state.current.closed == 1)
    }

    @Test("Closes a handler whose socket is never opened")
    func aHandlerWhoseSocket() throws {
        let handler = TestWebSocket()
        let pair = try ConnectionPair { request, response in
            _ = response.upgrade(to: handler, for: request)
            response.status = .forbidden
            return .ready
        }
        pair.receive(Self.request)
        #expect(pair.readText().hasPrefix("HTTP/1.1 403 "))
        #expect(handler.state.current.opened == 0)
        #expect(handler.state.current.closed == 1)
    }
}
