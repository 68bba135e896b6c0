import Downloads
import HTTPClient
import HTTPCore
import JSON
import PawlConfiguration
import TestSupport
import TestUpstream
import Testing

@testable import PawlService

@Suite("Works over HTTP", .timeLimit(.minutes(3)))
struct PartsRouteTests {
    /// An archive with one item: a file in a directory, one with a false digest, and a private one.
    private static let metadata =
        #"{"metadata":{"identifier":"x","title":"T &amp; U","mediatype":"audio"},"files":["#
        + #"{"name":"disc 1/01 ä.mp3","source":"original","format":"VBR MP3","size":"5","sha1":"aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"},"#
        + #"{"name":"b.mp3","source":"original","format":"VBR MP3","size":"5","sha1":"0000000000000000000000000000000000000000"},"#
        + #"{"name":"c.flac","source":"original","format":"Flac","private":"true"}]}"#

    private static func archive() throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            switch request.target {
            case "/metadata/x": [.response(200, [("Content-Type", "application/json")], body: Array(metadata.utf8))]
            case "/metadata/none": [.response(200, [("Content-Type", "application/json")], body: Array("{}".utf8))]
            // To another node each time.
            case let target where target.hasPrefix("/download/x/"):
                [.redirect(to: "/node\(request.number)/x" + target.dropFirst(11))]
            default: [.response(200, [("Content-Type", "audio/mpeg"), ("ETag", "\"1\"")], body: Array("hello".utf8))]
            }
        }
    }

    private func with(_ archive: ScriptedOrigin, _ body: (RunningService) async throws -> Void) async throws {
        let base = try #require(HTTPURL(archive.url("")))
        try await RunningService.with { configuration in
            configuration.archiveURL = base
            configuration.downloads.destinationGuard.allowed.append(DestinationRule(base))
        } _: { running in
            try await body(running)
        }
    }

    @Test("Returns a work's parts and formats from one request, and caches them")
    func work() async throws {
        let archive = try Self.archive()
        try await with(archive) { running in
            let first = try await running.send("GET", "/search/parts?id=archive:x")
            #expect(first.status == 200, "\(first.text)")
            #expect(
                first.json.members?.map(\.name) == [
                    "source", "term", "limit", "offset", "count", "attribution", "of", "total", "formats", "warnings", "results",
                ])
            #expect(first.json["of"]?["name"]?.string == "T & U")
            #expect(first.json["of"]?["links"]?["parts"]?.string == "/search/parts?id=archive%3Ax")
            #expect(first.json["total"]?.integer == 2)
            #expect(first.json["limit"]?.integer == 1000)
            #expect(
                first.json["results"]?.array?.compactMap { $0["id"]?.string } == ["archive:x/b.mp3", "archive:x/disc 1/01 ä.mp3"])
            #expect(first["cache-control"]?.hasPrefix("private, max-age=") == true)
            #expect(first["vary"] == "Authorization")
            let tag = try #require(first["etag"])
            #expect(try await running.send("GET", "/search/parts?id=archive:x", fields: [("If-None-Match", tag)]).status == 304)
            let page = try await running.send(
                "GET", "/search/parts?id=archive:x&format=all&format=vbr%20mp3&limit=1&offset=1&include=raw")
            #expect(page.json["results"]?.array?.compactMap { $0["raw"]?["name"]?.string } == ["disc 1/01 ä.mp3"])
            let file = try await running.send("GET", "/search/lookup?id=archive:x/disc%201/01%20%C3%A4.mp3")
            #expect(file.json["results"]?.array?.first?["bytes"]?.integer == 5)
            #expect(archive.requests.count == 1)
            for (path, status) in [
                ("/search/parts?id=archive:x&format=Flac", 400), ("/search/parts?id=archive:x&colour=red", 400),
                ("/search/parts", 400),
                ("/search/parts?id=archive:x&limit=1001", 400), ("/search/parts?id=nonsense", 400),
                ("/search/parts?id=archive:none", 404),
                ("/search/parts?id=itunes:artist:5", 404), ("/search/lookup?id=archive:x/c.flac", 404),
                ("/search/parts?id=%ff", 400),
            ] {
                #expect(try await running.send("GET", path).status == status, "\(path)")
            }
            #expect(try await running.send("HEAD", "/search/parts?id=archive:x").status == 200)
            #expect(try await running.send("POST", "/search/parts?id=archive:x").status == 405)
        }
    }

    @Test("A part ordered by its id goes into its work's folder over one connection, and is verified")
    func part() async throws {
        try await with(try Self.archive()) { running in
            let made = try await running.send("POST", "/downloads", json: #"{"trackId":"archive:x/disc 1/01 ä.mp3"}"#)
            #expect(made.status == 201, "\(made.text)")
            #expect(made.json["folder"]?.string == "x/disc 1")
            #expect(made.json["checksum"]?.string == "sha-1:aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d")
            #expect(made.json["url"]?.string?.hasSuffix("/download/x/disc%201/01%20%C3%A4.mp3") == true)
            #expect(made.json["track"]?["partOf"]?.string == "archive:x")
            let done = try await running.complete(try #require(made.json["id"]?.string))
            #expect(done["filename"]?.string == "01 ä.mp3")
            #expect(done["url"] == made.json["url"])

            let bad = try await running.send(
                "POST", "/downloads", json: #"{"trackId":"archive:x/b.mp3","folder":"","filename":"mine.mp3"}"#)
            #expect(bad.json["folder"]?.string == "")
            let failed = try await running.follow(try #require(bad.json["id"]?.string)) { $0["state"]?.string == "failed" }
            #expect(failed["error"]?["code"]?.string == "checksum-mismatch")
        }
    }

    @Test("A song has its title in its album's folder; an album has no file; a batch sends one request")
    func songs() async throws {
        try await RunningService.with { running in
            let song = try #require(
                try await running.send("GET", "/search?term=prelude&limit=1").json["results"]?.array?.first)
            let (id, name, album) = (
                try #require(song["id"]?.string), try #require(song["name"]?.string), try #require(song["collection"]?.string)
            )
            let made = try await running.send("POST", "/downloads", json: #"{"trackId":"\#(id)"}"#)
            #expect(made.status == 201, "\(made.text)")
            #expect(made.json["folder"]?.string?.isEmpty == false)
            let done = try await running.complete(try #require(made.json["id"]?.string))
            // The names need no replacements but for colons and the like.
            #expect(done["filename"]?.string?.prefix(4) == name.prefix(4)[...])
            #expect(done["folder"]?.string?.prefix(4) == album.prefix(4)[...])

            let work = try #require(song["partOf"]?.string)
            let refused = try await running.send("POST", "/downloads", json: #"{"trackId":"\#(work)"}"#)
            #expect(refused.status == 404)
            #expect(refused.detail.contains("/search/parts"), "\(refused.detail)")
        }
        try await RunningService.with { running in
            let body = (1...15).map { #"{"trackId":"itunes:\#($0)"}"# }.joined(separator: ",")
            let batch = try await running.send(
                "POST", "/downloads/batch", json: #"{"downloads":[\#(body),{"trackId":"nonsense"}]}"#)
            #expect(batch.json["items"]?.array?.compactMap { $0["status"]?.integer } == Array(repeating: 404, count: 15) + [400])
            #expect(running.upstream.requests.count { $0.path == "/lookup" } == 1)
        }
    }

    @Test(
        "Lists the default files of a work in the demo's archive, except withheld ones",
        arguments: [
            ("paper-trails-maps", 9, "JPEG"), ("lighthouse-weather-calls", 3, "VBR MP3"),
            ("harbour-pilots-handbook-1881", 1, "Text PDF"), ("nightjar-1977-08-13", 3, "VBR MP3"),
            ("lanterns-of-the-estuary", 0, "restricted"), ("gannet-rock-broadcasts", 0, "withdrawn"),
        ])
    func demoWork(id: String, count: Int, told: String) async throws {
        try await RunningService.with { running in
            let response = try await running.send("GET", "/search/parts?id=archive:" + id)
            #expect(response.status == (count > 0 ? 200 : 404), "\(response.text)")
            let parts = response.json["results"]?.array ?? []
            #expect(parts.count == count)
            #expect(parts.first?["format"]?.string == (count > 0 ? told : nil))
            #expect(parts.allSatisfy { $0["checksum"]?.string?.hasPrefix("sha-1:") == true })
            if count == 0 { #expect(response.detail.contains(told), "\(response.detail)") }
        }
    }

    @Test("The demo's archive works as the real one, except for a file with a false digest")
    func demoArchive() async throws {
        try await RunningService.with { running in
            let found = try await running.send("GET", "/search?source=archive&term=tidewater&media=audio&limit=1&offset=1")
            let work = try #require(found.json["results"]?.array?.first, "\(found.text)")
            #expect(work["id"]?.string == "archive:lighthouse-weather-calls")
            #expect(work["links"]?["parts"]?.string == "/search/parts?id=archive%3Alighthouse-weather-calls")
            for (id, state) in [
                ("lighthouse-weather-calls/dogger.mp3", "completed"), ("lighthouse-weather-calls/fisher.mp3", "failed"),
                (#"paper-trails-maps/Field notes/\"Tides & Tallies\", 100%.txt"#, "completed"),
                ("paper-trails-maps/Field notes/Sketch #3 + a key.png", "completed"),
                ("paper-trails-maps/Lettres/Où êtes-vous, Zoé ?.pdf", "completed"),
                ("paper-trails-maps/Atlas/日本/東京湾 (1923).tif", "completed"),
            ] {
                let made = try await running.send("POST", "/downloads", json: #"{"trackId":"archive:\#(id)"}"#)
                #expect(made.status == 201, "\(made.text)")
                let download = try await running.follow(try #require(made.json["id"]?.string)) {
                    ["completed", "failed"].contains($0["state"]?.string)
                }
                #expect(download["state"]?.string == state, "\(id)")
                #expect(download["error"]?["code"]?.string == (state == "failed" ? "checksum-mismatch" : nil), "\(id)")
            }
            // Each through a node.
            #expect(running.upstream.requests.count { $0.status == 302 } >= 6)
        }
    }

    @Test("The demo's albums and podcast have parts; an episode's file name has its date and title")
    func demoCatalogue() async throws {
        try await RunningService.with { running in
            let album = try await running.send("GET", "/search/parts?id=itunes:collection:5000420100")
            #expect(album.json["total"]?.integer == 9, "\(album.text)")
            #expect(album.json["results"]?.array?.first?["name"]?.string == "Gymnopédie No. 1: Lent et douloureux")

            let found = try await running.send("GET", "/search?media=podcast&term=slack+water")
            let podcast = try #require(found.json["results"]?.array?.first?["id"]?.string, "\(found.text)")
            let parts = try await running.send("GET", "/search/parts?id=" + podcast)
            #expect(parts.json["total"]?.integer == 12, "\(parts.text)")
            let episode = try #require(parts.json["results"]?.array?.first?["id"]?.string)
            let made = try await running.send("POST", "/downloads", json: #"{"trackId":"\#(episode)"}"#)
            let done = try await running.complete(try #require(made.json["id"]?.string, "\(made.text)"))
            #expect(done["folder"]?.string == "Slack Water")
            #expect(done["filename"]?.string == "2024-03-05 What the Harbour Says at Night.mp3")
        }
    }
}
