internal import DownloadCore
internal import DownloadIndex
internal import HTTPServer
internal import Subscriptions
internal import System

/// The events of downloads, of subscriptions, or of both as a `text/event-stream` (WHATWG HTML §9.2), written at the pace
/// of the client.
///
/// A stream holds the text of at most one event, and a snapshot in pieces. Each is one chunk, which ends at the end of a
/// line: some clients take a chunk for an event, or its framing for lines. A slow reader costs no memory for the events
/// that it has not read: it is a position in the history that all readers share. The JSON of downloads is shared by all
/// streams.
final class EventStream: BodyStream {
    /// The downloads whose events are sent.
    struct Downloads {
        let hub: EventHub
        /// The only download; `nil` for all.
        var scope: RecordID?
        /// The last event that the client has received; `nil` if it needs a snapshot.
        let after: EventID?
        /// The minimum interval of a download's events.
        let interval: Duration
    }

    private struct State {
        var subscription: EventSubscription?
        var reader: SubscriptionIndex.Reader?
        /// The text of the current event; the bytes from `position` on have not been taken.
        var pending: [UInt8] = []
        var position = 0
        /// The downloads that the snapshot still has to send; `nil` if no snapshot is being sent.
        var snapshot: LiveDownloads.Iterator?
        var snapshotHasItems = false
        /// Whether the snapshot has so many downloads that it would displace everything else in the cache.
        var snapshotIsLarge = false
        /// The next subscription of their snapshot; `nil` if it is not being sent.
        var following: SubscriptionIndex.Version?
        /// Whether an event has been sent.
        var hasBegun = false
        /// The time at which bytes were last sent.
        var lastSent: ContinuousClock.Instant?
        var isStopping = false
        var isFinished = false
    }

    /// The interval of keep-alive comments: some clients close a stream that is silent for 5 s, proxies one for 30 s.
    static let keepAliveInterval: Duration = .seconds(4)
    /// The size in bytes at which a piece of a snapshot is complete.
    private static let pieceSize = 8 * 1024
    /// The capacity in bytes that the text keeps between two events.
    private static let keptCapacity = 8 * 1024

    private let rendered: RenderedResources
    private let downloads: Downloads?
    private let subscriptions: SubscriptionIndex?
    private let state = Locked(State())

    /// - Parameters:
    ///   - rendered: The renderings for the client.
    ///   - downloads: The downloads whose events are sent; `nil` for none.
    ///   - subscriptions: The subscriptions whose events are sent; `nil` for none. They have no ids: each stream begins with
    ///     all subscriptions.
    init(_ rendered: RenderedResources, _ downloads: Downloads?, _ subscriptions: SubscriptionIndex? = nil) {
        self.rendered = rendered
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
        let reader = subscriptions?.makeReader(wake: wake)
        state.withLock { ($0.subscription, $0.reader) = (subscription, reader) }
    }

    func next(into buffer: inout [UInt8], limit: Int, now: ContinuousClock.Instant) -> StreamStep {
        state.withLock { state in
            if state.position == state.pending.count {
                let step = prepare(&state, now)
                guard case .more = step else { return step }
            }
            Self.take(&state, into: &buffer, limit)
            return state.position < state.pending.count ? .more : prepare(&state, now)
        }
    }

    var rest: Int { state.withLock { $0.position == 0 ? 0 : $0.pending.count - $0.position } }

