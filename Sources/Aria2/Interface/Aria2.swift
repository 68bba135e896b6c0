public import Downloads
internal import HTTPCore
public import HTTPServer
internal import JSON
public import System

/// aria2's JSON-RPC and XML-RPC for the downloads: its front ends, browser extensions and scripts work with it unchanged.
///
/// Unlike aria2, it keeps files below one directory, guards destinations, and answers a change only once it is durable.
public final class Aria2: Sendable {
    private let access: any Aria2Access
    private let executor: RPCExecutor
    private let view: DownloadView
    let notifications: NotificationHub
    private let refusalDelay: Duration
    private let socketLimit: Duration
    /// Limits the number of large messages read and long answers made at once.
    private let lane: Lane
    /// The same for large messages that begin with no right secret, so that they do not delay the others.
    private let strangersLane = Lane(width: 1, maximumWaiting: 64)

    /// - Parameters:
    ///   - downloads: The service whose downloads are read and changed.
    ///   - filesDirectory: The absolute path of the directory of finished files.
    ///   - access: Checks secrets.
    ///   - lane: Admits work that takes much memory or time.
    ///   - refusalDelay: The delay of the answer to a message that has a call without the right secret.
    ///   - socketLimit: The time within which a WebSocket must send a right secret, if one is required.
    public init(
        downloads: DownloadService, filesDirectory: String, access: any Aria2Access, lane: Lane,
        refusalDelay: Duration = .seconds(1), socketLimit: Duration = .seconds(10)
    ) {
        self.socketLimit = socketLimit
        self.access = access
        self.lane = lane
        self.refusalDelay = refusalDelay
        let files = FilesDirectory(filesDirectory)
        executor = RPCExecutor(downloads, files, access)
        view = DownloadView(files: files)
        notifications = NotificationHub(downloads.events)
    }

    // MARK: - HTTP

    /// Responds to a POST, or to a GET with the call in its query.
    /// - Parameter form: The form of a POST's message.
    public func respond(to request: borrowing Request, as form: RPCForm, with response: inout Response) -> Handling {
        let message: RPCMessage
        var form = form
        switch request.head.method {
        case .post:
            if let lane = readingLane(for: request.body, form) {
                let work = { @Sendable [self, text = request.body, peer = request.peer, form] in
                    var response = Response()
                    await reply(toLarge: text, form, in: lane, from: peer).fill(&response, form)
                    return response
                }
                return lane === strangersLane ? .laterForStranger(work) : .later(work)
            }
            message = RPCMessage(parsing: request.body, as: form)
        default:
            let query = RPCQuery(request.head.target)
            message = query.message
            if let function = query.callback { form = .script(function: function) }
        }
        let prepared = prepare(message, from: request.peer)
        if let reply = answer(prepared, form, storage: &response.body) {
            reply.fill(&response, form)
            return .ready
        }
        let work = { @Sendable [self, form, peer = request.peer] in
            var response = Response()
            await reply(to: prepared, form, from: peer).fill(&response, form)
            return response
        }
        return prepared.isUnauthorized ? .laterForStranger(work) : .later(work)
    }

    // MARK: - WebSocket

    /// Upgrades a connection to a WebSocket. If a secret is required, notifications begin after a call with the right
    /// one, unless the handshake has proved the right to receive them.
    /// - Parameters:
    ///   - listener: The sender of a handshake with a proof; `nil` without one.
    ///   - response: Receives the response to the handshake.
    /// - Returns: The refusal of an invalid handshake; the response has its status and no body. `nil` if the handshake
    ///   is valid.
    public func connect(
        _ request: borrowing Request, of listener: Aria2Caller?, with response: inout Response
    ) -> Refusal? {
        response.upgrade(to: RPCSocket(self, of: listener, peer: request.peer), for: request)
    }

    /// The time within which a WebSocket must send a right secret; `nil` if none is required.
    var secretLimit: Duration? { access.needsSecret ? socketLimit : nil }

