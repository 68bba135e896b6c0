import DownloadCore
import DownloadStore
import DownloadTransfer
import Downloads
import Foundation
import HTTPCore
import HTTPServer
import JSON
import PawlConfiguration
import System
import TestSupport
import Testing

@testable import PawlService

@Suite("Scopes over HTTP", .timeLimit(.minutes(3)))
struct ScopeRouteTests {
    private static let tokens = "ops full full-token\nboard read read-token\nprometheus metrics metrics-token\n"

    /// A service with a token of each scope, and its file.
    private func serve(
        _ text: String = tokens, log: Log = Log(level: .error, format: .text, now: { .now() }, sink: { _ in }),
        _ configure: (inout Configuration) -> Void = { _ in }, _ body: (RunningService, String) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/tokens"
        try Data(text.utf8).write(to: URL(filePath: path))
        try await RunningService.with(log: log) {
            $0.tokensFile = path
            configure(&$0)
        } _: {
            try await body($0, path)
        }
    }

    private static func bearer(_ scope: String) -> (String, String) { ("Authorization", "Bearer \(scope)-token") }

    private func add(_ running: RunningService, _ target: String, _ members: String = "") async throws -> String {
        let answer = try await running.send(
            "POST", "/downloads", json: #"{"url":"\#(running.upstreamURL)\#(target)"\#(members)}"#, fields: [Self.bearer("full")])
        return try #require(answer.json["id"]?.string, "\(answer.text)")
    }

    private func complete(_ running: RunningService, _ id: String) async throws {
        while true {
            let state = try await running.send("GET", "/downloads/\(id)", fields: [Self.bearer("full")]).json["state"]?.string
            if state == "completed" { return }
            try #require(["queued", "downloading"].contains(state))
        }
    }

    @Test(
        "read allows every read and no change, metrics only /metrics; others get 403 with the reason")
    func scopes() async throws {
        try await serve { running, _ in
            let id = try await add(running, "/entity?size=10")
            try await complete(running, id)
            for endpoint in Endpoint.all where !endpoint.isPublic {
                let path = endpoint.path.replacing("{id}", with: id)
                for operation in endpoint.operations where !endpoint.path.hasSuffix("/events") {
                    let method = operation.method
                    for scope in [TokenScope.read, .metrics] {
                        let answer = try await running.send(method.name, path, fields: [Self.bearer(scope.rawValue)])
                        let isRefused = answer.status == 403
                        #expect(isRefused != operation.isOpen(to: scope), "\(scope) \(method) \(path): \(answer.text)")
                        guard isRefused else { continue }
                        #expect(answer.code == "insufficient-scope")
                        #expect(answer.detail.contains(scope == .read ? "'board'" : "'prometheus'"))
                        #expect(answer["www-authenticate"]?.contains("insufficient_scope") == true)
                        #expect(!answer.text.contains("-token"))
                    }
                }
            }
            // Before the body, with any contents.
            let early = try await running.send("POST", "/downloads", json: "{", fields: [Self.bearer("read")])
            #expect(early.code == "insufficient-scope")
            for scope in ["read", "metrics"] {
                for path in ["/", "/healthz", "/docs", "/openapi.yaml"] {
                    #expect(try await running.send("GET", path, fields: [Self.bearer(scope)]).status == 200)
                }
                #expect(try await running.send("PUT", "/metrics", fields: [Self.bearer(scope)]).status == 405)
                #expect(try await running.send("GET", "/nothing", fields: [Self.bearer(scope)]).status == 404)
            }
            for scope in ["full", "read"] {
                #expect(try await running.send("GET", "/stats", fields: [Self.bearer(scope)]).json["scope"]?.string == scope)
            }
            #expect(try await running.send("GET", "/downloads/\(id)", fields: [Self.bearer("full")]).status == 200)
        }
    }

    @Test("A ticket has the scope of its token; the full token and the file's tokens apply together")
    func both() async throws {
        try await serve("board read read-token\n") {
            $0.token = AccessToken("own-token")
        } _: { running, _ in
            #expect(try await running.send("PATCH", "/settings", json: "{}", fields: [Self.bearer("own")]).status == 200)
            #expect(try await running.send("PATCH", "/settings", json: "{}", fields: [Self.bearer("read")]).status == 403)
            #expect(try await running.send("GET", "/stats", fields: [Self.bearer("full")]).status == 401)
            let url = "\(running.upstreamURL)/entity?size=10&sig=s3cret"
            let added = try await running.send(
                "POST", "/downloads", json: #"{"url":"\#(url)","paused":true}"#, fields: [Self.bearer("own")])
            #expect(added.status == 201)
            for (token, isShown) in [("own", true), ("read", false)] {
                let ticket = try #require(
                    try await running.send("POST", "/tickets", fields: [Self.bearer(token)]).json["ticket"]?.string)
                let data = try await running.blocking { client in
                    try EventReader(client, "/downloads/events?interval=50&ticket=\(ticket)").next()?.data
                }
                #expect(data?.array?.count == 1)
                #expect(data?.array?.first?["url"]?.string?.contains("s3cret") == isShown)
            }
        }
    }

    @Test("The scope read hides queries of URLs in lists, resources, streams, long polls, tracks and filters")
    func secrets() async throws {
        try await serve { running, _ in
            let track =
                #","track":{"name":"Song","url":"https://u:s3cret@a.example/x?sig=s3cret","more":["see http://b.example/?s3cret"]}"#
            let id = try await add(running, "/entity?size=10&sig=s3cret", track)
            try await complete(running, id)
            let open = try await add(running, "/entity", #","paused":true"#)
            // Failed, with a message about it.
            _ = try await add(running, "/entity?size=10&fault=403&sig=s3cret")
            let read = Self.bearer("read")
            var heard = ""
            // First with scope full, so that its rendering is cached.
            for fields in [[Self.bearer("full")], [read], [Self.bearer("full")], [read]] {
                let isRead = fields[0] == read
                for path in [
                    "/downloads", "/downloads/\(id)", "/downloads/\(id)?wait=1", "/downloads?q=song", "/stats", "/settings",
                ] {
                    for method in ["GET", "HEAD"] {
                        let answer = try await running.send(method, path, fields: fields)
                        #expect(answer.status == 200)
                        if isRead { heard += "\(answer.fields)\n\(answer.text)\n" }
                    }
                }
            }
            for path in ["/downloads/events", "/downloads/\(id)/events", "/downloads/\(open)/events"] {
                let events = try await running.blocking { client in
                    let reader = try EventReader(client, path, fields: [Self.bearer("read"), ("Last-Event-ID", "1")])
                    return try String(decoding: reader.next()?.data.serialized() ?? [], as: UTF8.self)
                }
                heard += events
            }
            #expect(heard.contains("https://a.example/x\""))
            #expect(heard.contains("see http://b.example/\""))
            #expect(heard.contains("/entity\""))
            #expect(!heard.contains("s3cret"))
            #expect(!heard.contains("size=10"))

            func found(_ text: String, by scope: String) async throws -> Int64? {
                try await running.send("GET", "/downloads?q=\(text)", fields: [Self.bearer(scope)]).json["total"]?.integer
            }
            for text in ["s3cret", "sig%3D", "%3F", "%3Fsize", "y%3Fs", "size%3D1"] {
                #expect(try await found(text, by: "read") == 0, "\(text)")
                #expect(try await found(text, by: "full") != 0, "\(text)")
            }
            for text in ["/ENTITY", "song", "127.0.0.1"] {
                #expect(try await found(text, by: "read") == found(text, by: "full"), "\(text)")
            }
        }
    }

    @Test("A validator of one scope is valid for the other only if both see the same")
    func validators() async throws {
        try await serve { running, _ in
            let secret = try await add(running, "/entity?size=10&sig=s3cret", #","paused":true"#)
            let open = try await add(running, "/entity", #","paused":true"#)
            for (id, isSame) in [(secret, false), (open, true)] {
                var tags: [String] = []
                for (scope, other) in [("full", "read"), ("read", "full")] {
                    let answer = try await running.send("GET", "/downloads/\(id)", fields: [Self.bearer(scope)])
                    let tag = try #require(answer["etag"])
                    tags.append(tag)
                    func status(_ scope: String, _ query: String = "") async throws -> Int {
                        try await running.send(
                            "GET", "/downloads/\(id)\(query)", fields: [Self.bearer(scope), ("If-None-Match", tag)]
                        ).status
                    }
                    #expect(try await status(scope) == 304)
                    #expect(try await status(other) == (isSame ? 304 : 200))
                    #expect(try await status(other, "?wait=1") == (isSame ? 304 : 200))
                }
                #expect((tags[0] == tags[1]) == isSame)
            }
        }
    }

    @Test("With scope read, a search shows a download only if that reveals no query")
    func searches() async throws {
        try await serve { running, _ in
            let results = try await running.send("GET", "/search?term=prelude&limit=1", fields: [Self.bearer("full")]).json[
                "results"]
            let url = try #require(results?.array?.first?["downloadUrl"]?.string)
            let added = try await running.send(
                "POST", "/downloads", json: #"{"url":"\#(url)","paused":true}"#, fields: [Self.bearer("full")])
            #expect(added.status == 201)
            let hasQuery = url.contains("?")
            for scope in ["full", "read"] {
                let answer = try await running.send("GET", "/search?term=prelude&limit=1", fields: [Self.bearer(scope)])
                let download = answer.json["results"]?.array?.first?["download"]
                #expect((download?["id"]?.string != nil) == (scope == "full" || !hasQuery))
            }
        }
    }

    @Test(
        "The removal of a token ends its streams, polls, files and bodies, also its tickets' ones, and no others"
    )
    func revocation() async throws {
        try await serve { running, path in
            let id = try await add(running, "/entity?size=33554432")
            try await complete(running, id)
            let tag = try #require(try await running.send("GET", "/downloads/\(id)", fields: [Self.bearer("read")])["etag"])
            let ticket = try #require(
                try await running.send("POST", "/tickets", fields: [Self.bearer("read")]).json["ticket"]?.string)
            let own = try #require(
                try await running.send("POST", "/tickets", fields: [Self.bearer("full")]).json["ticket"]?.string)
            let port = running.service.port
            try await running.blocking { client in
                let streams = [
                    try client.open("GET", "/downloads/events", fields: [Self.bearer("read")]),
                    try client.open("GET", "/downloads/events?ticket=\(ticket)"),
                    try client.open("GET", "/downloads/\(id)/events?ticket=\(ticket)"),
                ]
                let files = [
                    try client.open("GET", "/downloads/\(id)/file", fields: [Self.bearer("read")]),
                    try client.open("GET", "/downloads/\(id)/file?ticket=\(ticket)", fields: [("Range", "bytes=1-30000000")]),
                    try client.open(
                        "GET", "/downloads/\(id)/file?ticket=\(ticket)", fields: [("Range", "bytes=0-9,20-30000000")]),
                ]
                let poll = try client.open(
                    "GET", "/downloads/\(id)?wait=60", fields: [Self.bearer("read"), ("If-None-Match", tag)])
                let staying = try EventReader(client, "/downloads/events?ticket=\(own)")
                _ = try staying.next()
                let body = try TestConnection(port)
                try body.send(
                    "POST /downloads HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer full-token\r\n"
                        + "Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n")
                #expect(try body.readHead().status == 100)
                for stream in streams {
                    #expect(try stream.readHead().status == 200)
                    _ = try stream.readChunk()
                }
                for file in files { #expect([200, 206].contains(try file.readHead().status)) }

                // The reader's name and token are removed, and "ops" has another token.
                try Data("ops full full-token\nops full next-token\n".utf8).write(to: URL(filePath: path))
                running.service.reloadSecrets()
                for stream in streams {
                    // In order, so that the client notices the end.
                    while try stream.readChunk() != nil {}
                }
                for file in files {
                    #expect(throws: TestConnection.Failure.reset) { while try file.fill() {} }
                }
                #expect(try poll.readResponse().status == 401)
                #expect(try client.send("GET", "/downloads/events?ticket=\(ticket)").status == 401)
                #expect(try client.send("GET", "/stats", fields: [Self.bearer("read")]).status == 401)

                try Data("ops full next-token\n".utf8).write(to: URL(filePath: path))
                running.service.reloadSecrets()
                let refused = try body.readResponse()
                #expect(refused.status == 401)
                #expect(refused.code == "unauthorized")
                #expect(refused["connection"] == "close")
                while try staying.next() != nil {}
                #expect(try client.send("GET", "/stats", fields: [Self.bearer("next")]).status == 200)
            }
        }
    }

    @Test("A reload does not affect unchanged tokens; another token in --token-file ends connections of the old one")
    func staying() async throws {
        let directory = try TemporaryDirectory()
        let own = directory.path + "/own"
        try Data("own-token\n".utf8).write(to: URL(filePath: own))
        try await serve {
            $0.tokenFile = own
        } _: { running, path in
            try await running.blocking { client in
                let stream = try EventReader(client, "/downloads/events", fields: [Self.bearer("own")])
                let other = try EventReader(client, "/downloads/events", fields: [Self.bearer("read")])
                _ = try (stream.next(), other.next())
                // Reloaded without changes, then with another token in the one file.
                running.service.reloadSecrets()
                try Data("next-token\n".utf8).write(to: URL(filePath: own))
                running.service.reloadSecrets()
                while try stream.next() != nil {}
                _ = try client.send(
                    "POST", "/downloads", fields: [Self.bearer("next"), ("Content-Type", "application/json")],
                    body: Array(#"{"url":"\#(running.upstreamURL)/entity?size=1"}"#.utf8))
                #expect(try other.next()?.name == "download")
                // A token with a changed scope is another token.
                try Data("board full read-token\n".utf8).write(to: URL(filePath: path))
                running.service.reloadSecrets()
                while try other.next() != nil {}
                #expect(try client.send("GET", "/stats", fields: [Self.bearer("read")]).json["scope"]?.string == "full")
            }
        }
    }

    @Test("Logs added and removed tokens of a tokens file by name, and warns if none is left")
    func reloadIsLogged() async throws {
        let lines = Locked("")
        let log = Log(level: .info, format: .text, now: { .now() }) { bytes in
            lines.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
        }
        try await serve(log: log) { running, path in
            func reload(_ text: String) throws -> String {
                lines.withLock { $0 = "" }
                try Data(text.utf8).write(to: URL(filePath: path))
                running.service.reloadSecrets()
                let all = lines.withLock { $0 }
                #expect(!all.contains("-token"))
                return String(try #require(all.split(separator: "\n").first { $0.contains("token") }))
            }
            let same = try reload(Self.tokens)
            #expect(same.hasSuffix("the tokens file is read again tokens=3"), "\(same)")
            let rotation = try reload("ops full full-token\nops full next-token\nwall read wall-token")
            #expect(rotation.hasSuffix("is read again tokens=3 added=ops,wall removed=board,prometheus"), "\(rotation)")
            #expect(rotation.contains(" info "))
            #expect(try reload("ops full\n").contains("the old tokens remain valid"))
            let none = try reload("")
            #expect(none.contains(" warning "))
            #expect(none.hasSuffix("it admits no client tokens=0 removed=ops,ops,wall"), "\(none)")
            #expect(try reload("# nobody\n").contains(" info "))
            #expect(try reload("ops full full-token\n").hasSuffix("tokens=1 added=ops"))
        }
    }

    @Test("A missing or invalid tokens file keeps the old tokens, and is logged without them")
    func badFile() async throws {
        let lines = Locked("")
        let log = Log(level: .error, format: .text, now: { .now() }) { bytes in
            lines.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
        }
        try await serve("ops full long-enough-full-token\n", log: log) {
            $0.server.host = "0.0.0.0"
        } _: { running, path in
            func isValid() async throws -> Bool {
                try await running.send("GET", "/stats", fields: [Self.bearer("long-enough-full")]).status == 200
            }
            for text in [
                "ops full s3cret", "ops all s3cret-long-enough", "s3cret-long-enough", "ops full sha256:s3cret", "\u{0}s3cret",
            ] {
                lines.withLock { $0 = "" }
                try Data(text.utf8).write(to: URL(filePath: path))
                running.service.reloadSecrets()
                #expect(try await isValid(), "\(text)")
                let line = lines.withLock { $0 }
                #expect(line.contains("the old tokens remain valid"))
                #expect(line.contains("line 1: "))
                #expect(!line.contains("s3cret"))
            }
            try FileManager.default.removeItem(atPath: path)
            running.service.reloadSecrets()
            #expect(try await isValid())
            #expect(lines.withLock { $0 }.contains(path))
            // All tokens were removed, which is no fault.
            try Data("# nobody\n".utf8).write(to: URL(filePath: path))
            running.service.reloadSecrets()
            #expect(try await !isValid())
        }
        let directory = try TemporaryDirectory()
        var configuration = Configuration()
        configuration.server.port = 0
        configuration.downloads.dataDirectory = directory.path + "/data"
        configuration.tokensFile = directory.path + "/none"
        await #expect(throws: StartError.self) { _ = try await Service.start(configuration, log: log) }
        #expect(!FileManager.default.fileExists(atPath: configuration.downloads.dataDirectory))
    }
}
