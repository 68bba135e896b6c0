import Downloads
import HTTPClient
import HTTPCore
import JSON
import PawlConfiguration
import TestSupport
import Testing

/// Outgoing connections of the service.
@Suite("Outgoing connections", .timeLimit(.minutes(3)))
struct NetworkOutTests {
    @Test(
        "Downloads, searches and webhooks go through the proxy, which alone resolves names", arguments: ["http", "socks5h"])
    func allGoThroughProxy(scheme: String) async throws {
        let proxy = try RelayProxy(credentials: ("user", "p@ss"))
        let origin = try ScriptedOrigin { request in
            request.method == "POST" ? [.response(204)] : [.response(body: Array("through".utf8))]
        }
        try await RunningService.with {
            $0.client.proxy = Proxy(parsing: "\(scheme)://user:p%40ss@127.0.0.1:\(proxy.port)")
            $0.itunesURL = HTTPURL("http://itunes.test:\($0.itunesURL.port)") ?? $0.itunesURL
            $0.downloads.destinationGuard.allowed = []
        } _: { running in
            #expect(try await running.send("GET", "/search?term=prelude").status == 200)
            let body = #"{"url":"http://origin.test:\#(origin.port)/a.bin","webhook":"http://hook.test:\#(origin.port)/hook"}"#
            let id = try #require(try await running.send("POST", "/downloads", json: body).json["id"]?.string)
            try await running.complete(id)
            #expect(try await origin.requests(atLeast: 2).map(\.method) == ["GET", "POST"])
            let hosts = Set(proxy.requests.map { $0.target.prefix { $0 != ":" } })
            #expect(hosts == ["itunes.test", "origin.test", "hook.test"])
            // An address without a name is checked as usual.
            for host in ["127.0.0.1", "10.0.0.1", "[::ffff:7f00:1]", "localhost"] {
                let answer = try await running.send("POST", "/downloads", json: #"{"url":"http://\#(host):\#(origin.port)/"}"#)
                #expect(answer.code == "destination-forbidden", "\(host)")
            }
            let all = try await running.send("GET", "/downloads").text + running.send("GET", "/settings").text
            #expect(!all.contains("p%40ss") && !all.contains("p@ss"))
        }
    }

    @Test("Guards redirects of a search source, but not its configured address")
    func searchRedirectIsChecked() async throws {
        let inside = try ScriptedOrigin { _ in [.response(body: Array("{}".utf8))] }
        let source = try ScriptedOrigin { _ in [.redirect(to: "http://127.0.0.1:\(inside.port)/latest/meta-data")] }
        try await RunningService.with {
            $0.itunesURL = HTTPURL(source.url()) ?? $0.itunesURL
            $0.downloads.destinationGuard.allowed = []
        } _: { running in
            let answer = try await running.send("GET", "/search?term=a")
            #expect(answer.code == "upstream-unreachable", "\(answer.text)")
            #expect(source.requests.count == 1)
            #expect(inside.connectionCount == 0)
        }
    }
}