    /// Answers a message of a socket.
    /// - Parameters:
    ///   - authorized: Called if the message has a right secret.
    ///   - hold: Holds notifications back, and returns a closure that releases them.
    func answer(
        _ bytes: [UInt8], from peer: SocketAddress, authorized: @escaping @Sendable (Aria2Caller) -> Void,
        hold: () -> @Sendable () -> Void
    ) -> WebSocketAnswer {
        if let lane = readingLane(for: bytes, .json) {
            let release = hold()
            return .later { [self] in
                let reply = await reply(toLarge: bytes, .json, in: lane, from: peer, authorized: authorized)
                return OutgoingMessage(text: reply.body, enqueued: release)
            }
        }
        let prepared = prepare(RPCMessage(parsing: bytes, as: .json), from: peer)
        if let caller = prepared.caller { authorized(caller) }
        var storage: [UInt8] = []
        if let reply = answer(prepared, .json, storage: &storage) { return .ready(OutgoingMessage(text: reply.body)) }
        let release = prepared.onlyReads ? nil : hold()
        return .later { [self] in
            OutgoingMessage(text: await reply(to: prepared, .json, from: peer).body, enqueued: release)
        }
    }

    // MARK: - Messages

    /// A message whose calls have been authorised or refused.
    private struct Prepared: Sendable {
        let entries: [(id: [UInt8], step: RPCStep)]
        let isBatch: Bool
        let isUnauthorized: Bool
        /// Whether no call changes anything.
        let onlyReads: Bool
        /// Whether the answer takes much memory or time, and no call changes anything.
        let isLongReading: Bool
        /// The caller, if the message has a right secret.
        let caller: Aria2Caller?
    }

    private struct Reply {
        let body: [UInt8]
        let status: HTTPStatus

        func fill(_ response: inout Response, _ form: RPCForm) {
            response.status = status
            response.content = .bytes
            response.body = body
            response.fields.append(.cacheControl, "no-store")
            switch form {
            case .json: response.fields.append(.contentType, "application/json-rpc")
            case .xml: response.fields.append(.contentType, "text/xml")
            case .script:
                response.fields.append(.contentType, "text/javascript")
                // Pages of any origin may load a script; its contents required the secret.
                response.fields.append(.crossOriginResourcePolicy, "cross-origin")
            }
        }
    }

    private func prepare(_ message: RPCMessage, from peer: SocketAddress) -> Prepared {
        let (entries, isBatch): ([RPCMessage.Entry], Bool) =
            switch message {
            case .single(let entry): ([entry], false)
            case .batch(let entries): (entries, true)
            }
        var planner = RPCPlanner(access, peer)
        guard let steps = planner.plan(entries.map(\.call)) else {
            // One refusal for the whole message: it waits, so neither the calls nor their ids are kept.
            let id = isBatch ? RPCMessage.Entry.null : entries.first?.id ?? RPCMessage.Entry.null
            return Prepared(
                entries: [(id, .failed(.unauthorized))], isBatch: false, isUnauthorized: true, onlyReads: true,
                isLongReading: false,
                caller: nil)
        }
        let calls = steps.flatMap(\.calls)
        let onlyReads = calls.allSatisfy(\.method.onlyReads)
        return Prepared(
            entries: zip(entries, steps).map { (id: $0.id, step: $1) }, isBatch: isBatch, isUnauthorized: planner.isUnauthorized,
            onlyReads: onlyReads,
            isLongReading: onlyReads && (calls.count > Self.maximumShort || calls.contains { $0.method.returnsMany }),
            caller: planner.caller)
    }

    /// The maximum number of calls in a message that an event loop answers.
    private static let maximumQuick = 16
    /// The maximum size in bytes of a message that an event loop parses.
    private static let maximumQuickBytes = 16 << 10
    /// The same for a message that does not begin with a right secret.
    private static let maximumUncheckedBytes = 2 << 10
    /// The maximum number of calls in a message that is answered without the lane.
    private static let maximumShort = 64
    /// The maximum wait for the lane. A message may wait twice: to be parsed, and to be answered.
    private static let laneLimit: Duration = .seconds(2)

