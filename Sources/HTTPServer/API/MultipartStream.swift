internal import HTTPCore
internal import System

/// Several ranges of a generated representation, one after the other with their delimiters.
final class MultipartStream: BodyStream {
    fileprivate struct State: Sendable {
        var pieces: ArraySlice<MultipartRanges.Piece>
        var offset = 0
        var waker: StreamWaker?
        var current: (any BodyStream)?
        var isStopping = false
    }

    private let state: Locked<State>
    private let make: @Sendable (ByteRange) -> any BodyStream

    init(_ pieces: [MultipartRanges.Piece], make: @escaping @Sendable (ByteRange) -> any BodyStream) {
        state = Locked(State(pieces: pieces[...]))
        self.make = make
    }

    func opened(_ waker: StreamWaker) {
        state.withLock { $0.waker = waker }
    }

    func next(into buffer: inout [UInt8], limit: Int, now: ContinuousClock.Instant) -> StreamStep {
        state.withLock { state in
            switch state.pieces.first {
            case nil: return .end
            case .bytes(let bytes):
                let count = min(limit, bytes.count - state.offset)
                buffer.append(contentsOf: bytes[state.offset..<state.offset + count])
                state.offset += count
                if state.offset == bytes.count { state.advance() }
                return .more
            case .range(let range):
                let stream = state.open(range, make)
                let step = stream.next(into: &buffer, limit: limit, now: now)
                guard case .end = step else { return step }
                state.current = nil
                stream.closed()
                state.advance()
                return .more
            }
        }
    }

    func serverIsStopping() {
        state.withLock { state in
            state.isStopping = true
            state.current?.serverIsStopping()
        }
    }

    func closed() {
        state.withLock { state in
            state.current?.closed()
            state.current = nil
            state.pieces = []
        }
    }
}

extension MultipartStream.State {
    fileprivate mutating func advance() {
        pieces.removeFirst()
        offset = 0
    }

    fileprivate mutating func open(_ range: ByteRange, _ make: (ByteRange) -> any BodyStream) -> any BodyStream {
        if let current { return current }
        let stream = make(range)
        if let waker { stream.opened(waker) }
        if isStopping { stream.serverIsStopping() }
        current = stream
        return stream
    }
}
