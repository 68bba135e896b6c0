internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON
internal import System

/// Tells all listeners what happens to downloads. One task reads the events for all of them, for as long as there are any; each
/// notification is encoded once, and everybody is sent the same bytes.
final class NotificationFeed: Sendable {
    private struct Listener: Sendable {
        let socket: WebSocket
        /// What it listens by; `nil`: nothing takes that back.
        let permit: Permit?
    }

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

    /// How many listen.
    var count: Int { state.withLock { $0.listeners.count } }

    /// Adds a listener: it is told of all that happens from now on.
    /// - Returns: its number, by which it is removed.
    func add(_ socket: WebSocket, by permit: Permit?) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners[state.next] = Listener(socket: socket, permit: permit)
            if state.reader == nil { state.reader = read() }
            return state.next
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

    /// Begins to read. How things stand is taken before it returns, so that nothing is missed that happens afterwards.
    private func read() -> Task<Void, Never> {
        // Wakes that come while nobody waits are kept, as one.
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // No progress is told: the interval is longer than a listener stays.
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
            // The reader fell so far behind that removals are not known any more: what is not in it has ended or gone.
            for download in live { broadcast(tracker.update(download), of: download.gid) }
        case .download(_, let download): broadcast(tracker.update(download), of: download.gid)
        case .removed(_, let id): tracker.remove(id)
        }
    }

    private func broadcast(_ notifications: [RPCNotification], of gid: DownloadGID) {
        guard !notifications.isEmpty else { return }
        let listeners = state.withLock { Array($0.listeners.values) }
        for notification in notifications {
            let message = OutgoingMessage(text: notification.encoded(gid))
            for listener in listeners where listener.permit?.isRevoked != true { listener.socket.send(message) }
        }
    }
}

extension RPCNotification {
    /// The message: JSON-RPC 2.0 §4.1.
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