    /// Answers a message immediately; `nil` if a call in it has to wait.
    private func answer(_ prepared: Prepared, _ form: RPCForm, storage: inout [UInt8]) -> Reply? {
        guard !prepared.isUnauthorized else { return nil }
        var count = 0
        func isQuick(_ step: RPCStep) -> Bool {
            count += 1
            guard count <= Self.maximumQuick else { return false }
            return switch step {
            case .failed: true
            case .call(let call): call.method.isQuick
            case .multicall(let steps): steps.allSatisfy(isQuick)
            }
        }
        guard prepared.entries.allSatisfy({ isQuick($0.step) }) else { return nil }
        var hasToWait = false
        func result(_ step: RPCStep) -> Result<Answer, RPCError> {
            switch step {
            case .failed(let error): return .failure(error)
            case .multicall(let steps): return .success(.results(steps.map(result)))
            case .call(let call):
                do throws(RPCError) {
                    if let answer = try executor.answer(call) { return .success(answer) }
                    hasToWait = true
                    return .failure(.busy)
                } catch {
                    // Another replica may have just added the download.
                    if error.meansUnknown, executor.downloads.isShared { hasToWait = true }
                    return .failure(error)
                }
            }
        }
        let results = prepared.entries.map { result($0.step) }
        return hasToWait ? nil : encode(prepared, results, form, storage: &storage)
    }

    /// Answers a message, including calls that have to wait.
    private func reply(to prepared: Prepared, _ form: RPCForm, from peer: SocketAddress) async -> Reply {
        // Delays the answer to a wrong secret to slow down guessing. Other messages are not delayed.
        if prepared.isUnauthorized { try? await Task.sleep(for: refusalDelay) }
        guard prepared.isLongReading else { return await carryOut(prepared, form, from: peer) }
        let reply = await lane.run(within: Self.laneLimit) { await carryOut(prepared, form, from: peer) }
        return reply ?? refuse(prepared, with: .busy, form)
    }

    /// The lane in which a message is parsed; `nil`: an event loop parses it.
    private func readingLane(for text: [UInt8], _ form: RPCForm) -> Lane? {
        if text.count <= Self.maximumUncheckedBytes { return nil }
        guard !access.needsSecret || RPCMessage.firstSecret(in: text, as: form).map(access.isSecret) ?? false else {
            return strangersLane
        }
        return text.count > Self.maximumQuickBytes ? lane : nil
    }

    /// Parses and answers a message that is too long for an event loop.
    private func reply(
        toLarge text: [UInt8], _ form: RPCForm, in lane: Lane, from peer: SocketAddress,
        authorized: (Aria2Caller) -> Void = { _ in }
    ) async -> Reply {
        let prepared = await lane.run(within: Self.laneLimit) { prepare(RPCMessage(parsing: text, as: form), from: peer) }
        guard let prepared else { return refuse(prepare(.failed(.busy), from: peer), with: .busy, form) }
        if let caller = prepared.caller { authorized(caller) }
        return await reply(to: prepared, form, from: peer)
    }

    private func carryOut(_ prepared: Prepared, _ form: RPCForm, from peer: SocketAddress) async -> Reply {
        let results = await executor.results(of: prepared.entries.map(\.step), from: peer)
        var storage: [UInt8] = []
        return encode(prepared, results, form, storage: &storage)
    }

    private func refuse(_ prepared: Prepared, with error: RPCError, _ form: RPCForm) -> Reply {
        var storage: [UInt8] = []
        return encode(prepared, prepared.entries.map { _ in .failure(error) }, form, storage: &storage)
    }

    /// - Parameter storage: The storage of earlier bodies, to be reused.
    private func encode(
        _ prepared: Prepared, _ results: [Result<Answer, RPCError>], _ form: RPCForm, storage: inout [UInt8]
    ) -> Reply {
        if case .xml = form {
            var writer = XMLWriter()
            swap(&writer.bytes, &storage)
            writer.bytes.removeAll(keepingCapacity: true)
            if let result = results.first { writer.response(result, view) }
            return Reply(body: writer.bytes, status: .ok)
        }
        var writer = JSONWriter()
        swap(&writer.bytes, &storage)
        writer.bytes.removeAll(keepingCapacity: true)
        if case .script(let function) = form { writer.bytes.append(contentsOf: "\(function)(".utf8) }
        var status = HTTPStatus.ok
        if prepared.isBatch {
            writer.list(zip(prepared.entries, results)) { $0.response(to: $1.0.id, $1.1, view) }
        } else if let entry = prepared.entries.first, let result = results.first {
            writer.response(to: entry.id, result, view)
            if case .failure(let error) = result { status = error.status }
        }
        if case .script = form { writer.bytes.append(UInt8(ascii: ")")) }
        return Reply(body: writer.bytes, status: status)
    }
}
