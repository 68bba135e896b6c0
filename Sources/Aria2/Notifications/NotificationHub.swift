internal import DownloadCore
internal import DownloadIndex
internal import HTTPCore
internal import HTTPServer
internal import JSON
internal import System

/// Sends notifications about downloads to listeners, once they may receive them. One task reads the events for all
/// listeners while there are any. Each notification is encoded once.
final class NotificationHub: Sendable {
    private struct Listener: Sendable {
        let socket: WebSocket
        /// Its right to receive notifications.
        var access: Access
        /// The number of its unanswered calls that may start downloads.
        var openCalls = 0
        /// Notifications held back for the listener, the oldest first.
        var waiting: [OutgoingMessage] = []

        /// Whether notifications are held back.
        var isHeld: Bool {
            if case .unknown = access { return true }
            return openCalls > 0
        }
    }

    /// The right of a listener to receive notifications.
    enum Access: Sendable {
        /// The client has not sent a right secret yet.
        case unknown
        /// Permitted by its secret's permit; `nil` if no secret is required.
        case permitted(Permit?)
    }

    /// The maximum number of notifications held back for one listener. The oldest are discarded.
    private static let maximumWaiting = 256

    private struct State {
        var next = 0
        var listeners: [Int: Listener] = [:]
        var reader: Task<Void, Never>?
    }

    private let events: EventHub
    private let state = Locked(State())

    init(_ events: EventHub) {
        self.events = events
    }

    /// Adds a listener. It receives all events from now on, delayed until it is permitted.
    /// - Returns: Its number, for the other methods.
    func add(_ socket: WebSocket, _ access: Access) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners[state.next] = Listener(socket: socket, access: access)
            if state.reader == nil { state.reader = read() }
            return state.next
        }
    }

    /// Permits a listener to receive notifications.
    func permit(_ number: Int, by permit: Permit?) {
        change(number) { $0.access = .permitted(permit) }
    }

    /// Holds notifications back until the answer to a call is enqueued: the answer has the gid that they refer to.
    func hold(_ number: Int) {
        change(number) { $0.openCalls += 1 }
    }

    /// Ends one ``hold(_:)``.
    func release(_ number: Int) {
        change(number) { $0.openCalls -= 1 }
    }

    private func change(_ number: Int, _ body: (inout Listener) -> Void) {
        state.withLock { state in
            guard var listener = state.listeners[number] else { return }
            body(&listener)
            if !listener.isHeld {
                // Sent under the lock, so that later notifications come after them.
                for message in listener.waiting { listener.socket.send(message) }
                listener.waiting = []
            }
            state.listeners[number] = listener
        }
    }

    /// Removes a listener.
    func remove(_ number: Int) {
        state.withLock { state in
            state.listeners[number] = nil
            guard state.listeners.isEmpty else { return }
            state.reader?.cancel()
            state.reader = nil
        }
    }

    /// Begins to read events. Subscribes before it returns, so that no later event is missed.
    private func read() -> Task<Void, Never> {
        // Wakes between two waits are kept, merged into one.
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // No progress is sent: the interval is longer than any connection lasts.
        let subscription = events.subscribe(scope: nil, after: nil, interval: .seconds(100 * 365 * 86_400)) { wake.yield() }
        let beginning = Timestamp(millisecondsSinceEpoch: SystemTime.sinceEpoch / 1_000_000)
        let first = subscription.next(now: .now)
        return Task { [weak self] in
            defer { subscription.cancel() }
            guard case .snapshot(_, let live)? = first else { return }
            var tracker = NotificationTracker(live, at: beginning)
            var iterator = wakes.makeAsyncIterator()
            while !Task.isCancelled {
                while let event = subscription.next(now: .now) {
                    guard let self, !Task.isCancelled else { return }
                    self.follow(event, &tracker)
                }
                await iterator.next()
            }
        }
    }

    private func follow(_ event: DownloadEvent, _ tracker: inout NotificationTracker) {
        switch event {
        case .snapshot(_, let live):
            // The reader fell so far behind that removals are lost. Downloads missing from the snapshot have ended or
            // been removed.
            for download in live { broadcast(tracker.update(download), of: download.gid) }
        case .download(_, let download): broadcast(tracker.update(download), of: download.gid)
        case .removed(_, let id): tracker.remove(id)
        }
    }

    private func broadcast(_ notifications: [RPCNotification], of gid: DownloadGID) {
        guard !notifications.isEmpty else { return }
        let messages = notifications.map { OutgoingMessage(text: $0.encoded(gid)) }
        state.withLock { state in
            for (number, listener) in state.listeners {
                if listener.isHeld {
                    let waiting = (listener.waiting + messages).suffix(Self.maximumWaiting)
                    state.listeners[number]?.waiting = Array(waiting)
                } else if case .permitted(let permit) = listener.access, permit?.isRevoked != true {
                    for message in messages { listener.socket.send(message) }
                }
            }
        }
    }
}

extension RPCNotification {
    /// The JSON of a notification (JSON-RPC 2.0 §4.1).
    func encoded(_ gid: DownloadGID) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("jsonrpc", "2.0")
        writer.member("method", rawValue)
        writer.name("params")
        writer.beginArray()
        writer.beginObject()
        writer.member("gid", gid.description)
        writer.endObject()
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}
