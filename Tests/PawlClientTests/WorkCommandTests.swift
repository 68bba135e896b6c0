import CommandLine
import Downloads
import HTTPClient
import HTTPCore
import HTTPServer
import JSON
import PawlConfiguration
import PawlService
import TestSupport
import Testing

@testable import PawlClient

@Suite("Commands on works", .timeLimit(.minutes(3)))
struct WorkCommandTests {
    /// The contents of archive and iTunes here: the item `x` with two files in one format and one in another; the album
    /// 7 with two songs. The second one has no URL. All other paths are files.
    private static func upstream() throws -> ScriptedOrigin {
        func file(_ name: String, _ format: String) -> String {
            #"{"name":"\#(name)","title":"\#(name)","source":"original","format":"\#(format)","size":"5"}"#
        }
        let files = [file("a.mp3", "VBR MP3"), file("b.mp3", "VBR MP3"), file("c.flac", "Flac")].joined(separator: ",")
        let bodies = [
            "/metadata/x": #"{"metadata":{"identifier":"x","title":"Work","mediatype":"audio"},"files":[\#(files)]}"#,
            "/metadata/none": "{}",
            "/lookup": #"{"resultCount":3,"results":[{"wrapperType":"collection","collectionType":"Album","collectionId":7,"#
                + #""collectionName":"Album","artistName":"C"},"#
                + #"{"wrapperType":"track","kind":"song","collectionId":7,"trackId":71,"trackNumber":1,"trackName":"One","#
                + #""collectionName":"Album","previewUrl":"@/one.m4a"},"#
                + #"{"wrapperType":"track","kind":"song","collectionId":7,"trackId":72,"trackNumber":2,"trackName":"Two","#
                + #""collectionName":"Album"}]}"#,
        ]
        return try ScriptedOrigin { request in
            let path = String(request.target.prefix { $0 != "?" })
            guard let body = bodies[path] else {
                return [.response(200, [("Content-Type", "audio/mpeg"), ("ETag", "\"1\"")], body: Array("hello".utf8))]
            }
            let text = body.replacing("@/", with: "http://\(request["Host"] ?? "")/")
            return [.response(200, [("Content-Type", "application/json")], body: Array(text.utf8))]
        }
    }

    /// A service with this upstream, and command lines for it.
    private struct Bench {
        let server: String
        let upstream: ScriptedOrigin
        let service: RemoteService

        func run(_ line: String...) async throws -> Int32 {
            await ClientCommand.run(try CommandLineParser.parse(line + ["--server", server], environment: [:]))
        }

        /// The names of the downloads with a label, or of all, sorted.
        func names(_ label: String? = nil) async throws -> [String] {
            let filters = label.map { [QueryItem(name: "label", value: $0)] } ?? []
            return try await service.list(filters, limit: 1000).items.map { item in
                "\(item["folder"]?.string ?? "")/\(item["filename"]?.string ?? item["url"]?.string ?? "")"
            }.sorted()
        }

        func count(_ path: String) -> Int { upstream.requests.count { $0.target.hasPrefix(path) } }
    }

    private func withService(_ body: (Bench) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let upstream = try Self.upstream()
        let base = try #require(HTTPURL(upstream.url("")))
        var configuration = Configuration()
        configuration.server.port = 0
        configuration.downloads.dataDirectory = directory.path
        configuration.itunesURL = base
        configuration.archiveURL = base
        configuration.downloads.destinationGuard.allowed = [DestinationRule(base)]
        let service = try await Service.start(configuration, log: Log(level: .error, format: .text))
        let result: Result<Void, any Error>
        do {
            let arguments = ["list", "--server", service.url]
            let client = try RemoteService(try CommandLineParser.parse(arguments, environment: [:]))
            defer { client.close() }
            result = .success(try await body(Bench(server: service.url, upstream: upstream, service: client)))
        } catch {
            result = .failure(error)
        }
        await service.stop(within: .seconds(2))
        try result.get()
    }

    @Test("An unlisted id is a work if the service knows its parts, with one request to the source")
    func works() async throws {
        try await withService { bench in
            #expect(try await bench.run("add", "--paused", "archive:x") == 0)
            let label = "archive:x"
            let names = try await bench.names(label)
            #expect(names == ["x/a.mp3", "x/b.mp3", "x/c.flac"])
            #expect(bench.count("/metadata/x") == 1)
            #expect(try await bench.run("add", "archive:x", "-l", "again") == 0)
            #expect(try await bench.names().count == 3)
            // As a whole, by its label.
            #expect(try await bench.run("resume", "--all", "-l", label) == 0)
            #expect(try await bench.run("cancel", "--all", "-l", label) == 0)
        }
    }

    @Test("Selects parts by format, and refuses an unknown format")
    func formats() async throws {
        try await withService { bench in
            #expect(try await bench.run("add", "--format", "Ogg", "archive:x") == 1)
            #expect(try await bench.names().isEmpty)
            #expect(try await bench.run("add", "--paused", "--format", "vbr mp3", "archive:x") == 0)
            #expect(try await bench.names() == ["x/a.mp3", "x/b.mp3"])
            #expect(try await bench.run("add", "--format", "Flac", "itunes:71") == 1)
            #expect(try await bench.run("add", "--format", "Flac", bench.upstream.url("/file")) == 2)
            #expect(try await bench.names().count == 2)
            let parts = try await bench.service.parts(of: "archive:x", formats: ["Flac"])
            #expect(parts["results"]?.array?.compactMap { $0["name"]?.string } == ["c.flac"])
            #expect(parts["formats"]?.array?.compactMap { $0["selected"]?.bool } == [false, true])
            #expect(bench.count("/metadata/x") == 1)
        }
    }

    @Test("Refused parts and unknown ids fail the command, and the others are added")
    func refusals() async throws {
        try await withService { bench in
            let status = try await bench.run("add", "--paused", "itunes:collection:7", "archive:none", "archive:x/b.mp3")
            #expect(status == 1)
            #expect(try await bench.names("itunes:collection:7") == ["Album/1 One.m4a"])
            #expect(try await bench.names() == ["Album/1 One.m4a", "x/b.mp3"])
            #expect(try await bench.run("add", "-o", "name", "archive:x") == 1)
            #expect(try await bench.run("add", "--folder", "there", "archive:x") == 1)
            #expect(try await bench.names().count == 2)
            #expect(try await bench.run("add", "--paused", "-o", "name.m4a", "itunes:71") == 0)
        }
    }

    @Test("Moves a waiting download, and refuses another")
    func moving() async throws {
        try await withService { bench in
            #expect(try await bench.run("add", "--paused", "archive:x") == 0)
            let ids = try await bench.service.list(limit: 3).items.compactMap { $0["id"]?.string }
            let newest = try #require(ids.first)
            #expect(try await bench.service.show(newest)["position"]?.integer == 2)
            #expect(try await bench.run("move", newest, "1") == 0)
            #expect(try await bench.service.show(newest)["position"]?.integer == 0)
            #expect(try await bench.run("move", newest, "9223372036854775807") == 0)
            #expect(try await bench.service.show(newest)["position"]?.integer == 2)
            #expect(try await bench.run("cancel", newest) == 0)
            #expect(try await bench.run("move", newest, "1") == 1)
            #expect(try await bench.run("move", "01NONE", "1") == 1)
        }
    }
}
