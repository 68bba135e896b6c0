internal import HTTPCore

extension Connection {
    /// Makes the connection a WebSocket. `output` has the head of the response.
    mutating func beginWebSocket(_ upgrade: WebSocketUpgrade, _ loop: inout LoopContext) {
        guard state.upgradeBegan() else {
            upgrade.handler.closed()
            return close(&loop)
        }
        let limits = loop.limits.webSocket
        let socket = WebSocket(waker: StreamWaker(mailbox: loop.mailbox, connection: id), limits: limits)
        source = .webSocket(WebSocketSource(upgrade.handler, socket, now: loop.now, limits: limits))
        upgrade.handler.opened(socket)
    }

    /// Serves a WebSocket as far as the socket, the queue and fairness allow.
    mutating func run(_ webSocket: WebSocketSource, _ loop: inout LoopContext) {
        var reads = 0
        while !isClosed {
            transmit(webSocket, &loop)
            guard !isClosed, readsFrames(webSocket, loop) else { return }
            if !input.isEmpty {
                consumeInput(webSocket, &loop)
            } else if isReadable {
                guard reads < Self.readsPerPass else {
                    needsPass = true
                    return
                }
                reads += 1
                receive(webSocket, &loop)
            } else {
                return
            }
        }
    }

    /// Whether the client's frames should be read now. They are not while replies are being made or wait for the
    /// client, since they would take memory.
    private func readsFrames(_ webSocket: WebSocketSource, _ loop: borrowing LoopContext) -> Bool {
        switch webSocket.state.phase {
        case .open:
            webSocket.pendingCount < loop.limits.webSocket.pendingMessages
                && webSocket.queuedBytes + webSocket.controls.count + pendingOutput < loop.limits.outputBuffer
                // During a shutdown, the messages being handled are the last.
                && !(state.isStopping && webSocket.pendingCount > 0)
        case .closing: true
        case .ended: false
        }
    }

    // MARK: - Receiving

    private mutating func receive(_ webSocket: WebSocketSource, _ loop: inout LoopContext) {
        var buffer = loop.takeReadBuffer()
        switch socket.receive(into: &buffer, at: 0) {
        case .moved(let count):
            // The poller will report the next byte, but does not repeat a reported end.
            if count < buffer.count, !state.peerHasEnded { isReadable = false }
            webSocket.state.heard(loop.now, limits: loop.limits.webSocket)
            let consumed = consume(buffer.span.extracting(0..<count), webSocket, &loop)
            if consumed < count, !isClosed { input.append(contentsOf: buffer[consumed..<count]) }
        case .wouldBlock: isReadable = false
        case .ended, .failed: close(&loop)
        }
        loop.returnBuffer(buffer)
    }

    private mutating func consumeInput(_ webSocket: WebSocketSource, _ loop: inout LoopContext) {
        var bytes: [UInt8] = []
        swap(&bytes, &input)
        let consumed = consume(bytes.span, webSocket, &loop)
        guard !isClosed, consumed < bytes.count else { return }
        bytes.removeFirst(consumed)
        input = bytes
    }

    /// Processes frames as long as they should be read. Returns the number of consumed bytes.
    private mutating func consume(_ bytes: Span<UInt8>, _ webSocket: WebSocketSource, _ loop: inout LoopContext) -> Int {
        var position = 0
        var endsMessage = false
        while position < bytes.count, readsFrames(webSocket, loop) {
            do throws(WebSocketError) {
                let (consumed, event) = try webSocket.parser.parse(bytes.extracting(position..<bytes.count))
                position += consumed
                guard let event else { break }
                if case .message = event { endsMessage = true }
                handle(event, webSocket, loop)
            } catch {
                fail(webSocket, error.code, error.detail)
                return bytes.count
            }
        }
        webSocket.state.hasRead(
            isInMessage: webSocket.parser.isInMessage, isNewMessage: endsMessage, loop.now, limits: loop.limits.webSocket)
        if !holdStorage(webSocket.heldBytes, &loop) {
            fail(webSocket, .tryAgainLater, "Arriving messages use all memory reserved for them.")
        }
        return position
    }

    private func handle(_ event: WebSocketParser.Event, _ webSocket: WebSocketSource, _ loop: borrowing LoopContext) {
        switch event {
        case .close(let code):
            if webSocket.state.peerClosed() { enqueueClose(webSocket, code, "") }
            webSocket.finish()
        case .ping(let payload):
            guard webSocket.state.phase == .open else { return }
            WebSocketEncoder.encodePong(payload.span, into: &webSocket.controls)
        case .pong: break
        case .message(let message):
            guard webSocket.state.phase == .open else { return }
            switch webSocket.handler.received(message, on: webSocket.socket) {
            case .ready(let answer):
                guard let answer else { return }
                webSocket.enqueue(answer.frame)
                answer.enqueued?()
            case .later(let work):
                let (mailbox, id) = (loop.mailbox, id)
                webSocket.begin(work, size: message.bytes.capacity) { number, answer in
                    mailbox.post(.answer(id, number: number, answer))
                }
            }
        }
    }

