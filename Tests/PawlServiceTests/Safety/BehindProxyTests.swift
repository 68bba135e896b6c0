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
import Testing

@testable import DownloadCore
@testable import PawlService

@Suite("Behind a proxy", .timeLimit(.minutes(3)))
struct BehindProxyTests {
    private static let all = [
        ("X-Forwarded-For", "203.0.113.9"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "media.example"),
        ("X-Forwarded-Prefix", "/pawl"), ("Forwarded", "for=203.0.113.9;proto=https;host=media.example"),
    ]

    private static func trust(_ configuration: inout Configuration) {
        configuration.server.ingress.trustedProxies = [AddressBlock(base: .v4(0x7F00_0001), length: 32)]
    }

    private static func log(into lines: Locked<[String]>) -> Log {
        Log(
            level: .debug, format: .json, now: { .now() },
            sink: { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } })
    }

    @Test("Statements of a client in a proxy's fields have no effect without trust")
    func untrusted() async throws {
        for other in [nil, AddressBlock(parsing: "10.0.0.0/8")] {
            let lines = Locked<[String]>([])
            let log = Self.log(into: lines)
            try await RunningService.with(log: log) {
                $0.server.ingress.trustedProxies = other.map { [$0] } ?? []
                $0.token = AccessToken("s3cret")
                $0.rateLimit = 3
            } _: { running in
                func send(_ method: String, _ path: String, address: Int, _ fields: [(String, String)] = []) async throws
                    -> TestResponse
                {
                    let said = [("X-Forwarded-For", "203.0.113.\(address)"), ("Forwarded", "for=203.0.113.\(address)")]
                    return try await running.send(
                        method, path,
                        fields: Self.all.dropFirst().dropLast() + said + fields + [("Authorization", "Bearer s3cret")])
                }
                let own = ("Origin", "http://127.0.0.1:\(running.service.port)")
                // The sent host is the service's and the page's; the forwarded ones are not.
                let added = try await send("POST", "/downloads/pause", address: 1, [own])
                #expect(added.status == 200)
                #expect(
                    try await send("POST", "/downloads/pause", address: 2, [("Origin", "https://media.example")]).status == 403)
                let list = try await send("GET", "/downloads", address: 3)
                #expect(!list.text.contains("/pawl"))
                // All of them are one client.
                let statuses = try await pipeline((10..<40).map { "203.0.113.\($0)" }, running)
                #expect(statuses.contains(429))
            }
            let written = lines.withLock { $0 }
            #expect(written.contains { $0.contains("127.0.0.1") && $0.contains("/stats") })
            #expect(!written.contains { $0.contains("203.0.113") })
        }
    }

    /// The statuses of `/stats` for clients with these addresses, requested at once so that a busy machine does not
    /// delay them.
    private func pipeline(_ addresses: [String], _ running: RunningService) async throws -> [Int] {
        try await running.blocking { client in
            let connection = try TestConnection(client.port)
            let lines = addresses.map { address in
                "GET /stats HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer s3cret\r\nX-Forwarded-For: \(address)\r\n\r\n"
            }
            try connection.send(lines.joined())
            return try addresses.map { _ in try connection.readResponse().status }
        }
    }

    @Test("Counts wrong tokens for the client that a trusted proxy names")
    func guesses() async throws {
        try await RunningService.with {
            Self.trust(&$0)
            $0.token = AccessToken("s3cret")
        } _: { running in
            func send(_ token: String, from address: String) async throws -> Int {
                try await running.send(
                    "GET", "/stats", fields: [("X-Forwarded-For", address), ("Authorization", "Bearer \(token)")]
                ).status
            }
            var guesses = 0
            while guesses < 60, try await send("guess-\(guesses)", from: "evil, 203.0.113.1") == 401 { guesses += 1 }
            #expect((10..<60).contains(guesses))
            #expect(try await send("other", from: "203.0.113.2") == 401)
            #expect(try await send("other", from: "203.0.113.1, 203.0.113.3") == 401)
            #expect(try await send("s3cret", from: "203.0.113.1") == 200)
        }
    }

    @Test("--rate-limit counts the requests of each client that a trusted proxy names")
    func rates() async throws {
        try await RunningService.with {
            Self.trust(&$0)
            $0.token = AccessToken("s3cret")
            $0.rateLimit = 1
        } _: { running in
            let one = Array(repeating: "2001:db8::1", count: 30)
            let statuses = try await pipeline(one + ["2001:db8:0:1::1", "203.0.113.9", "203.0.113.9, 198.51.100.1"], running)
            #expect(statuses.prefix(30).contains(429))
            #expect(statuses.suffix(3) == [200, 200, 200])
            // An address of the same IPv6 network is the same client.
            #expect(try await pipeline(Array(repeating: "2001:db8::2", count: 30), running).contains(429))
        }
    }

    @Test("The log has the client's address in lines of requests and wrong tokens")
    func logged() async throws {
        let lines = Locked<[String]>([])
        let log = Self.log(into: lines)
        try await RunningService.with(log: log) {
            Self.trust(&$0)
            $0.token = AccessToken("s3cret")
        } _: { running in
            let fields = [("X-Forwarded-For", "198.51.100.7, 203.0.113.9"), ("Authorization", "Bearer wrong")]
            let answer = try await running.send("GET", "/stats", fields: fields)
            #expect(answer.status == 401)
        }
        let written = lines.withLock { $0 }
        #expect(written.contains { $0.contains(#""address":"203.0.113.9""#) })
        #expect(written.contains { $0.contains(#""address":"203.0.113.9""#) })
        #expect(!written.contains { $0.contains("198.51.100.7") })
    }

    @Test(
        "Host and origin are the client's",
        arguments: [
            (["X-Forwarded-Host": "media.example"], 200), (["X-Forwarded-Host": "evil.example"], 421),
            (["Forwarded": "host=media.example"], 200), (["Forwarded": "host=evil.example"], 421),
            (["X-Forwarded-Host": "media.example", "Forwarded": "host=localhost"], 200),
            (["X-Forwarded-Host": "media.example:8443", "Origin": "https://media.example:8443"], 200),
            (["X-Forwarded-Host": "media.example", "Origin": "https://media.example"], 200),
            (["X-Forwarded-Host": "media.example", "X-Forwarded-Proto": "https", "Origin": "https://media.example"], 200),
            (["X-Forwarded-Host": "media.example", "X-Forwarded-Proto": "https", "Origin": "http://media.example"], 403),
            (["X-Forwarded-Host": "media.example", "X-Forwarded-Proto": "http", "Origin": "https://media.example"], 403),
            (["X-Forwarded-Host": "media.example", "Origin": "https://evil.example"], 403),
            (["Forwarded": "host=media.example;proto=https", "Origin": "https://media.example"], 200),
        ])
    func hosts(sent: [String: String], status: Int) async throws {
        try await RunningService.with {
            Self.trust(&$0)
            $0.allowedHosts = [AllowedHost(parsing: "media.example")].compactMap { $0 }
        } _: { running in
            let answer = try await running.send("POST", "/downloads/pause", fields: sent.map { ($0.key, $0.value) })
            #expect(answer.status == status)
        }
    }

    /// Every member with this name at any depth.
    private func links(_ value: JSONValue) -> [String] {
        ["self", "file", "events"].compactMap { value["links"]?[$0]?.string }
    }

    @Test("Links and Location begin with the prefix, removed by a proxy or not", arguments: [true, false])
    func prefixes(isStripped: Bool) async throws {
        try await RunningService.with {
            Self.trust(&$0)
            if !isStripped { $0.server.ingress.basePath = PathPrefix(parsing: "/pawl") ?? .none }
        } _: { running in
            let fields = isStripped ? [("X-Forwarded-Prefix", "/pawl")] : []
            let base = isStripped ? "" : "/pawl"
            func expected(_ id: String) -> [String] { ["", "/file", "/events"].map { "/pawl/downloads/\(id)\($0)" } }
            let url = running.upstreamURL + "/entity?size=10"
            let added = try await running.send(
                "POST", base + "/downloads", json: #"{"url":"\#(url)","paused":true}"#,
                fields: fields + [("Idempotency-Key", "k")])
            let id = try #require(added.json["id"]?.string, "\(added.text)")
            #expect(added["location"] == "/pawl/downloads/\(id)")
            #expect(links(added.json) == expected(id))
            let again = try await running.send(
                "POST", base + "/downloads", json: #"{"url":"\#(url)","paused":true}"#,
                fields: fields + [("Idempotency-Key", "k")])
            #expect(again.text == added.text)
            #expect(again["location"] == added["location"])

            let shown = try await running.send("GET", "\(base)/downloads/\(id)", fields: fields)
            #expect(links(shown.json) == expected(id))
            let tag = try #require(shown["etag"])
            #expect(
                try await running.send("GET", "\(base)/downloads/\(id)?wait=1", fields: fields + [("If-None-Match", tag)]).status
                    == 304)
            let changed = try await running.send(
                "PATCH", "\(base)/downloads/\(id)", json: #"{"priority":3}"#, fields: fields + [("If-Match", tag)])
            #expect(changed.status == 200)
            #expect(links(changed.json) == expected(id))
            let list = try await running.send("GET", base + "/downloads", fields: fields)
            #expect(list.json["items"]?.array?.map(links) == [expected(id)])
            let batch = try await running.send(
                "POST", base + "/downloads/batch", json: #"{"downloads":[{"url":"\#(url)"}]}"#, fields: fields)
            #expect(links(batch.json["items"]?.array?.first?["download"] ?? .null) == expected(id))
            let paused = try await running.send("POST", "\(base)/downloads/\(id)/pause", fields: fields)
            #expect(links(paused.json) == expected(id))
            let snapshot = try await running.blocking { client in
                try EventReader(client, base + "/downloads/events", fields: fields).next()?.data
            }
            #expect(snapshot?.array?.map(links) == [expected(id)])
            let removed = try await running.send(
                "DELETE", "\(base)/downloads/\(id)", fields: fields + [("If-Match", try #require(changed["etag"]))])
            #expect(removed.status == 204)
            // Probes arrive without the proxy, and so may other permitted clients.
            for probe in ["/healthz", "/readyz"] { #expect(try await running.send("GET", probe).status == 200) }
            #expect(try await running.send("GET", "/stats").status == (isStripped ? 200 : 404))
        }
    }

    @Test("All paths are below the base path, and only probes are outside it too")
    func basePath() async throws {
        try await RunningService.with {
            $0.server.ingress.basePath = PathPrefix(parsing: "/media/pawl") ?? .none
            $0.token = AccessToken("s3cret")
        } _: { running in
            for path in ["/healthz", "/readyz", "/", "/docs", "/openapi.yaml", "/console/start.js", "/problems/not-found"] {
                #expect(try await running.send("GET", "/media/pawl" + path).status == 200, "\(path)")
                let isProbe = path == "/healthz" || path == "/readyz"
                #expect(try await running.send("GET", path).status == (isProbe ? 200 : 401), "\(path)")
            }
            let authorized = [("Authorization", "Bearer s3cret")]
            let outside = try await running.send("GET", "/downloads", fields: authorized)
            #expect(outside.json["detail"]?.string?.contains("all paths begin with /media/pawl") == true)
            for path in [
                "/", "/stats", "/downloads", "/media", "/media/", "/media/pawlow", "/media/pawlow/stats", "/Media/pawl/stats",
            ] {
                let answer = try await running.send("GET", path, fields: authorized)
                #expect(answer.status == 404, "\(path)")
                #expect(answer.code == "not-found")
            }
            #expect(try await running.send("GET", "/media/pawl/stats", fields: authorized).status == 200)
            #expect(try await running.send("OPTIONS", "*", fields: authorized).status == 204)
            // The page's references are relative.
            let redirect = try await running.send("GET", "/media/pawl")
            #expect(redirect.status == 302)
            #expect(redirect["location"] == "/media/pawl/")
            // The field has no effect except from a trusted proxy.
            let spoofed = try await running.send("GET", "/stats", fields: authorized + [("X-Forwarded-Prefix", "/media/pawl")])
            #expect(spoofed.status == 404)
        }
    }

    @Test("Pages have relative references")
    func relative() {
        let pages = [ConsoleFile.page, .reference].map(\.bytes) + [ProblemPage.bytes(.notFound)]
        for page in pages + ConsoleFile.all.values.map(\.bytes) {
            let text = String(decoding: page, as: UTF8.self)
            #expect(
                text.firstMatch(of: #/(?:href|src)=["']?\/|(?:call|send|loadable|fetch)\((?:"[A-Z]+", )?["'`]\/|url\(["']?\//#)
                    == nil)
        }
    }
}
