internal import DownloadCore
internal import DownloadFeed
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON
internal import Subscriptions
internal import System

/// The events of downloads, of subscriptions, or of both as a `text/event-stream` (WHATWG HTML §9.2), written at the pace
/// of the client.
///
/// A stream holds the text of at most one event, and a snapshot in pieces. A slow reader costs no memory for the events
/// that it has not read: it is a position in the history that all readers share. The JSON of downloads is shared by all
/// streams.
final class EventStream: BodyStream {
    /// The downloads whose events are sent.
    struct Downloads {
        let hub: EventHub
        let rendered: RenderedDownloads
        /// The only download; `nil` for all.
        var scope: DownloadID?
        /// The last event that the client has received; `nil` if it needs a snapshot.
        let after: EventID?
        /// The minimum interval of a download's events.
        let interval: Duration
    }

    /// The subscriptions whose events are sent. They have no ids: each stream begins with all subscriptions.
    struct Subscriptions {
        let hub: SubscriptionEventHub
        let linkPrefix: PathPrefix
        let hidesSecrets: Bool
        let showsKeys: Bool
    }

    private struct State {
        var subscription: EventSubscription?
        var reader: SubscriptionEventHub.Reader?
        /// The text that has been written; the bytes from `position` on have not been taken.
        var pending: [UInt8] = []
        var position = 0
        /// The downloads that the snapshot still has to send; `nil` if no snapshot is being sent.
        var snapshot: LiveDownloads.Iterator?
        var snapshotHasItems = false
        /// Whether the snapshot has so many downloads that it would displace everything else in the cache.
        var snapshotIsLarge = false
        /// The subscriptions that their snapshot still has to send; `nil` if it is not being sent.
        var subscriptions: ArraySlice<Subscription>?
        /// The time at which bytes were last sent.
        var lastSent: ContinuousClock.Instant?
        var isStopping = false
        var isFinished = false
    }

    /// The interval of keep-alive comments: proxies and clients close silent streams after 30 s or 60 s.
    static let keepAliveInterval: Duration = .seconds(15)
    /// The size in bytes at which a piece of a snapshot is complete.
    private static let pieceSize = 16 * 1024
    /// The number of bytes after which other connections are served.
    private static let passSize = 32 * 1024

    private let downloads: Downloads?
    private let subscriptions: Subscriptions?
    private let state = Locked(State())

    init(_ downloads: Downloads?, _ subscriptions: Subscriptions? = nil) {
        self.downloads = downloads
        self.subscriptions = subscriptions
    }

    func opened(_ waker: StreamWaker) {
        subscribe { waker.wake() }
    }

    /// Subscribes to the events; `wake` is called when an event is available.
    func subscribe(wake: @escaping @Sendable () -> Void) {
        let subscription = downloads.map { downloads in
            downloads.hub.subscribe(
                scope: downloads.scope, after: downloads.after, interval: downloads.interval, wake: wake)
        }
        let reader = subscriptions?.hub.makeReader(wake: wake)
        state.withLock { ($0.subscription, $0.reader) = (subscription, reader) }
    }

    func next(into buffer: inout [UInt8], limit: Int, now: ContinuousClock.Instant) -> StreamStep {
        state.withLock { state in
            var room = min(limit, Self.passSize)
            while true {
                Self.take(&state, into: &buffer, &room)
                if state.position < state.pending.count { return .more }
                state.pending.removeAll(keepingCapacity: state.pending.capacity <= 4 * Self.pieceSize)
                state.position = 0
                if state.snapshot != nil {
                    continueSnapshot(&state)
                } else if state.subscriptions != nil {
                    continueSubscriptions(&state)
                } else if state.isStopping || state.isFinished {
                    return .end
                } else if let event = state.subscription?.next(now: now) {
                    state.lastSent = now
                    write(event, &state)
                } else if let event = state.reader?.next() {
                    state.lastSent = now
                    write(event, &state)
                } else {
                    let quietUntil = (state.lastSent ?? now) + Self.keepAliveInterval
                    guard now >= quietUntil else {
                        if state.lastSent == nil { state.lastSent = now }
                        return .wait(until: min(quietUntil, state.subscription?.nextDue(now: now) ?? quietUntil))
                    }
                    state.lastSent = now
                    state.pending.append(contentsOf: ":\n\n".utf8)
                }
            }
        }
    }

