import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadTransfer
@testable import Downloads

@Suite("The list of downloads")
struct SnapshotIndexTests {
    /// Six downloads, created one after another.
    private func index() -> (SnapshotIndex, [RecordID]) {
        let index = SnapshotIndex()
        var generator = RecordIDGenerator()
        var random = SystemRandom()
        var ids: [RecordID] = []
        let states: [DownloadState] = [.completed, .paused, .completed, .failed, .queued, .completed]
        for (number, state) in states.enumerated() {
            let id = generator.next(now: Timestamp(millisecondsSinceEpoch: Int64(number)), using: &random)
            var download = Download(id: id, url: "http://example.com/\(number)", state: state, createdAt: id.createdAt)
            download.labels = number % 2 == 0 ? ["even"] : []
            download.filename = "Straße \(number).bin"
            download.trackName = number == 3 ? "Gymnopédie" : nil
            index.publish(download, counters: nil)
            ids.append(id)
        }
        return (index, ids)
    }

    struct Case: Sendable {
        var query: ListQuery
        var expected: [Int]
        var total: Int
        var hasNext = false
    }

    static let cases: [Case] = [
        Case(query: ListQuery(), expected: [5, 4, 3, 2, 1, 0], total: 6),
        Case(query: ListQuery(order: .oldest), expected: [0, 1, 2, 3, 4, 5], total: 6),
        Case(query: ListQuery(limit: 2), expected: [5, 4], total: 6, hasNext: true),
        Case(query: ListQuery(limit: 6), expected: [5, 4, 3, 2, 1, 0], total: 6),
        Case(query: ListQuery(states: [.completed], limit: 2), expected: [5, 2], total: 3, hasNext: true),
        Case(query: ListQuery(states: [.failed, .paused]), expected: [3, 1], total: 2),
        Case(query: ListQuery(label: "even", order: .oldest), expected: [0, 2, 4], total: 3),
        Case(query: ListQuery(text: "EXAMPLE.com/4"), expected: [4], total: 1),
        Case(query: ListQuery(text: "straße 1"), expected: [1], total: 1),
        Case(query: ListQuery(text: "GYMNOPÉ"), expected: [3], total: 1),
        Case(query: ListQuery(text: "nothing"), expected: [], total: 0),
        Case(query: ListQuery(states: [.completed], label: "even", text: "bin"), expected: [2, 0], total: 2),
        Case(query: ListQuery(states: [.completed, .queued], label: "even", limit: 1), expected: [4], total: 3, hasNext: true),
        Case(query: ListQuery(label: "odd"), expected: [], total: 0),
        Case(query: ListQuery(text: ""), expected: [5, 4, 3, 2, 1, 0], total: 6),
        Case(query: ListQuery(text: "http", limit: 2, order: .oldest), expected: [0, 1], total: 6, hasNext: true),
    ]

    @Test("Filters, order and total", arguments: cases)
    func filters(_ row: Case) {
        let (index, ids) = index()
        let page = index.page(row.query)
        #expect(page.items.map(\.id) == row.expected.map { ids[$0] })
        #expect(page.total == row.total)
        #expect((page.next != nil) == row.hasNext)
    }

    @Test("Cursors visit everything once in both directions, despite changes", arguments: ListQuery.Order.allCases)
    func cursors(_ order: ListQuery.Order) {
        let (index, ids) = index()
        var query = ListQuery(limit: 2, order: order)
        var seen: [RecordID] = []
        while true {
            let page = index.page(query)
            seen += page.items.map(\.id)
            // The download of the cursor is removed: the next page still starts behind its position.
            if let next = page.next, seen.count == 2 { _ = index.remove(next) }
            guard let next = page.next else { break }
            query.after = next
        }
        #expect(seen == (order == .oldest ? ids : ids.reversed()))
    }

    @Test("Labels and texts are the current ones")
    func changes() {
        let (index, ids) = index()
        var download = Download(id: ids[2], url: "http://example.org/two", state: .completed, createdAt: ids[2].createdAt)
        download.labels = ["odd", "odd"]
        index.publish(download, counters: nil)
        let found = { (query: ListQuery) in index.page(query).items.map(\.id) }
        #expect(found(ListQuery(label: "even")) == [ids[4], ids[0]])
        #expect(found(ListQuery(label: "odd")) == [ids[2]])
        #expect(found(ListQuery(text: "Straße 2")) == [])
        #expect(found(ListQuery(text: "/TWO")) == [ids[2]])
        _ = index.remove(ids[2])
        #expect(found(ListQuery(label: "odd")) == [])
        #expect(found(ListQuery(text: "/two")) == [])
    }

    @Test("Labels that look alike are different", arguments: LookAlikes.texts)
    func lookAlikes(first: String, second: String) {
        let (index, ids) = index()
        let found = { (label: String) in index.page(ListQuery(label: label)).items.map(\.id) }
        var download = Download(id: ids[2], url: "http://example.org/two", state: .completed, createdAt: ids[2].createdAt)
        download.labels = [first]
        index.publish(download, counters: nil)
        #expect(found(first) == [ids[2]] && found(second) == [])
        // A change from one to the other is a change.
        var change = DownloadChange()
        change.labels = [second]
        change.apply(to: &download, usual: RetryPolicy())
        #expect(download.labels.isExactly([second]))
        index.publish(download, counters: nil)
        #expect(found(first) == [] && found(second) == [ids[2]])
        var addition = DownloadChange()
        addition.addedLabel = first
        addition.apply(to: &download, usual: RetryPolicy())
        var removal = DownloadChange()
        removal.removedLabel = second
        removal.apply(to: &download, usual: RetryPolicy())
        #expect(download.labels.isExactly([first]))
    }

