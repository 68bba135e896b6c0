internal import HTTPCore

extension Connection {
    /// The number of bytes in the output buffer.
    var pendingOutput: Int { output.count - sent }

    /// Whether there is more to send than the buffer has, and only the client is being waited for.
    var isSendingMore: Bool {
        switch source {
        case .parts: true
        case .webSocket(let webSocket): !webSocket.isQueueEmpty
        case .none, .stream: false
        }
    }

    /// Takes the loop's spare buffer, unless the connection has one.
    mutating func takeOutput(_ loop: inout LoopContext) {
        if output.capacity == 0 { swap(&output, &loop.spareOutput) }
    }

    /// Returns the empty buffer to the loop, so that idle connections have none.
    mutating func releaseOutput(_ loop: inout LoopContext) {
        guard output.capacity > 0 else { return }
        if !output.isEmpty { output.removeAll(keepingCapacity: true) }
        sent = 0
        if loop.spareOutput.capacity == 0 { swap(&output, &loop.spareOutput) } else { output = [] }
    }

    /// Sends the buffered bytes, then continues the body.
    mutating func produce(_ loop: inout LoopContext) {
        switch source {
        case .none: if pendingOutput > 0 { flush(more: false, &loop) }
        case .parts(let parts): send(parts, &loop)
        case .stream(let streaming): send(streaming, &loop)
        case .webSocket(let webSocket): run(webSocket, &loop)
        }
    }