    func serverIsStopping() {
        state.withLock { $0.isStopping = true }
    }

    func closed() {
        let (subscription, reader) = state.withLock { state in
            defer { (state.subscription, state.reader) = (nil, nil) }
            return (state.subscription, state.reader)
        }
        subscription?.cancel()
        reader?.cancel()
    }

    // MARK: - Writing

    private static func take(_ state: inout State, into buffer: inout [UInt8], _ room: inout Int) {
        let count = min(room, state.pending.count - state.position)
        guard count > 0 else { return }
        buffer.append(contentsOf: state.pending[state.position..<state.position + count])
        state.position += count
        room -= count
    }

    private func write(_ event: DownloadEvent, _ state: inout State) {
        switch event {
        case .snapshot(let id, let downloads):
            Self.begin("snapshot", id, &state.pending)
            state.pending.append(UInt8(ascii: "["))
            state.snapshot = downloads.makeIterator()
            state.snapshotHasItems = false
            state.snapshotIsLarge = downloads.underestimatedCount > RenderedDownloads.keptSnapshot
        case .download(let id, let download):
            Self.begin("download", id, &state.pending)
            downloads?.rendered.rendering(of: download).append(to: &state.pending)
            Self.end(&state.pending)
        case .removed(let id, let download):
            Self.begin("removed", id, &state.pending)
            Self.writeRemoval(of: download, &state.pending)
            // A removed download has no further events.
            if download == downloads?.scope { state.isFinished = true }
        }
    }

    private func continueSnapshot(_ state: inout State) {
        while let download = state.snapshot?.next() {
            if state.snapshotHasItems { state.pending.append(UInt8(ascii: ",")) }
            state.snapshotHasItems = true
            if state.snapshotIsLarge {
                downloads?.rendered.append(download, to: &state.pending)
            } else {
                downloads?.rendered.rendering(of: download).append(to: &state.pending)
            }
            if state.pending.count >= Self.pieceSize { return }
        }
        state.snapshot = nil
        state.pending.append(UInt8(ascii: "]"))
        Self.end(&state.pending)
    }

    private func write(_ event: SubscriptionEventHub.Event, _ state: inout State) {
        switch event {
        case .snapshot(let subscriptions):
            Self.begin("subscriptions", &state.pending)
            state.pending.append(UInt8(ascii: "["))
            state.subscriptions = subscriptions[...]
            state.snapshotHasItems = false
        case .changed(let subscription):
            Self.begin("subscription", &state.pending)
            write(subscription, &state.pending)
            Self.end(&state.pending)
        case .removed(let id):
            Self.begin("subscription-removed", &state.pending)
            Self.writeRemoval(of: id, &state.pending)
        }
    }

    private func continueSubscriptions(_ state: inout State) {
        while let subscription = state.subscriptions?.popFirst() {
            if state.snapshotHasItems { state.pending.append(UInt8(ascii: ",")) }
            state.snapshotHasItems = true
            write(subscription, &state.pending)
            if state.pending.count >= Self.pieceSize { return }
        }
        state.subscriptions = nil
        state.pending.append(UInt8(ascii: "]"))
        Self.end(&state.pending)
    }

    private func write(_ subscription: Subscription, _ bytes: inout [UInt8]) {
        guard let subscriptions else { return }
        var writer = JSONWriter()
        subscription.encode(
            into: &writer, subscriptions.linkPrefix, hidesSecrets: subscriptions.hidesSecrets,
            showsKey: subscriptions.showsKeys)
        bytes.append(contentsOf: writer.bytes)
    }

    private static func writeRemoval(of id: DownloadID, _ bytes: inout [UInt8]) {
        bytes.append(contentsOf: #"{"id":""#.utf8)
        id.encode(into: &bytes)
        bytes.append(contentsOf: #""}"#.utf8)
        end(&bytes)
    }

    private static func begin(_ name: StaticString, _ bytes: inout [UInt8]) {
        bytes.append(contentsOf: "event: \(name)\ndata: ".utf8)
    }

    private static func begin(_ name: StaticString, _ id: EventID, _ bytes: inout [UInt8]) {
        bytes.append(contentsOf: "id: \(id)\nevent: \(name)\ndata: ".utf8)
    }

    private static func end(_ bytes: inout [UInt8]) {
        bytes.append(contentsOf: "\n\n".utf8)
    }
}
