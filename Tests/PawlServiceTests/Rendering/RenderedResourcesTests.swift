import HTTPCore
import JSON
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import PawlService

@Suite("The cache of rendered resources")
struct RenderedResourcesTests {
    private let index = SnapshotIndex()
    private let rendered = RenderedResources()

    private func publish(_ id: UInt128, counters: TransferCounters? = nil, _ change: (inout Download) -> Void = { _ in }) {
        var download = Download(
            id: RecordID(value: id), url: "http://a.example/\(id)", state: .downloading,
            createdAt: Timestamp(millisecondsSinceEpoch: 0))
        change(&download)
        index.publish(download, counters: counters)
    }

    /// The current response, and whether it was rendered for an earlier one.
    private func shown(_ id: UInt128) throws -> (bytes: [UInt8], etag: EntityTag, wasKept: Bool) {
        let id = RecordID(value: id)
        let wasKept = rendered.cached(try #require(index.version(of: id))) != nil
        let made = try #require(rendered.rendering(of: id, in: index))
        return (made.bytes, made.etag, wasKept)
    }

    private func fresh(_ id: UInt128) throws -> [UInt8] { try #require(index.download(RecordID(value: id))).encoded(.none) }

    @Test("Renders an unchanged resource once")
    func unchanged() throws {
        publish(1)
        let first = try shown(1)
        let second = try shown(1)
        #expect(!first.wasKept && second.wasKept)
        #expect(first.bytes == second.bytes && first.etag == second.etag)
        #expect(second.bytes == (try fresh(1)))
    }

    @Test(
        "Renders every visible change again",
        arguments: [
            { $0.received += 1 }, { $0.bytesPerSecond += 1 }, { $0.isStalled = true }, { $0.connections += 1 },
        ] as [@Sendable (TransferCounters) -> Void])
    func counters(change: @Sendable (TransferCounters) -> Void) throws {
        let counters = TransferCounters(received: 5)
        publish(1, counters: counters)
        let before = try shown(1)
        change(counters)
        let after = try shown(1)
        #expect(!after.wasKept)
        #expect(after.bytes != before.bytes && after.etag != before.etag)
        #expect(after.bytes == (try fresh(1)))
    }

    @Test("The position in the queue is current, and part of neither cache nor validator")
    func positions() throws {
        publish(2) { $0.state = .paused }
        let alone = try shown(2)
        #expect(try JSONValue(parsing: alone.bytes)["position"]?.integer == 0)
        for number in 10..<21 {
            publish(UInt128(number)) { ($0.state, $0.priority) = (.queued, 1) }
            let after = try shown(2)
            #expect(after.wasKept && after.etag == alone.etag)
            #expect(after.bytes == (try fresh(2)))
            #expect(try JSONValue(parsing: after.bytes)["position"]?.integer == Int64(number - 9))
        }
        let page = index.page(ListQuery())
        for item in page.items { #expect(rendered.rendering(of: item).bytes == item.encoded(.none)) }
        publish(2)
        #expect(try JSONValue(parsing: try shown(2).bytes)["position"]?.isNull == true)
    }

    @Test("Renders each publication again, also after a removal")
    func publications() throws {
        publish(1)
        _ = try shown(1)
        publish(1) { $0.labels = ["x"] }
        #expect(try !shown(1).wasKept)
        #expect(try shown(1).bytes == fresh(1))
        _ = index.remove(RecordID(value: 1))
        publish(1)
        #expect(try !shown(1).wasKept)
        #expect(try shown(1).bytes == fresh(1))
    }

    @Test("Keeps versions of one download side by side for slow readers")
    func versions() throws {
        publish(1)
        let first = try #require(index.download(RecordID(value: 1)))
        _ = rendered.rendering(of: first)
        publish(1) { $0.labels = ["x"] }
        _ = try shown(1)
        #expect(try shown(1).wasKept)
        #expect(rendered.cached(try #require(first.version)) != nil)
        #expect(rendered.rendering(of: first).bytes == first.encoded(.none))
    }

    @Test("Evicts the oldest entry when the limit is reached, and does not cache a very long one")
    func bounded() throws {
        publish(0) { $0.labels = [String(repeating: "x", count: 300_000)] }
        _ = try shown(0)
        #expect(try !shown(0).wasKept)
        for id in 1...4_000 {
            publish(UInt128(id))
            _ = try shown(UInt128(id))
        }
        #expect(try !shown(1).wasKept)
        #expect(try shown(3_999).wasKept)
        #expect(try shown(2).bytes == fresh(2))
    }

    /// A page of the list as JSON; `nil` if more than `limit` items would have to be rendered.
    private func listed(_ query: ListQuery = ListQuery(), rendering limit: Int = .max) throws -> JSONValue? {
        var writer = JSONWriter()
        guard index.listing(query).encode(into: &writer, rendered, rendering: limit) != .incomplete else { return nil }
        return try JSONValue(parsing: writer.bytes)
    }

    @Test("A list has the present resources, from the cache or rendered up to a limit")
    func lists() throws {
        for number in 0..<20 { publish(UInt128(number)) { $0.state = number < 10 ? .paused : .completed } }
        #expect(try listed(rendering: 19) == nil)
        #expect(try listed(rendering: 20) != nil)
        for _ in 0..<2 {
            let list = try #require(try listed(ListQuery(limit: 12), rendering: 0))
            let items = try #require(list["items"]?.array)
            #expect(items.count == 12)
            for (item, number) in zip(items, (8..<20).reversed()) {
                #expect(item == (try JSONValue(parsing: try fresh(UInt128(number)))))
            }
            #expect(list["total"]?.integer == 20)
            #expect(list["nextCursor"]?.string == RecordID(value: 8).description)
        }
        // A change is rendered again, and moves the others in the queue.
        publish(5) { $0.labels = ["x"] }
        #expect(try listed(rendering: 0) == nil)
        let list = try #require(try listed(ListQuery(states: [.paused], order: .oldest), rendering: 1))
        #expect(try #require(list["items"]?.array).map { $0["position"]?.integer } == (0..<9).map { Int64($0) })
        #expect(list["nextCursor"]?.isNull == true)
    }

    @Test("A list of downloads that change without a publication is live")
    func encodings() throws {
        func encoding() -> IndexListing.Encoding {
            var writer = JSONWriter()
            return index.listing(ListQuery()).encode(into: &writer, rendered)
        }
        #expect(encoding() == .constant)
        publish(1) { $0.state = .paused }
        #expect(encoding() == .constant)
        publish(2) { $0.state = .queued }
        #expect(encoding() == .live)
        publish(2) { $0.state = .completed }
        #expect(encoding() == .constant)
        publish(3, counters: TransferCounters(received: 0))
        #expect(encoding() == .live)
    }

    @Test("A list is kept when it is requested again without a change, and only until the next change")
    func keptLists() {
        let (lists, one, two) = (KeptLists(), Array("limit=1".utf8)[...], Array("limit=2".utf8)[...])
        lists.keep([1], one, at: 1)
        #expect(lists.find(one, at: 1) == nil)
        lists.keep([1], one, at: 1)
        #expect(lists.find(one, at: 1) == [1])
        #expect(lists.find(two, at: 1) == nil)
        #expect(lists.find(one, at: 2) == nil)
        lists.keep([2], one, at: 2)
        #expect(lists.find(one, at: 2) == nil && lists.find(one, at: 1) == nil)
        for number in 3...5 { for _ in 0..<2 { lists.keep([UInt8(number)], Array("limit=\(number)".utf8)[...], at: 2) } }
        #expect(lists.find(Array("limit=3".utf8)[...], at: 2) == nil)
        #expect(lists.find(Array("limit=5".utf8)[...], at: 2) == [5])
        for _ in 0..<2 { lists.keep([UInt8](repeating: 0, count: 300_000), one, at: 2) }
        #expect(lists.find(one, at: 2) == nil)
    }

    @Test("A download with live counters is rendered with their present values")
    func liveList() throws {
        let counters = TransferCounters(received: 5)
        publish(1, counters: counters)
        _ = try listed()
        counters.received = 6
        #expect(try listed(rendering: 0) == nil)
        #expect(try #require(try listed())["items"]?.array?.first?["bytesReceived"]?.integer == 6)
    }

    @Test("Renders a download outside the index each time")
    func foreign() throws {
        publish(1)
        var foreign = try #require(index.download(RecordID(value: 1)))
        foreign.publication = 0
        foreign.labels = ["other"]
        #expect(rendered.rendering(of: foreign).bytes == foreign.encoded(.none))
        #expect(try shown(1).bytes == fresh(1))
    }
}

extension RenderedResources.Rendering {
    fileprivate var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }
}
