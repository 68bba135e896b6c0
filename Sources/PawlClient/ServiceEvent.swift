internal import JSON

/// An event of the service's event stream.
enum ServiceEvent: Sendable, Equatable {
    /// All live downloads; the first event of a stream.
    case snapshot([JSONValue])
    /// A download has changed or made progress.
    case download(JSONValue)
    /// A download has been removed.
    case removed(String)

    /// Parses an event; `nil` for unknown kinds, which are ignored.
    init?(_ event: EventStreamParser.Event) {
        guard let data = try? JSONValue(parsing: event.data) else { return nil }
        switch event.name {
        case "snapshot":
            guard let items = data.array else { return nil }
            self = .snapshot(items)
        case "download": self = .download(data)
        case "removed":
            guard let id = data["id"]?.string else { return nil }
            self = .removed(id)
        default: return nil
        }
    }

    /// The event as a line of JSON: `{"event":"download","data":{…}}`.
    var line: String {
        let (name, data): (String, JSONValue) =
            switch self {
            case .snapshot(let items): ("snapshot", .array(items))
            case .download(let download): ("download", download)
            case .removed(let id): ("removed", .object([JSONMember(name: "id", value: .string(id))]))
            }
        let object = JSONValue.object([JSONMember(name: "event", value: .string(name)), JSONMember(name: "data", value: data)])
        return String(decoding: object.serialized(), as: UTF8.self)
    }
}

/// Events that have not been taken yet. An event of progress replaces the previous one, so that the memory for a slow
/// reader is limited. Every change of state is kept.
struct EventInbox: Sendable {
    private var events: [ServiceEvent] = []
    /// The index of the last event of each download, and the state in it.
    private var last: [String: (index: Int, state: String)] = [:]

    mutating func add(_ event: ServiceEvent) {
        guard case .download(let download) = event, let id = download["id"]?.string, let state = download["state"]?.string else {
            if case .snapshot = event { last = [:] }
            if case .removed(let id) = event { last[id] = nil }
            events.append(event)
            return
        }
        if let known = last[id], known.state == state {
            events[known.index] = event
        } else {
            last[id] = (events.count, state)
            events.append(event)
        }
    }

    mutating func takeAll() -> [ServiceEvent] {
        defer {
            events = []
            last = [:]
        }
        return events
    }
}
