public import Downloads
internal import HTTPCore
public import HTTPServer
internal import JSON

/// aria2's JSON-RPC on the downloads: front ends, browser extensions and scripts that speak it work with them unchanged.
///
/// What is safe here is not aria2's: files stay below one directory, destinations are guarded, and what is answered is durable.
public final class Aria2: Sendable {
    private let access: any Aria2Access
    private let executor: RPCExecutor
    private let view: DownloadView
    private let feed: NotificationFeed
    private let refusalDelay: Duration

    /// - Parameters:
    ///   - downloads: what is told of and changed.
    ///   - filesDirectory: the absolute path of the directory of finished files.
    ///   - access: knows the secrets.
    ///   - refusalDelay: how late a message is answered that has a call without the right secret.
    public init(
        downloads: DownloadService, filesDirectory: String, access: any Aria2Access, refusalDelay: Duration = .seconds(1)
    ) {
        self.access = access
        self.refusalDelay = refusalDelay
        let files = FilesDirectory(filesDirectory)
        executor = RPCExecutor(downloads, files, access)
        view = DownloadView(files: files)
        feed = NotificationFeed(downloads.events)
    }

    /// How many sockets hear notifications.
    public var listenerCount: Int { feed.count }

    // MARK: - HTTP

    /// Responds to a POST, or to a GET with the call in its query.
    public func respond(to request: borrowing Request, with response: inout Response) -> Handling {
        let message: RPCMessage
        var callback: String?
        switch request.head.method {
        case .post: message = RPCMessage(parsing: request.body)
        default:
            let query = RPCQuery(request.head.target)
            (message, callback) = (query.message, query.callback)
        }
        let prepared = prepare(message, from: request.peer)
        if let reply = answer(prepared, callback, storage: &response.body) {
            reply.fill(&response, callback)
            return .ready
        }
        return .later { [self, callback, peer = request.peer] in
            var response = Response()
            await reply(to: prepared, callback, from: peer).fill(&response, callback)
            return response
        }
    }

    // MARK: - WebSocket

    /// Makes a connection a WebSocket.
    /// - Parameters:
    ///   - isStrange: whether it comes from a page of another origin: then it hears notifications only after a call with the right secret.
    ///   - response: becomes that of the handshake.
    /// - Returns: what is wrong with the handshake; the response has the status, and no body.
    public func connect(_ request: borrowing Request, isStrange: Bool, with response: inout Response) -> Refusal? {
        response.upgrade(to: RPCSocket(self, peer: request.peer, listensAtOnce: !isStrange), for: request)
    }

    /// Answers a message of a socket.
    /// - Parameter authorized: called if the message shows a right secret.
    func answer(_ bytes: [UInt8], from peer: SocketAddress, authorized: (Aria2Caller) -> Void) -> WebSocketAnswer {
        let prepared = prepare(RPCMessage(parsing: bytes), from: peer)
        if let caller = prepared.caller { authorized(caller) }
        var storage: [UInt8] = []
        if let reply = answer(prepared, nil, storage: &storage) { return .ready(OutgoingMessage(text: reply.body)) }
        return .later { [self] in OutgoingMessage(text: await reply(to: prepared, nil, from: peer).body) }
    }

    func listen(_ socket: WebSocket, by permit: Permit?) -> Int { feed.add(socket, by: permit) }

    func stopListening(_ number: Int) { feed.remove(number) }

    // MARK: - Messages

    /// A message whose calls are known to be allowed or not.
    private struct Prepared: Sendable {
        let entries: [(id: [UInt8], step: RPCStep)]
        let isBatch: Bool
        let isUnauthorized: Bool
        /// Who has shown a right secret with it.
        let caller: Aria2Caller?
    }

    private struct Reply {
        let body: [UInt8]
        let status: HTTPStatus

