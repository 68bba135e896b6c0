import Foundation
import JSON
import TestSupport
import Testing

/// The tour of docs/tour.md, followed by a new user against the built executable.
@Suite("The tour", .timeLimit(.minutes(3)))
@OffPool
struct TourTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func demo(_ flags: String...) throws -> PawlProcess {
        try PawlProcess(["demo", "--port", "0", "--data-dir", directory.path + "/data"] + flags, in: directory)
    }

    /// A downloadable search result as JSON.
    private func firstResult(_ pawl: PawlProcess, _ query: String) throws -> JSONValue {
        let answer = try pawl.get("/search?" + query)
        return try #require(answer["results"]?.array?.first { $0["downloadUrl"]?.string != nil })
    }

    @Test("Finds, downloads and serves a preview byte for byte")
    func preview() throws {
        let pawl = try demo()
        let track = try firstResult(pawl, "term=prelude")
        let id = try #require(track["id"]?.string)
        let made = try pawl.post("/downloads", #"{"trackId":"\#(id)"}"#)
        let download = try #require(made["id"]?.string)
        let done = try pawl.follow(download) { $0["state"]?.string == "completed" }

        let served = try pawl.client.send("GET", "/downloads/\(download)/file")
        #expect(served.status == 200)
        #expect(sha256(served.body) == done["sha256"]?.string)
        #expect(Int64(served.body.count) == done["bytesTotal"]?.integer)
        #expect(done["progress"]?.number == 1)

        let address = try #require(track["downloadUrl"]?.string)
        let source = try #require(URL(string: address))
        let direct = try TestClient(port: try #require(source.port)).send(
            "GET", source.path + (source.query.map { "?" + $0 } ?? ""))
        #expect(Bytes(direct.body) == Bytes(served.body))
    }

    @Test("The demo has its own archive with verified files, unless an option names another")
    func archive() throws {
        let pawl = try demo()
        let found = try pawl.get("/search?source=archive&term=soundings")
        #expect(found["results"]?.array?.compactMap { $0["id"]?.string } == ["archive:tidewater-soundings-2023"])
        let parts = try pawl.get("/search/parts?id=archive:tidewater-soundings-2023")
        #expect(parts["total"]?.integer == 8)
        #expect(parts["formats"]?.array?.compactMap { $0["name"]?.string } == ["Flac", "Text", "VBR MP3"])
        let made = try pawl.post("/downloads", #"{"trackId":"archive:tidewater-soundings-2023/04 Eelgrass.mp3"}"#)
        let done = try pawl.follow(try #require(made["id"]?.string)) { $0["state"]?.string == "completed" }
        #expect(done["checksum"]?.string?.hasPrefix("sha-1:") == true)
        #expect(pawl.terminate() == 0)

        let other = try demo("--archive-url", "http://127.0.0.1:1")
        #expect(try other.client.send("GET", "/search?source=archive&term=soundings").status == 502)
        #expect(try other.client.send("GET", "/search?term=prelude").status == 200)
        #expect(other.terminate() == 0)
    }

    @Test("The demo's podcast is followed by its feed, whose newest episode is downloaded")
    func subscription() throws {
        let pawl = try demo()
        let found = try pawl.get("/search?term=podcast")
        let podcast = try #require(found["results"]?.array?.first)
        let feed = try #require(podcast["links"]?["feed"]?.string)
        #expect(try pawl.get(feed)["total"]?.integer == 20)
        let source = #"{"partsOf":"\#(podcast["id"]?.string ?? "")"}"#
        let made = try pawl.post("/subscriptions", #"{"source":\#(source),"take":{"latest":1}}"#)
        let path = try #require(made["links"]?["self"]?.string)
        let checked = try pawl.post(path + "/refresh")
        #expect(checked["error"]?.isNull == true)
        // The minute may have got an episode.
        let taken = try #require(try pawl.get(path + "/items?state=taken")["items"]?.array?.last)
        let download = try #require(taken["download"]?["id"]?.string)
        let done = try pawl.follow(download) { $0["state"]?.string == "completed" }
        #expect(done["bytesTotal"]?.integer == 1_323_044)
        #expect(done["filename"]?.string?.hasSuffix("\(taken["name"]?.string ?? "").wav") == true)
        #expect(pawl.terminate() == 0)
    }

    @Test("A paused download survives kill -9 and resumes to an exact file")
    func pauseKillResume() throws {
        var pawl = try demo()
        let track = try firstResult(pawl, "term=prelude")
        // A larger body of the same upstream, slow enough to be paused midway.
        let base = try #require(track["downloadUrl"]?.string?.split(separator: "/media").first)
        let url = "\(base)/entity?size=6000000&seed=5&pace=1500000"
        let made = try pawl.post("/downloads", #"{"url":"\#(url)"}"#)
        let id = try #require(made["id"]?.string)
        _ = try pawl.follow(id) { ($0["bytesReceived"]?.integer ?? 0) > 500_000 }
        let paused = try pawl.post("/downloads/\(id)/pause")
        #expect(paused["state"]?.string == "paused")
        let bytes = try #require(paused["bytesReceived"]?.integer)
        #expect(bytes > 500_000 && bytes < 6_000_000)
        let incomplete = directory.path + "/data/incomplete"
        let parts = try FileManager.default.contentsOfDirectory(atPath: incomplete).filter { $0.hasPrefix("\(id).") }
        #expect(parts.count == 1)
        let part = incomplete + "/" + (parts.first ?? "none")

        pawl.kill()
        pawl = try demo()
        let found = try pawl.get("/downloads/\(id)")
        #expect(found["state"]?.string == "paused")
        #expect(found["bytesReceived"]?.integer == bytes)
        #expect(found["url"]?.string == url)

        let resumed = try pawl.post("/downloads/\(id)/resume")
        #expect(["queued", "downloading"].contains(resumed["state"]?.string))
        let done = try pawl.follow(id) { $0["state"]?.string == "completed" }
        #expect(!FileManager.default.fileExists(atPath: part))

        let served = try pawl.client.send("GET", "/downloads/\(id)/file")
        #expect(sha256(served.body) == done["sha256"]?.string)
        let source = try #require(URL(string: url))
        let port = try #require(source.port)
        let direct = try TestClient(port: port).send("GET", "/entity?size=6000000&seed=5")
        #expect(Bytes(direct.body) == Bytes(served.body))
        // The last 16 KiB are requested again.
        let start = bytes - 16_384
        try untilBlocking { try pawl.log().contains("bytes=\(start)- → 206, \(6_000_000 - start) bytes sent") }
        #expect(pawl.terminate() == 0)
    }

    @Test("A cancelled download leaves no bytes")
    func cancel() throws {
        let pawl = try demo()
        let track = try firstResult(pawl, "term=field+recording")
        let trackID = try #require(track["id"]?.string)
        let id = try #require(try pawl.post("/downloads", #"{"trackId":"\#(trackID)"}"#)["id"]?.string)
        _ = try pawl.follow(id) { ($0["bytesReceived"]?.integer ?? 0) > 0 }
        let cancelled = try pawl.post("/downloads/\(id)/cancel")
        #expect(cancelled["state"]?.string == "cancelled")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path + "/data/incomplete") == [])
        #expect(try pawl.client.send("POST", "/downloads/\(id)/resume").status == 409)
        #expect(pawl.terminate() == 0)
    }

    @Test("A second instance on the same data directory refuses to start")
    func secondInstance() throws {
        let pawl = try demo()
        #expect(throws: PawlProcess.DidNotStart.self) { _ = try demo() }
        #expect(try pawl.client.send("GET", "/healthz").status == 200)
    }

    private func sha256(_ bytes: [UInt8]) -> String {
        let process = TestProcess()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["sha256sum"]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        do { try process.run() } catch { return "sha256sum did not run" }
        DispatchQueue.global().async {
            input.fileHandleForWriting.write(Data(bytes))
            try? input.fileHandleForWriting.close()
        }
        let digest = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(String(decoding: digest, as: UTF8.self).prefix(64))
    }
}
