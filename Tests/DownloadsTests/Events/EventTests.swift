import HTTPCore
import Synchronization
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import DownloadTransfer

/// A publisher and readers without a service: the test sets the time.
private struct Feed {
    let publisher: DownloadPublisher

    init(epoch: UInt64 = 7, history: StoredEventHistory = StoredEventHistory(), capacity: Int = StoredEventHistory.recentChanges)
    {
        publisher = DownloadPublisher(epoch: epoch, history: history, capacity: capacity)
    }

    func read(
        after: EventID? = nil, scope: RecordID? = nil, wake: @escaping @Sendable () -> Void = {}
    ) -> EventSubscription {
        publisher.hub.subscribe(scope: scope, after: after, interval: .milliseconds(250), wake: wake)
    }

    static func download(_ number: UInt64, _ state: DownloadState = .queued) -> Download {
        let id = RecordID(value: UInt128(number) << 80 | UInt128(number))
        return Download(id: id, url: "http://example.com/\(number)", state: state, createdAt: id.createdAt)
    }
}

/// An event in short form.
private enum Said: Equatable, CustomStringConvertible {
    case snapshot([RecordID])
    case download(RecordID, DownloadState)
    case removed(RecordID)

    var description: String {
        switch self {
        case .snapshot(let ids): "snapshot of \(ids.map { $0.value & 0xFFFF })"
        case .download(let id, let state): "\(id.value & 0xFFFF) \(state)"
        case .removed(let id): "\(id.value & 0xFFFF) removed"
        }
    }
}

extension EventSubscription {
    /// The next event with its id.
    fileprivate func nextSaid(now: ContinuousClock.Instant = .now) -> (id: EventID, said: Said)? {
        switch next(now: now) {
        case .snapshot(let id, let downloads)?: (id, .snapshot(downloads.map(\.id)))
        case .download(let id, let download)?: (id, .download(download.id, download.state))
        case .removed(let id, let download)?: (id, .removed(download))
        case nil: nil
        }
    }

    /// All available events.
    fileprivate func said(now: ContinuousClock.Instant = .now) -> [Said] {
        var all: [Said] = []
        while let next = nextSaid(now: now) { all.append(next.said) }
        return all
    }
}

@Suite("Events", .timeLimit(.minutes(3)))
struct EventTests {
    @Test("A reader begins with a snapshot of live downloads, then gets each transition in order")
    func order() throws {
        let feed = Feed(epoch: 1)
        let first = Feed.download(1)
        feed.publisher.publish(first, counters: nil)
        feed.publisher.publish(Feed.download(2, .completed), counters: nil)
        let reader = feed.read()
        let opening = try #require(reader.nextSaid())
        #expect(opening.id == EventID(epoch: 1, sequence: 2))
        #expect(opening.said == .snapshot([first.id]))
        let states: [DownloadState] = [.downloading, .paused, .queued]
        for state in states {
            var changed = first
            changed.state = state
            feed.publisher.publish(changed, counters: nil)
        }
        #expect(reader.said() == states.map { .download(first.id, $0) })
        #expect(reader.nextDue(now: .now) == nil)
    }

    @Test("A returning reader gets exactly the missed events, including removals")
    func replay() {
        let feed = Feed()
        let downloads = (1...5).map { Feed.download($0) }
        for download in downloads { feed.publisher.publish(download, counters: nil) }
        feed.publisher.remove(downloads[0].id, changeID: feed.publisher.reserve())
        let reader = feed.read(after: EventID(epoch: 7, sequence: 3))
        var ids: [UInt64] = []
        var said: [Said] = []
        while let next = reader.nextSaid() {
            ids.append(next.id.sequence)
            said.append(next.said)
        }
        #expect(ids == [4, 5, 6])
        #expect(said == [.download(downloads[3].id, .queued), .download(downloads[4].id, .queued), .removed(downloads[0].id)])
    }

    @Test(
        "An unknown event id brings a snapshot", arguments: [EventID(epoch: 7, sequence: 99), EventID(epoch: 8, sequence: 0)])
    func unknown(_ id: EventID) {
        let feed = Feed()
        let download = feed.publisher.publish(Feed.download(1), counters: nil)
        #expect(feed.read(after: id).said() == [.snapshot([download.id])])
    }

