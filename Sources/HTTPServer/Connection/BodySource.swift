/// The body of a response that doesn't fit into the output buffer, or isn't all there yet.
enum BodySource {
    case none
    case parts(PartsSource)
    case stream(StreamSource)
    /// No body: the connection is a WebSocket.
    case webSocket(WebSocketSource)
}

/// Parts that are being sent.
final class PartsSource {
    let parts: [BodyPart]
    /// The part that is next, and how much of it is sent.
    var index = 0
    var offset: Int64 = 0
    /// What the kernel is asked to read of the part.
    var readAhead = ReadAhead()
    /// Bytes sent of all parts, and those that are left.
    private(set) var sent: Int64 = 0
    private(set) var remaining: Int64
    let begun: Moment
    /// Where it has a place among the few for whose clients the kernel may take as much as it sees fit; nil if it has none.
    private var places: SharedBudget?

    init(_ parts: [BodyPart], begun: Moment) {
        self.parts = parts
        self.begun = begun
        remaining = parts.reduce(0) { $0 + $1.length }
    }

    deinit { leavePlace() }

    var isUnlimited: Bool { places != nil }

    /// So many bytes of the present part have been sent.
    func advance(_ count: Int) {
        offset += Int64(count)
        sent += Int64(count)
        remaining -= Int64(count)
    }

    /// Takes a place; false if there are `limit` of them taken.
    func takePlace(of places: SharedBudget, limit: Int) -> Bool {
        guard places.add(1, limit: limit) else { return false }
        self.places = places
        return true
    }

    /// Gives the place back, if it has one.
    func leavePlace() {
        _ = places?.add(-1, limit: 0)
        places = nil
    }

    /// The part that has bytes left; nil when all are sent.
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

/// A stream that is being sent.
final class StreamSource {
    /// How the client learns where the body ends.
    enum Framing {
        /// By Content-Length: so many bytes are left.
        case length(remaining: Int64)
        case chunked
        /// By the end of the connection, for HTTP/1.0.
        case connection
    }

    /// What the stream is waiting for.
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

    /// When `next` is due without a wake.
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
