import HTTPCore
import TestSupport
import Testing

@testable import Downloads

@Suite("Events", .timeLimit(.minutes(3)))
struct EventTests {
    private func download(_ number: UInt64, _ state: DownloadState = .queued) -> Download {
        var generator = DownloadIDGenerator()
        var random = SystemRandom()
        let id = generator.next(now: .init(millisecondsSinceEpoch: Int64(number)), using: &random)
        return Download(id: id, url: "http://example.com/\(number)", state: state, createdAt: .init(millisecondsSinceEpoch: 0))
    }

    private func publish(_ hub: EventHub, _ download: Download, counters: TransferCounters? = nil) {
        hub.board.publish(download, counters: counters, sequence: hub.nextSequence)
        hub.publish(.transition(download))
    }

    @Test("a reader begins with a snapshot of live downloads, then gets each transition in order")
    func order() {
        let hub = EventHub(epoch: 1, board: DownloadBoard())
        let first = download(1)
        let ended = download(2, .completed)
        publish(hub, first)
        publish(hub, ended)
        let reader = hub.subscribe(scope: nil, after: nil, interval: .milliseconds(250)) {}
        guard case .snapshot(let id, let downloads)? = reader.next(now: .now) else {
            Issue.record("no snapshot")
            return
        }
        #expect(id == EventID(epoch: 1, sequence: 2))
        #expect(downloads.map(\.id) == [first.id])
        for state in [DownloadState.downloading, .paused, .queued] {
            var changed = first
            changed.state = state
            publish(hub, changed)
        }
        var states: [DownloadState] = []
        while case .download(_, let download)? = reader.next(now: .now) { states.append(download.state) }
        #expect(states == [.downloading, .paused, .queued])
        #expect(reader.nextDue(now: .now) == nil)
    }

    @Test("a reader that comes back gets exactly what it missed, also removals")
    func replay() {
        let hub = EventHub(epoch: 7, board: DownloadBoard())
        for number in 1...5 { publish(hub, download(UInt64(number))) }
        hub.publish(.removal(download(9).id))
        let reader = hub.subscribe(scope: nil, after: EventID(epoch: 7, sequence: 3), interval: .milliseconds(250)) {}
        var ids: [UInt64] = []
        loop: while let event = reader.next(now: .now) {
            switch event {
            case .download(let id, _), .removed(let id, _): ids.append(id.sequence)
            case .snapshot: Issue.record("a snapshot was not needed"); break loop
            }
        }
        #expect(ids == [4, 5, 6])
    }

    @Test(
        "another run's id, one from the future and one too old bring a snapshot",
        arguments: [
            EventID(epoch: 6, sequence: 3), EventID(epoch: 7, sequence: 99), EventID(epoch: 7, sequence: 1),
        ])
    func unknown(_ id: EventID) {
        let hub = EventHub(epoch: 7, board: DownloadBoard(), capacity: 3)
        for number in 1...6 { publish(hub, download(UInt64(number))) }
        let reader = hub.subscribe(scope: nil, after: id, interval: .milliseconds(250)) {}
        guard case .snapshot? = reader.next(now: .now) else {
            Issue.record("no snapshot")
            return
        }
    }

    @Test("a reader that fell behind the history still learns of every end")
    func gap() {
        let hub = EventHub(epoch: 7, board: DownloadBoard(), capacity: 3)
        let reader = hub.subscribe(scope: nil, after: nil, interval: .milliseconds(250)) {}
        _ = reader.next(now: .now)
        let ended = (1...10).map { download($0, .completed) }
        for download in ended { publish(hub, download) }
        var told: Set<DownloadID> = []
        while let event = reader.next(now: .now) {
            if case .download(_, let download) = event { told.insert(download.id) }
        }
        #expect(told == Set(ended.map(\.id)))
    }

