import DownloadCore
import DownloadIndex
import DownloadStore
import Downloads
import Foundation
import HTTPCore
import HTTPServer
import JSON
import PawlConfiguration
import System
import TestSupport
import TestUpstream
import Testing

@testable import PawlService

@Suite("Access over HTTP", .timeLimit(.minutes(3)))
struct AccessRouteTests {
    /// The paths whose responses do not end.
    private static let streams = ["/downloads/events", "/subscriptions/events"]

    private func path(_ endpoint: Endpoint) -> String {
        endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("{") ? "01JD6Z0000000000000000000A" : String($0) }.joined(separator: "/")
    }

    @Test("With a token, everything but probes, page and documents requires it")
    func token() async throws {
        try await RunningService.with {
            $0.token = AccessToken("s3cret")
        } _: { running in
            for endpoint in Endpoint.all {
                for method in endpoint.methods.map(\.name) + ["OPTIONS", "PUT"] {
                    let without = try await running.send(method, path(endpoint))
                    #expect((without.status == 401) == !endpoint.isPublic, "\(method) \(endpoint.path)")
                    if without.status == 401 {
                        #expect(without.code == "unauthorized")
                        #expect(without["www-authenticate"]?.hasPrefix("Bearer") == true)
                    }
                    let wrong = try await running.send(method, path(endpoint), fields: [("Authorization", "Bearer wrong")])
                    #expect((wrong.status == 401) == !endpoint.isPublic, "\(method) \(endpoint.path)")
                }
            }
        }
        try await RunningService.with {
            $0.token = AccessToken("s3cret")
        } _: { running in
            for endpoint in Endpoint.all {
                for method in endpoint.methods.map(\.name) + ["OPTIONS", "PUT"] {
                    guard !Self.streams.contains(endpoint.path) || method == "PUT" else { continue }
                    let right = try await running.send(method, path(endpoint), fields: [("Authorization", "Bearer s3cret")])
                    #expect(right.status != 401, "\(method) \(endpoint.path)")
                }
            }
            #expect(try await running.send("GET", "/nothing").status == 401)
            for path in ["/docs", "/openapi.yaml"] {
                for fields in [[], [("Authorization", "Bearer wrong")], [("Sec-Fetch-Site", "cross-site")]] {
                    #expect(try await running.send("GET", path, fields: fields).status == 200, "\(path) \(fields)")
                }
            }
        }
    }

    @Test("An unknown Host is misdirected", arguments: ["evil.example", "evil.example:80", "127.0.0.1.evil.example"])
    func host(name: String) async throws {
        try await RunningService.with { running in
            let (status, body) = try await running.blocking { client in
                let stream = try TestConnection(client.port)
                try stream.send(Array("GET /healthz HTTP/1.1\r\nHost: \(name)\r\nConnection: close\r\n\r\n".utf8))
                let head = try stream.readResponse()
                return (head.status, head.body)
            }
            #expect(status == 421)
            #expect(try JSONValue(parsing: body)["code"]?.string == "host-not-allowed")
        }
    }

    @Test("Pages of allowed origins may read and change, others may not")
    func crossOrigin() async throws {
        let lines = Locked<[String]>([])
        let log = Log(level: .info, format: .json, now: { .now() }) { bytes in
            lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        }
        try await RunningService.with(log: log) {
            $0.corsOrigins = [.origin("https://friend.example")]
            $0.token = AccessToken("s3cret")
        } _: { running in
            let authorized = ("Authorization", "Bearer s3cret")
            let preflight = try await running.send(
                "OPTIONS", "/downloads",
                fields: [
                    ("Origin", "https://friend.example"), ("Access-Control-Request-Method", "POST"),
                    ("Access-Control-Request-Headers", "authorization, content-type"),
                ])
            #expect(preflight.status == 204)
            #expect(preflight["access-control-allow-origin"] == "https://friend.example")
            #expect(preflight["access-control-allow-methods"]?.contains("POST") == true)
            #expect(preflight["access-control-allow-headers"]?.contains("Authorization") == true)
            #expect(preflight["vary"] == "Origin")
            let denied = try await running.send(
                "OPTIONS", "/downloads", fields: [("Origin", "https://evil.example"), ("Access-Control-Request-Method", "POST")])
            let refusals = lines.withLock { $0 }.filter { $0.contains("preflight refused") }
            #expect(refusals.count == 1 && refusals[0].contains("https://evil.example"), "\(refusals)")
            #expect(denied["access-control-allow-origin"] == nil)
            #expect(denied["access-control-allow-methods"] == nil)
            for (path, method, names, reason) in [
                ("/downloads", "BREW", "authorization", "not BREW"),
                ("/downloads", "POST", "authorization,x-evil", "field x-evil"), ("/stats", "DELETE", "", "not DELETE"),
                ("/nothing", "GET", "range", "does not exist"),
            ] {
                lines.withLock { $0 = [] }
                _ = try await running.send(
                    "OPTIONS", path,
                    fields: [
                        ("Origin", "https://friend.example"), ("Access-Control-Request-Method", method),
                        ("Access-Control-Request-Headers", names),
                    ])
                let refusals = lines.withLock { $0 }.filter { $0.contains("preflight refused") }
                #expect(refusals.count == 1 && refusals[0].contains(reason), "\(refusals)")
            }

            let read = try await running.send("GET", "/stats", fields: [("Origin", "https://friend.example"), authorized])
            #expect(read["access-control-allow-origin"] == "https://friend.example")
            for name in ["Location", "ETag", "Retry-After", "X-Request-Id"] {
                #expect(read["access-control-expose-headers"]?.contains(name) == true)
            }
            let foreign = try await running.send("GET", "/stats", fields: [("Origin", "https://evil.example"), authorized])
            #expect(foreign.status == 200)
            #expect(foreign["access-control-allow-origin"] == nil)
            #expect(foreign["vary"] == "Origin")

            // A problem must be readable too, also a delayed one.
            let problem = try await running.send("GET", "/stats", fields: [("Origin", "https://friend.example")])
            #expect(problem.status == 401)
            #expect(problem["access-control-allow-origin"] == "https://friend.example")
            let later = try await running.send(
                "POST", "/downloads/01JD6Z0000000000000000000A/pause", fields: [("Origin", "https://friend.example"), authorized])
            #expect(later.status == 404)
            #expect(later["access-control-allow-origin"] == "https://friend.example")
        }
    }

    @Test("Without --cors-origin, responses have no CORS fields, and foreign pages change nothing")
    func forgery() async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=10", #","paused":true"#)
            for origin in ["https://evil.example", "null", "http://127.0.0.1:1"] {
                for (method, path) in [
                    ("POST", "/downloads/\(id)/cancel"), ("DELETE", "/downloads/\(id)"), ("POST", "/downloads/cancel"),
                ] {
                    let answer = try await running.send(method, path, fields: [("Origin", origin)])
                    #expect(answer.status == 403, "\(origin) \(path)")
                    #expect(answer.code == "origin-not-allowed")
                }
                let read = try await running.send("GET", "/stats", fields: [("Origin", origin)])
                #expect(read["access-control-allow-origin"] == nil)
                #expect(read["vary"] == nil)
            }
            #expect(try await running.send("GET", "/downloads/\(id)").json["state"]?.string == "paused")
            let own = try await running.send(
                "POST", "/downloads/\(id)/cancel", fields: [("Origin", "http://127.0.0.1:\(running.service.port)")])
            #expect(own.status == 200)
        }
    }

    @Test("A star allows every origin and is sent as a star")
    func anyOrigin() async throws {
        try await RunningService.with {
            $0.corsOrigins = [.any]
        } _: { running in
            let answer = try await running.send("GET", "/stats", fields: [("Origin", "https://a.example")])
            #expect(answer["access-control-allow-origin"] == "*")
            #expect(answer["access-control-allow-credentials"] == nil)
            #expect(try await running.send("POST", "/downloads/pause", fields: [("Origin", "https://a.example")]).status == 200)
        }
    }

    @Test(
        "A page's form cannot add a download",
        arguments: ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "text/json", nil])
    func forms(mediaType: String?) async throws {
        try await RunningService.with { running in
            let fields = mediaType.map { [("Content-Type", $0)] } ?? [("Sec-Fetch-Site", "same-origin")]
            for path in ["/downloads", "/downloads/batch"] {
                let body = Array(#"{"url":"\#(running.upstreamURL)/entity?size=1"}"#.utf8)
                let answer = try await running.send("POST", path, fields: fields, body: body)
                #expect(answer.status == 415, "\(path)")
            }
            #expect(try await running.send("GET", "/downloads").json["total"]?.integer == 0)
        }
    }

    @Test("Every response excludes pages of other sites and type guessing")
    func protection() async throws {
        try await RunningService.with { running in
            for endpoint in Endpoint.all where !Self.streams.contains(endpoint.path) {
                for method in endpoint.methods.map(\.name) + ["OPTIONS", "PUT"] {
                    let answer = try await running.send(method, path(endpoint))
                    #expect(answer["x-content-type-options"] == "nosniff", "\(method) \(endpoint.path)")
                    #expect(answer["cross-origin-resource-policy"] == "same-origin", "\(method) \(endpoint.path)")
                    #expect(answer["access-control-allow-credentials"] == nil)
                    #expect(answer["access-control-allow-origin"] == nil)
                    guard answer["content-type"]?.hasPrefix("text/html") == true else { continue }
                    #expect(answer["content-security-policy"]?.contains("default-src 'none'") == true)
                    #expect(answer["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
                    #expect(answer["referrer-policy"] == "no-referrer")
                }
            }
            let embedded = try await running.send(
                "GET", "/search?term=x",
                fields: [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")])
            #expect(embedded.status == 403)
            #expect(embedded.code == "origin-not-allowed")
            #expect(running.upstream.requests.isEmpty)
        }
    }

    @Test("Throttles wrong tokens, each counted once, but neither right ones nor requests without tokens")
    func guessing() async throws {
        try await RunningService.with {
            $0.token = AccessToken("s3cret")
            $0.corsOrigins = [.any]
        } _: { running in
            func send(_ authorization: String?, _ path: String = "/stats") async throws -> TestResponse {
                // As a page of any origin may send it.
                let page = ("Origin", "https://page.example")
                let fields = authorization.map { [page, ("Authorization", $0)] } ?? [page]
                return try await running.send("GET", path, fields: fields)
            }
            for authorization in [nil, "Basic cHJveHk6cHJveHk=", "Bearer the-old-one", "s3cret", "Bearer"] {
                for _ in 0..<30 { #expect(try await send(authorization).status == 401) }
            }
            var guesses = 0
            while try await send("Bearer guess \(guesses)").status == 401 { guesses += 1 }
            // One of the ten was the former token; each six seconds restore one attempt.
            #expect((9...20).contains(guesses))
            let answer = try await send("Bearer another guess")
            #expect(answer.status == 429)
            #expect(answer.code == "rate-limited")
            #expect(answer["retry-after"].flatMap { Int($0) }.map { $0 >= 1 } == true)
            for _ in 0..<30 { #expect(try await send("Bearer s3cret").status == 200) }
            // The service remembers as many wrong tokens as it allows at once: more are accepted only after some time.
            if guesses == 9 { #expect(try await send("Bearer the-old-one").status == 401) }
            #expect(try await send(nil, "/healthz").status == 200)
        }
    }

    @Test(
        "Responds to refusals by the head before the body, and closes the connection",
        arguments: [
            ("POST /downloads", "", 401), ("POST /downloads/batch", "Expect: 100-continue", 401), ("GET /stats", "", 401),
            ("PATCH /settings", "Authorization: Bearer wrong", 401), ("POST /nothing", "", 401), ("POST /tickets", "", 401),
            ("POST /downloads/01JD6Z0000000000000000000A/pause?ticket=guess", "", 401), ("POST /healthz", "", 405),
            ("POST /", "", 405), ("POST /problems/not-found", "", 405), ("PUT /console/console.js", "", 405),
            ("GET /healthz", "", 200), ("GET /", "", 200), ("OPTIONS /healthz", "", 204),
            ("OPTIONS /downloads", "Origin: http://a.example\r\nAccess-Control-Request-Method: POST", 204),
            ("POST /nothing", "Authorization: Bearer s3cret", 404), ("PUT /stats", "Authorization: Bearer s3cret", 405),
            ("POST /downloads", "Authorization: Bearer s3cret\r\nOrigin: http://evil.example", 403),
            ("GET /stats", "Authorization: Bearer s3cret", 200),
        ])
    func early(line: String, fields: String, status: Int) async throws {
        try await RunningService.with {
            $0.token = AccessToken("s3cret")
        } _: { running in
            for framing in ["Content-Length: 1048576", "Transfer-Encoding: chunked", "Content-Length: 104857600"] {
                let response = try await running.blocking { client in
                    let stream = try TestConnection(client.port)
                    let extra = fields.isEmpty ? "" : fields + "\r\n"
                    try stream.send("\(line) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(extra)\(framing)\r\n\r\n")
                    let response = try stream.readResponse()
                    stream.endOutput()
                    #expect(try stream.isClosed())
                    return response
                }
                #expect(response.status == status, "\(framing): \(response.text)")
                #expect(response["connection"] == "close")
            }
        }
    }

    @Test("The head decides a wrong host, the rate limit and a wrong media type as well")
    func earlyWithoutToken() async throws {
        try await RunningService.with {
            $0.rateLimit = 1
        } _: { running in
            func status(_ fields: String, host: String = "127.0.0.1") async throws -> Int {
                try await running.blocking { client in
                    let stream = try TestConnection(client.port)
                    try stream.send("POST /downloads HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 1048576\r\n\(fields)\r\n")
                    return try stream.readResponse().status
                }
            }
            #expect(try await status("Content-Type: text/plain\r\n") == 415)
            #expect(try await status("", host: "evil.example") == 421)
            var last = 415
            while last == 415 { last = try await status("Content-Type: text/plain\r\n") }
            #expect(last == 429)
        }
        // A request with a body is one request.
        try await RunningService.with {
            $0.rateLimit = 2
        } _: { running in
            let statuses = try await running.blocking { client in
                try (0..<4).map { _ in try client.send("POST", "/tickets", json: "{}").status }
            }
            #expect(statuses == [201, 201, 201, 201])
        }
    }

    @Test("A proxy's own credentials do not affect a ticket")
    func ticketBehindProxy() async throws {
        try await RunningService.with {
            $0.token = AccessToken("s3cret")
        } _: { running in
            let made = try await running.send("POST", "/tickets", fields: [("Authorization", "Bearer s3cret")])
            let ticket = try #require(made.json["ticket"]?.string)
            try await running.blocking { client in
                let proxy = ("Authorization", "Basic cHJveHk6cHJveHk=")
                _ = try EventReader(client, "/downloads/events?interval=50&ticket=\(ticket)", fields: [proxy]).next()
            }
        }
    }

    @Test("Counts each request refused for its token, and logs it as a warning with address and id")
    func failures() async throws {
        let lines = Locked<[String]>([])
        let log = Log(level: .warning, format: .json, now: { .now() }) { bytes in
            lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        }
        try await RunningService.with(log: log) {
            $0.token = AccessToken("s3cret")
        } _: { running in
            let right = ("Authorization", "Bearer s3cret")
            let wrong = (0..<12).map { "Bearer guess-\($0)" } + ["Basic cHJveHk6cHJveHk="]
            for (index, value) in wrong.enumerated() {
                let fields = [("Authorization", value), ("X-Request-Id", "mine-\(index)")]
                _ = try await running.send("GET", "/stats", fields: fields)
            }
            _ = try await running.send("GET", "/downloads/events?ticket=guess", fields: [("X-Request-Id", "mine-13")])
            _ = try await running.send("GET", "/stats", fields: [right])
            let metrics = try await running.send("GET", "/metrics", fields: [right]).text
            #expect(metrics.contains("\npawl_auth_failures_total 14\n"))
        }
        let entries = try lines.withLock { $0 }.map { try JSONValue(parsing: Array($0.utf8)) }
        let failures = entries.filter { $0["message"]?.string == "authentication failed" }
        #expect(failures.compactMap { $0["requestId"]?.string } == (0..<14).map { "mine-\($0)" })
        for failure in failures {
            #expect(failure["level"]?.string == "warning")
            #expect(failure["address"]?.string == "127.0.0.1")
            #expect(failure["reason"]?.string?.contains("guess") == false)
        }
    }

    @Test("Beyond loopback, a short token ends the start, and SIGHUP does not load one")
    func shortToken() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/token"
        try Data("short\n".utf8).write(to: URL(filePath: path))
        var configuration = Configuration()
        configuration.server.host = "0.0.0.0"
        configuration.server.port = 0
        configuration.downloads.dataDirectory = directory.path + "/data"
        configuration.tokenFile = path
        let silent = Log(level: .error, format: .text, now: { .now() }, sink: { _ in })
        await #expect(throws: StartError.self) { _ = try await Service.start(configuration, log: silent) }
        #expect(!FileManager.default.fileExists(atPath: configuration.downloads.dataDirectory))

        let lines = Locked("")
        let log = Log(level: .error, format: .text, now: { .now() }) { bytes in
            lines.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
        }
        try Data("long-enough-to-be-safe\n".utf8).write(to: URL(filePath: path))
        try await RunningService.with(log: log) {
            $0.server.host = "0.0.0.0"
            $0.tokenFile = path
        } _: { running in
            func status(_ token: String) async throws -> Int {
                try await running.send("GET", "/stats", fields: [("Authorization", "Bearer \(token)")]).status
            }
            try Data("short\n".utf8).write(to: URL(filePath: path))
            running.service.reloadSecrets()
            #expect(try await status("long-enough-to-be-safe") == 200)
            #expect(try await status("short") == 401)
            #expect(lines.withLock { $0 }.contains("the old token remains valid"))
            #expect(lines.withLock { $0 }.contains("openssl rand -hex 32"))
        }
    }

    @Test("--rate-limit tells a client when to continue, and exempts probes")
    func rateLimit() async throws {
        try await RunningService.with {
            $0.rateLimit = 1
        } _: { running in
            let statuses = try await running.blocking { client in
                try (0..<200).map { _ in try client.send("GET", "/stats").status }
            }
            #expect(statuses.first == 200)
            #expect(statuses.contains(429))
            for path in ["/healthz", "/readyz"] { #expect(try await running.send("GET", path).status == 200) }
        }
    }

    @Test("A ticket opens event streams and files in place of the token, and nothing else")
    func tickets() async throws {
        try await RunningService.with {
            $0.token = AccessToken("s3cret")
        } _: { running in
            let authorized = ("Authorization", "Bearer s3cret")
            #expect(try await running.send("POST", "/tickets").status == 401)
            let made = try await running.send("POST", "/tickets", fields: [authorized])
            #expect(made.status == 201)
            #expect(made["cache-control"] == "no-store")
            #expect(made.json["expiresInSeconds"]?.integer == 300)
            let ticket = try #require(made.json["ticket"]?.string)
            let request = Array(#"{"url":"\#(running.upstreamURL)/entity?size=9"}"#.utf8)
            let added = try await running.send(
                "POST", "/downloads", fields: [authorized, ("Content-Type", "application/json")], body: request)
            let id = try #require(added.json["id"]?.string)
            try await running.blocking { client in
                let reader = try EventReader(client, "/downloads/\(id)/events?ticket=\(ticket)")
                while let event = try reader.next() {
                    let download = event.data.array?.first ?? event.data
                    if download["state"]?.string == "completed" { break }
                }
                _ = try EventReader(client, "/downloads/events?interval=50&ticket=\(ticket)").next()
            }
            #expect(try await running.send("GET", "/downloads/\(id)/file?ticket=\(ticket)").body.count == 9)
            for (method, target) in [
                ("GET", "/stats?ticket=\(ticket)"), ("GET", "/downloads?ticket=\(ticket)"),
                ("DELETE", "/downloads/\(id)?ticket=\(ticket)"), ("POST", "/tickets?ticket=\(ticket)"),
                ("GET", "/downloads/events?ticket=\(ticket)0"), ("GET", "/downloads/events?ticket="),
                ("GET", "/downloads/events"), ("GET", "/downloads/events?interval=100"),
            ] {
                #expect(try await running.send(method, target).status == 401, "\(method) \(target)")
            }
            // A right ticket does not replace a wrong token.
            let wrong = try await running.send(
                "GET", "/downloads/events?ticket=\(ticket)", fields: [("Authorization", "Bearer no")])
            #expect(wrong.status == 401)
        }
    }

    @Test("A ticket opens a file after a restart, while its token is accepted")
    func ticketOverRestart() async throws {
        let directory = try TemporaryDirectory()
        var ticket = ""
        for token in ["s3cret", "s3cret", "another"] {
            try await RunningService.with(directory: directory) {
                $0.token = AccessToken(token)
            } _: { running in
                if ticket.isEmpty {
                    let made = try await running.send("POST", "/tickets", fields: [("Authorization", "Bearer s3cret")])
                    ticket = try #require(made.json["ticket"]?.string)
                }
                let file = try await running.send("GET", "/downloads/01JD6Z0000000000000000000A/file?ticket=\(ticket)")
                #expect(file.status == (token == "s3cret" ? 404 : 401))
            }
        }
    }

    @Test("A page of an allowed origin can see that its ticket is void")
    func voidTicket() async throws {
        try await RunningService.with {
            $0.corsOrigins = [.origin("https://friend.example")]
            $0.token = AccessToken("s3cret")
        } _: { running in
            let id = "01JD6Z0000000000000000000A"
            // A media element without `crossorigin` sends no Origin.
            let player = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "audio")]
            let played = try await running.send("GET", "/downloads/\(id)/file?ticket=void", fields: player)
            #expect(played.status == 401)
            #expect(played["cross-origin-resource-policy"] == "cross-origin")
            for path in ["/downloads/\(id)/file", "/downloads/events", "/downloads/\(id)/events", "/subscriptions/events"] {
                let seen = try await running.send(
                    "GET", "\(path)?ticket=void",
                    fields: [("Origin", "https://friend.example"), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "cors")])
                #expect(seen.status == 401, "\(path)")
                #expect(seen["access-control-allow-origin"] == "https://friend.example", "\(path)")
            }
        }
    }

    @Test("Reloads the token file on request: old token and tickets become invalid; a bad file changes nothing")
    func reload() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/token"
        try Data("first\n".utf8).write(to: URL(filePath: path))
        try await RunningService.with {
            $0.tokenFile = path
        } _: { running in
            func status(_ token: String) async throws -> Int {
                try await running.send("GET", "/stats", fields: [("Authorization", "Bearer \(token)")]).status
            }
            #expect(try await status("first") == 200)
            let ticket = try #require(
                try await running.send("POST", "/tickets", fields: [("Authorization", "Bearer first")]).json["ticket"]?.string)
            try Data("second\n".utf8).write(to: URL(filePath: path))
            #expect(try await status("first") == 200)
            running.service.reloadSecrets()
            #expect(try await status("first") == 401)
            #expect(try await status("second") == 200)
            #expect(try await running.send("GET", "/downloads/events?ticket=\(ticket)").status == 401)
            for contents in ["", "two words\n"] {
                try Data(contents.utf8).write(to: URL(filePath: path))
                running.service.reloadSecrets()
                #expect(try await status("second") == 200)
            }
            try FileManager.default.removeItem(atPath: path)
            running.service.reloadSecrets()
            #expect(try await status("second") == 200)
        }
    }

    @Test("A service that is about to end is not ready, and still responds")
    func retiring() async throws {
        try await RunningService.with { running in
            #expect(try await running.send("GET", "/readyz").status == 200)
            running.service.retire()
            let probe = try await running.send("GET", "/readyz")
            #expect(probe.status == 503)
            #expect(probe.code == "unavailable")
            #expect(try await running.send("GET", "/healthz").status == 200)
            _ = try await running.add("/entity?size=1")
        }
    }

    @Test("Header values of a request appear in no response")
    func secrets() async throws {
        try await RunningService.with { running in
            let id = try await running.add(
                "/entity?size=10", #","headers":{"Authorization":"Bearer s3cret","X-Key":"s3cret"}"#)
            try await running.complete(id)
            for path in ["/downloads/\(id)", "/downloads", "/stats"] {
                let text = try await running.send("GET", path).text
                #expect(!text.contains("s3cret"))
            }
            let sent = try #require(running.upstream.requests.first { $0.path.hasPrefix("/entity") })
            #expect(sent.fields[.authorization] == "Bearer s3cret")
        }
    }
}