    @Test("A reader far behind gets the newest state of all changed downloads in order and once, and every removal")
    func farBehind() throws {
        let feed = Feed(capacity: 16)
        let downloads = (1...300).map { Feed.download($0, .completed) }
        for download in downloads { feed.publisher.publish(download, counters: nil) }
        let known = EventID(epoch: 7, sequence: 100)
        let again = [downloads[9], downloads[150]]
        for download in again { feed.publisher.publish(download, counters: nil) }
        for number in [20, 200] { feed.publisher.remove(downloads[number].id, changeID: feed.publisher.reserve()) }
        let changed = downloads.indices.filter { $0 >= 100 && $0 != 150 && $0 != 200 }.map { downloads[$0].id } + again.map(\.id)
        let expected = changed.map { Said.download($0, .completed) } + [.removed(downloads[20].id), .removed(downloads[200].id)]
        let reader = feed.read(after: known)
        var ids: [EventID] = []
        var said: [Said] = []
        while let next = reader.nextSaid() {
            ids.append(next.id)
            said.append(next.said)
        }
        #expect(said == expected)
        #expect(ids == ids.sorted())
        #expect(ids.last == EventID(epoch: 7, sequence: 304))
        // A reader that leaves in between and returns with the last id misses nothing either.
        for cut in [0, 1, 63, 64, 65, 130] {
            #expect(feed.read(after: ids[cut]).said() == Array(expected[(cut + 1)...]), "after \(cut)")
        }
    }

    @Test("A reader that falls behind within a stream gets every end")
    func gap() {
        let feed = Feed(capacity: 3)
        let reader = feed.read()
        _ = reader.said()
        let ended = (1...10).map { Feed.download($0, .completed) }
        for download in ended { feed.publisher.publish(download, counters: nil) }
        #expect(reader.said() == ended.map { .download($0.id, .completed) })
    }