    /// Makes the next text, if there is one, and returns the step until it.
    private func prepare(_ state: inout State, _ now: ContinuousClock.Instant) -> StreamStep {
        state.pending.removeAll(keepingCapacity: state.pending.capacity <= Self.keptCapacity)
        state.position = 0
        if state.snapshot != nil {
            continueSnapshot(&state)
        } else if state.following != nil {
            continueSubscriptions(&state)
        } else if state.isStopping || state.isFinished {
            return .end
        } else if let event = state.subscription?.next(now: now) {
            write(event, &state)
        } else if let event = state.reader?.next() {
            write(event, &state)
        } else {
            let quietUntil = (state.lastSent ?? now) + Self.keepAliveInterval
            guard now >= quietUntil else {
                if state.lastSent == nil { state.lastSent = now }
                return .wait(until: min(quietUntil, state.subscription?.nextDue(now: now) ?? quietUntil))
            }
            // Without an empty line, after which some clients report an event without data.
            state.pending.append(contentsOf: ":\n".utf8)
        }
        state.lastSent = now
        return .more
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

    private static func take(_ state: inout State, into buffer: inout [UInt8], _ limit: Int) {
        let count = min(limit, state.pending.count - state.position)
        buffer.append(contentsOf: state.pending[state.position..<state.position + count])
        state.position += count
    }

    private func write(_ event: DownloadEvent, _ state: inout State) {
        switch event {
        case .snapshot(let id, let downloads):
            Self.begin("snapshot", id, &state)
            state.pending.append(UInt8(ascii: "["))
            state.snapshot = downloads.makeIterator()
            state.snapshotHasItems = false
            state.snapshotIsLarge = downloads.underestimatedCount > RenderedResources.keptSnapshot
            continueSnapshot(&state)
        case .download(let id, let download):
            Self.begin("download", id, &state)
            rendered.rendering(of: download).append(to: &state.pending)
            Self.end(&state.pending)
        case .removed(let id, let download):
            Self.begin("removed", id, &state)
            Self.writeRemoval(of: download, &state.pending)
            // A removed download has no further events.
            if download == downloads?.scope { state.isFinished = true }
        }
    }

    private func continueSnapshot(_ state: inout State) {
        while let download = state.snapshot?.next() {
            Self.beginItem(&state)
            if state.snapshotIsLarge {
                rendered.append(download, to: &state.pending)
            } else {
                rendered.rendering(of: download).append(to: &state.pending)
            }
            guard state.pending.count >= Self.pieceSize, var following = state.snapshot else { continue }
            if following.next() != nil { return Self.endLine(&state) }
        }
        state.snapshot = nil
        state.pending.append(UInt8(ascii: "]"))
        Self.end(&state.pending)
    }

    private func write(_ event: SubscriptionIndex.Event, _ state: inout State) {
        switch event {
        case .snapshot:
            Self.begin("subscriptions", nil, &state)
            state.pending.append(UInt8(ascii: "["))
            state.following = subscriptions?.following(nil)
            state.snapshotHasItems = false
            continueSubscriptions(&state)
        case .changed(let version):
            Self.begin("subscription", nil, &state)
            rendered.append(version, to: &state.pending)
            Self.end(&state.pending)
        case .removed(let id):
            Self.begin("subscription-removed", nil, &state)
            Self.writeRemoval(of: id, &state.pending)
        }
    }

    private func continueSubscriptions(_ state: inout State) {
        while let version = state.following {
            Self.beginItem(&state)
            rendered.append(version, to: &state.pending)
            state.following = subscriptions?.following(version.subscription.id)
            if state.pending.count >= Self.pieceSize, state.following != nil { return Self.endLine(&state) }
        }
        state.pending.append(UInt8(ascii: "]"))
        Self.end(&state.pending)
    }

    private static func writeRemoval(of id: RecordID, _ bytes: inout [UInt8]) {
        bytes.append(contentsOf: #"{"id":""#.utf8)
        id.encode(into: &bytes)
        bytes.append(contentsOf: #""}"#.utf8)
        end(&bytes)
    }

    private static func begin(_ name: StaticString, _ id: EventID?, _ state: inout State) {
        // The time in milliseconds until a client connects again.
        if !state.hasBegun { state.pending.append(contentsOf: "retry: 1000\n".utf8) }
        state.hasBegun = true
        if let id { state.pending.append(contentsOf: "id: \(id)\n".utf8) }
        state.pending.append(contentsOf: "event: \(name)\ndata: ".utf8)
    }

    /// Begins the next item of a snapshot, in a line of its own: some clients refuse long lines. Joined by line breaks, as
    /// the format defines, the lines are one JSON value.
    private static func beginItem(_ state: inout State) {
        defer { state.snapshotHasItems = true }
        guard state.snapshotHasItems else { return }
        if !state.pending.isEmpty { endLine(&state) }
        state.pending.append(contentsOf: "data: ".utf8)
    }

    /// Ends the line of an item that others follow.
    private static func endLine(_ state: inout State) {
        state.pending.append(contentsOf: ",\n".utf8)
    }

    private static func end(_ bytes: inout [UInt8]) {
        bytes.append(contentsOf: "\n\n".utf8)
    }
}
