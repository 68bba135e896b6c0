internal import DownloadCore
internal import DownloadFeed
internal import Downloads
internal import HTTPServer
internal import System

/// The events of downloads as a `text/event-stream` (WHATWG HTML §9.2), written at the pace of the client.
///
/// A stream holds the text of at most one event, and a snapshot in pieces. A slow reader costs no memory for the events
/// that it has not read: it is a position in the history that all readers share. The JSON of downloads is shared by all
/// streams.
final class DownloadEventStream: BodyStream {
    private struct State {
        var subscription: EventSubscription?
        /// The text that has been written; the bytes from `position` on have not been taken.
        var pending: [UInt8] = []
        var position = 0
        /// The downloads that the snapshot still has to send; `nil` if no snapshot is being sent.
        var snapshot: LiveDownloads.Iterator?
        var snapshotHasItems = false
        /// The time at which bytes were last sent.
        var lastSent: ContinuousClock.Instant?
        var isStopping = false
        var isFinished = false
    }

    /// The interval of keep-alive comments: proxies and clients close silent streams after 30 s or 60 s.
    static let keepAliveInterval: Duration = .seconds(15)
    /// The size in bytes at which a piece of a snapshot is complete.
    private static let pieceSize = 16 * 1024

    private let hub: EventHub
    private let rendered: RenderedDownloads
    private let scope: DownloadID?
    private let after: EventID?
    private let interval: Duration
    private let state = Locked(State())

    init(hub: EventHub, rendered: RenderedDownloads, scope: DownloadID?, after: EventID?, interval: Duration) {
        self.hub = hub
        self.rendered = rendered
        self.scope = scope
        self.after = after
        self.interval = interval
    }

    func opened(_ waker: StreamWaker) {
        subscribe { waker.wake() }
    }

    /// Subscribes to the events; `wake` is called when an event is available.
    func subscribe(wake: @escaping @Sendable () -> Void) {
        let subscription = hub.subscribe(scope: scope, after: after, interval: interval, wake: wake)
        state.withLock { $0.subscription = subscription }
    }

    func next(into buffer: inout [UInt8], limit: Int, now: ContinuousClock.Instant) -> StreamStep {
        state.withLock { state in
            var room = limit
            while true {
                Self.take(&state, into: &buffer, &room)
                if state.position < state.pending.count { return .more }
                state.pending.removeAll(keepingCapacity: state.pending.capacity <= 4 * Self.pieceSize)
                state.position = 0
                if state.snapshot != nil {
                    continueSnapshot(&state)
                } else if state.isStopping || state.isFinished {
                    return .end
                } else if let event = state.subscription?.next(now: now) {
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
        let subscription = state.withLock { state in
            let subscription = state.subscription
            state.subscription = nil
            return subscription
        }
        subscription?.cancel()
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
        case .download(let id, let download):
            Self.begin("download", id, &state.pending)
            rendered.rendering(of: download).append(to: &state.pending)
            Self.end(&state.pending)
        case .removed(let id, let download):
            Self.begin("removed", id, &state.pending)
            state.pending.append(contentsOf: #"{"id":""#.utf8)
            download.encode(into: &state.pending)
            state.pending.append(contentsOf: #""}"#.utf8)
            Self.end(&state.pending)
            // A removed download has no further events.
            if download == scope { state.isFinished = true }
        }
    }

    private func continueSnapshot(_ state: inout State) {
        while let download = state.snapshot?.next() {
            if state.snapshotHasItems { state.pending.append(UInt8(ascii: ",")) }
            state.snapshotHasItems = true
            rendered.rendering(of: download).append(to: &state.pending)
            if state.pending.count >= Self.pieceSize { return }
        }
        state.snapshot = nil
        state.pending.append(UInt8(ascii: "]"))
        Self.end(&state.pending)
    }

    private static func begin(_ name: StaticString, _ id: EventID, _ bytes: inout [UInt8]) {
        bytes.append(contentsOf: "id: \(id)\nevent: \(name)\ndata: ".utf8)
    }

    private static func end(_ bytes: inout [UInt8]) {
        bytes.append(contentsOf: "\n\n".utf8)
    }
}