    @Test("Changes during the catch-up follow it, and no event goes back in time")
    func changesMeanwhile() {
        let feed = Feed(capacity: 4)
        var downloads = (1...200).map { Feed.download($0, .downloading) }
        let after = EventID(epoch: 7, sequence: 0)
        for download in downloads { feed.publisher.publish(download, counters: nil) }
        let reader = feed.read(after: after)
        var last: [RecordID: Said] = [:]
        var removed: Set<RecordID> = []
        for step in 0..<600 {
            switch reader.nextSaid()?.said {
            case .snapshot?: Issue.record("a snapshot was not needed")
            case .download(let id, let state)?:
                #expect(!removed.contains(id))
                if case .download(_, .completed)? = last[id] { #expect(state == .completed) }
                last[id] = .download(id, state)
            case .removed(let id)?: removed.insert(id)
            case nil: break
            }
            guard step % 3 == 0, step / 3 < 120 else { continue }
            downloads[step / 3].state = .completed
            feed.publisher.publish(downloads[step / 3], counters: nil)
            if step % 9 == 0 { feed.publisher.remove(downloads[step / 3].id, changeID: feed.publisher.reserve()) }
        }
        #expect(reader.said() == [])
        #expect(removed.count == 40)
        for (number, download) in downloads.enumerated() where !removed.contains(download.id) {
            #expect(last[download.id] == .download(download.id, number < 120 ? .completed : .downloading))
        }
    }

    @Test("If removals are not known that far back, a snapshot precedes the downloads that ended since")
    func tooOld() {
        let history = StoredEventHistory(
            newest: EventID(epoch: 5, sequence: 90), knownSince: EventID(epoch: 4, sequence: 3),
            removals: [RemovalHistory.Removal(changeID: EventID(epoch: 5, sequence: 80), id: Feed.download(9).id)])
        let feed = Feed(history: history)
        func ended(_ number: UInt64, _ changeID: EventID) -> Download {
            var download = Feed.download(number, .completed)
            download.changeID = changeID
            return download
        }
        let (old, recent) = (ended(1, EventID(epoch: 3, sequence: 8)), ended(2, EventID(epoch: 4, sequence: 1)))
        let live = Feed.download(3)
        feed.publisher.restore { for download in [old, recent, live] { feed.publisher.restore(download) } }
        let since = EventID(epoch: 3, sequence: 9)
        let reader = feed.read(after: since)
        let opening = reader.nextSaid()
        #expect(opening?.said == .snapshot([live.id]))
        #expect(opening?.id == since, "a reader that leaves here gets all of it again")
        #expect(reader.said() == [.download(recent.id, .completed), .removed(Feed.download(9).id)])
        let informed = feed.read(after: EventID(epoch: 5, sequence: 80))
        #expect(informed.said() == [.download(live.id, .queued)], "no snapshot: all is known")
    }

    @Test("Sent events that a crash lost bring a snapshot")
    func lostInCrash() {
        let begun = EventID(epoch: 5, sequence: 0)
        let feed = Feed(history: StoredEventHistory(newest: EventID(epoch: 5, sequence: 40), knownSince: begun))
        feed.publisher.restore { feed.publisher.restore(Feed.download(1)) }
        #expect(feed.read(after: EventID(epoch: 5, sequence: 41)).said() == [.snapshot([Feed.download(1).id])])
        #expect(feed.read(after: EventID(epoch: 5, sequence: 40)).said() == [.download(Feed.download(1).id, .queued)])
    }

    @Test("An epoch is later than earlier ones, even after the clock was set back")
    func epochs() {
        let history = StoredEventHistory(newest: EventID(epoch: 2_000, sequence: 5))
        #expect(history.nextEpoch(now: Timestamp(millisecondsSinceEpoch: 9_000)) == 9_000)
        #expect(history.nextEpoch(now: Timestamp(millisecondsSinceEpoch: 1_000)) == 2_001)
    }

    @Test("Ids stay below a reserved event id until it is used or discarded, so that no reader misses it")
    func reservations() {
        let feed = Feed()
        let (slow, quick) = (Feed.download(1, .completed), Feed.download(2))
        feed.publisher.publish(quick, counters: nil)
        let reserved = feed.publisher.reserve()
        let reader = feed.read()
        #expect(reader.nextSaid()?.id == EventID(epoch: 7, sequence: 1))
        feed.publisher.publish(quick, counters: nil)
        let early = reader.nextSaid()
        #expect(early?.id == EventID(epoch: 7, sequence: 1))
        var saved = slow
        saved.changeID = reserved
        feed.publisher.publish(saved, counters: nil)
        #expect(reader.nextSaid()?.id == EventID(epoch: 7, sequence: 3))
        // A reader that left before the event gets it, with the other events.
        #expect(feed.read(after: early?.id).said() == [.download(quick.id, .queued), .download(slow.id, .completed)])
        #expect(feed.read(after: EventID(epoch: 7, sequence: 3)).said() == [])
        let given = feed.publisher.reserve()
        feed.publisher.publish(quick, counters: nil)
        feed.publisher.abandon(given)
        feed.publisher.publish(quick, counters: nil)
        _ = reader.nextSaid()
        #expect(reader.nextSaid()?.id == EventID(epoch: 7, sequence: 6))
    }

    @Test("An event id reserved during many publications is still sent to readers that are behind")
    func reservedOverGap() {
        let feed = Feed(capacity: 3)
        let reader = feed.read()
        _ = reader.said()
        var slow = Feed.download(1, .completed)
        slow.changeID = feed.publisher.reserve()
        var said: [Said] = []
        for number in 2...9 { feed.publisher.publish(Feed.download(UInt64(number), .completed), counters: nil) }
        while let next = reader.nextSaid() { said.append(next.said) }
        feed.publisher.publish(slow, counters: nil)
        for number in 10...19 { feed.publisher.publish(Feed.download(UInt64(number), .completed), counters: nil) }
        while let next = reader.nextSaid() { said.append(next.said) }
        for number in 1...19 { #expect(said.contains(.download(Feed.download(UInt64(number)).id, .completed)), "\(number)") }
    }

    @Test("Reports a live download that was removed during a gap as removed")
    func removedDuringGap() {
        let feed = Feed(capacity: 3)
        let (gone, kept) = (Feed.download(1), Feed.download(2))
        feed.publisher.publish(gone, counters: nil)
        feed.publisher.publish(kept, counters: nil)
        let reader = feed.read()
        _ = reader.said()
        feed.publisher.remove(gone.id, changeID: feed.publisher.reserve())
        for _ in 0..<5 { feed.publisher.publish(kept, counters: nil) }
        #expect(reader.said() == [.removed(gone.id), .download(kept.id, .queued)])
    }

    @Test("A reader of one download gets no events of others, and no wake-ups")
    func scope() {
        let feed = Feed()
        let (mine, other) = (Feed.download(1), Feed.download(2))
        for download in [mine, other] { feed.publisher.publish(download, counters: nil) }
        let wakes = Counter()
        let reader = feed.read(scope: mine.id) { wakes.add() }
        #expect(reader.said() == [.snapshot([mine.id])])
        for _ in 0..<1_000 { feed.publisher.publish(other, counters: nil) }
        #expect(wakes.value == 0)
        #expect(reader.said() == [])
        feed.publisher.publish(mine, counters: nil)
        #expect(wakes.value == 1)
        #expect(reader.said() == [.download(mine.id, .queued)])
        feed.publisher.remove(mine.id, changeID: feed.publisher.reserve())
        #expect(wakes.value == 2)
        #expect(reader.said() == [.removed(mine.id)])
        reader.cancel()
        feed.publisher.publish(mine, counters: nil)
        #expect(wakes.value == 2)
        #expect(feed.publisher.hub.readerCount == 0)
    }

    @Test("A reader of one download that returns too late gets its state, or its removal")
    func scopeAfterGap() {
        let feed = Feed(capacity: 3)
        let mine = Feed.download(1, .completed)
        feed.publisher.publish(mine, counters: nil)
        for number in 2...9 { feed.publisher.publish(Feed.download(UInt64(number)), counters: nil) }
        let reader = feed.read(after: EventID(epoch: 7, sequence: 0), scope: mine.id)
        #expect(reader.said() == [.snapshot([mine.id])])
        feed.publisher.remove(mine.id, changeID: feed.publisher.reserve())
        for number in 2...9 { feed.publisher.publish(Feed.download(UInt64(number)), counters: nil) }
        #expect(reader.said() == [.removed(mine.id)])
    }

    @Test(
        "Event ids survive a round trip, and invalid ones are refused",
        arguments: ["", "1", "-", "a-", "-1", "1-2-3", "1-x", "é-1"])
    func identifiers(_ rubbish: String) {
        let id = EventID(epoch: 1_763_000_000_000, sequence: 42)
        #expect(EventID(parsing: id.description) == id)
        #expect(EventID(parsing: rubbish) == nil)
    }

    /// A replica with the changes up to a number, and the number of queries of its feed.
    private func replica(at sequence: UInt64) -> (publisher: DownloadPublisher, pulls: Locked<Int>) {
        let pulls = Locked(0)
        let publisher = DownloadPublisher(FleetContents(epoch: 7)) { pulls.withLock { $0 += 1 } }
        bring(1...sequence, to: publisher)
        return (publisher, pulls)
    }

    /// Brings changes of one download to a replica.
    private func bring(_ sequences: ClosedRange<UInt64>, to publisher: DownloadPublisher, of number: UInt64 = 1) {
        for sequence in sequences {
            let download = Feed.download(number, sequence.isMultiple(of: 2) ? .completed : .paused)
            publisher.follow(
                [FleetChange(sequence: sequence, id: download.id, download: download)], FleetTransfers(), Retention())
        }
    }

    @Test("A reader ahead of a replica waits for its feed, and is not set back", arguments: [false, true])
    func ahead(isScoped: Bool) throws {
        let (publisher, pulls) = replica(at: 3)
        let now = ContinuousClock.now
        let mine = Feed.download(1).id
        let wakes = Locked(0)
        let reader = publisher.hub.subscribe(
            scope: isScoped ? mine : nil, after: EventID(epoch: 7, sequence: 5), interval: .seconds(1)
        ) { wakes.withLock { $0 += 1 } }
        #expect(pulls.withLock { $0 } == 1)
        #expect(reader.nextSaid(now: now) == nil)
        #expect(reader.nextDue(now: now) == now + .seconds(1))
        bring(4...4, to: publisher)
        #expect(reader.nextSaid(now: now + .milliseconds(10)) == nil)
        #expect(reader.nextDue(now: now + .milliseconds(10)) == now + .seconds(1))
        // The change that it received is another download's, which wakes it, too.
        wakes.withLock { $0 = 0 }
        bring(5...5, to: publisher, of: 2)
        #expect(wakes.withLock { $0 } > 0)
        #expect(reader.nextSaid(now: now + .milliseconds(20)) == nil)
        bring(6...6, to: publisher)
        let next = try #require(reader.nextSaid(now: now + .milliseconds(30)))
        #expect(next.id == EventID(epoch: 7, sequence: 6) && next.said == .download(mine, .completed))
        #expect(reader.nextSaid(now: now + .seconds(2)) == nil)
    }

    @Test("A removal of an unknown download continues the readers that wait for it")
    func aheadOfPassed() {
        let (publisher, _) = replica(at: 2)
        let wakes = Locked(0)
        let reader = publisher.hub.subscribe(scope: nil, after: EventID(epoch: 7, sequence: 3), interval: .seconds(1)) {
            wakes.withLock { $0 += 1 }
        }
        #expect(reader.nextSaid() == nil)
        publisher.follow([FleetChange(sequence: 3, id: Feed.download(9).id, download: nil)], FleetTransfers(), Retention())
        #expect(wakes.withLock { $0 } == 1)
        bring(4...4, to: publisher)
        #expect(reader.said() == [.download(Feed.download(1).id, .completed)])
    }

    @Test("An event that does not arrive within a second brings a snapshot; one of another fleet does at once")
    func neverArrives() {
        let (publisher, pulls) = replica(at: 3)
        let now = ContinuousClock.now
        let reader = publisher.hub.subscribe(scope: nil, after: EventID(epoch: 7, sequence: 9), interval: .seconds(1)) {}
        #expect(reader.said(now: now) == [])
        #expect(reader.said(now: now + .milliseconds(999)) == [])
        #expect(reader.said(now: now + .seconds(1)) == [.snapshot([Feed.download(1).id])])
        #expect(reader.nextDue(now: now + .seconds(1)).map { $0 > now + .seconds(1) } ?? true)
        for epoch in [6, 8] as [UInt64] {
            let other = publisher.hub.subscribe(scope: nil, after: EventID(epoch: epoch, sequence: 9), interval: .seconds(1)) {}
            #expect(other.said(now: now).first == .snapshot([Feed.download(1).id]))
        }
        #expect(pulls.withLock { $0 } == 1)
    }

    @Test("A reader that leaves while it waits is not woken again")
    func leavesEarly() {
        let (publisher, _) = replica(at: 1)
        let wakes = Locked(0)
        let reader = publisher.hub.subscribe(
            scope: Feed.download(1).id, after: EventID(epoch: 7, sequence: 3), interval: .seconds(1)
        ) { wakes.withLock { $0 += 1 } }
        reader.cancel()
        bring(2...3, to: publisher)
        #expect(wakes.withLock { $0 } == 0)
        #expect(publisher.hub.readerCount == 0)
    }

    @Test("A change that another replica has sent to a reader is not sent again")
    func hops() async {
        let publisher = DownloadPublisher(FleetContents(epoch: 7))
        let hub = publisher.hub
        let isOver = Locked(false)
        await withTaskGroup { group in
            group.addTask {
                for number in 1...20_000 as ClosedRange<UInt64> {
                    let download = Feed.download((number + 1) / 2, .paused)
                    let change = FleetChange(
                        sequence: number, id: download.id, download: number.isMultiple(of: 2) ? nil : download)
                    publisher.follow([change], FleetTransfers(), Retention())
                }
                isOver.withLock { $0 = true }
            }
            group.addTask {
                while !isOver.withLock({ $0 }) {
                    // The other replica is one event ahead.
                    let seen = EventID(epoch: 7, sequence: hub.published.sequence + 1)
                    let reader = hub.subscribe(scope: nil, after: seen, interval: .seconds(1)) {}
                    var next = reader.nextSaid()
                    while next == nil, !isOver.withLock({ $0 }) { next = reader.nextSaid() }
                    reader.cancel()
                    guard let next else { break }
                    if case .snapshot = next.said { continue }
                    #expect(next.id > seen)
                }
            }
        }
    }
}

@Suite("Progress events", .timeLimit(.minutes(3)))
struct ProgressEventTests {
    private let feed = Feed()
    private let start = ContinuousClock.now
    private let counters = TransferCounters(received: 0)

    /// A transferring download, and a reader that knows it.
    private func reader() -> (Download, EventSubscription) {
        let download = feed.publisher.publish(Feed.download(1, .downloading), counters: counters)
        let reader = feed.read()
        _ = reader.next(now: start)
        _ = reader.next(now: start + .milliseconds(250))
        return (download, reader)
    }

    @Test("Progress is sent at most once per interval, only with new bytes, and never hides a transition")
    func progress() throws {
        var (running, reader) = reader()
        let begun = start + .milliseconds(250)
        counters.received += 10
        #expect(reader.next(now: begun + .milliseconds(100)) == nil)
        let due = try #require(reader.nextDue(now: begun + .milliseconds(100)))
        #expect(due <= begun + .milliseconds(250))
        guard case .download(_, let first)? = reader.next(now: begun + .milliseconds(250)) else {
            Issue.record("no progress")
            return
        }
        #expect(first.bytesReceived == 10)
        #expect(reader.next(now: begun + .milliseconds(600)) == nil)
        counters.received += 10
        running.state = .paused
        feed.publisher.publish(running, counters: nil)
        #expect(reader.said(now: begun + .milliseconds(601)) == [.download(running.id, .paused)])
        #expect(reader.said(now: begun + .seconds(60)) == [])
    }

    @Test("A stall and its end are sent without new bytes")
    func stall() {
        let (_, reader) = reader()
        for (step, isStalled) in [true, false].enumerated() {
            counters.isStalled = isStalled
            let now = start + .seconds(1 + step)
            guard case .download(_, let download)? = reader.next(now: now) else {
                Issue.record("nothing was sent")
                return
            }
            #expect(download.stalled == isStalled)
            #expect(reader.next(now: now + .milliseconds(500)) == nil)
        }
    }

    @Test("Events of a slow reader never go back in time, whatever happens between two reads", arguments: 0..<200)
    func neverBack(_ seed: UInt64) {
        var random = Xorshift(seed)
        var downloads = (1...20).map { Feed.download($0, .downloading) }
        let counters = downloads.map { _ in TransferCounters(received: 0) }
        for number in downloads.indices { feed.publisher.publish(downloads[number], counters: counters[number]) }
        let reader = feed.read()
        var now = start
        var bytes: [RecordID: Int64] = [:]
        var ended: Set<RecordID> = []
        var removed: Set<RecordID> = []
        func read(atMost count: Int) {
            for _ in 0..<count {
                switch reader.next(now: now) {
                case .download(_, let download)?:
                    #expect(!removed.contains(download.id), "a removed one came back")
                    #expect(!ended.contains(download.id) || download.state == .completed, "a completed one goes on")
                    #expect(download.bytesReceived >= bytes[download.id] ?? 0, "bytes were taken back")
                    bytes[download.id] = download.bytesReceived
                    if download.state == .completed { ended.insert(download.id) }
                case .removed(_, let id)?: removed.insert(id)
                case .snapshot?: break
                case nil: return
                }
            }
        }
        read(atMost: 1)
        for _ in 0..<60 {
            now += .milliseconds(Int64(random.next() % 200))
            let number = Int(random.next() % 20)
            counters[number].received += Int64(random.next() % 100)
            switch random.next() % 6 {
            case 0 where downloads[number].state == .downloading:
                downloads[number].state = .completed
                downloads[number].bytesReceived = counters[number].received
                feed.publisher.publish(downloads[number], counters: nil)
            case 1 where downloads[number].state == .completed:
                feed.publisher.remove(downloads[number].id, changeID: feed.publisher.reserve())
            case 2 where downloads[number].state == .downloading:
                feed.publisher.publish(downloads[number], counters: counters[number])
            default: break
            }
            // Each takes only a part of the available bytes.
            read(atMost: Int(random.next() % 4))
        }
        now += .seconds(10)
        read(atMost: .max)
        for download in downloads {
            let isThere = feed.publisher.index.download(download.id) != nil
            #expect(removed.contains(download.id) == !isThere)
            #expect(ended.contains(download.id) == (download.state == .completed))
        }
    }

    @Test("Many readers get the same versions")
    func shared() {
        _ = feed.publisher.publish(Feed.download(1, .downloading), counters: counters)
        let readers = (0..<10).map { _ in feed.read() }
        for reader in readers { _ = reader.next(now: start) }
        var versions: Set<DownloadVersion?> = []
        for (number, reader) in readers.enumerated() {
            counters.received += 1
            if case .download(_, let download)? = reader.next(now: start + .milliseconds(250 + Int64(number))) {
                versions.insert(download.version)
            }
        }
        #expect(versions.count == 1)
    }
}

/// Counts from any thread.
private final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .sequentiallyConsistent) }

    func add() { count.add(1, ordering: .sequentiallyConsistent) }
}

/// Random numbers that are the same each time.
private struct Xorshift {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state >> 11
    }
}
