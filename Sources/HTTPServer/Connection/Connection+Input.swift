internal import HTTPCore

extension Connection {
    /// Reads once from the socket and processes the bytes.
    mutating func read(_ loop: inout LoopContext) {
        var buffer = loop.takeReadBuffer()
        switch socket.receive(into: &buffer, at: 0) {
        case .moved(let count):
            // Fewer bytes than the buffer holds mean that the socket is empty, and the poller will report the next
            // byte. It does not repeat a reported end, which must still be read.
            if count < buffer.count, !state.peerHasEnded { isReadable = false }
            needsMoreInput = false
            if input.isEmpty {
                let consumed = consume(buffer.span.extracting(0..<count), &loop)
                if consumed < count, !isClosed { input.append(contentsOf: buffer[consumed..<count]) }
            } else {
                input.append(contentsOf: buffer[0..<count])
                consumeInput(&loop)
            }
        case .wouldBlock: isReadable = false
        case .ended: readEnd(&loop)
        case .failed: close(&loop)
        }
        loop.returnBuffer(buffer)
    }

    /// Handles the end of the client's output.
    private mutating func readEnd(_ loop: inout LoopContext) {
        isReadable = false
        input = []
        guard state.inputEnded() else { return abandonRequest(&loop) }
        refusePartialRequest(
            Refusal(status: .badRequest, detail: "The connection ended before the request."), readsAll: true, &loop)
    }

    /// Processes bytes that arrived earlier.
    mutating func consumeInput(_ loop: inout LoopContext) {
        var bytes: [UInt8] = []
        swap(&bytes, &input)
        let consumed = consume(bytes.span, &loop)
        guard !isClosed, consumed < bytes.count else { return }
        bytes.removeFirst(consumed)
        input = bytes
    }

    /// Reads and discards bytes of a client that has received its last response.
    mutating func drain(_ loop: inout LoopContext) {
        var buffer = loop.takeReadBuffer()
        input = []
        var reads = 0
        while state.phase == .lingering, isReadable {
            guard reads < 16 else {
                needsPass = true
                break
            }
            reads += 1
            switch socket.receive(into: &buffer, at: 0) {
            case .moved(let count):
                if !state.drained(count, limits: loop.limits) { close(&loop) }
            case .wouldBlock: isReadable = false
            case .ended, .failed: close(&loop)
            }
        }
        loop.returnBuffer(buffer)
    }

    /// Processes bytes in order: as many requests as they contain and the output has room for. Returns the number of
    /// consumed bytes.
    private mutating func consume(_ bytes: Span<UInt8>, _ loop: inout LoopContext) -> Int {
        if partialRequest != nil, let request = partialRequest.take() { loop.request = request }
        var position = 0
        while position < bytes.count, pendingOutput < loop.limits.outputBuffer {
            let rest = bytes.extracting(position..<bytes.count)
            let consumed: Int
            switch state.phase {
            case .awaiting, .head: consumed = consumeHead(rest, &loop)
            case .body: consumed = consumeBody(rest, &loop)
            case .handling, .sending, .upgraded, .finishing, .lingering, .closed: return position
            }
            position += consumed
            if needsMoreInput { break }
        }
        if state.phase == .body { keepPartialRequest(&loop) }
        return position
    }

    private mutating func consumeHead(_ bytes: Span<UInt8>, _ loop: inout LoopContext) -> Int {
        // A check for nil first, since `take()` moves a large value even if it is nil.
        if parser != nil, let own = parser.take() { loop.parser = own }
        switch loop.parser.parse(bytes) {
        case .complete(let consumed):
            // The parser reuses the previous request's head. The method is reset, because a head that fails early must
            // not have the old one.
            loop.request.head.method = .get
            loop.parser.exchangeHead(with: &loop.request.head)
            beginRequest(bodyHasBegun: consumed < bytes.count, &loop)
            return consumed
        case .incomplete:
            if loop.parser.started { state.headBegan(loop.now, limits: loop.limits) }
            needsMoreInput = true
            parser = loop.parser
            loop.parser = RequestParser(limits: loop.limits.parser)
        case .failed(let error):
            parser = loop.parser
            loop.parser = RequestParser(limits: loop.limits.parser)
            refusePartialRequest(Refusal(status: error.status, detail: error.detail), &loop)
        }
        return 0
    }

