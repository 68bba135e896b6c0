internal import HTTPCore
package import HTTPServer
internal import System

/// Responds to requests: finds the entity, and sends it at its pace.
package final class UpstreamApplication: Application {
    private let pace: Int64
    private let log: (@Sendable (String) -> Void)?
    /// The base URL of links, and the number of the archive's node in the next redirect.
    private let state = Locked((base: "", node: 1))

    package init(pace: Int64, log: (@Sendable (String) -> Void)? = nil) {
        self.pace = pace
        self.log = log
    }

    /// Sets the address on which the server listens.
    package func setBase(_ base: String) {
        state.withLock { $0.base = base }
    }

    package func refuse(_ refusal: Refusal, of request: borrowing Request, with response: inout Response) {
        response.setPage(refusal.detail)
    }

    package func respond(to request: borrowing Request, with response: inout Response) -> Handling {
        response.fields.append(.accessControlAllowOrigin, "*")
        guard request.head.method == .get || request.head.method == .head else {
            response.fields.append(.allow, "GET, HEAD, OPTIONS")
            response.status = request.head.method == .options ? .noContent : .methodNotAllowed
            if request.head.method != .options { response.setPage("Everything here is read-only.") }
            return .ready
        }
        if let target = Target(request.head.target) {
            send(find(target) ?? Entity(.notFound, "There is nothing here."), of: target, to: request, with: &response)
        } else {
            response.status = .badRequest
            response.setPage("The path, the query or the pace is not valid.")
        }
        return .ready
    }

    /// The entity of a target; `nil` if there is none. Each redirect leads to another node, as in the archive.
    package func find(_ target: Target) -> Entity? {
        let (base, node) = state.withLock { state in
            state.node = state.node % 9 + 1
            return state
        }
        return Entity.find(target, base: base, node: node)
    }

    /// Responds with an entity by the request's conditional fields and its Range.
    package func send(_ entity: Entity, of target: Target, to request: borrowing Request, with response: inout Response) {
        var range: Range<Int64>? = 0..<entity.content.length
        if entity.status == .ok {
            range = response.serve(
                length: entity.content.length, for: request, mediaType: entity.mediaType, etag: entity.etag,
                lastModified: entity.lastModified)
        } else {
            response.status = entity.status
            response.fields.append(.contentType, entity.mediaType)
        }
        response.fields.append(contentsOf: entity.fields)
        let asked = request.head.fields[.range].map { " " + $0 } ?? ""
        let start = "\(request.head.method.name) \(target.raw)\(asked) → \(response.status.code), "
        let end: @Sendable (Int64) -> Void = { [log = entity.isLogged ? log : nil] in log?("\(start)\($0) bytes sent") }
        guard let range else { return end(0) }
        let pace = target.pace ?? (entity.slowness == 0 ? 0 : (self.pace + entity.slowness - 1) / entity.slowness)
        response.content = .stream(
            EntityStream(entity.content, range, pace: Pace(bytesPerSecond: pace), onEnd: end), length: Int64(range.count))
    }
}

extension Response {
    /// Sets the body to a line of text as a small HTML page.
    fileprivate mutating func setPage(_ text: String) {
        fields.set(.contentType, "text/html; charset=utf-8")
        body.append(contentsOf: Page.page("\(status.code)", "<p>\(Page.escaped(text))</p>").utf8)
    }
}