    /// Sends a task's reply to a message.
    mutating func answer(_ number: UInt64, _ answer: OutgoingMessage?, _ loop: inout LoopContext) {
        guard case .webSocket(let webSocket) = source, webSocket.end(number) else { return }
        if let answer, webSocket.state.phase == .open {
            if holdStorage(webSocket.heldBytes + answer.frame.count, &loop) {
                webSocket.enqueue(answer.frame)
                answer.enqueued?()
            } else {
                fail(webSocket, .tryAgainLater, "Unread responses use all memory reserved for them.")
            }
        }
        holdStorage(webSocket.heldBytes, &loop)
        advance(&loop)
    }

    // MARK: - Sending

    /// Sends the queue and the messages of other threads, as far as the socket accepts them.
    private mutating func transmit(_ webSocket: WebSocketSource, _ loop: inout LoopContext) {
        takeOutbox(of: webSocket, &loop)
        while !isClosed {
            if webSocket.offset > 0, !sendFrame(webSocket, &loop) { return }
            flush(more: false, &loop)
            guard !isClosed, pendingOutput == 0 else { return }
            gatherFrames(webSocket, &loop)
            holdStorage(webSocket.heldBytes, &loop)
            guard pendingOutput == 0 else { continue }
            guard webSocket.nextFrame != nil else { break }
            if !sendFrame(webSocket, &loop) { return }
        }
        guard !isClosed, webSocket.state.phase == .ended else { return }
        webSocket.finish()
        source = .none
        input = []
        holdStorage(0, &loop)
        state.upgradeEnded(leavesInputUnread: webSocket.state.leavesInputUnread)
    }

    /// Takes the messages of other threads.
    private mutating func takeOutbox(of webSocket: WebSocketSource, _ loop: inout LoopContext) {
        guard webSocket.state.phase == .open else { return }
        let outbox = webSocket.socket.take()
        guard !outbox.isDeaf else { return reset(&loop) }
        for frame in outbox.frames { webSocket.enqueue(frame, isEvent: true) }
        if let close = outbox.close {
            self.close(webSocket, close.code, close.reason, loop)
        } else if state.isStopping, webSocket.pendingCount == 0 {
            close(webSocket, .goingAway, "The server is shutting down.", loop)
        }
    }

    /// Copies small frames into the output, so that they share a write: control frames first, then frames in order.
    private mutating func gatherFrames(_ webSocket: WebSocketSource, _ loop: inout LoopContext) {
        guard !webSocket.isQueueEmpty else { return }
        takeOutput(&loop)
        output.append(contentsOf: webSocket.controls)
        webSocket.controls.removeAll(keepingCapacity: webSocket.controls.capacity <= 1024)
        while let frame = webSocket.nextFrame, output.count + frame.bytes.count <= Self.gatheredFrames {
            output.append(contentsOf: frame.bytes)
            webSocket.dropFrame()
        }
    }

    /// Sends the next frame without copying it; returns false if sending cannot continue now.
    private mutating func sendFrame(_ webSocket: WebSocketSource, _ loop: inout LoopContext) -> Bool {
        guard let frame = webSocket.nextFrame else { return true }
        while webSocket.offset < frame.bytes.count {
            guard isWritable,
                let count = moved(socket.send(frame.bytes, webSocket.offset..<frame.bytes.count, more: false), &loop)
            else { return false }
            webSocket.offset += count
        }
        webSocket.dropFrame()
        return true
    }

    /// The maximum bytes of frames that are copied to share a write. A longer frame is sent without copying.
    private static let gatheredFrames = 16 * 1024

    // MARK: - The end

    private func enqueueClose(_ webSocket: WebSocketSource, _ code: WebSocketCloseCode?, _ reason: String) {
        var frame: [UInt8] = []
        WebSocketEncoder.encodeClose(code, reason: reason, into: &frame)
        webSocket.enqueue(frame)
    }

    /// Sends a close frame, and waits for the client's within a time limit.
    private func close(
        _ webSocket: WebSocketSource, _ code: WebSocketCloseCode, _ reason: String, _ loop: borrowing LoopContext
    ) {
        let timeout = loop.limits.webSocket.closeTimeout
        let limit = state.isStopping ? min(timeout, loop.limits.stopGrace) : timeout
        if webSocket.state.close(loop.now, within: limit) { enqueueClose(webSocket, code, reason) }
    }

    /// Sends a close frame, and stops reading.
    private func fail(_ webSocket: WebSocketSource, _ code: WebSocketCloseCode, _ reason: String) {
        if webSocket.state.fail() { enqueueClose(webSocket, code, reason) }
        webSocket.finish()
    }

    /// Ends the WebSocket, whose permit was revoked. The client must not receive queued bytes.
    mutating func revoke(_ webSocket: WebSocketSource, _ loop: inout LoopContext) {
        guard webSocket.isQueueEmpty, pendingOutput == 0 else { return reset(&loop) }
        close(webSocket, .policyViolation, "The token was revoked.", loop)
        advance(&loop)
    }

    /// Checks the deadlines of the WebSocket.
    mutating func checkTime(of webSocket: WebSocketSource, _ loop: inout LoopContext) {
        let isReading = readsFrames(webSocket, loop)
        switch webSocket.state.expired(loop.now, isReading: isReading, limits: loop.limits.webSocket) {
        case .nothing: return
        case .drop: return close(&loop)
        case .ping: WebSocketEncoder.encodePing(into: &webSocket.controls)
        case .refuseMessage: fail(webSocket, .policyViolation, "The message did not arrive in time.")
        }
        advance(&loop)
    }
}
