import HTTPCore
import Testing

@testable import DownloadCore
@testable import DownloadIndex

@Suite("The queue, ended downloads and gids in the index")
struct SnapshotIndexQueueTests {
    private static func id(_ number: Int) -> RecordID {
        RecordID(value: UInt128(1_700_000_000_000 + number) << 80 | UInt128(number))
    }

    private static func download(
        _ number: Int, _ state: DownloadState, _ edit: (inout Download) -> Void = { _ in }
    ) -> Download {
        var download = Download(id: id(number), url: "http://a.example/\(number)", state: state, createdAt: id(number).createdAt)
        edit(&download)
        return download
    }

    @Test("After any change, each queued and paused download has its position by priority and arrival")
    func positions() {
        let index = SnapshotIndex()
        var random = SystemRandom()
        var model: [Int: Download] = [:]
        for step in 0..<4_000 {
            let number = Int.random(in: 0..<600, using: &random)
            if step % 5 == 0 {
                model[number] = nil
                index.remove(Self.id(number))
            } else {
                let download = Self.download(number, DownloadState.allCases.randomElement(using: &random) ?? .queued) {
                    $0.priority = Int.random(in: -1...1, using: &random)
                    // No two downloads have the same arrival.
                    if Bool.random(using: &random) {
                        $0.arrival = Self.id(1_000 + 600 * Int.random(in: 0..<15, using: &random) + number)
                    }
                }
                model[number] = download
                let shown = index.publish(download, counters: nil)
                #expect((shown.position == nil) != download.isInQueue)
            }
            guard step % 200 == 199 else { continue }
            let queue = model.values.filter(\.isInQueue).sorted { $0.rank < $1.rank }
            #expect(index.queue(offset: 0, limit: .max).map(\.rank) == queue.map(\.rank))
            #expect(index.queueCount == queue.count)
            #expect(index.queue(offset: 3, limit: 5).map(\.position) == [3, 4, 5, 6, 7])
            #expect(index.queue(offset: queue.count, limit: 5).isEmpty && index.queue(offset: .max, limit: .max).isEmpty)
            for (place, download) in queue.enumerated() {
                #expect(index.download(download.id)?.position == place)
                #expect(index.versionAndPosition(of: download.id)?.position == place)
            }
            let page = index.page(ListQuery(limit: 200))
            for download in page.items { #expect(download.position == index.download(download.id)?.position) }
        }
    }

    @Test("A copy of the queue stays as it was, whatever moves")
    func copies() {
        let index = SnapshotIndex()
        for number in 0..<1_500 { index.publish(Self.download(number, .queued), counters: nil) }
        let view = index.view()
        for number in 0..<1_500 { index.publish(Self.download(number, .completed), counters: nil) }
        #expect(view.count == 1_500 && index.queueCount == 0)
        #expect(view.member(at: 1_499)?.id == Self.id(1_499) && view.member(at: 1_500) == nil && view.member(at: -1) == nil)
    }

    @Test("Lists the last ended downloads by the time of their end, the oldest first", arguments: [true, false])
    func ended(isAskedBefore: Bool) {
        let index = SnapshotIndex()
        if isAskedBefore { #expect(index.ended(limit: 5).isEmpty) }
        var random = SystemRandom()
        let order = (0..<1_200).shuffled(using: &random)
        let states: [DownloadState] = [.completed, .failed, .cancelled]
        for number in order { index.publish(Self.download(number, .downloading), counters: nil) }
        for (time, number) in order.enumerated() {
            index.publish(
                Self.download(number, states[number % 3]) { $0.endedAt = Timestamp(millisecondsSinceEpoch: Int64(time)) },
                counters: nil)
        }
        #expect(index.ended(limit: 5_000).map(\.id) == order.map(Self.id))
        #expect(index.ended(limit: 1_000).map(\.id) == order.suffix(1_000).map(Self.id))
        #expect(index.ended(limit: 0).isEmpty)
        // One is retried, one is removed, and a label changes nothing.
        index.publish(Self.download(order[1_199], .queued), counters: nil)
        index.remove(Self.id(order[1_198]))
        index.publish(
            Self.download(order[0], states[order[0] % 3]) {
                $0.endedAt = Timestamp(millisecondsSinceEpoch: 0)
                $0.labels = ["x"]
            }, counters: nil)
        #expect(index.ended(limit: 5_000).map(\.id) == order.prefix(1_198).map(Self.id))
    }

    @Test("Lists active downloads by the time of their start")
    func active() {
        let index = SnapshotIndex()
        let started: [(DownloadState, Int64)] = [(.downloading, 30), (.retrying, 10), (.queued, 5), (.downloading, 20)]
        for (number, (state, start)) in started.enumerated() {
            let download = Self.download(number, state) { $0.startedAt = Timestamp(millisecondsSinceEpoch: start) }
            index.publish(download, counters: nil)
        }
        #expect(index.active().map(\.id) == [1, 3, 0].map(Self.id))
    }

    @Test("Finds a gid by its shortest unique beginning")
    func names() {
        let index = SnapshotIndex()
        let gids: [UInt64] = [0x0123_4567_89ab_cdef, 0x0123_0000_0000_0000, 0xffff_ffff_ffff_ffff, 0]
        for (number, gid) in gids.enumerated() {
            index.publish(Self.download(number, .queued) { $0.chosenGID = DownloadGID(gid) }, counters: nil)
            if number == 1 { #expect(index.find(gid: DownloadGID(gids[0])) == Self.id(0)) }
        }
        func find(_ digits: String) -> GIDMatch { index.find(gid: UInt64(digits, radix: 16) ?? 0, digits: digits.count) }
        #expect(find("0123456789abcdef") == .found(Self.id(0)))
        #expect(find("01234") == .found(Self.id(0)))
        #expect(find("01230") == .found(Self.id(1)))
        #expect(find("0123") == .ambiguous && find("0") == .ambiguous)
        #expect(find("f") == .found(Self.id(2)) && find("ffffffffffffffff") == .found(Self.id(2)))
        #expect(find("00") == .found(Self.id(3)) && find("0000000000000000") == .found(Self.id(3)))
        #expect(find("8") == .notFound && find("0123456789abcdee") == .notFound && find("02") == .notFound)
        #expect(index.find(gid: 0x123, digits: 2) == .notFound && index.find(gid: 0, digits: 0) == .notFound)
        #expect(index.find(gid: 0, digits: 17) == .notFound)
        index.remove(Self.id(0))
        #expect(find("0123") == .found(Self.id(1)))
        index.publish(Self.download(9, .completed), counters: nil)
        #expect(index.find(gid: Self.id(9).gid) == Self.id(9))
    }

    @Test("Finds many gids, and distinguishes them by a few digits although they were created together")
    func many() {
        let index = SnapshotIndex()
        var generator = RecordIDGenerator()
        var random = SystemRandom()
        let now = Timestamp(millisecondsSinceEpoch: 1_700_000_000_000)
        let ids = (0..<20_000).map { _ in generator.next(now: now, using: &random) }
        for (number, id) in ids.enumerated() {
            let download = Download(
                id: id, url: "http://a.example/\(number)", state: .completed, createdAt: id.createdAt)
            index.publish(download, counters: nil)
        }
        #expect(ids.allSatisfy { index.find(gid: $0.gid) == $0 })
        // 40 bits, which practically no two downloads share.
        #expect(ids.count { index.find(gid: $0.gid.value >> 24, digits: 10) == .found($0) } > 19_980)
    }

    @Test("A gid is written in 16 digits, and read in either case")
    func text() {
        #expect(DownloadGID(0xAB).description == "00000000000000ab")
        #expect(DownloadGID("00000000000000AB") == DownloadGID(0xAB))
        for wrong in ["", "ab", "00000000000000a", "00000000000000abc", "000000000000000g", "+0000000000000ab"] {
            #expect(DownloadGID(wrong) == nil)
        }
    }
}