    /// Sends the buffered bytes as far as the socket accepts them.
    mutating func flush(more: Bool, _ loop: inout LoopContext) {
        while pendingOutput > 0, isWritable {
            guard let count = moved(socket.send(output, sent..<output.count, more: more), &loop) else { return }
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

    /// The number of bytes that were sent; nil if sending cannot continue now.
    mutating func moved(_ outcome: Socket.Outcome, _ loop: inout LoopContext) -> Int? {
        switch outcome {
        case .moved(let count):
            hasProgressed = true
            return count
        case .wouldBlock: isWritable = false
        // The file is shorter than the length that has already been sent.
        case .ended: reset(&loop)
        case .failed: close(&loop)
        }
        return nil
    }

    private mutating func send(_ source: PartsSource, _ loop: inout LoopContext) {
        flush(more: true, &loop)
        prefetch(source, loop.limits.fileSlice)
        var budget = loop.limits.fileSlice
        while pendingOutput == 0, !isClosed {
            guard let part = source.current() else {
                self.source = .none
                holdStorage(0, &loop)
                return state.responseEnded()
            }
            guard budget > 0, isWritable else {
                needsPass = isWritable
                return
            }
            let count = Int(min(part.length - source.offset, Int64(budget)))
            let isLast = source.index == source.parts.count - 1
            guard let count = moved(send(part, offset: source.offset, count: count, isLast: isLast), &loop) else { return }
            budget -= count
            source.advance(count)
            adjustLimit(source, loop)
        }
    }

    private func prefetch(_ source: PartsSource, _ slice: Int) {
        guard case .file(let section) = source.current(),
            let range = source.readAhead.next(offset: source.offset, length: section.length, slice: Int64(slice))
        else { return }
        section.file.prefetch(offset: section.offset + range.lowerBound, count: Int(range.upperBound - range.lowerBound))
    }

    /// Lifts the kernel's buffer limit for a client that has proved to read fast, while there are few of them and much
    /// remains. When a body ends, another client can take its place, but its bytes in the kernel remain. So without the
    /// last condition, any number of clients could have large buffers.
    private func adjustLimit(_ source: PartsSource, _ loop: borrowing LoopContext) {
        if source.isUnlimited {
            if source.remaining <= loop.limits.fastBytes { limit(source, loop) }
        } else if source.sent >= loop.limits.fastBytes, source.remaining > loop.limits.fastBytes,
            source.begun.distance(to: loop.now) <= loop.limits.fastTime,
            source.acquireShare(of: loop.unlimitedSockets, limit: loop.limits.unlimitedSockets)
        {
            socket.limitUnsent(to: nil)
        }
    }

    /// Restores the normal limit of the kernel's buffer.
    func limit(_ source: PartsSource, _ loop: borrowing LoopContext) {
        source.releaseShare()
        socket.limitUnsent(to: loop.limits.unsentBytes)
    }

    private func send(_ part: BodyPart, offset: Int64, count: Int, isLast: Bool) -> Socket.Outcome {
        switch part {
        case .bytes(let bytes): socket.send(bytes, Int(offset)..<Int(offset) + count, more: !isLast)
        case .file(let section): socket.send(section.file, offset: section.offset + offset, count: count)
        }
    }

    /// Handles a wake of the stream or the WebSocket.
    mutating func wake(_ loop: inout LoopContext) {
        switch source {
        case .none, .parts: return
        case .stream(let streaming):
            streaming.waker.acknowledge()
            streaming.wait = .room
        case .webSocket(let webSocket): webSocket.socket.waker.acknowledge()
        }
        advance(&loop)
    }

    /// Lets the stream fill a part of the buffer, and sends it.
    private mutating func send(_ streaming: StreamSource, _ loop: inout LoopContext) {
        flush(more: false, &loop)
        guard !isClosed else { return }
        let room = loop.limits.streamBuffer - pendingOutput
        // Little room is not worth a call.
        guard room >= loop.limits.streamBuffer / 2, streaming.isDue(loop.now) else { return }
        takeOutput(&loop)
        let start = output.count
        var step = fill(streaming, limit: room, &loop)
        // A stream of short chunks returns each of them alone.
        while case .more = step, (start + 1..<start + room / 4).contains(output.count) {
            let before = output.count
            step = fill(streaming, limit: room - (before - start), &loop)
            if output.count == before { break }
        }
        flush(more: false, &loop)
        guard !isClosed else { return }
        if pendingOutput > 0, output.capacity / 2 > pendingOutput {
            // A client that does not read holds only the bytes for it, and not the capacity that others needed.
            output = Array(output[sent...])
            sent = 0
        }
        switch step {
        case .more:
            streaming.wait = .room
            needsPass = isWritable
        case .wait(let until):
            streaming.wait = .wake(until: until.map { [translation = loop.translation] in translation.moment(of: $0) })
        case .end: end(streaming, &loop)
        case .abort(let resets): if resets { reset(&loop) } else { close(&loop) }
        }
    }

    /// Calls `next`, and encodes its bytes into the output by the framing.
    private mutating func fill(_ streaming: StreamSource, limit: Int, _ loop: inout LoopContext) -> StreamStep {
        let start = output.count
        let now = loop.translation.instant(of: loop.now)
        switch streaming.framing {
        case .chunked(let begun):
            // In a separate buffer, since the chunk's length precedes its bytes.
            var chunk: [UInt8] = []
            swap(&chunk, &loop.chunk)
            let step = streaming.stream.next(into: &chunk, limit: limit, now: now)
            let rest = streaming.stream.rest
            streaming.framing = .chunked(rest: rest)
            ResponseEncoder.encodeChunk(chunk.span, continues: begun > 0, rest: rest, into: &output)
            chunk.removeAll(keepingCapacity: true)
            swap(&chunk, &loop.chunk)
            return step
        case .connection:
            return streaming.stream.next(into: &output, limit: limit, now: now)
        case .length(let remaining):
            guard remaining > 0 else { return .end }
            let limit = Int(min(Int64(limit), remaining))
            let step = streaming.stream.next(into: &output, limit: limit, now: now)
            // Bytes beyond the limit must not run into the next response.
            if output.count - start > limit { output.removeSubrange((start + limit)...) }
            let left = remaining - Int64(output.count - start)
            streaming.framing = .length(remaining: left)
            if left == 0, case .abort = step { return step }
            return left == 0 ? .end : step
        }
    }

    /// Ends the work that depends on a revoked permit. The client must not receive the bytes in the output,
    /// or any of a stream.
    mutating func endIfRevoked(_ loop: inout LoopContext) {
        guard let permit = exchange.permit, permit.isRevoked else { return }
        switch state.phase {
        case .body:
            refusePartialRequest(
                Refusal(status: .unauthorized, detail: "The token was revoked while the body arrived."), &loop)
            advance(&loop)
        case .sending:
            guard case .stream(let streaming) = source, pendingOutput == 0 else { return reset(&loop) }
            end(streaming, &loop)
            advance(&loop)
        case .upgraded: if case .webSocket(let webSocket) = source { revoke(webSocket, &loop) }
        case .awaiting, .head, .handling, .finishing, .lingering, .closed: break
        }
    }

    private mutating func end(_ streaming: StreamSource, _ loop: inout LoopContext) {
        source = .none
        streaming.stream.closed()
        switch streaming.framing {
        // Less than the length of the body or chunk was sent: only the connection's end shows that to the client.
        case .length(let remaining) where remaining > 0: state.responseEndsConnection()
        case .chunked(let rest) where rest > 0: state.responseEndsConnection()
        case .length, .connection: break
        case .chunked: ResponseEncoder.encodeLastChunk(into: &output)
        }
        state.responseEnded()
        flush(more: false, &loop)
    }
}
