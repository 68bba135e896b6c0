/// Parses a `text/event-stream` (WHATWG HTML §9.2.6) from its bytes, in pieces of any length.
struct EventStreamParser: Sendable {
    /// An event of the stream.
    struct Event: Sendable, Equatable {
        /// The value of `event`; `message` if there is none.
        var name = "message"
        /// The lines of `data`, joined.
        var data: [UInt8] = []
    }

    /// Thrown for a line or an event that exceeds the limit.
    struct TooLong: Error, Sendable, Equatable {}

    /// The maximum bytes of a line and of an event's data: a snapshot of ten thousand downloads has about ten million.
    let limit: Int
    private var line: [UInt8] = []
    private var event = Event()
    private var hasData = false
    private var endsWithReturn = false

    init(limit: Int = 64 << 20) {
        self.limit = limit
    }

    /// The events that these bytes complete.
    mutating func parse(_ bytes: some Sequence<UInt8>) throws(TooLong) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            // A line ends with CR, LF, or both.
            if byte == 0x0A, endsWithReturn {
                endsWithReturn = false
                continue
            }
            endsWithReturn = byte == 0x0D
            if byte == 0x0A || byte == 0x0D {
                if let event = try endLine() { events.append(event) }
            } else {
                line.append(byte)
                guard line.count <= limit else { throw TooLong() }
            }
        }
        return events
    }

    private mutating func endLine() throws(TooLong) -> Event? {
        defer { line.removeAll(keepingCapacity: line.count < 1 << 16) }
        guard !line.isEmpty else {
            defer {
                event = Event()
                hasData = false
            }
            return hasData ? event : nil
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == 0x20 { value = value.dropFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "event": event.name = String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { event.data.append(0x0A) }
            hasData = true
            guard event.data.count + value.count <= limit else { throw TooLong() }
            event.data += value
        default: break
        }
        return nil
    }
}
