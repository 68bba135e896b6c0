internal import HTTPCore
internal import HTTPServer
internal import JSON

/// Requests for tickets, which browsers need.
extension API {
    /// `POST /tickets`.
    func issueTicket(
        _ request: borrowing Request, _ caller: Caller, _ response: inout Response
    ) throws(Problem) -> RouteResult {
        try BodyReader.checkEmpty(request)
        let ticket = access.issueTicket(to: caller)
        response.forbidStoring()
        response.fill(.created) { writer in
            writer.beginObject()
            writer.member("ticket", ticket)
            writer.member("expiresInSeconds", Tickets.lifetime.components.seconds)
            writer.endObject()
        }
        return .ready
    }
}
