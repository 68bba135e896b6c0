import Downloads
import Foundation
import HTTPClient
import HTTPCore
import JSON
import PawlConfiguration
import System
import TestSupport
import Testing

@testable import PawlService

@Suite("Downloads of whole works", .timeLimit(.minutes(3)))
struct WorkRouteTests {
    /// The contents of the test's archive and iTunes.
    private final class Upstream: Sendable {
        let origin: ScriptedOrigin
        /// The SHA-1 of `hello`.
        static let digest = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"

        /// The item `x` has two files, the second with this digest; the item `many` has 1,001.
        init(second digest: String = digest) throws {
            func file(_ name: String, _ digest: String = digest, format: String = "VBR MP3") -> String {
                #"{"name":"\#(name)","source":"original","format":"\#(format)","size":"5","sha1":"\#(digest)"}"#
            }
            func item(_ identifier: String, _ files: [String]) -> [UInt8] {
                let metadata = #"{"identifier":"\#(identifier)","title":"T","mediatype":"audio"}"#
                return Array(#"{"metadata":\#(metadata),"files":[\#(files.joined(separator: ","))]}"#.utf8)
            }
            let many = (1...1000).map { file("\($0).mp3") } + [file("a.flac", format: "Flac")]
            let bodies = [
                "/metadata/x": item("x", [file("disc 1/01 ä.mp3", Self.digest), file("b.mp3"), file("c.flac", format: "Flac")]),
                "/metadata/many": item("many", many), "/metadata/none": Array("{}".utf8),
                "/lookup": Array(
                    (#"{"resultCount":3,"results":[{"wrapperType":"collection","collectionType":"Album","collectionId":7,"#
                        + #""collectionName":"A/B","artistName":"C"},"#
                        + #"{"wrapperType":"track","kind":"song","collectionId":7,"trackId":71,"trackNumber":1,"trackName":"One","#
                        + #""collectionName":"A/B","previewUrl":"@/one.m4a"},"#
                        + #"{"wrapperType":"track","kind":"song","collectionId":7,"trackId":72,"trackNumber":2,"trackName":"Two","#
                        + #""collectionName":"A/B"}]}"#).utf8),
            ]
            origin = try ScriptedOrigin { request in
                let path = String(request.target.prefix { $0 != "?" })
                guard let body = bodies[path] else {
                    return [.response(200, [("Content-Type", "audio/mpeg"), ("ETag", "\"1\"")], body: Array("hello".utf8))]
                }
                let text = String(decoding: body, as: UTF8.self).replacing("@/", with: "http://\(request["Host"] ?? "")/")
                return [.response(200, [("Content-Type", "application/json")], body: Array(text.utf8))]
            }
        }

        /// The number of requests for a path.
        func count(_ path: String) -> Int { origin.requests.count { $0.target.hasPrefix(path) } }

        func serve(directory: TemporaryDirectory? = nil, _ body: (RunningService) async throws -> Void) async throws {
            let base = try #require(HTTPURL(origin.url("")))
            try await RunningService.with(directory: directory) { configuration in
                configuration.archiveURL = base
                configuration.itunesURL = base
                configuration.downloads.destinationGuard.allowed.append(DestinationRule(base))
            } _: { running in
                try await body(running)
            }
        }
    }

    private func order(
        _ running: RunningService, _ members: String = #""partsOf":"archive:x","formats":["vbr mp3"]"#,
        fields: [(String, String)] = []
    ) async throws -> TestResponse {
        try await running.send("POST", "/downloads/batch", json: "{\(members)}", fields: fields)
    }

    private func items(_ response: TestResponse) -> [JSONValue] { response.json["items"]?.array ?? [] }
    private func statuses(_ response: TestResponse) -> [Int64] { items(response).compactMap { $0["status"]?.integer } }
    private func ids(_ response: TestResponse) -> [String] { items(response).compactMap { $0["download"]?["id"]?.string } }

    /// The files of the downloads, with their folders.
    private func paths(_ response: TestResponse) -> [String] {
        items(response).compactMap { $0["download"] }.map {
            [$0["folder"]?.string, $0["filename"]?.string].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "/")
        }
    }

    @Test(
        "A work is one batch in order with labels, folder and metadata, from one request; repetition adds nothing"
    )
    func work() async throws {
        let upstream = try Upstream()
        try await upstream.serve { running in
            let members =
                #""partsOf":"archive:x","formats":["vbr mp3"],"labels":["mine"],"priority":3,"paused":true,"segments":null"#
            let key = [("Idempotency-Key", "work")]
            let first = try await order(running, members, fields: key)
            #expect(first.status == 200, "\(first.text)")
            #expect(first.json.members?.map(\.name) == ["items", "label", "warnings"])
            #expect(first.json["label"]?.string == "archive:x")
            #expect(statuses(first) == [201, 201], "\(first.text)")
            let downloads = items(first).compactMap { $0["download"] }
            #expect(downloads.map { $0["filename"]?.string } == ["b.mp3", "01 ä.mp3"])
            #expect(downloads.map { $0["folder"]?.string } == ["x", "x/disc 1"])
            #expect(downloads.map { $0["position"]?.integer } == [0, 1])
            for download in downloads {
                #expect(download["labels"]?.array?.map(\.string) == ["mine", "archive:x"])
                #expect(download["priority"]?.integer == 3)
                #expect(download["state"]?.string == "paused")
                #expect(download["bytesTotal"]?.integer == 5)
                #expect(download["checksum"]?.string == "sha-1:\(Upstream.digest)")
                #expect(download["track"]?["partOf"]?.string == "archive:x")
                #expect(download["track"]?["links"] == nil)
            }
            #expect(try await order(running, members, fields: key).body == first.body)
            let single = try await running.send("POST", "/downloads", json: #"{"partsOf":"archive:x"}"#)
            #expect(single.status == 400)
            #expect(single.detail.contains("POST /downloads/batch"), "\(single.detail)")
            let again = try await order(running)
            #expect(statuses(again) == [200, 200])
            #expect(ids(again) == ids(first))
            let list = try await running.send("GET", "/downloads?label=archive:x&order=oldest")
            #expect(list.json["items"]?.array?.compactMap { $0["id"]?.string } == ids(first))
            #expect(upstream.count("/metadata/x") == 1)

            #expect(try await running.send("POST", "/downloads/resume?label=archive:x").json["changed"]?.integer == 2)
            for id in ids(first) { try await running.complete(id) }
            #expect(try await running.send("GET", "/downloads?folder=x").json["total"]?.integer == 1)
        }
    }

    @Test("A repeated work fetches only failed, cancelled and missing parts")
    func repeated() async throws {
        let upstream = try Upstream(second: String(repeating: "0", count: 40))
        try await upstream.serve { running in
            let first = try await order(running)
            let (bad, good) = (try #require(ids(first).first), try #require(ids(first).last))
            let failed = try await running.follow(bad) { $0["state"]?.string == "failed" }
            #expect(failed["error"]?["code"]?.string == "checksum-mismatch")
            #expect(try await running.complete(good)["state"]?.string == "completed")

            let second = try await order(running)
            #expect(statuses(second) == [200, 200])
            #expect(ids(second) == [bad, good])
            // It may have failed again before the response.
            try await until { upstream.count("/download/x/b.mp3") == 2 }
            _ = try await running.follow(bad) { $0["state"]?.string == "failed" }
            #expect(upstream.count("/download/x/b.mp3") == 2)

            #expect(try await running.send("POST", "/downloads/\(bad)/cancel").status == 200)
            let third = try await order(running)
            #expect(ids(third) == [bad, good])
            _ = try await running.follow(bad) { $0["state"]?.string == "failed" }
            #expect(upstream.count("/download/x/disc") == 1)

            // A part removed with its file starts again; so does one whose file was deleted by hand, and its record
            // loses the work's label.
            #expect(try await running.send("DELETE", "/downloads/\(good)?deleteFile=true").status == 204)
            for count in 2...3 {
                let next = try await order(running)
                #expect(statuses(next) == [200, 201])
                let done = try await running.complete(try #require(ids(next).last))
                #expect(upstream.count("/download/x/disc") == count)
                let list = try await running.send("GET", "/downloads?label=archive:x")
                #expect(list.json["total"]?.integer == 2)
                let path = "\(running.directory.path)/files/x/disc 1/\(try #require(done["filename"]?.string))"
                try FileManager.default.removeItem(atPath: path)
            }
            let id = try #require(try await running.send("GET", "/downloads?limit=1").json["items"]?.array?.first?["id"]?.string)
            #expect(try await running.send("GET", "/downloads/\(id)/file").status == 404)
            let parts = try await running.send("GET", "/search/parts?id=archive:x&format=vbr%20mp3")
            #expect(parts.json["results"]?.array?.map { $0["download"]?.isNull } == [false, true])
        }
    }

    @Test(
        "Existing downloads get the work's label, also over a restart; failures of other requests are not resumed"
    )
    func labels() async throws {
        let directory = try TemporaryDirectory()
        let upstream = try Upstream(second: String(repeating: "0", count: 40))
        try await upstream.serve(directory: directory) { running in
            let url = upstream.origin.url("/download/x/")
            let own = try await running.send(
                "POST", "/downloads/batch",
                json: #"{"downloads":[{"url":"\#(url)disc%201/01%20%C3%A4.mp3","labels":["mine"]},"#
                    + #"{"url":"\#(url)b.mp3","checksum":"sha-1:\#(String(repeating: "1", count: 40))"}]}"#)
            let (mine, failing) = (try #require(ids(own).first), try #require(ids(own).last))
            try await running.complete(mine)
            _ = try await running.follow(failing) { $0["state"]?.string == "failed" }
            let work = try await order(running)
            #expect(statuses(work) == [201, 200])
            #expect(ids(work).last == mine)
            #expect(items(work).last?["download"]?["labels"]?.array?.map(\.string) == ["mine", "archive:x"])
            let other = try await running.send("GET", "/downloads/\(failing)")
            #expect(other.json["state"]?.string == "failed")
            #expect(other.json["labels"]?.array?.isEmpty == true)
        }
        try await upstream.serve(directory: directory) { running in
            for (label, count) in [("archive:x", 2), ("mine", 1)] as [(String, Int64)] {
                let list = try await running.send("GET", "/downloads?label=\(label)")
                #expect(list.json["total"]?.integer == count)
            }
        }
    }

    @Test("An album's songs are numbered in its folder; a song without a URL is refused at its position")
    func album() async throws {
        let upstream = try Upstream()
        try await upstream.serve { running in
            let album = try await order(running, #""partsOf":"itunes:collection:7""#)
            #expect(statuses(album) == [201, 404], "\(album.text)")
            #expect(items(album).last?["problem"]?["code"]?.string == "not-found")
            let song = try await running.complete(try #require(ids(album).first))
            #expect(song["folder"]?.string == "A_B")
            #expect(song["filename"]?.string == "1 One.m4a")
            #expect(song["labels"]?.array?.map(\.string) == ["itunes:collection:7"])
            #expect(upstream.count("/lookup") == 1)
        }
    }

    @Test(
        "Patterns select parts by their paths, or by the names of parts without a path; they keep their numbers",
        arguments: [
            (#""partsOf":"archive:x","include":["DISC ?/*"]"#, ["x/disc 1/01 ä.mp3"]),
            (#""partsOf":"archive:x","formats":["all"],"exclude":["disc 1/*","*.flac"]"#, ["x/b.mp3"]),
            (
                #""partsOf":"archive:x","formats":["all"],"include":["*.mp3","c*"],"exclude":["b.*"]"#,
                ["x/c.flac", "x/disc 1/01 ä.mp3"]
            ),
            (#""partsOf":"archive:x","include":[],"exclude":null,"naming":{}"#, ["x/b.mp3", "x/c.flac", "x/disc 1/01 ä.mp3"]),
            (#""partsOf":"itunes:collection:7","include":["one"]"#, ["A_B/1 One.m4a"]),
        ])
    func patterns(members: String, expected: [String]) async throws {
        let upstream = try Upstream()
        try await upstream.serve { running in
            let work = try await order(running, members)
            #expect(Set(statuses(work)) == [201], "\(work.text)")
            #expect(paths(work) == expected)
        }
    }

    @Test("A template names the files of a work, and their folders")
    func naming() async throws {
        let upstream = try Upstream()
        try await upstream.serve { running in
            let both = #""naming":{"folder":"music/{artist}/{work}","file":"{season}{number:02} {title}"}"#
            let album = try await order(running, #""partsOf":"itunes:collection:7","include":["one"],\#(both)"#)
            let song = try await running.complete(try #require(ids(album).first))
            #expect(song["folder"]?.string == "music/A_B")
            #expect(song["filename"]?.string == "01 One.m4a")
            let files = try await order(
                running, #""partsOf":"archive:x","formats":["VBR MP3"],"naming":{"file":"{id} ({year})"}"#)
            #expect(paths(files) == ["x/x_b.mp3", "x/disc 1/x_disc 1_01 ä.mp3"])
            let folder = try await order(running, #""partsOf":"archive:x","formats":["Flac"],"naming":{"folder":""}"#)
            #expect(paths(folder) == ["c.flac"])
            // Downloads that exist keep their names.
            let again = try await order(running, #""partsOf":"archive:x","formats":["Flac"],"naming":{"file":"{work}"}"#)
            #expect(statuses(again) == [200])
            #expect(paths(again) == ["c.flac"])
        }
    }

    @Test("Accepts a thousand parts at once, and refuses more")
    func thousand() async throws {
        let upstream = try Upstream()
        try await upstream.serve { running in
            let all = try await order(running, #""partsOf":"archive:many","formats":["all"]"#)
            #expect(all.status == 400)
            #expect(all.detail.contains("1001 parts"), "\(all.detail)")
            let choices = "'include', 'exclude' and 'formats' (VBR MP3 (1000), Flac (1))"
            #expect(all.detail.contains(choices), "\(all.detail)")
            #expect(try await running.send("GET", "/downloads").json["total"]?.integer == 0)
            // The limit counts after the patterns.
            let some = try await order(
                running, #""partsOf":"archive:many","formats":["all"],"exclude":["*.flac"],"paused":true"#)
            #expect(statuses(some) == Array(repeating: 201, count: 1000))
            for query in ["label=archive:many", "folder=many"] {
                #expect(try await running.send("GET", "/downloads?\(query)&limit=1").json["total"]?.integer == 1000)
            }
            // Each is requested once, in batches of limited size.
            #expect(try await running.send("POST", "/downloads/cancel?label=archive:many").json["changed"]?.integer == 1000)
            let again = try await order(running, #""partsOf":"archive:many","formats":["VBR MP3"]"#)
            #expect(statuses(again) == Array(repeating: 200, count: 1000), "\(again.status): \(again.detail)")
            #expect(ids(again) == ids(some))
        }
    }

    /// An archive whose only item has its current metadata.
    private static func archive(_ files: Locked<String>, body: String = "hello") throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            if request.target.hasPrefix("/metadata/x") {
                let text = #"{"metadata":{"identifier":"x","mediatype":"audio"},"files":[\#(files.withLock { $0 })]}"#
                return [.response(200, [("Content-Type", "application/json")], body: Array(text.utf8))]
            }
            return [
                .response(200, [("Content-Type", "audio/mpeg"), ("ETag", "\"1\"")], body: Array((body + request.target).utf8))
            ]
        }
    }

    private func with(
        _ archive: ScriptedOrigin, directory: TemporaryDirectory? = nil, _ body: (RunningService) async throws -> Void
    ) async throws {
        let base = try #require(HTTPURL(archive.url("")))
        try await RunningService.with(directory: directory) { configuration in
            configuration.archiveURL = base
            configuration.downloads.destinationGuard.allowed.append(DestinationRule(base))
        } _: { running in
            try await body(running)
        }
    }

    @Test("The origin's size overrides the catalogue's")
    func sizes() async throws {
        let sizes = [
            "9223372036854775807", "9223372036854775806", "1125899906842624", "1125899906842624", "-1", "99999999999999999999",
        ]
        let files = sizes.enumerated().map { #"{"name":"\#($0).mp3","source":"original","format":"M","size":"\#($1)"}"# }
        try await with(try Self.archive(Locked(files.joined(separator: ",")))) { running in
            let work = try await order(running, #""partsOf":"archive:x""#)
            #expect(
                items(work).map { $0["download"]?["bytesTotal"]?.integer } == [
                    nil, nil, 1_125_899_906_842_624, 1_125_899_906_842_624, nil, nil,
                ])
            for id in ids(work) {
                let done = try await running.complete(id)
                #expect(done["bytesTotal"]?.integer == 22)
            }
        }
    }

    @Test("A part that fails at once stays one download over repetitions")
    func failingPart() async throws {
        let file = #"{"name":"a.mp3","source":"original","format":"M","sha1":"\#(String(repeating: "0", count: 40))"}"#
        try await with(try Self.archive(Locked(file))) { running in
            for _ in 0..<20 {
                let work = try await order(running, #""partsOf":"archive:x""#)
                #expect(ids(work).count == 1)
            }
            let list = try await running.send("GET", "/downloads")
            #expect(list.json["total"]?.integer == 1)
        }
    }

    @Test("A part that failed for a catalogue's error continues with the corrected data")
    func correction() async throws {
        let directory = try TemporaryDirectory()
        let file = { (digest: String) in #"{"name":"a.mp3","source":"original","format":"M","sha1":"\#(digest)"}"# }
        let files = Locked(file(String(repeating: "0", count: 40)))
        let archive = try Self.archive(files)
        var id = ""
        try await with(archive, directory: directory) { running in
            id = try #require(ids(try await order(running, #""partsOf":"archive:x""#)).first)
            _ = try await running.follow(id) { $0["state"]?.string == "failed" }
        }
        // Of `hello/download/x/a.mp3`. A new service has an empty cache.
        let digest = "1b28fd493c08dc1c5053f30a0e9000ba63da4650"
        files.withLock { $0 = file(digest) }
        try await with(archive, directory: directory) { running in
            let again = try await order(running, #""partsOf":"archive:x""#)
            #expect(statuses(again) == [200])
            #expect(ids(again) == [id])
            #expect(items(again).first?["download"]?["checksum"]?.string == "sha-1:\(digest)")
            #expect(try await running.complete(id)["state"]?.string == "completed")
        }
    }

    @Test(
        "An episode without an extension gets iTunes' or its media type's, also after a restart",
        arguments: [
            (#","episodeFileExtension":"m4a""#, "audio/mpeg", "2023-05-01 A.I. feat.You.m4a"),
            ("", "audio/mpeg", "2023-05-01 A.I. feat.You.mp3"), ("", "video/mp4; codecs=x", "2023-05-01 A.I. feat.You.mp4"),
            ("", "application/octet-stream", "2023-05-01 A.I. feat.You.ogg"),
        ])
    func episodeExtension(member: String, mediaType: String, expected: String) async throws {
        let directory = try TemporaryDirectory()
        let origin = try ScriptedOrigin { request in
            switch request.target.prefix(while: { $0 != "?" }) {
            case "/lookup":
                let host = "http://\(request["Host"] ?? "")"
                let episodes = (91...92).map { id in
                    #"{"wrapperType":"podcastEpisode","kind":"podcast-episode","collectionId":9,"trackId":\#(id),"#
                        + #""trackName":"A.I. feat.You","collectionName":"P","releaseDate":"2023-05-01T00:00:00Z","#
                        + #""episodeUrl":"\#(host)/play/\#(id)?file=x.zip"\#(member)}"#
                }
                let text =
                    #"{"resultCount":3,"results":[{"wrapperType":"track","kind":"podcast","collectionId":9,"trackId":9,"#
                    + #""collectionName":"P"},"# + episodes.joined(separator: ",") + "]}"
                return [.response(200, [("Content-Type", "application/json")], body: Array(text.utf8))]
            case "/play/91", "/play/92": return [.response(302, [("Location", "/cdn/sound.ogg?token=1")])]
            default: return [.response(200, [("Content-Type", mediaType), ("ETag", "\"1\"")], body: Array("hello".utf8))]
            }
        }
        let base = try #require(HTTPURL(origin.url("")))
        var made: [String] = []
        for turn in 1...2 {
            try await RunningService.with(directory: directory) { configuration in
                configuration.itunesURL = base
                configuration.downloads.destinationGuard.allowed.append(DestinationRule(base))
            } _: { running in
                if turn == 1 {
                    made = ids(try await order(running, #""partsOf":"itunes:9","paused":true"#))
                    return
                }
                #expect(made.count == 2)
                _ = try await running.send("POST", "/downloads/resume")
                var names: Set<String> = []
                for id in made { names.insert(try await running.complete(id)["filename"]?.string ?? "") }
                // The first response gets the name.
                let second = expected.replacing(".m", with: " (2).m").replacing(".ogg", with: " (2).ogg")
                #expect(names == [expected, second])
            }
        }
    }

    @Test("An episode with a changed URL stays the same download, completed or resumed", arguments: [true, false])
    func newLink(isComplete: Bool) async throws {
        let directory = try TemporaryDirectory()
        let link = Locked("/e.mp3?updated=1")
        let origin = try ScriptedOrigin { request in
            switch request.target.prefix(while: { $0 != "?" }) {
            case "/lookup":
                let episode = "http://\(request["Host"] ?? "")\(link.withLock { $0 })"
                let text =
                    #"{"resultCount":2,"results":[{"wrapperType":"track","kind":"podcast","collectionId":9,"trackId":9,"collectionName":"P"},"#
                    + #"{"wrapperType":"podcastEpisode","kind":"podcast-episode","collectionId":9,"trackId":91,"trackName":"E","#
                    + #""collectionName":"P","releaseDate":"2023-05-01T00:00:00Z","episodeUrl":"\#(episode)"}]}"#
                return [.response(200, [("Content-Type", "application/json")], body: Array(text.utf8))]
            default:
                if !isComplete, request.target.hasSuffix("=1") { return [.response(404, [])] }
                return [.response(200, [("Content-Type", "audio/mpeg"), ("ETag", "\"1\"")], body: Array("hello".utf8))]
            }
        }
        let base = try #require(HTTPURL(origin.url("")))
        var first: [String] = []
        for turn in 1...2 {
            link.withLock { $0 = "/e.mp3?updated=\(turn)" }
            try await RunningService.with(directory: directory) { configuration in
                configuration.itunesURL = base
                configuration.downloads.destinationGuard.allowed.append(DestinationRule(base))
            } _: { running in
                let work = try await order(running, #""partsOf":"itunes:9""#)
                let id = try #require(ids(work).first, "\(work.text)")
                if turn == 1 { first = [id] }
                #expect(first == [id])
                let state = turn == 2 || isComplete ? "completed" : "failed"
                _ = try await running.follow(id) { $0["state"]?.string == state }
            }
        }
        #expect(origin.requests.count { $0.target.hasPrefix("/e.mp3") } == (isComplete ? 1 : 2))
    }

    @Test("Files with similar names are different, also in a batch of ids")
    func twins() async throws {
        let names = ["u\u{308}.mp3", "\u{fc}.mp3"]
        let files = names.map { #"{"name":"\#($0)","source":"original","format":"M"}"# }.joined(separator: ",")
        try await with(try Self.archive(Locked(files))) { running in
            let body = names.map { #"{"trackId":"archive:x/\#($0)"}"# }.joined(separator: ",")
            let batch = try await running.send("POST", "/downloads/batch", json: #"{"downloads":[\#(body)]}"#)
            #expect(statuses(batch) == [201, 201])
            #expect(Set(items(batch).compactMap { $0["download"]?["url"]?.string }).count == 2)
        }
    }

    @Test(
        "Refuses unusable requests with the accepted values, and adds nothing",
        arguments: [
            (#""partsOf":"nonsense""#, 400, "'partsOf' is 'nonsense'; it takes itunes:<number>"),
            (#""partsOf":5"#, 400, "'partsOf' is a number; it takes a string"),
            (
                #""partsOf":"archive:x","formats":["Ogg"]"#, 400,
                "archive:x has no format 'Ogg'; it takes one of original, all, VBR MP3, Flac"
            ),
            (#""partsOf":"archive:x","formats":"Flac""#, 400, "'formats' is a string; it takes an array of strings"),
            (#""partsOf":"archive:x","downloads":[]"#, 400, "'downloads' is given together with 'partsOf'"),
            (#""partsOf":"archive:x","filename":"a""#, 400, "unknown member 'filename'; accepted members: partsOf, formats"),
            (#""partsOf":null"#, 400, "'downloads' is missing; a batch takes either 'downloads' or 'partsOf'"),
            (#""partsOf":null,"formats":["a"],"downloads":[]"#, 400, "unknown member 'formats'"),
            (#""urls":["https://example.org/a"]"#, 400, "unknown member 'urls'; accepted members: downloads, partsOf"),
            (
                #""partsOf":"archive:x","include":["01*"],"exclude":["x"]"#, 400,
                "'include' and 'exclude' select none of the 3 parts of 'archive:x'; a pattern must match a whole name, such as 'b.mp3'"
            ),
            (#""partsOf":"archive:x","include":"*.mp3""#, 400, "'include' is a string; it takes an array of strings"),
            (#""partsOf":"archive:x","exclude":[1]"#, 400, "'exclude[0]' is a number; it takes a string"),
            (
                #""partsOf":"archive:x","include":[\#(Array(repeating: #""a""#, count: 65).joined(separator: ","))]"#, 400,
                "'include' has 65 items; it takes at most 64"
            ),
            (
                #""partsOf":"archive:x","exclude":["\#(String(repeating: "a", count: 201))"]"#, 400,
                "'exclude[0]' has 201 characters; it takes at most 200"
            ),
            (#""partsOf":"archive:x","naming":"{title}""#, 400, "'naming' must be a JSON object, not a string"),
            (
                #""partsOf":"archive:x","naming":{"name":"{title}"}"#, 400,
                "unknown member 'naming.name'; accepted members: folder, file"
            ),
            (#""partsOf":"archive:x","naming":{"file":5}"#, 400, "'naming.file' is a number; it takes a string"),
            (
                #""partsOf":"archive:x","naming":{"file":"{name}"}"#, 400,
                "'naming.file' has the unknown placeholder '{name}'; it takes {work}, {title}, {artist}, {number}, {number:02}, "
                    + "{season}, {season:02}, {date}, {year}, {id}, and '{{' and '}}' for braces"
            ),
            (
                #""partsOf":"archive:x","naming":{"file":"{work}/{title}"}"#, 400,
                "'naming.file' is '{work}/{title}'; it must not contain"
            ),
            (
                #""partsOf":"archive:x","naming":{"folder":"../{work}"}"#, 400,
                "'naming.folder' is '../{work}'; a name in it must not begin with a dot or a space"
            ),
            (
                #""partsOf":"archive:x","naming":{"folder":"\#(String(repeating: "a", count: 1608))"}"#, 400,
                "'naming.folder' has 1608 characters; it takes at most 1607"
            ),
            (#""downloads":[],"naming":{}"#, 400, "unknown member 'naming'"),
            (#""partsOf":"archive:none""#, 404, "archive:none"),
            (#""partsOf":"archive:x/b.mp3""#, 404, "has no parts"),
            // An album's number in the place of a podcast's.
            (#""partsOf":"itunes:7""#, 404, "there is no item with the id 'itunes:7'"),
            (#""partsOf":"itunes:artist:5""#, 404, "has no parts"),
        ])
    func refusals(members: String, status: Int, detail: String) async throws {
        let upstream = try Upstream()
        try await upstream.serve { running in
            let refused = try await order(running, members)
            #expect(refused.status == status, "\(members): \(refused.text)")
            #expect(refused.detail.contains(detail), "\(members): \(refused.detail)")
            #expect(try await running.send("GET", "/downloads").json["total"]?.integer == 0)
        }
    }
}
