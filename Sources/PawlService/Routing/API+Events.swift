internal import DownloadCore
internal import DownloadIndex
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import Subscriptions

/// Server-sent events.
extension API {
    /// `GET /downloads/events` and `GET /downloads/{id}/events`.
    func events(
        of scope: RecordID?, _ request: borrowing Request, _ caller: Caller, _ response: inout Response
    ) throws(Problem) -> RouteResult {
        let (interval, includes, last) = try QueryReader.read(request.head.target) { reader throws(Problem) in
            let interval = try reader.integer("interval", in: 50...60_000) ?? 250
            let includes = try scope == nil ? reader.choices("include", IncludedEvents.self) : []
            // Already checked; taken so that it is not refused as unknown.
            _ = try reader.value("ticket")
            return (interval, includes, try reader.value("lastEventId"))
        }
        if let scope, index.version(of: scope) == nil { throw DownloadError.notFound.problem }
        // The field counts: an `EventSource` that reconnects sends it, and its URL still has the first id.
        let after = (request.head.fields[.lastEventID] ?? last).flatMap { EventID(parsing: $0) }
        let downloads = EventStream.Downloads(
            hub: downloads.events, scope: scope, after: after, interval: .milliseconds(interval))
        let rendered = rendered(for: request, by: caller)
        stream(EventStream(rendered, downloads, includes.isEmpty ? nil : subscriptions.index), in: &response)
        return .ready
    }

    /// `GET /subscriptions/events`.
    func subscriptionEvents(
        _ request: borrowing Request, _ caller: Caller, _ response: inout Response
    ) throws(Problem) -> RouteResult {
        try QueryReader.read(request.head.target) { reader throws(Problem) in
            // Already checked; taken so that it is not refused as unknown.
            _ = try reader.value("ticket")
            // These events have no ids, and begin with a snapshot.
            _ = try reader.value("lastEventId")
        }
        stream(EventStream(rendered(for: request, by: caller), nil, subscriptions.index), in: &response)
        return .ready
    }

    private func stream(_ events: EventStream, in response: inout Response) {
        response.fields.append(.contentType, "text/event-stream; charset=utf-8")
        response.forbidStoring()
        // nginx and other proxies buffer responses without this field.
        response.fields.append(.xAccelBuffering, "no")
        response.content = .stream(events, length: nil)
    }
}

/// Events that a stream of downloads sends as well.
private enum IncludedEvents: String, CaseIterable {
    case subscriptions
}
