import HTTPCore
import Testing

@testable import Downloads
@testable import PawlService

@Suite("Resources that are kept as they were written")
struct RenderedDownloadsTests {
    private let board = DownloadBoard()
    private let rendered = RenderedDownloads()

    private func publish(_ id: UInt128, counters: TransferCounters? = nil, _ change: (inout Download) -> Void = { _ in }) {
        var download = Download(
            id: DownloadID(value: id), url: "http://a.example/\(id)", state: .downloading,
            createdAt: Timestamp(millisecondsSinceEpoch: 0))
        change(&download)
        board.publish(download, counters: counters, sequence: 1)
    }

    /// What an answer shows now: as it is kept, if it is, and otherwise as it is written.
    private func shown(_ id: UInt128) throws -> (bytes: [UInt8], etag: EntityTag, wasKept: Bool) {
        let id = DownloadID(value: id)
        let version = try #require(board.version(of: id))
        if let found = rendered.rendering(of: id, version) { return (found.bytes, found.etag, true) }
        let made = rendered.rendering(of: try #require(board.download(id)))
        return (made.bytes, made.etag, false)
    }

    private func fresh(_ id: UInt128) throws -> [UInt8] { try #require(board.download(DownloadID(value: id))).encoded }

    @Test("what has not changed is written once")
    func unchanged() throws {
        publish(1)
        let first = try shown(1)
        let second = try shown(1)
        #expect(!first.wasKept && second.wasKept)
        #expect(first.bytes == second.bytes && first.etag == second.etag)
        #expect(second.bytes == (try fresh(1)))
    }

    @Test(
        "whatever is shown differently is written anew",
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

    @Test("each publication is written anew, also one that follows a removal")
    func publications() throws {
        publish(1)
        _ = try shown(1)
        publish(1) { $0.labels = ["x"] }
        #expect(try !shown(1).wasKept)
        #expect(try shown(1).bytes == fresh(1))
        _ = board.remove(DownloadID(value: 1))
        publish(1)
        #expect(try !shown(1).wasKept)
        #expect(try shown(1).bytes == fresh(1))
    }

    @Test("of five that share four places the last four are kept, and none is ever taken for another")
    func collisions() throws {
        let ids: [UInt128] = [7, 7 + 256, 7 + 1024, 7 + 4096, 7 + 65536]
        for id in ids { publish(id) }
        for id in ids { #expect(try shown(id).bytes == fresh(id)) }
        for id in ids.dropFirst() {
            #expect(try shown(id).wasKept)
            #expect(try shown(id).bytes == fresh(id))
        }
        #expect(try !shown(ids[0]).wasKept)
        #expect(try shown(ids[0]).bytes == fresh(ids[0]))
    }

    @Test("a long one takes no place")
    func long() throws {
        publish(1) { $0.labels = [String(repeating: "x", count: 3000)] }
        _ = try shown(1)
        #expect(try !shown(1).wasKept)
        #expect(try shown(1).bytes == fresh(1))
    }

    @Test("one that is not the board's is written each time")
    func foreign() throws {
        publish(1)
        var foreign = try #require(board.download(DownloadID(value: 1)))
        foreign.publication = 0
        foreign.labels = ["other"]
        #expect(rendered.rendering(of: foreign).bytes == foreign.encoded)
        #expect(try shown(1).bytes == fresh(1))
    }
}
