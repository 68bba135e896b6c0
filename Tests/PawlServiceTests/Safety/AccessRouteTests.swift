import DemoUpstream
import HTTPCore
import JSON
import TestSupport
import Testing

@testable import PawlService

@Suite("Access over HTTP", .timeLimit(.minutes(3)))
struct AccessRouteTests {
    private func path(_ endpoint: Endpoint) -> String {
        endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("{") ? "01JD6Z0000000000000000000A" : String($0) }.joined(separator: "/")
    }

    @Test("with a token, all but probes and the page need it")
    func token() async throws {
        try await RunningService.with {
            $0.token = AccessToken("s3cret")
        } _: { running in
            for endpoint in Endpoint.allCases {
                for method in endpoint.methods.map(\.name) + ["OPTIONS", "PUT"] {
                    let without = try await running.send(method, path(endpoint))
                    #expect((without.status == 401) == !endpoint.isPublic, "\(method) \(endpoint.path)")
                    if without.status == 401 {
                        #expect(without.code == "unauthorized")
                        #expect(without["www-authenticate"]?.hasPrefix("Bearer") == true)
                    }
                    let wrong = try await running.send(method, path(endpoint), fields: [("Authorization", "Bearer wrong")])
                    #expect((wrong.status == 401) == !endpoint.isPublic, "\(method) \(endpoint.path)")
                    guard endpoint != .allEvents || method == "PUT" else { continue }
                    let right = try await running.send(method, path(endpoint), fields: [("Authorization", "Bearer s3cret")])
                    #expect(right.status != 401, "\(method) \(endpoint.path)")
                }
            }
            #expect(try await running.send("GET", "/nothing").status == 401)
        }
    }

    @Test("a Host that is not ours is misdirected", arguments: ["evil.example", "evil.example:80", "127.0.0.1.evil.example"])
    func host(name: String) async throws {
        try await RunningService.with { running in
            let (status, body) = try await running.blocking { client in
                let stream = try PlainStream(port: client.port)
                try stream.write(Array("GET /healthz HTTP/1.1\r\nHost: \(name)\r\nConnection: close\r\n\r\n".utf8))
                let head = try stream.readHead()
                return (head.status, try stream.readBody(head))
            }
            #expect(status == 421)
            #expect(try JSONValue(parsing: body)["code"]?.string == "host-not-allowed")
        }
    }

    @Test("pages of allowed origins may read and change, others neither")
    func crossOrigin() async throws {
        try await RunningService.with {
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
            #expect(denied["access-control-allow-origin"] == nil)
            #expect(denied["access-control-allow-methods"] == nil)

            let read = try await running.send("GET", "/stats", fields: [("Origin", "https://friend.example"), authorized])
            #expect(read["access-control-allow-origin"] == "https://friend.example")
            for name in ["Location", "ETag", "Retry-After", "X-Request-Id"] {
                #expect(read["access-control-expose-headers"]?.contains(name) == true)
            }
            let foreign = try await running.send("GET", "/stats", fields: [("Origin", "https://evil.example"), authorized])
            #expect(foreign.status == 200)
            #expect(foreign["access-control-allow-origin"] == nil)
            #expect(foreign["vary"] == "Origin")

            // A problem must be readable too, and one that comes later as well.
            let problem = try await running.send("GET", "/stats", fields: [("Origin", "https://friend.example")])
            #expect(problem.status == 401)
            #expect(problem["access-control-allow-origin"] == "https://friend.example")
            let later = try await running.send(
                "POST", "/downloads/01JD6Z0000000000000000000A/pause", fields: [("Origin", "https://friend.example"), authorized])
            #expect(later.status == 404)
            #expect(later["access-control-allow-origin"] == "https://friend.example")
        }
    }

    @Test("without --cors-origin there are no CORS fields, and foreign pages change nothing, body or not")
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

    @Test("a star allows every origin, by its star")
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

    @Test("header values of an order appear in no answer")
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
