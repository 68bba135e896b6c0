internal import DownloadCore
internal import DownloadFeed
internal import Downloads
internal import HTTPCore
internal import HTTPServer

/// Server-sent events.
extension API {
    /// `GET /downloads/events` and `GET /downloads/{id}/events`.
    func events(
        of scope: DownloadID?, _ request: borrowing Request, _ caller: Caller, _ response: inout Response
    ) throws(Problem) -> RouteResult {
        let interval = try QueryReader.read(request.head.target) { reader throws(Problem) in
            let interval = try reader.integer("interval", in: 50...60_000) ?? 250
            // Already checked; taken so that it is not refused as unknown.
            _ = try reader.value("ticket")
            return interval
        }
        if let scope, index.version(of: scope) == nil { throw Problem(DownloadError.notFound) }
        let after = request.head.fields[.lastEventID].flatMap { EventID(parsing: $0) }
        response.fields.append(.contentType, "text/event-stream")
        response.forbidStoring()
        // nginx and other proxies buffer responses without this field.
        response.fields.append(.xAccelBuffering, "no")
        response.content = .stream(
            DownloadEventStream(
                hub: downloads.events, rendered: rendered(for: request, by: caller), scope: scope, after: after,
                interval: .milliseconds(interval)),
            length: nil)
        return .ready
    }
}
