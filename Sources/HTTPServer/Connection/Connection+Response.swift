internal import HTTPCore

extension Connection {
    /// Passes the complete `loop.request` to the application.
    mutating func handleRequest(_ loop: inout LoopContext) {
        identifyRequest(&loop)
        loop.response.reset()
        let handling = loop.application.respond(to: loop.request, with: &loop.response)
        let bodyBytes = loop.request.body.count
        // The storage of a large body is not kept for the next, probably small one.
        if !loop.request.body.isEmpty {
            loop.request.body.removeAll(keepingCapacity: loop.request.body.capacity <= 64 * 1024)
        }
        switch handling {
        case .ready: beginOwnResponse(&loop)
        case .later(let work): start(work, isStranger: false, bodyBytes: bodyBytes, &loop)
        case .laterForStranger(let work): start(work, isStranger: true, bodyBytes: bodyBytes, &loop)
        }
    }

    /// Starts the task of a response.
    private mutating func start(
        _ work: @escaping @Sendable () async -> Response, isStranger: Bool, bodyBytes: Int, _ loop: inout LoopContext
    ) {
        // The task holds the body now. If there is no room, it is not counted.
        holdStorage(bodyBytes, &loop)
        state.handlingBegan(isStranger: isStranger, loop.now, grace: halfCloseGrace(loop.limits))
        let (mailbox, id, number) = (loop.mailbox, id, exchange.number)
        task = Task {
            let response = await work()
            mailbox.post(.response(id, request: number, response))
        }
    }

    /// Asks the application whether to read the body of `loop.request`, whose head is complete. If not, the response
    /// has begun: no byte of an unwanted body is stored.
    mutating func readsBody(_ loop: inout LoopContext) -> Bool {
        identifyRequest(&loop)
        loop.response.reset()
        switch loop.application.decide(onBodyOf: loop.request, with: &loop.response) {
        case .read:
            exchange.permit = loop.response.permit
            return true
        case .ignore:
            state.refused()
            handleRequest(&loop)
        case .refuse:
            state.refused()
            beginOwnResponse(&loop)
        }
        return false
    }

    private mutating func identifyRequest(_ loop: inout LoopContext) {
        let id = exchange.id ?? loop.identifiers.next()
        exchange.id = id
        loop.request.id = id
    }

    /// Sends a task's response to the request of the given number.
    mutating func respond(to request: UInt64, _ response: inout Response, _ loop: inout LoopContext) {
        guard state.phase == .handling, request == exchange.number else { return response.discardBody() }
        task = nil
        beginResponse(&response, &loop)
        advance(&loop)
    }

    /// Responds to `loop.request`, which may be incomplete, in place of the application. The connection closes when the
    /// client has the response. `readsAll`: no more bytes of the request follow.
    mutating func refuse(_ refusal: Refusal, readsAll: Bool = false, _ loop: inout LoopContext) {
        state.refused(readsAll: readsAll)
        abandonRequest(&loop)
        identifyRequest(&loop)
        loop.request.body.removeAll()
        loop.response.reset()
        loop.response.status = refusal.status
        loop.application.refuse(refusal, of: loop.request, with: &loop.response)
        beginOwnResponse(&loop)
    }

    /// Begins the response in the loop's storage, which is kept for the next one.
    private mutating func beginOwnResponse(_ loop: inout LoopContext) {
        var response = Response(storageOf: &loop.response)
        beginResponse(&response, &loop)
        loop.response = response
    }

    /// Appends the interim response on which the client sends its body, and which it discards otherwise (RFC 9110
    /// §15.2.1).
    mutating func appendContinue(_ loop: inout LoopContext) {
        takeOutput(&loop)
        ResponseEncoder.encodeContinue(into: &output)
    }

    /// Encodes the head, and a small body if it is in memory.
    private mutating func beginResponse(_ response: inout Response, _ loop: inout LoopContext) {
        let content = response.content
        response.content = .bytes
        var status = response.status
        if status.isInformational {
            if status == .switchingProtocols, case .webSocket(let upgrade) = content {
                return beginWebSocket(upgrade, &response, &loop)
            }
            status = .internalServerError
        }
        holdStorage(0, &loop)
        if case .bytes = content, response.body.count > Self.copiedBody {
            if !holdStorage(response.body.count, &loop) {
                response.reset()
                response.status = .serviceUnavailable
                let refusal = Refusal(
                    status: .serviceUnavailable,
                    detail: "Unread responses use all memory reserved for them; try again in a moment.")
                loop.application.refuse(refusal, of: Request(peer: peer), with: &response)
                status = response.status
            }
        }
        let hasBody = !exchange.isHead && !status.forbidsBody
        let length = Self.length(of: content, response.body)
        // RFC 9112 §6.3: without a length, HTTP/1.1 clients receive chunks and 1.0 clients read until the end. So do
        // clients that ask for the connection's end, such as PHP's, which would hand chunks on in blocks of 8 KiB.
        let isChunked = length == nil && exchange.version >= .http11 && !state.closesAfterResponse
        if length == nil, !isChunked, hasBody { state.responseEndsConnection() }

        takeOutput(&loop)
        beginHead(status, &response.fields, loop)
        if !status.forbidsBody {
            if let length {
                ResponseEncoder.encodeContentLength(length, into: &output)
            } else if isChunked, hasBody {
                output.append(contentsOf: Self.chunkedLine)
            }
        }
        // RFC 9110 §7.8: required together with the Upgrade of such a response.
        if status == .upgradeRequired { output.append(contentsOf: Self.upgradeLine) }
        if state.closesAfterResponse {
            output.append(contentsOf: Self.closeLine)
        } else if exchange.version < .http11 {
            output.append(contentsOf: Self.keepAliveLine)
        }
        ResponseEncoder.encodeHeadEnd(into: &output)
        exchange.id = nil
        exchange.permit = response.permit
        if hasBody {
            beginBody(content, response.body, isChunked: isChunked, &loop)
        } else {
            holdStorage(0, &loop)
            beginBody(.bytes, [], isChunked: isChunked, &loop)
        }
        if !hasBody { content.discard() }
        // The loop keeps no storage that the connection still sends, and none that is large.
        if heldStorage > 0 || response.body.capacity > Response.keptStorage { response.body = [] }
        // The permit may have been revoked while a task made the response.
        endIfRevoked(&loop)
    }