    @Test("a snapshot after a gap has the old id until every end is told, so that leaving in between loses none")
    func gapInTwo() throws {
        let hub = EventHub(epoch: 7, board: DownloadBoard(), capacity: 3)
        publish(hub, download(1))
        let ended = (2...6).map { download($0, .completed) }
        for download in ended { publish(hub, download) }
        var after = EventID(epoch: 7, sequence: 1)
        let first = hub.subscribe(scope: nil, after: after, interval: .seconds(1)) {}
        var told: [DownloadID] = []
        for _ in 0..<3 {
            switch try #require(first.next(now: .now)) {
            case .snapshot(let id, _): after = id
            case .download(let id, let download):
                after = id
                told.append(download.id)
            case .removed: Issue.record("nothing was removed")
            }
        }
        #expect(after == EventID(epoch: 7, sequence: 1))
        #expect(told == ended.prefix(2).map(\.id))
        // The reader leaves here, and comes back.
        let second = hub.subscribe(scope: nil, after: after, interval: .seconds(1)) {}
        told = []
        while let event = second.next(now: .now) {
            if case .download(let id, let download) = event {
                after = id
                told.append(download.id)
            }
        }
        #expect(told == ended.map(\.id))
        #expect(after == EventID(epoch: 7, sequence: 6))
    }

    @Test("a live download that was removed during a gap is not in the snapshot")
    func removedDuringGap() {
        let hub = EventHub(epoch: 7, board: DownloadBoard(), capacity: 3)
        let gone = download(1)
        let kept = download(2)
        publish(hub, gone)
        publish(hub, kept)
        let reader = hub.subscribe(scope: nil, after: nil, interval: .seconds(1)) {}
        _ = reader.next(now: .now)
        #expect(hub.board.remove(gone.id))
        hub.publish(.removal(gone.id))
        for _ in 0..<5 { publish(hub, kept) }
        guard case .snapshot(_, let downloads)? = reader.next(now: .now) else {
            Issue.record("no snapshot")
            return
        }
        #expect(downloads.map(\.id) == [kept.id])
        #expect(reader.next(now: .now) == nil)
    }

    @Test("a reader of an earlier run gets a snapshot, and what has ended since that run began")
    func earlierRun() {
        func ended(_ number: UInt64, at milliseconds: Int64) -> Download {
            var download = download(number, .completed)
            download.updatedAt = .init(millisecondsSinceEpoch: milliseconds)
            return download
        }
        let hub = EventHub(epoch: 2_000, board: DownloadBoard())
        let live = download(1)
        let before = ended(2, at: 999)
        let second = ended(3, at: 1_500)
        let first = ended(4, at: 1_000)
        for each in [live, before, second, first] { publish(hub, each) }
        let reader = hub.subscribe(scope: nil, after: EventID(epoch: 1_000, sequence: 77), interval: .seconds(1)) {}
        var ids: [EventID] = []
        var told: [DownloadID] = []
        while let event = reader.next(now: .now) {
            switch event {
            case .snapshot(let id, let downloads):
                ids.append(id)
                #expect(downloads.map(\.id) == [live.id])
            case .download(let id, let download):
                ids.append(id)
                told.append(download.id)
            case .removed: Issue.record("nothing was removed")
            }
        }
        #expect(told == [first.id, second.id])
        let old = EventID(epoch: 1_000, sequence: 77)
        #expect(ids == [old, old, EventID(epoch: 2_000, sequence: 4)])
        // A run that began after this one is a clock that was set back: nothing can be told of it.
        let stranger = hub.subscribe(scope: nil, after: EventID(epoch: 3_000, sequence: 1), interval: .seconds(1)) {}
        _ = stranger.next(now: .now)
        #expect(stranger.next(now: .now) == nil)
    }

    @Test("progress comes at most once an interval, only if bytes came, and never hides a transition")
    func progress() throws {
        let hub = EventHub(epoch: 7, board: DownloadBoard())
        let counters = TransferCounters(received: 0)
        var running = download(1, .downloading)
        publish(hub, running, counters: counters)
        let start = ContinuousClock.now
        let reader = hub.subscribe(scope: nil, after: nil, interval: .milliseconds(250)) {}
        _ = reader.next(now: start)
        _ = reader.next(now: start)
        counters.received += 10
        #expect(reader.next(now: start + .milliseconds(100)) == nil)
        let due = try #require(reader.nextDue(now: start + .milliseconds(100)))
        #expect(due <= start + .milliseconds(250))
        guard case .download(_, let first)? = reader.next(now: start + .milliseconds(250)) else {
            Issue.record("no progress")
            return
        }
        #expect(first.bytesReceived == 10)
        #expect(reader.next(now: start + .milliseconds(600)) == nil)
        counters.received += 10
        running.state = .paused
        publish(hub, running)
        guard case .download(_, let second)? = reader.next(now: start + .milliseconds(601)) else {
            Issue.record("no transition")
            return
        }
        #expect(second.state == .paused)
    }

    @Test("a reader of one download hears of no other")
    func scope() {
        let hub = EventHub(epoch: 7, board: DownloadBoard())
        let mine = download(1)
        publish(hub, mine)
        publish(hub, download(2))
        let reader = hub.subscribe(scope: mine.id, after: nil, interval: .milliseconds(250)) {}
        guard case .snapshot(_, let downloads)? = reader.next(now: .now) else {
            Issue.record("no snapshot")
            return
        }
        #expect(downloads.map(\.id) == [mine.id])
        publish(hub, download(3))
        #expect(reader.next(now: .now) == nil)
        publish(hub, mine)
        #expect(reader.next(now: .now) != nil)
    }

    @Test("event ids read back, and rubbish is none", arguments: ["", "1", "-", "a-", "-1", "1-2-3", "1-x", "é-1"])
    func identifiers(_ rubbish: String) {
        let id = EventID(epoch: 1_763_000_000_000, sequence: 42)
        #expect(EventID(parsing: id.description) == id)
        #expect(EventID(parsing: rubbish) == nil)
    }
}
