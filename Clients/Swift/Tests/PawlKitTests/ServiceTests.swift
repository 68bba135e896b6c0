import Foundation
import Testing

@testable import PawlKit

@Suite("Requests to a service", .surrounded, .timeLimit(.minutes(3)))
struct ServiceTests {
    @Test("A search result becomes a download, is watched until it is complete, and its file arrives")
    func result() async throws {
        let pawl = try Surroundings.client()
        let found = try await pawl.search("prelude", media: "music", limit: 2)
        #expect(found.results.count == 2)
        #expect(found.attribution == "provided courtesy of iTunes")
        let item = try #require(found.results.last)
        #expect(item.artist != nil && item.downloadUrl?.scheme == "http" && item.durationMs ?? 0 > 0)

        let added = try await pawl.add(trackId: item.id, labels: ["a label & more", "+"])
        #expect(added.track?.name == item.name)
        #expect(abs(added.createdAt.timeIntervalSinceNow) < 100)
        var seen: [Download] = []
        for try await downloads in pawl.updates() {
            let download = try #require(downloads[id: added.id])
            #expect(downloads == downloads.sorted { $0.id > $1.id })
            if download != seen.last { seen.append(download) }
            if download.state == .completed { break }
        }
        let completed = try #require(seen.last)
        #expect(seen.count > 2, "progress is seen")
        #expect(completed.progress == 1 && completed.sha256?.count == 64)
        #expect(try await pawl.downloads(label: "a label & more").items == [completed])
        #expect(try await pawl.downloads(label: "another").items == [])
        #expect(try await pawl.add(trackId: item.id).id == added.id)

        let file = try await pawl.file(of: added.id)
        #expect(file.lastPathComponent == completed.filename)
        #expect(try Data(contentsOf: file).count == Int(completed.bytesReceived))
        try FileManager.default.removeItem(at: file.deletingLastPathComponent())

        try await pawl.remove(added.id, deleteFile: true)
        await #expect(throws: PawlError.self) { try await pawl.file(of: added.id) }
        #expect(try await pawl.downloads(states: [.completed], label: "a label & more").total == 0)
    }

    @Test("Commands are followed, and refused where they do not apply")
    func commands() async throws {
        let pawl = try Surroundings.client()
        let url = try await file(of: pawl, size: 1_000_000, bytesPerSecond: 50_000)
        let download = try await pawl.add(url: url, filename: "slow.bin")
        #expect(download.filename == "slow.bin")
        #expect(try await pawl.pause(download.id).state == .paused)
        #expect(try await pawl.downloads(states: [.paused, .failed]).items[id: download.id]?.state == .paused)
        #expect(try await !pawl.resume(download.id).state.hasEnded)
        #expect(try await pawl.cancel(download.id).state == .cancelled)
        let refusal = await #expect(throws: PawlError.self) { try await pawl.pause(download.id) }
        #expect(refusal?.code == "illegal-transition" && refusal?.localizedDescription.contains("cancelled") == true)
        let early = await #expect(throws: PawlError.self) { try await pawl.file(of: download.id) }
        #expect(early?.code == "not-complete")
        #expect(try await !pawl.retry(download.id).state.hasEnded)
        try await pawl.remove(download.id)
        #expect(try await pawl.downloads(limit: 200).items[id: download.id] == nil)
    }

    @Test("A page leads to the next one")
    func pages() async throws {
        let service = try DemoService()
        let pawl = Pawl(service.url)
        var added: [Download.ID] = []
        for _ in 0..<5 { added.insert(try await pawl.add(url: file(of: pawl, size: 10)).id, at: 0) }
        var page = try await pawl.downloads(limit: 2)
        var listed = page.items
        while let cursor = page.nextCursor {
            page = try await pawl.downloads(limit: 2, cursor: cursor)
            listed += page.items
        }
        #expect(listed.map(\.id) == added)
        #expect(page.total == 5)
    }

    @Test("An empty file and a name of other scripts arrive", arguments: [0, 3])
    func names(size: Int) async throws {
        let pawl = try Surroundings.client()
        let name = "Lied über \(size) – 歌.txt"
        let download = try await pawl.add(url: try await file(of: pawl, size: size), filename: name)
        try await wait { try await pawl.downloads(states: [.completed], limit: 200).items[id: download.id] != nil }
        let file = try await pawl.file(of: download.id)
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        #expect(try Data(contentsOf: file).count == size)
        #expect(file.pathExtension == "txt")
        try await pawl.remove(download.id, deleteFile: true)
    }

    @Test("A token and a base path are part of every request")
    func access() async throws {
        let token = "a-token-of-this-test"
        let service = try DemoService("--token", token, "--base-path", "/a/pawl")
        for path in ["a/pawl", "a/pawl/", "a/pawl/?query#fragment"] {
            let url = try #require(URL(string: path, relativeTo: service.url))
            let pawl = Pawl(url, token: " \(token)\n")
            #expect(try await pawl.search("prelude", limit: 1).results.count == 1)
            for try await downloads in pawl.updates() {
                #expect(downloads == [])
                break
            }
            for client in [Pawl(url), Pawl(url, token: "another-token-entirely")] {
                let error = await #expect(throws: PawlError.self) { try await client.downloads() }
                #expect(error?.code == "unauthorized")
                await #expect(throws: PawlError.self) { for try await _ in client.updates() {} }
            }
        }
    }
}
