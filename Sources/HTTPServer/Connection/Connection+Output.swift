internal import HTTPCore

extension Connection {
    /// Bytes that wait in the buffer.
    var pendingOutput: Int { output.count - sent }

    var isSendingParts: Bool {
        if case .parts = source { true } else { false }
    }

    /// Takes the loop's spare buffer, unless there is one in use.
    func takeOutput() {
        if output.capacity == 0 { swap(&output, &loop.spareOutput) }
    }

    /// Gives an empty buffer to the loop, so that idle connections hold none.
    func releaseOutput() {
        guard output.capacity > 0 else { return }
        output.removeAll(keepingCapacity: true)
        sent = 0
        if loop.spareOutput.capacity == 0 { swap(&output, &loop.spareOutput) } else { output = [] }
    }

    /// Sends what is buffered, then goes on with the body.
    func produce() {
        switch source {
        case .none: flush(more: false)
        case .parts(let parts): send(parts)
        case .stream(let streaming): send(streaming)
        }
    }

    /// Sends what is buffered as far as the socket takes it.
    private func flush(more: Bool) {
        while pendingOutput > 0, isWritable {
            guard let count = moved(socket.send(output, sent..<output.count, more: more)) else { return }
            sent += count
        }
        if pendingOutput == 0 {
            output.removeAll(keepingCapacity: true)
            sent = 0
        } else if sent > output.count / 2 {
            output.removeFirst(sent)
            sent = 0
        }
    }

    /// How many bytes went, or nil if it doesn't go on for now.
    private func moved(_ outcome: Socket.Outcome) -> Int? {
        switch outcome {
        case .moved(let count):
            hasProgressed = true
            return count
        case .wouldBlock: isWritable = false
        // The file is shorter than it was, but its length is already promised.
        case .ended: reset()
        case .failed: close()
        }
        return nil
    }

    private func send(_ source: PartsSource) {
        flush(more: true)
        var budget = loop.limits.fileSlice
        while pendingOutput == 0, !isClosed {
            guard let part = source.current() else {
                self.source = .none
                return state.responseEnded()
            }
            guard budget > 0, isWritable else {
                wantsTurn = isWritable
                return
            }
            let count = Int(min(part.length - source.offset, Int64(budget)))
            let isLast = source.index == source.parts.count - 1
            guard let count = moved(send(part, offset: source.offset, count: count, isLast: isLast)) else { return }
            budget -= count
            source.offset += Int64(count)
        }
    }

    private func send(_ part: BodyPart, offset: Int64, count: Int, isLast: Bool) -> Socket.Outcome {
        switch part {
        case .bytes(let bytes): socket.send(bytes, Int(offset)..<Int(offset) + count, more: !isLast)
        case .file(let section): socket.send(section.file, offset: section.offset + offset, count: count)
        }
    }

    /// Something has woken the stream.
    func wake() {
        guard case .stream(let streaming) = source else { return }
        streaming.waker.acknowledge()
        streaming.wait = .room
        turn()
    }

    /// Lets the stream fill the buffer once, and sends it.
    private func send(_ streaming: StreamSource) {
        flush(more: false)
        guard !isClosed else { return }
        let room = loop.limits.outputBuffer - pendingOutput
        // A little room isn't worth a call.
        guard room >= loop.limits.outputBuffer / 2, streaming.isDue(loop.now) else { return }
        takeOutput()
        let step = fill(streaming, limit: room)
        flush(more: false)
        guard !isClosed else { return }
        switch step {
        case .more:
            streaming.wait = .room
            wantsTurn = isWritable
        case .wait(let until): streaming.wait = .wake(until: until)
        case .end: end(streaming)
        case .abort(let resets): if resets { reset() } else { close() }
        }
    }

    /// Calls `next`, and puts what it appends into the output as the framing asks.
    private func fill(_ streaming: StreamSource, limit: Int) -> StreamStep {
        let start = output.count
        switch streaming.framing {
        case .chunked:
            // Made aside, for its length goes before it.
            var chunk: [UInt8] = []
            swap(&chunk, &loop.chunk)
            let step = streaming.stream.next(into: &chunk, limit: limit, now: loop.now)
            ResponseEncoder.encodeChunk(chunk.span, into: &output)
            chunk.removeAll(keepingCapacity: true)
            swap(&chunk, &loop.chunk)
            return step
        case .connection:
            return streaming.stream.next(into: &output, limit: limit, now: loop.now)
        case .length(let remaining):
            guard remaining > 0 else { return .end }
            let limit = Int(min(Int64(limit), remaining))
            let step = streaming.stream.next(into: &output, limit: limit, now: loop.now)
            // A stream that gives more than it was asked for must not run into the next response.
            if output.count - start > limit { output.removeSubrange((start + limit)...) }
            let left = remaining - Int64(output.count - start)
            streaming.framing = .length(remaining: left)
            if left == 0, case .abort = step { return step }
            return left == 0 ? .end : step
        }
    }

    private func end(_ streaming: StreamSource) {
        source = .none
        streaming.stream.closed()
        switch streaming.framing {
        // Less than was promised: only the end of the connection can tell the client.
        case .length(let remaining) where remaining > 0: state.responseEndsConnection()
        case .length, .connection: break
        case .chunked: ResponseEncoder.encodeLastChunk(into: &output)
        }
        state.responseEnded()
        flush(more: false)
    }
}
