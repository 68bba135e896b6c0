import HTTPCore
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import Downloads

@Suite("Names, sources and connections of downloads", .timeLimit(.minutes(3)))
struct DetailsTests {
    @Test("A name belongs to one download, derived or chosen, and survives a restart")
    func gids() async throws {
        let fixture = try await ServiceFixture(starting: false)
        let chosen = try #require(DownloadGID("00000000000000ff"))
        let plain = try await fixture.add("size=10&seed=1")
        let named = try await fixture.add("size=10&seed=2") { $0.gid = chosen }
        #expect(named.gid == chosen && plain.gid == plain.id.gid && plain.gid != chosen)
        await #expect(throws: DownloadError.gidInUse(chosen)) { try await fixture.add("size=10&seed=3") { $0.gid = chosen } }
        await #expect(throws: DownloadError.gidInUse(plain.gid)) {
            try await fixture.add("size=10&seed=3") { $0.gid = plain.gid }
        }
        // Two concurrent ones have the same result as one after the other.
        let other = DownloadGID(7)
        let results = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask { (try? await fixture.add("size=10&seed=1\(number)") { $0.gid = other }) != nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(results == 1)
        let crashed = try await fixture.crash(starting: false)
        for index in [fixture.service.index, crashed.service.index] {
            #expect(index.find(gid: chosen) == named.id)
            #expect(index.find(gid: plain.gid) == plain.id)
            #expect(index.download(named.id)?.gid == chosen)
        }
        try await crashed.service.remove(named.id, deletingFile: false)
        #expect(crashed.service.index.find(gid: chosen) == nil)
        let again = try await crashed.add("size=10&seed=4") { $0.gid = chosen }
        #expect(crashed.service.index.find(gid: 0xff, digits: 16) == .found(again.id))
        await crashed.service.shutdown()
        await fixture.service.shutdown()
    }

    @Test("Details show sources, connections and requested values, but no secrets")
    func details() async throws {
        let fixture = try await ServiceFixture { $0.segments = 2 }
        let query = "size=12000000&seed=5&fault=stall@2500000"
        let mirror = try fixture.url("size=12000000&seed=5&mirror=1")
        let made = try await fixture.add(query) {
            $0.mirrors = [mirror]
            $0.headers = .of([
                "Cookie": "a=b", "User-Agent": "test", "Referer": "http://a.example/?key=secret", "X-Key": "k",
            ])
            $0.filename = "x.bin"
            $0.segments = 2
        }
        _ = try await fixture.follow(made.id) { $0.bytesReceived >= 2_000_000 }
        let details = try await fixture.service.details(of: made.id)
        #expect(details.download.id == made.id)
        #expect(details.sources.map(\.url) == [made.url, mirror.string])
        #expect(details.sources[0].isUsed)
        #expect((1...2).contains(details.connections.count))
        #expect(details.connections.allSatisfy { $0.url == made.url && $0.currentURL == made.url })
        #expect(details.headers.map(\.name) == ["User-Agent", "Referer"])
        #expect(!details.headers.contains { $0.value.contains("secret") })
        #expect(details.requestedFilename == "x.bin" && details.requestedSegments == 2)
        #expect(details.withoutSecrets.sources.allSatisfy { !$0.url.contains("seed") })
        _ = try await fixture.service.perform(.pause, on: made.id)
        let rest = try await fixture.service.details(of: made.id)
        #expect(rest.connections.isEmpty && rest.sources.allSatisfy { !$0.isUsed })
        _ = try await fixture.service.perform(.cancel, on: made.id)
        await #expect(throws: DownloadError.notFound) { try await fixture.service.details(of: RecordID(value: 1)) }
        await fixture.service.shutdown()
    }

    @Test("Mirrors and the number of connections can change until completion, from the next attempt on")
    func mirrors() async throws {
        let fixture = try await ServiceFixture(starting: false)
        let made = try await fixture.add("size=1000&seed=7&fault=404") { $0.priority = 1 }
        var change = DownloadChange()
        change.mirrors = [try fixture.url("size=1000&seed=7")]
        change.segments = 3
        _ = try await fixture.service.change(made.id, change)
        let crashed = try await fixture.crash()
        let details = try await crashed.service.details(of: made.id)
        #expect(details.sources.map(\.url) == [made.url, change.mirrors?.first?.string])
        #expect(details.requestedSegments == 3)
        let done = try await crashed.end(of: made.id)
        #expect(done.state == .completed)
        #expect(try crashed.file(done, is: "size=1000&seed=7"))
        await #expect(throws: DownloadError.illegalTransition(from: .completed, command: "new mirrors")) {
            try await crashed.service.change(made.id, change)
        }
        change.mirrors = [try #require(HTTPURL("http://10.0.0.1/"))]
        let guarded = try await ServiceFixture(starting: false, allowsPrivate: false)
        await #expect(throws: DownloadError.self) { try await guarded.service.change(made.id, change) }
        await guarded.service.shutdown()
        await crashed.service.shutdown()
        await fixture.service.shutdown()
    }
}
