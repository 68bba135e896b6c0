internal import DownloadCore
internal import HTTPCore
internal import HTTPServer
internal import PawlConfiguration
internal import Subscriptions

/// A path of the contract with its operations: one row of ``all``.
///
/// It is a class, so that finding the endpoint of a request copies one reference.
final class Endpoint: Sendable {
    /// The requirements for reading.
    enum Access: Sendable {
        /// Needs no token: probes, the console, which asks for a token, and pages that are the same for every service.
        case open
        case token
        /// Takes a token, or a ticket in the query: for `EventSource`, media elements and links.
        case ticket
        /// Takes a token, or a feed's key in the query: for podcast programs.
        case key
    }

    /// The path, with `{id}`, `{name}` or `{code}` for the variable segment, as in `openapi.yaml`.
    let path: String
    let operations: [Operation]
    /// Whether requests need no token.
    let isPublic: Bool
    /// Whether a ticket in the query authenticates a request.
    let takesTicket: Bool
    /// Whether a feed's key in the query authenticates a request.
    let takesKey: Bool
    /// Whether it is a probe. Probes are also available at the root, and over connections beyond the limit.
    let isProbe: Bool
    /// Whether it is a finished file, which pages of allowed origins may play without CORS.
    let isFile: Bool
    /// Whether the path contains the id of a download.
    let namesDownload: Bool
    /// The value of `Allow` (RFC 9110 §10.2.1).
    let allow: String

    init(_ path: String, access: Access = .token, isProbe: Bool = false, isFile: Bool = false, _ operations: Operation...) {
        self.path = path
        self.operations = operations
        isPublic = access == .open
        takesTicket = access == .ticket
        takesKey = access == .key || isFile
        self.isProbe = isProbe
        self.isFile = isFile
        namesDownload = path.hasPrefix("/downloads/{id}")
        allow =
            operations.map { $0.method == .get ? "GET, HEAD" : $0.method.name }.joined(separator: ", ") + ", OPTIONS"
    }

    /// Returns the operation of a method; `nil` if the method is not allowed.
    func operation(_ method: HTTPMethod) -> Operation? {
        for operation in operations where operation.method == method { return operation }
        return nil
    }
}

extension Endpoint {
    /// A method of an endpoint.
    final class Operation: Sendable {
        /// The method. GET includes HEAD.
        let method: HTTPMethod
        /// The least scope that includes the operation.
        let scope: TokenScope
        /// Whether it takes query parameters. Handlers of other operations do not read the query.
        let takesQuery: Bool
        /// The kind of body, if it takes one.
        let body: BodyReader.Kind
        /// The log line for a change that operators have to account for, written at any level; `nil` for other
        /// operations.
        let change: Change?
        let handler: Handler

        private init(
            _ method: HTTPMethod, _ scope: TokenScope, takesQuery: Bool, body: BodyReader.Kind = .json, logs change: Change?,
            _ handler: @escaping Handler
        ) {
            self.method = method
            self.scope = scope
            self.takesQuery = takesQuery
            self.body = body
            self.change = change
            self.handler = handler
        }

        /// Returns an operation that only reads.
        static func get(takesQuery: Bool = false, scope: TokenScope = .read, _ handler: @escaping Handler) -> Operation {
            Operation(.get, scope, takesQuery: takesQuery, logs: nil, handler)
        }

        /// Returns an operation that changes something.
        static func on(
            _ method: HTTPMethod, takesQuery: Bool = false, body: BodyReader.Kind = .json, scope: TokenScope = .full,
            logs change: Change? = nil, _ handler: @escaping Handler
        ) -> Operation {
            Operation(method, scope, takesQuery: takesQuery, body: body, logs: change, handler)
        }

        /// Whether a token of this scope includes the operation.
        func isOpen(to scope: TokenScope) -> Bool {
            switch scope {
            case .full: true
            case .read: self.scope != .full
            case .metrics: self.scope == .metrics
            }
        }
    }

    /// Responds to a request whose head is acceptable.
    typealias Handler = @Sendable (API, borrowing Request, borrowing Call, inout Response) throws(Problem) -> API.RouteResult

    /// The part of a request that its path and token determine.
    struct Call: Sendable {
        /// The variable segment of the path; empty if the path has none.
        let segment: ArraySlice<UInt8>
        /// The second variable segment; empty if the path has none.
        let second: ArraySlice<UInt8>
        /// The sender.
        let caller: Caller

        /// Returns the `{id}` of the path. Text that cannot be an identifier names no download.
        func download() throws(Problem) -> RecordID {
            guard let id = RecordID(parsing: segment) else { throw DownloadError.notFound.problem }
            return id
        }

        /// Returns the `{id}` of the path. Text that cannot be an identifier names no subscription.
        func subscription() throws(Problem) -> RecordID {
            guard let id = RecordID(parsing: segment) else { throw SubscriptionError.notFound.problem }
            return id
        }

        /// Returns the `{item}` of the path. Bytes that are no text name no item.
        func item() throws(Problem) -> String {
            guard let item = String(validating: second, as: UTF8.self) else { throw SubscriptionError.itemNotFound.problem }
            return item
        }
    }

    /// A log line about a change.
    struct Change: Sendable {
        let line: String
        /// Whether the line includes the response body: the number of downloads, or the new settings. The body for a
        /// single download has its URL, which may be a secret.
        let hasResult: Bool

        /// Returns a line without the response body.
        static func line(_ line: String) -> Change { Change(line: line, hasResult: false) }

        /// Returns a line with the response body.
        static func result(_ line: String) -> Change { Change(line: line, hasResult: true) }
    }
}

extension Caller {
    /// Refuses an operation that the token's scope does not include.
    func check(_ operation: Endpoint.Operation, of endpoint: Endpoint) throws(Problem) {
        guard !operation.isOpen(to: scope) else { return }
        throw Problem(
            .insufficientScope,
            "the scope of the token '\(name ?? "")' is \(scope.rawValue), which does not include \(operation.method.name) \(endpoint.path)"
        )
    }
}
