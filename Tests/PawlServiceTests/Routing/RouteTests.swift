import HTTPCore
import JSON
import PawlConfiguration
import TestSupport
import Testing

@testable import PawlService

@Suite("Routes, methods and errors", .timeLimit(.minutes(3)))
struct RouteTests {
    private static let unknownID = "01JD6Z0000000000000000000A"

    private func path(_ endpoint: Endpoint) -> String {
        endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0 == "{code}" ? "not-found" : $0.hasPrefix("{") ? Self.unknownID : String($0) }.joined(separator: "/")
    }

    @Test("Each endpoint responds to OPTIONS, and to other methods with 405 and Allow")
    func methods() async throws {
        try await RunningService.with { running in
            for endpoint in Endpoint.all {
                let options = try await running.send("OPTIONS", path(endpoint))
                #expect(options.status == 204, "\(endpoint.path)")
                #expect(options["allow"] == endpoint.allow)
                for method in [HTTPMethod.get, .post, .put, .patch, .delete, .other("BREW")]
                where !endpoint.methods.contains(method) {
                    let answer = try await running.send(method.name, path(endpoint))
                    #expect(answer.status == 405, "\(method) \(endpoint.path)")
                    #expect(answer["allow"] == endpoint.allow)
                    #expect(answer.code == "method-not-allowed")
                    #expect(answer["content-type"] == "application/problem+json")
                }
            }
        }
    }

    @Test("HEAD responds as GET without the body")
    func head() async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=100")
            try await running.complete(id)
            for path in [
                "/", "/healthz", "/readyz", "/stats", "/openapi.yaml", "/search/sources", "/downloads", "/downloads/\(id)",
            ]
                + [
                    "/downloads/\(id)/file", "/downloads/events", "/downloads/\(id)/events", "/nothing",
                    "/downloads/\(Self.unknownID)",
                ]
            {
                let head = try await running.send("HEAD", path)
                #expect(head.body.isEmpty)
                #expect(head["x-content-type-options"] == "nosniff")
                #expect(head["x-request-id"] != nil)
                guard !path.hasSuffix("/events") else {
                    #expect(head["content-type"] == "text/event-stream; charset=utf-8")
                    continue
                }
                let get = try await running.send("GET", path)
                #expect(head.status == get.status, "\(path)")
                #expect(head["content-type"] == get["content-type"], "\(path)")
                #expect(head["content-length"] != nil || path == "/stats", "\(path)")
            }
        }
    }

    @Test("Names an unknown query parameter on every path")
    func unknownParameters() async throws {
        try await RunningService.with { running in
            for endpoint in Endpoint.all where endpoint.path != "/" {
                for method in endpoint.methods {
                    let body: [UInt8]? = method == .post ? Array("{}".utf8) : nil
                    let type = endpoint.operation(method)?.body == .opml ? "text/x-opml" : "application/json"
                    let answer = try await running.send(
                        method.name, path(endpoint) + "?frobnicate=1", fields: [("Content-Type", type)], body: body)
                    #expect(answer.status == 400, "\(method) \(endpoint.path)")
                    #expect(answer.code == "invalid-request")
                    #expect(answer.detail.contains("frobnicate"), "\(endpoint.path): \(answer.detail)")
                }
            }
        }
    }

    @Test("An unknown download is not found by any request", arguments: [unknownID, "nonsense", "%20"])
    func notFound(id: String) async throws {
        try await RunningService.with { running in
            for (method, suffix) in [
                ("GET", ""), ("DELETE", ""), ("POST", "/pause"), ("POST", "/resume"), ("POST", "/cancel"), ("POST", "/retry"),
                ("GET", "/file"), ("GET", "/events"),
            ] {
                let answer = try await running.send(method, "/downloads/\(id)\(suffix)")
                #expect(answer.status == 404, "\(method) \(suffix)")
                #expect(answer.code == "not-found")
            }
            #expect(try await running.send("GET", "/nothing").code == "not-found")
        }
    }

    @Test("Refuses invalid download requests, and names the fault")
    func badRequests() async throws {
        try await RunningService.with { running in
            let cases: [(body: String, status: Int, mentions: [String])] = [
                ("", 400, ["no body"]),
                ("{", 400, ["JSON", "byte"]),
                ("[]", 400, ["object", "an array"]),
                ("{}", 400, ["url", "trackId"]),
                (#"{"url":1}"#, 400, ["'url'", "a number", "a string"]),
                (#"{"url":"ftp://a.example/"}"#, 400, ["'url'", "http"]),
                (#"{"url":"/relative"}"#, 400, ["'url'"]),
                (#"{"url":"http://a.example/","trackId":"itunes:1"}"#, 400, ["trackId", "url"]),
                (#"{"url":"http://a.example/","colour":"red"}"#, 400, ["'colour'", "priority"]),
                (#"{"url":"http://a.example/","url":"http://b.example/"}"#, 400, ["JSON"]),
                (#"{"url":"http://a.example/","priority":11}"#, 400, ["'priority'", "11", "-10 to 10"]),
                (#"{"url":"http://a.example/","priority":1.5}"#, 400, ["'priority'"]),
                (#"{"url":"http://a.example/","labels":"x"}"#, 400, ["'labels'", "array of strings"]),
                (#"{"url":"http://a.example/","labels":["a",2]}"#, 400, ["labels[1]"]),
                (#"{"url":"http://a.example/","labels":[""]}"#, 400, ["labels"]),
                (#"{"url":"http://a.example/","paused":"yes"}"#, 400, ["'paused'", "true or false"]),
                (#"{"url":"http://a.example/","segments":0}"#, 400, ["'segments'", "1 to 16"]),
                (#"{"url":"http://a.example/","speedLimit":-1}"#, 400, ["'speedLimit'"]),
                (#"{"url":"http://a.example/","timeouts":30}"#, 400, ["'timeouts'", "a number", "object"]),
                (#"{"url":"http://a.example/","timeouts":{"stall":-1}}"#, 400, ["'timeouts.stall'", "-1", "0 to 86400"]),
                (#"{"url":"http://a.example/","timeouts":{"total":1}}"#, 400, ["'timeouts.total'", "connect", "response"]),
                (#"{"url":"http://a.example/","retry":8}"#, 400, ["'retry'", "object"]),
                (#"{"url":"http://a.example/","retry":{"attempts":-1}}"#, 400, ["'retry.attempts'", "0 to 1000000", "null"]),
                (#"{"url":"http://a.example/","retry":{"longestDelay":"0"}}"#, 400, ["'retry.longestDelay'", "90s or 2m"]),
                (#"{"url":"http://a.example/","retry":{"statuses":[200]}}"#, 400, ["'retry.statuses'", "400 to 599"]),
                (
                    #"{"url":"http://a.example/","retry":{"tries":1}}"#, 400,
                    ["'retry.tries'", "attempts, longestDelay, statuses"]
                ),
                (#"{"url":"http://a.example/","remoteTime":"yes"}"#, 400, ["'remoteTime'", "true or false"]),
                (#"{"url":"http://a.example/","checksum":"crc32:00"}"#, 400, ["'checksum'", "sha-256"]),
                (#"{"url":"http://a.example/","checksum":"sha-256:00"}"#, 400, ["64 hexadecimal digits"]),
                (#"{"url":"http://a.example/","mediaType":"audio"}"#, 400, ["'mediaType'", "audio/*"]),
                (#"{"url":"http://a.example/","mirrors":["x"]}"#, 400, ["mirrors[0]"]),
                (#"{"url":"http://a.example/","headers":{"A B":"x"}}"#, 400, ["headers"]),
                (#"{"url":"http://a.example/","headers":{"X-A":"x","x-a":"y"}}"#, 400, ["headers", "x-a", "twice"]),
                (#"{"url":"http://-a.example/"}"#, 400, ["'url'"]), (#"{"url":"http://a..example/"}"#, 400, ["'url'"]),
                (#"{"url":"http://\#(String(repeating: "a", count: 64)).example/"}"#, 400, ["'url'"]),
                (#"{"url":"http://a.example/","headers":{"Host":"x"}}"#, 400, ["Host"]),
                (#"{"url":"http://a.example/","headers":{"Range":"bytes=0-"}}"#, 400, ["Range"]),
                (#"{"url":"http://a.example/","headers":{"X-A":"s3cret\r\nX: y"}}"#, 400, ["headers.X-A"]),
                (#"{"url":"http://a.example/","headers":{"X-A":7}}"#, 400, ["headers.X-A", "a string"]),
                (#"{"url":"http://a.example/","filename":"../up"}"#, 400, ["filename"]),
                (#"{"url":"http://a.example/","webhook":"mailto:x"}"#, 400, ["'webhook'"]),
                (#"{"url":"http://a.example/","track":[]}"#, 400, ["'track'", "an object"]),
                (#"{"url":"http://a.example/","onDuplicate":"ask"}"#, 400, ["'onDuplicate'", "return, reject, new"]),
                (#"{"url":"http://127.0.0.1:1/"}"#, 403, ["127.0.0.1"]),
                (#"{"url":"http://169.254.169.254/latest"}"#, 403, ["169.254.169.254"]),
                (#"{"url":"http://localhost:1/"}"#, 403, ["localhost"]),
                (#"{"url":"http://a.example/","mirrors":["http://10.0.0.1/"]}"#, 403, ["the mirror 10.0.0.1"]),
                (#"{"url":"http://a.example/","webhook":"http://127.0.0.1:1/"}"#, 403, ["the webhook 127.0.0.1"]),
            ]
            for (body, status, mentions) in cases {
                let answer = try await running.send("POST", "/downloads", json: body)
                #expect(answer.status == status, "\(body)")
                #expect(answer.code == (status == 403 ? "destination-forbidden" : "invalid-request"), "\(body)")
                for mention in mentions { #expect(answer.detail.contains(mention), "\(body): \(answer.detail)") }
                #expect(!answer.text.contains("s3cret"))
            }
        }
    }

    private static let form = "application/x-www-form-urlencoded"
    static let mediaTypeCases: [(types: [String], status: Int, fromPage: Int)] = [
        (["application/json"], 400, 400), (["application/json; charset=UTF-8"], 400, 400),
        (["application/json;charset=\"utf8\""], 400, 400), (["APPLICATION/JSON; charset=US-ASCII"], 400, 400),
        (["application/merge-patch+json"], 400, 400), (["application/json; charset=latin1"], 415, 415),
        ([form, "application/json"], 400, 400), (["application/json", form], 400, 400),
        (["nonsense", "application/json"], 400, 400),
        ([form, "application/json; charset=latin1"], 415, 415), ([form, "text/plain"], 415, 415),
        ([], 400, 415), (["\(form), application/json"], 400, 415), (["text/plain;a=, application/json"], 400, 415),
        (["text/plain"], 415, 415), ([form], 415, 415), (["multipart/form-data; boundary=x"], 415, 415), (["nonsense"], 415, 415),
        ([""], 400, 415), (["application/json; charset=utf-8, \(form)"], 400, 415),
        (["application/json; charset=latin1", "application/json; charset=ASCII"], 400, 400),
    ]

    @Test("A body is JSON if one of its media types is, and a program's without any", arguments: mediaTypeCases)
    func mediaTypes(types: [String], status: Int, fromPage: Int) async throws {
        try await RunningService.with {
            $0.corsOrigins = [.origin("https://friend.example")]
        } _: { running in
            let page = [("Sec-Fetch-Site", "same-origin")]
            let origin = [("Origin", "https://friend.example")]
            for (fields, status) in [([], status), (page, fromPage), (origin, fromPage)] {
                for path in ["/downloads", "/downloads/batch", "/downloads/pause"] {
                    let answer = try await running.send(
                        "POST", path, fields: types.map { ("Content-Type", $0) } + fields, body: Array(#"{"x":1}"#.utf8))
                    #expect(answer.status == status, "\(path) \(fields): \(answer.text)")
                    #expect(answer.code == (status == 415 ? "unsupported-media-type" : "invalid-request"))
                    #expect(answer["accept-encoding"] == nil)
                }
            }
        }
    }

    @Test(
        "A body with a content coding is an unsupported media type, and Accept-Encoding names the cause",
        arguments: [
            ("gzip", 415), ("x-gzip", 415), ("br", 415), ("identity, zstd", 415), ("identity, Identity", 400), ("UTF-8", 400),
            ("", 400),
        ])
    func codings(coding: String, status: Int) async throws {
        try await RunningService.with { running in
            for path in ["/downloads", "/downloads/pause", "/jsonrpc"] {
                let answer = try await running.send(
                    "POST", path, json: #"{"x":1}"#, fields: [("Content-Encoding", coding)])
                #expect(answer.status == status, "\(path) \(answer.text)")
                #expect(answer["accept-encoding"] == (status == 415 ? "identity" : nil))
                if status == 415 { #expect(answer.detail.contains("Content-Encoding is '\(coding)'")) }
            }
        }
    }

    @Test("A byte order mark before JSON is skipped", arguments: ["/downloads", "/jsonrpc"])
    func byteOrderMark(path: String) async throws {
        try await RunningService.with { running in
            let body =
                path == "/jsonrpc"
                ? #"{"jsonrpc":"2.0","id":1,"method":"aria2.getVersion"}"#
                : #"{"url":"\#(running.upstreamURL)/entity?size=1","paused":true}"#
            let answer = try await running.send("POST", path, json: "\u{FEFF}" + body)
            #expect(answer.status == (path == "/jsonrpc" ? 200 : 201), "\(answer.text)")
        }
    }

    @Test("A body over 1 MiB is too large")
    func tooLarge() async throws {
        try await RunningService.with { running in
            let answer = try await running.send(
                "POST", "/downloads", json: #"{"url":"\#(String(repeating: "x", count: 1024 * 1024))"}"#)
            #expect(answer.status == 413)
            #expect(answer.code == "payload-too-large")
            #expect(answer["content-type"] == "application/problem+json")
        }
    }

    @Test(
        "Names an invalid query value and the accepted values",
        arguments: [
            ("/downloads?state=done", ["state", "'done'", "queued"]), ("/downloads?limit=0", ["limit", "1 to 200"]),
            ("/downloads?limit=201", ["'201'"]), ("/downloads?limit=", ["limit"]),
            ("/downloads?limit=1&limit=2", ["limit", "2 times"]),
            ("/downloads?order=random", ["newest, oldest"]), ("/downloads?cursor=x", ["cursor"]), ("/downloads?q=%ff", ["%ff"]),
            ("/downloads/events?interval=49", ["interval", "50 to 60000"]), ("/downloads/events?interval=60001", ["interval"]),
            ("/search/lookup", ["'id'"]),
        ])
    func badValues(path: String, mentions: [String]) async throws {
        try await RunningService.with { running in
            let answer = try await running.send("GET", path)
            #expect(answer.status == 400)
            #expect(answer.code == "invalid-request")
            for mention in mentions { #expect(answer.detail.contains(mention), "\(answer.detail)") }
        }
    }

    @Test("Probes, statistics, document and page respond")
    func service() async throws {
        try await RunningService.with { running in
            #expect(try await running.send("GET", "/healthz").status == 200)
            #expect(try await running.send("GET", "/readyz").status == 200)
            let statistics = try await running.send("GET", "/stats").json
            #expect(
                statistics.members?.map(\.name) == [
                    "downloads", "bytesPerSecond", "speedLimit", "freeBytes", "uptimeSeconds", "version", "instanceId", "scope",
                ])
            #expect(
                statistics["downloads"]?.members?.map(\.name) == [
                    "queued", "downloading", "paused", "retrying", "completed", "failed", "cancelled",
                ])
            #expect((statistics["freeBytes"]?.integer ?? 0) > 0)
            let page = try await running.send("GET", "/")
            #expect(page["content-type"] == "text/html; charset=utf-8")
            #expect(page["content-security-policy"]?.contains("default-src 'none'") == true)
            let document = try await running.send("GET", "/openapi.yaml")
            #expect(document.text.hasPrefix("openapi: 3.1.0"))
            let tag = try #require(document["etag"])
            let again = try await running.send("GET", "/openapi.yaml", fields: [("If-None-Match", tag)])
            #expect(again.status == 304)
        }
    }

    @Test("A request id is the client's, or generated")
    func requestIDs() async throws {
        try await RunningService.with { running in
            let own = try await running.send("GET", "/healthz", fields: [("X-Request-Id", "abc-1")])
            #expect(own["x-request-id"] == "abc-1")
            let made = try await running.send("GET", "/nothing")
            #expect(made["x-request-id"]?.isEmpty == false)
        }
    }
}
