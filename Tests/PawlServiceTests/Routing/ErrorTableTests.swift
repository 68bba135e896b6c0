import Foundation
import HTTPCore
import JSON
import PawlConfiguration
import TestSupport
import Testing

@testable import PawlService

/// The contract's errors on each possible route and method.
@Suite("Every route, method and error", .timeLimit(.minutes(5)))
struct ErrorTableTests {
    /// An operation that can be requested.
    struct Operation: Sendable, CustomStringConvertible {
        let endpoint: Endpoint
        let method: String

        static let all = Endpoint.all.flatMap { endpoint in
            endpoint.methods.flatMap { method in
                (method == .get ? ["GET", "HEAD"] : [method.name]).map { Operation(endpoint: endpoint, method: $0) }
            }
        }

        var description: String { "\(method) \(endpoint.path)" }
        var changes: Bool { method != "GET" && method != "HEAD" }
        /// Whether its body is a JSON object with instructions.
        var takesBody: Bool {
            switch endpoint.path {
            case "/downloads", "/downloads/batch", "/subscriptions": method == "POST"
            case "/downloads/{id}", "/subscriptions/{id}", "/settings": method == "PATCH"
            default: false
            }
        }

        /// Its path with an existing resource.
        func path(id: String) -> String {
            endpoint.path.replacing("{id}", with: id).replacing("{name}", with: "console.js")
                .replacing("{code}", with: "not-found")
        }
    }

    /// A request with one mistake.
    struct Mistake: Sendable {
        let name: String
        let status: Int
        let code: String
        var query = ""
        var fields: [(String, String)] = []
        var body: String?
        /// The part that the problem must name.
        var mention = ""
        let isPossible: @Sendable (Operation) -> Bool

        static let all: [Mistake] = [
            // The start page ignores its query, since links from other sites may have one.
            Mistake(name: "an unknown parameter", status: 400, code: "invalid-request", query: "?nonsense=1", mention: "nonsense")
            {
                $0.endpoint.path != "/"
            },
            Mistake(name: "a parameter that is not UTF-8", status: 400, code: "invalid-request", query: "?a=%ff", mention: "%ff")
            {
                $0.endpoint.path != "/"
            },
            Mistake(
                name: "a foreign origin", status: 403, code: "origin-not-allowed", fields: [("Origin", "https://evil.example")]
            ) {
                $0.changes
            },
            Mistake(
                name: "two origins", status: 403, code: "origin-not-allowed", fields: [("Origin", "null"), ("Origin", "null")]
            ) {
                $0.changes
            },
            Mistake(
                name: "another site's page", status: 403, code: "origin-not-allowed",
                fields: [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")]
            ) { !$0.endpoint.isPublic },
            Mistake(name: "a condition that fails", status: 412, code: "precondition-failed", fields: [("If-Match", "\"other\"")])
            {
                // What a change needs is looked at first: see below.
                $0.endpoint.path == "/downloads/{id}" && !$0.takesBody
            },
            Mistake(
                name: "a condition of a change that fails", status: 412, code: "precondition-failed",
                fields: [("If-Match", "\"other\""), ("Content-Type", "application/json")], body: #"{"priority":1}"#
            ) { $0.endpoint.path == "/downloads/{id}" && $0.takesBody },
            Mistake(name: "an expectation", status: 417, code: "expectation-failed", fields: [("Expect", "a-miracle")]) { _ in
                true
            },
            Mistake(
                name: "a page's body without a type", status: 415, code: "unsupported-media-type",
                fields: [("Sec-Fetch-Site", "same-origin")], body: "{}"
            ) { $0.changes },
            Mistake(
                name: "a compressed body", status: 415, code: "unsupported-media-type",
                fields: [("Content-Type", "application/json"), ("Content-Encoding", "gzip")], body: "\u{1f}", mention: "'gzip'"
            ) { $0.changes },
            Mistake(
                name: "a form", status: 415, code: "unsupported-media-type",
                fields: [("Content-Type", "application/x-www-form-urlencoded")], body: "a=b"
            ) { $0.changes },
            json("broken JSON", "{\"a\":") { $0.changes },
            json("an array", "[]", mention: "object") { $0.changes },
            json("a deep nest", String(repeating: "[", count: 5000)) { $0.changes },
            json("an unknown member", #"{"nonsense":1}"#, mention: "nonsense") {
                $0.changes && $0.endpoint.path != "/downloads/batch"
            },
            json("an unknown member beside the downloads", #"{"downloads":[],"nonsense":1}"#, mention: "nonsense") {
                $0.endpoint.path == "/downloads/batch"
            },
            json("no member that it needs", "{}") { $0.takesBody && $0.method == "POST" },
            Mistake(name: "no body", status: 400, code: "invalid-request", fields: [("Content-Type", "application/json")]) {
                $0.takesBody
            },
            Mistake(
                name: "a body over 1 MiB", status: 413, code: "payload-too-large", fields: [("Content-Type", "application/json")],
                body: "\"" + String(repeating: "x", count: 1024 * 1024) + "\""
            ) { $0.changes },
            Mistake(
                name: "an empty key", status: 400, code: "invalid-request",
                fields: [("Content-Type", "application/json"), ("Idempotency-Key", "")], body: #"{"url":"http://a.example/"}"#,
                mention: "Idempotency-Key"
            ) { $0.endpoint.path == "/downloads" && $0.method == "POST" },
        ]

        private static func json(
            _ name: String, _ body: String, mention: String = "", isPossible: @escaping @Sendable (Operation) -> Bool
        ) -> Mistake {
            Mistake(
                name: name, status: 400, code: "invalid-request", fields: [("Content-Type", "application/json")], body: body,
                mention: mention, isPossible: { isPossible($0) && $0.endpoint.path != "/subscriptions/import" })
        }
    }

