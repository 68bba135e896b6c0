/// The rest of a response's body that does not fit into the output buffer or is not complete yet.
enum BodySource {
    case none
    case parts(PartsSource)
    case stream(StreamSource)
    /// No body: the connection is a WebSocket.
    case webSocket(WebSocketSource)
}

/// The parts of a body during sending.
final class PartsSource {
    let parts: [BodyPart]
    /// The current part, and the number of its bytes that have been sent.
    var index = 0
    var offset: Int64 = 0
    /// The read-ahead of the current part.
    var readAhead = ReadAhead()
    /// The bytes sent of all parts, and the remaining ones.
    private(set) var sent: Int64 = 0
    private(set) var remaining: Int64
    let begun: Moment
    /// The budget of fast clients that this body is counted in; nil if it is not counted.
    private var budget: SharedBudget?

    init(_ parts: [BodyPart], begun: Moment) {
        self.parts = parts
        self.begun = begun
        remaining = parts.reduce(0) { $0 + $1.length }
    }

    deinit { releaseShare() }

    var isUnlimited: Bool { budget != nil }

    /// Records bytes of the current part that have been sent.
    func advance(_ count: Int) {
        offset += Int64(count)
        sent += Int64(count)
        remaining -= Int64(count)
    }

    /// Counts the body among the fast clients; returns false if there are already `limit`.
    func acquireShare(of budget: SharedBudget, limit: Int) -> Bool {
        guard budget.add(1, limit: limit) else { return false }
        self.budget = budget
        return true
    }

    /// Removes the body from the count of fast clients, if it is counted.
    func releaseShare() {
        _ = budget?.add(-1, limit: 0)
        budget = nil
    }

    /// The part that has bytes left; nil if all are sent.
    func current() -> BodyPart? {
        while index < parts.count {
            if offset < parts[index].length { return parts[index] }
            index += 1
            offset = 0
            readAhead = ReadAhead()
        }
        return nil
    }
}

/// A stream during sending.
final class StreamSource {
    /// The framing by which the client finds the end of the body.
    enum Framing {
        /// A Content-Length, with the number of remaining bytes.
        case length(remaining: Int64)
        /// Chunks, with the number of bytes that the last one still lacks.
        case chunked(rest: Int)
        /// The end of the connection, for HTTP/1.0 and for a client that ends the connection anyway.
        case connection
    }

    /// The event that the stream waits for.
    enum Wait: Equatable {
        case room
        case wake(until: Moment?)
    }

    let stream: any BodyStream
    let waker: StreamWaker
    var framing: Framing
    var wait = Wait.room

    init(_ stream: any BodyStream, waker: StreamWaker, framing: Framing) {
        self.stream = stream
        self.waker = waker
        self.framing = framing
    }

    /// The time at which `next` must be called without a wake.
    var due: Moment? {
        if case .wake(let until) = wait { until } else { nil }
    }

    /// Whether `next` should be called.
    func isDue(_ now: Moment) -> Bool {
        switch wait {
        case .room: true
        case .wake(let until): until.map { $0 <= now } ?? false
        }
    }
}
