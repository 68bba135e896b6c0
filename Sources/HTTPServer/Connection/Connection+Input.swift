internal import HTTPCore

extension Connection {
    /// Reads once from the socket and works on what comes.
    func read() {
        var buffer = loop.takeReadBuffer()
        defer { loop.giveBack(buffer) }
        switch socket.receive(into: &buffer, at: 0) {
        case .moved(let count):
            // Less than there was room for: the socket is empty, and its next byte will be reported. An end that has been
            // reported won't be again: it is still to be read.
            if count < buffer.count, !state.peerHasEnded { isReadable = false }
            needsMoreInput = false
            if input.isEmpty {
                let consumed = consume(buffer.span.extracting(0..<count))
                if consumed < count, !isClosed { input.append(contentsOf: buffer[consumed..<count]) }
            } else {
                input.append(contentsOf: buffer[0..<count])
                consumeInput()
            }
        case .wouldBlock: isReadable = false
        case .ended:
            isReadable = false
            input = []
            abandonRequest()
            state.inputEnded()
        case .failed: close()
        }
    }

    /// Works on bytes that came earlier.
    func consumeInput() {
        var bytes: [UInt8] = []
        swap(&bytes, &input)
        let consumed = consume(bytes.span)
        guard !isClosed, consumed < bytes.count else { return }
        bytes.removeFirst(consumed)
        input = bytes
    }

    /// Reads and drops what a client sends that has its last response.
    func drain() {
        var buffer = loop.takeReadBuffer()
        defer { loop.giveBack(buffer) }
        input = []
        var reads = 0
        while state.phase == .lingering, isReadable {
            guard reads < 16 else {
                wantsTurn = true
                return
            }
            reads += 1
            switch socket.receive(into: &buffer, at: 0) {
            case .moved(let count):
                if !state.drained(count, limits: loop.limits) { close() }
            case .wouldBlock: isReadable = false
            case .ended, .failed: close()
            }
        }
    }

    /// Works on bytes in order, as many requests as they hold and the output has room for. Returns how many are done with.
    private func consume(_ bytes: Span<UInt8>) -> Int {
        if let request = partialRequest.take() { loop.request = request }
        var position = 0
        while position < bytes.count, pendingOutput < loop.limits.outputBuffer {
            let rest = bytes.extracting(position..<bytes.count)
            let consumed: Int
            switch state.phase {
            case .awaiting, .head: consumed = consumeHead(rest)
            case .body: consumed = consumeBody(rest)
            case .handling, .sending, .finishing, .lingering, .closed: return position
            }
            position += consumed
            if needsMoreInput { break }
        }
        if state.phase == .body {
            var request = Request()
            swap(&request, &loop.request)
            partialRequest = request
        }
        return position
    }

    private func consumeHead(_ bytes: Span<UInt8>) -> Int {
        let progress: RequestParser.Progress
        let own = parser.take()
        if var own {
            progress = own.parse(bytes)
            finishHead(progress, of: &own, isOwn: true)
        } else {
            progress = loop.parser.parse(bytes)
            finishHead(progress, of: &loop.parser, isOwn: false)
        }
        guard case .complete(let consumed) = progress else {
            if case .failed(let error) = progress { refuse(Refusal(status: error.status, detail: error.detail)) }
            return 0
        }
        beginRequest(bodyHasBegun: consumed < bytes.count)
        return consumed
    }

    /// Takes the head out of the parser, or the parser along if the head isn't complete.
    private func finishHead(_ progress: RequestParser.Progress, of parser: inout RequestParser, isOwn: Bool) {
        switch progress {
        case .complete:
            // The parser gets the last request's head to fill; what it says about a head that fails early must not be old.
            loop.request.head.method = .get
            parser.exchangeHead(with: &loop.request.head)
        case .incomplete:
            if parser.started { state.headBegan(loop.now, limits: loop.limits) }
            needsMoreInput = true
            self.parser = parser
            if !isOwn { parser = RequestParser(limits: loop.limits.parser) }
        case .failed:
            exchange = Exchange(number: exchange.number &+ 1, isHead: parser.head.method == .head)
            parser.reset()
        }
    }

    /// `loop.request.head` is complete.
    private func beginRequest(bodyHasBegun: Bool) {
        exchange.number &+= 1
        exchange.isHead = loop.request.head.method == .head
        exchange.version = loop.request.head.version
        exchange.id = RequestIdentifier.accepted(loop.request.head.fields) ?? ""
        let step = state.headCompleted(
            loop.request.head, bodyHasBegun: bodyHasBegun, now: loop.now, limits: loop.limits)
        switch step {
        case .handle: handleRequest()
        case .refuse(let error): refuse(Refusal(status: error.status, detail: error.detail))
        case .readBody(let sendsContinue):
            switch loop.request.head.framing {
            case .length(let length): bodyRemaining = length
            case .chunked, .none: decoder = ChunkedDecoder(limits: loop.limits.parser)
            }
            if sendsContinue { appendContinue() }
        }
    }

    private func consumeBody(_ bytes: Span<UInt8>) -> Int {
        guard decoder != nil else { return consumeSizedBody(bytes) }
        do throws(RequestError) {
            guard let (consumed, isFinished) = try decoder?.decode(bytes, into: &loop.request.body, maximum: loop.limits.body)
            else { return 0 }
            state.bodyArrived(consumed)
            if isFinished { finishBody() }
            return consumed
        } catch {
            refuse(Refusal(status: error.status, detail: error.detail))
            return 0
        }
    }

    private func consumeSizedBody(_ bytes: Span<UInt8>) -> Int {
        let count = Int(min(bodyRemaining, Int64(bytes.count)))
        loop.request.body.append(addingCapacity: count) { output in
            for index in 0..<count { output.append(bytes[index]) }
        }
        bodyRemaining -= Int64(count)
        state.bodyArrived(count)
        if bodyRemaining == 0 { finishBody() }
        return count
    }

    private func finishBody() {
        decoder = nil
        state.bodyCompleted()
        handleRequest()
    }
}