    /// Begins the request whose head, `loop.request.head`, is complete.
    private mutating func beginRequest(bodyHasBegun: Bool, _ loop: inout LoopContext) {
        exchange.begin(loop.request.head)
        loop.ingress.admit(&loop.request, from: peer)
        if loop.request.announcesBody, !readsBody(&loop) { return }
        let step = state.headCompleted(
            loop.request.head, bodyHasBegun: bodyHasBegun, now: loop.now, limits: loop.limits)
        if let surplus {
            let isWhole = step == .handle
            guard isWhole, loop.application.respondsToSurplus(loop.request) else {
                return refuse(surplus, readsAll: isWhole, &loop)
            }
            state.responseEndsConnection()
        }
        switch step {
        case .handle: handleRequest(&loop)
        case .refuse(let error): refuse(Refusal(status: error.status, detail: error.detail), &loop)
        case .readBody(let sendsContinue):
            switch loop.request.head.framing {
            case .length(let length): bodyRemaining = length
            case .chunked, .none: decoder = ChunkedDecoder(limits: loop.limits.parser)
            }
            if sendsContinue { appendContinue(&loop) }
        }
    }

    private mutating func consumeBody(_ bytes: Span<UInt8>, _ loop: inout LoopContext) -> Int {
        guard decoder != nil else { return consumeSizedBody(bytes, &loop) }
        do throws(RequestError) {
            guard let (consumed, isFinished) = try decoder?.decode(bytes, into: &loop.request.body, maximum: loop.limits.body)
            else { return 0 }
            state.bodyArrived(consumed)
            if isFinished { finishBody(&loop) }
            return consumed
        } catch {
            refuse(Refusal(status: error.status, detail: error.detail), &loop)
            return 0
        }
    }

    private mutating func consumeSizedBody(_ bytes: Span<UInt8>, _ loop: inout LoopContext) -> Int {
        let count = Int(min(bodyRemaining, Int64(bytes.count)))
        loop.request.body.append(addingCapacity: count) { output in
            for index in 0..<count { output.append(bytes[index]) }
        }
        bodyRemaining -= Int64(count)
        state.bodyArrived(count)
        if bodyRemaining == 0 { finishBody(&loop) }
        return count
    }

    private mutating func finishBody(_ loop: inout LoopContext) {
        decoder = nil
        holdStorage(0, &loop)
        state.bodyCompleted()
        handleRequest(&loop)
    }
}

// MARK: - Requests that arrive in pieces

extension Connection {
    /// Stores `loop.request`, whose body is incomplete, until more of it arrives.
    private mutating func keepPartialRequest(_ loop: inout LoopContext) {
        guard holdStorage(loop.request.body.capacity, &loop) else {
            return refuse(
                Refusal(
                    status: .serviceUnavailable,
                    detail: "Arriving bodies use all memory reserved for them; try again in a moment."), &loop)
        }
        var request = Request()
        swap(&request, &loop.request)
        partialRequest = request
    }

    /// Sets the connection's part of the shared memory of bodies. Returns false, without a change, if there is no room.
    @discardableResult
    mutating func holdStorage(_ count: Int, _ loop: inout LoopContext) -> Bool {
        guard count != heldStorage else { return true }
        let change = count - heldStorage
        guard loop.bodyStorage.add(change, limit: loop.limits.bodyStorage) else { return false }
        heldStorage = count
        return true
    }

    /// Refuses an incomplete request. The response depends on the parts that are known by now.
    mutating func refusePartialRequest(_ refusal: Refusal, readsAll: Bool = false, _ loop: inout LoopContext) {
        if var parser {
            parser.exchangeHead(with: &loop.request.head)
            loop.request.arrive(from: peer)
            exchange.begin(loop.request.head)
        } else if let request = partialRequest.take() {
            loop.request = request
        } else {
            loop.request = Request(peer: peer)
            exchange.begin(loop.request.head)
        }
        refuse(refusal, readsAll: readsAll, &loop)
    }
}