    /// Encodes the head of a 101 response, and makes the connection a WebSocket.
    private mutating func beginWebSocket(_ upgrade: WebSocketUpgrade, _ response: inout Response, _ loop: inout LoopContext) {
        takeOutput(&loop)
        beginHead(.switchingProtocols, &response.fields, loop)
        output.append(contentsOf: Self.upgradeLine)
        ResponseEncoder.encodeHeadEnd(into: &output)
        exchange.id = nil
        exchange.permit = response.permit
        beginWebSocket(upgrade, &loop)
        endIfRevoked(&loop)
    }

    private mutating func beginBody(
        _ content: Content, _ body: [UInt8], isChunked: Bool, _ loop: inout LoopContext
    ) {
        switch content {
        case .bytes: begin(body, &loop)
        case .parts(let parts):
            source = .parts(PartsSource(parts, begun: loop.now))
            state.responseBegan(isSending: true)
        case .stream(let stream, let length):
            state.responseBegan(isSending: true)
            let waker = StreamWaker(mailbox: loop.mailbox, connection: id)
            let framing: StreamSource.Framing =
                if let length { .length(remaining: length) } else if isChunked { .chunked(rest: 0) } else { .connection }
            source = .stream(StreamSource(stream, waker: waker, framing: framing))
            stream.opened(waker)
            if state.isStopping { stream.serverIsStopping() }
        // The application has changed the status afterwards, so there is no WebSocket.
        case .webSocket(let upgrade):
            upgrade.handler.closed()
            beginBody(.bytes, body, isChunked: false, &loop)
        }
    }

    /// Begins a body in memory. The socket is offered a long one at once, since nearly always it accepts all of it. So the
    /// body is not copied, and its storage is free for the next one.
    private mutating func begin(_ body: [UInt8], _ loop: inout LoopContext) {
        var written = 0
        // A large body that is not sent yet is withheld if the permit has been revoked.
        if body.count >= Self.offeredBody, isWritable, exchange.permit?.isRevoked != true {
            written = offer(body, &loop)
            guard !isClosed else { return }
        }
        if body.count > Self.copiedBody, written < body.count {
            let rest = PartsSource([.bytes(body)], begun: loop.now)
            rest.advance(written)
            source = .parts(rest)
            state.responseBegan(isSending: true)
        } else {
            if written == 0 { output.append(contentsOf: body) } else { output.append(contentsOf: body[written...]) }
            holdStorage(0, &loop)
            state.responseBegan(isSending: false)
        }
    }

    /// Sends the output and as much of a body as the socket accepts; returns the number of the body's bytes that were sent.
    private mutating func offer(_ body: [UInt8], _ loop: inout LoopContext) -> Int {
        guard let count = moved(socket.send(output, sent..<output.count, then: body), &loop) else { return 0 }
        let pending = pendingOutput
        guard count >= pending else {
            sent += count
            return 0
        }
        output.removeAll(keepingCapacity: true)
        sent = 0
        return count - pending
    }

    private static func length(of content: Content, _ body: [UInt8]) -> Int64? {
        switch content {
        case .bytes, .webSocket: Int64(body.count)
        case .parts(let parts): parts.reduce(0) { $0 + $1.length }
        case .stream(_, let length): length.map { max($0, 0) }
        }
    }

    private mutating func beginHead(_ status: HTTPStatus, _ fields: inout Fields, _ loop: borrowing LoopContext) {
        fields.remove(Self.reservedNames)
        loop.beginHead(status, &fields, into: &output)
        exchange.id?.encode(into: &output)
        ResponseEncoder.encodeHeadEnd(into: &output)
        fields.encode(into: &output)
    }

    /// The minimum body that the socket is offered before any of it is copied, in bytes. For a smaller body, a second piece
    /// of memory in a write costs more than the copy.
    private static let offeredBody = 8 * 1024
    /// The maximum body that is copied after its head to share one write, in bytes.
    private static let copiedBody = 64 * 1024
    /// The fields that an application cannot set.
    static let reservedNames = FieldNameSet([
        .date, .contentLength, .transferEncoding, .connection, .xRequestId, .xContentTypeOptions,
    ])
    private static let chunkedLine = Array("Transfer-Encoding: chunked\r\n".utf8)
    private static let upgradeLine = Array("Connection: Upgrade\r\n".utf8)
    private static let closeLine = Array("Connection: close\r\n".utf8)
    private static let keepAliveLine = Array("Connection: keep-alive\r\n".utf8)
}
