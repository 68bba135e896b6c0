/// The body of a response that doesn't fit into the output buffer, or isn't all there yet.
enum BodySource {
    case none
    case parts(PartsSource)
    case stream(StreamSource)
}

/// Parts that are being sent.
final class PartsSource {
    let parts: [BodyPart]
    /// The part that is next, and how much of it is sent.
    var index = 0
    var offset: Int64 = 0
    /// What the kernel is asked to read of the part.
    var readAhead = ReadAhead()

    init(_ parts: [BodyPart]) {
        self.parts = parts
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