        func fill(_ response: inout Response, _ callback: String?) {
            response.status = status
            response.content = .bytes
            response.body = body
            response.fields.append(.contentType, callback == nil ? "application/json-rpc" : "text/javascript")
            response.fields.append(.cacheControl, "no-store")
            // A script is taken in by pages of any origin: what it says needed the secret.
            if callback != nil { response.fields.append(.crossOriginResourcePolicy, "cross-origin") }
        }
    }

    private func prepare(_ message: RPCMessage, from peer: SocketAddress) -> Prepared {
        let (entries, isBatch): ([RPCMessage.Entry], Bool) =
            switch message {
            case .single(let entry): ([entry], false)
            case .batch(let entries): (entries, true)
            }
        guard entries.count <= RPCMessage.mostCalls else { return prepare(.failed(.invalidRequest), from: peer) }
        var planner = RPCPlanner(access, peer)
        let steps = entries.map { entry in
            switch entry.call {
            case .success(let call): (id: entry.id, step: planner.plan(call))
            case .failure(let error): (id: entry.id, step: RPCStep.failed(error))
            }
        }
        return Prepared(entries: steps, isBatch: isBatch, isUnauthorized: planner.isUnauthorized, caller: planner.caller)
    }

    /// Calls of one message that an event loop answers, at most.
    private static let mostQuick = 16

    /// Answers a message at once, if nothing in it has to wait.
    private func answer(_ prepared: Prepared, _ callback: String?, storage: inout [UInt8]) -> Reply? {
        guard !prepared.isUnauthorized else { return nil }
        var count = 0
        func isQuick(_ step: RPCStep) -> Bool {
            count += 1
            guard count <= Self.mostQuick else { return false }
            return switch step {
            case .failed: true
            case .call(let call): call.method.isQuick
            case .multicall(let steps): steps.allSatisfy(isQuick)
            }
        }
        guard prepared.entries.allSatisfy({ isQuick($0.step) }) else { return nil }
        // What another replica has just added is looked up.
        var isBehind = false
        func result(_ step: RPCStep) -> Result<Answer, RPCError> {
            switch step {
            case .failed(let error): return .failure(error)
            case .multicall(let steps): return .success(.results(steps.map(result)))
            case .call(let call):
                do throws(RPCError) {
                    return .success(try executor.answer(call))
                } catch {
                    if error.meansUnknown, executor.downloads.isShared { isBehind = true }
                    return .failure(error)
                }
            }
        }
        let results = prepared.entries.map { result($0.step) }
        return isBehind ? nil : encode(prepared, results, callback, storage: &storage)
    }

    /// Answers a message, whatever it waits for.
    private func reply(to prepared: Prepared, _ callback: String?, from peer: SocketAddress) async -> Reply {
        // A wrong secret costs time, so that guessing does; it holds nobody else up.
        if prepared.isUnauthorized { try? await Task.sleep(for: refusalDelay) }
        let results = await executor.results(of: prepared.entries.map(\.step), from: peer)
        var storage: [UInt8] = []
        return encode(prepared, results, callback, storage: &storage)
    }

    /// - Parameter storage: of earlier bodies, which is taken.
    private func encode(
        _ prepared: Prepared, _ results: [Result<Answer, RPCError>], _ callback: String?, storage: inout [UInt8]
    ) -> Reply {
        var writer = JSONWriter()
        swap(&writer.bytes, &storage)
        writer.bytes.removeAll(keepingCapacity: true)
        if let callback { writer.bytes.append(contentsOf: "\(callback)(".utf8) }
        var status = HTTPStatus.ok
        if prepared.isBatch {
            writer.list(zip(prepared.entries, results)) { $0.response(to: $1.0.id, $1.1, view) }
        } else if let entry = prepared.entries.first, let result = results.first {
            writer.response(to: entry.id, result, view)
            if case .failure(let error) = result { status = error.status }
        }
        if callback != nil { writer.bytes.append(UInt8(ascii: ")")) }
        return Reply(body: writer.bytes, status: status)
    }
}