    @Test("A search shows the newest download of a URL, and an older one after its removal")
    func references() {
        let (index, ids) = index()
        var generator = RecordIDGenerator(after: ids.last)
        var random = SystemRandom()
        let again = generator.next(now: Timestamp(millisecondsSinceEpoch: 9), using: &random)
        let url = "http://example.com/0"
        index.publish(Download(id: again, url: url, createdAt: again.createdAt), counters: nil)
        #expect(index.reference(toURL: url)?.id == again)
        #expect(index.downloads(ofURL: url).map(\.id) == [again, ids[0]])
        _ = index.remove(again)
        #expect(index.reference(toURL: url)?.id == ids[0])
        _ = index.remove(ids[0])
        #expect(index.reference(toURL: url) == nil)
    }

    @Test("Downloads that are restored together are found like those that came one by one, also after changes")
    func restoring() {
        let (single, restored) = (SnapshotIndex(), SnapshotIndex())
        let states: [DownloadState] = [.completed, .failed, .cancelled, .queued]
        func download(_ number: Int) -> Download {
            var download = sampleRecord(number, state: states[number % 4]).download
            download.url = "http://example.com/\(number % 100)"
            download.fileMissing = number % 8 == 0
            download.endedAt = download.endedAt.map { $0.advanced(by: .seconds(number * 7919 % 1_000)) }
            return download
        }
        for number in 0..<1_000 { single.publish(download(number), counters: nil) }
        restored.restore {
            for number in 0..<1_000 { restored.restore(download(number), counters: nil, eventID: .none) }
        }
        func compare() {
            for number in 0..<100 {
                let url = "http://example.com/\(number)"
                #expect(restored.downloads(ofURL: url).map(\.id) == single.downloads(ofURL: url).map(\.id))
                #expect(restored.reference(toURL: url)?.id == single.reference(toURL: url)?.id)
                let gid = download(number * 10).gid
                #expect(restored.find(gid: gid) == single.find(gid: gid))
            }
            #expect(restored.ended(limit: 1_000).map(\.id) == single.ended(limit: 1_000).map(\.id))
        }
        compare()
        for number in stride(from: 0, to: 1_000, by: 3) {
            for index in [single, restored] {
                var changed = download(number)
                if number % 2 == 0 { changed.url += "/moved" } else { changed.fileMissing.toggle() }
                if number % 9 == 0 { index.remove(changed.id) } else { index.publish(changed, counters: nil) }
            }
        }
        compare()
    }

    @Test("All ids of a query equal its pages' ids, in the order of a command", arguments: cases)
    func ids(_ row: Case) {
        let (index, _) = index()
        var query = row.query
        (query.order, query.limit) = (.newest, 100)
        let downloads = index.page(query).items
        let (waiting, others) = (downloads.filter { !$0.mayHaveSlot }, downloads.filter(\.mayHaveSlot))
        #expect(index.ids(query, .slotsLast) == (waiting + others).map(\.id))
        #expect(index.ids(query, .queue) == downloads.sorted { $0.rank < $1.rank }.map(\.id))
    }

    @Test("Ended downloads with equal failures and labels share them, and others keep theirs")
    func sharing() {
        var shared = SharedValues()
        let labels = [["a"], ["b"], [], ["caf\u{e9}"], ["cafe\u{301}"]]
        for number in 0..<200 {
            var download = sampleRecord(number, state: number % 10 == 0 ? .queued : .failed).download
            download.mediaType = number % 3 == 0 ? nil : "application/octet-stream; \(number % 4)"
            download.error = DownloadFailure(.httpStatus, "status \(number % 30)", httpStatus: 400 + number % 30)
            download.labels = labels[number % labels.count]
            let before = download
            shared.share(&download)
            #expect(download.labels.isExactly(before.labels) && download.error == before.error)
            #expect(download.mediaType == before.mediaType)
        }
    }

    @Test("Ranges are the transfer's, even after its end, and otherwise the first bytes")
    func ranges() {
        let (index, ids) = index()
        var download = Download(id: ids[4], url: "http://example.com/4", state: .downloading, createdAt: ids[4].createdAt)
        download.bytesReceived = 15
        let progress = TransferProgress(written: Coverage(prefix: 10))
        let counters = TransferCounters(received: 15, progress: progress)
        index.publish(download, counters: counters)
        progress.insert(40..<45, seams: [])
        #expect(index.download(ids[4])?.receivedRanges == [0..<10, 40..<45])
        counters.end()
        #expect(index.download(ids[4])?.receivedRanges == [0..<10, 40..<45])
        download.state = .completed
        index.publish(download, counters: nil)
        #expect(index.download(ids[4])?.receivedRanges == [0..<15])
        #expect(index.download(ids[0])?.receivedRanges == [])
    }

    @Test("Counts follow states, and live counters are read on request")
    func live() {
        let (index, ids) = index()
        #expect(index.statistics().counts[.completed] == 3)
        let counters = TransferCounters(received: 10)
        var download = Download(id: ids[4], url: "http://example.com/4", state: .downloading, createdAt: ids[4].createdAt)
        index.publish(download, counters: counters)
        counters.received += 5
        counters.bytesPerSecond = 7
        #expect(index.download(ids[4])?.bytesReceived == 15)
        #expect(index.statistics().bytesPerSecond == 7)
        #expect(index.statistics().counts[.queued] == 0)
        download.state = .completed
        index.publish(download, counters: nil)
        #expect(index.live().map(\.id) == [ids[1]])
        #expect(index.statistics().bytesPerSecond == 0)
    }
}