    private func expect(
        _ answer: TestResponse, _ status: Int, _ code: String, of operation: Operation, _ name: String,
        mention: String = ""
    ) {
        let what: Comment = "\(operation), \(name): \(answer.status) \(answer.text.prefix(300))"
        #expect(answer.status == status, what)
        #expect(answer["x-request-id"]?.isEmpty == false, what)
        #expect(answer["x-content-type-options"] == "nosniff", what)
        #expect(answer["content-type"] == "application/problem+json", what)
        guard operation.method != "HEAD" else {
            #expect(answer.body.isEmpty, what)
            return
        }
        #expect(answer.code == code, what)
        #expect(answer.json["type"]?.string == "/problems/" + code, what)
        #expect(answer.json["status"]?.integer == Int64(status), what)
        #expect(answer.json["title"]?.string?.isEmpty == false, what)
        #expect(!answer.detail.isEmpty && (mention.isEmpty || answer.detail.contains(mention)), what)
    }

    @Test("A request with one mistake gets its problem, and has no effect")
    func mistakes() async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=10", #","paused":true"#)
            let before = try await running.send("GET", "/downloads").body
            for operation in Operation.all {
                for mistake in Mistake.all where mistake.isPossible(operation) {
                    let answer = try await running.send(
                        operation.method, operation.path(id: id) + mistake.query, fields: mistake.fields,
                        body: mistake.body.map { Array($0.utf8) })
                    expect(
                        answer, mistake.status, mistake.code, of: operation, mistake.name, mention: mistake.mention)
                }
            }
            #expect(try await running.send("GET", "/downloads").body == before)
        }
    }

    @Test("A path without a resource is not found for each of its methods")
    func nothingThere() async throws {
        try await RunningService.with { running in
            for operation in Operation.all where operation.endpoint.path.contains("{") {
                for name in ["01JD6Z0000000000000000000A", "nonsense", "%2e%2e", "a%2fb", String(repeating: "a", count: 300)] {
                    let path = operation.endpoint.path.replacing(/\{.*\}/, with: name)
                    let fields = operation.takesBody ? [("Content-Type", "application/json")] : []
                    let answer = try await running.send(
                        operation.method, path, fields: fields, body: operation.takesBody ? Array(#"{"priority":1}"#.utf8) : nil)
                    expect(answer, 404, "not-found", of: operation, name)
                }
            }
        }
    }

    @Test("Responds to an unsupported method with the supported ones")
    func otherMethods() async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=10", #","paused":true"#)
            for endpoint in Endpoint.all {
                for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "PROPFIND"] {
                    let operation = Operation(endpoint: endpoint, method: method)
                    guard !endpoint.methods.contains(where: { $0.name == (method == "HEAD" ? "GET" : method) }) else { continue }
                    let answer = try await running.send(method, operation.path(id: id))
                    expect(answer, 405, "method-not-allowed", of: operation, "another method")
                    #expect(answer["allow"] == endpoint.allow, "\(operation)")
                }
            }
        }
    }

    @Test("Refuses each operation without its token, with a wrong host or too often; allowed pages can read the reason")
    func access() async throws {
        let page = ("Origin", "https://friend.example")
        try await RunningService.with {
            $0.token = AccessToken("s3cret")
            $0.corsOrigins = [.origin("https://friend.example")]
        } _: { running in
            func expectReadable(_ answer: TestResponse, _ operation: Operation) {
                #expect(answer["access-control-allow-origin"] == "https://friend.example", "\(operation) \(answer.status)")
                #expect(answer["access-control-expose-headers"]?.contains("Retry-After") == true, "\(operation)")
                #expect(answer["vary"]?.contains("Origin") == true, "\(operation)")
            }
            let id = "01JD6Z0000000000000000000A"
            for operation in Operation.all {
                if !operation.endpoint.isPublic {
                    let answer = try await running.send(operation.method, operation.path(id: id), fields: [page])
                    expect(answer, 401, "unauthorized", of: operation, "no token")
                    #expect(answer["www-authenticate"]?.hasPrefix("Bearer") == true)
                    expectReadable(answer, operation)
                    let twice = [page, ("Authorization", "Bearer s3cret"), ("Authorization", "Bearer s3cret")]
                    let several = try await running.send(operation.method, operation.path(id: id), fields: twice)
                    expect(several, 401, "unauthorized", of: operation, "two tokens", mention: "2 Authorization fields")
                    expectReadable(several, operation)
                }
                let misdirected = try await running.blocking { client in
                    let stream = try TestConnection(client.port)
                    let lines = [
                        "\(operation.method) \(operation.path(id: id)) HTTP/1.1", "Host: evil.example", "Connection: close",
                        "Origin: https://friend.example", "", "",
                    ]
                    try stream.send(Array(lines.joined(separator: "\r\n").utf8))
                    return try stream.readResponse(isHead: operation.method == "HEAD")
                }
                expect(misdirected, 421, "host-not-allowed", of: operation, "another host", mention: "evil.example")
                expectReadable(misdirected, operation)
            }
        }
    }

    @Test("Limits the rate on every route but probes and the page, with a time to wait")
    func tooOften() async throws {
        try await RunningService.with {
            $0.rateLimit = 1
            $0.corsOrigins = [.any]
        } _: { running in
            for operation in Operation.all where !operation.endpoint.isPublic {
                let path = operation.path(id: "01JD6Z0000000000000000000A") + "?nonsense=1"
                let answer = try await running.blocking { client in
                    while true {
                        while try client.send("GET", "/stats").status != 429 {}
                        // Even on a slow machine, some two requests are within a second.
                        let answer = try client.send(operation.method, path, fields: [("Origin", "https://a.example")])
                        if answer.status != 400 { return answer }
                    }
                }
                expect(answer, 429, "rate-limited", of: operation, "too often")
                #expect(answer["retry-after"] != nil, "\(operation)")
                #expect(answer["access-control-allow-origin"] == "*", "\(operation)")
            }
        }
    }

    @Test("Allowed pages can read refusals of the server before a request was read")
    func earlyRefusals() async throws {
        try await RunningService.with {
            $0.corsOrigins = [.origin("https://friend.example")]
        } _: { running in
            let long = String(repeating: "a", count: 9000)
            let cases: [(status: Int, code: String, request: String)] = [
                (413, "payload-too-large", "POST /downloads HTTP/1.1\r\nContent-Length: 2000000\r\n"),
                (414, "target-too-long", "GET /\(long) HTTP/1.1\r\n"),
                (417, "expectation-failed", "GET /stats HTTP/1.1\r\nExpect: a-miracle\r\n"),
                (431, "head-too-large", "GET /stats HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 101)),
                (400, "invalid-request", "GET /stats HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n"),
            ]
            for (status, code, request) in cases {
                let answer = try await running.blocking { client in
                    let stream = try TestConnection(client.port)
                    let lines = request.split(separator: "\r\n", maxSplits: 1, omittingEmptySubsequences: false)
                    let fields = "Host: 127.0.0.1:\(client.port)\r\nOrigin: https://friend.example\r\n"
                    try stream.send(Array("\(lines[0])\r\n\(fields)\(lines[1])\r\n".utf8))
                    return try stream.readResponse()
                }
                #expect(answer.status == status, "\(answer.text)")
                #expect(answer.code == code)
                // The page of an unreadable head is unknown.
                let isHeadKnown = ![414, 431, 400].contains(status)
                #expect((answer["access-control-allow-origin"] == "https://friend.example") || !isHeadKnown, "\(status)")
            }
        }
    }
}
