import HTTPClient
import HTTPCore
import TestSupport
import Testing

/// Credentials over redirects between hosts. A proxy leads every name to 127.0.0.1.
@Suite(.timeLimit(.minutes(3)))
struct CredentialTransferTests {
    let proxy: RelayProxy

    init() throws {
        proxy = try RelayProxy()
    }

    private func client(netrc: String = "", cookies: String = "", headers: String = "") throws -> HTTPClient {
        var configuration = ClientConfiguration()
        configuration.proxy = Proxy(parsing: "socks5h://127.0.0.1:\(proxy.port)")
        configuration.credentials.netrc = try NetrcFile(parsing: Array(netrc.utf8))
        configuration.credentials.cookies = try CookieFile(parsing: Array(cookies.utf8))
        configuration.credentials.headers = try HeaderFile(parsing: Array(headers.utf8))
        return try HTTPClient(configuration: configuration)
    }

    private func request(_ address: String) throws -> ClientRequest {
        var request = ClientRequest(url: try url(address))
        request.isForOrigin = true
        return request
    }

    @Test("Each hop has the credentials of its host, also after a return, and no other host has them")
    func hops() async throws {
        let port = Waiter(0)
        let origin = try ScriptedOrigin { request in
            switch request.target {
            case "/1": [.redirect(to: "http://b.test:\(port.value)/2")]
            case "/2": [.redirect(to: "http://c.test:\(port.value)/3")]
            case "/3": [.redirect(to: "http://a.test:\(port.value)/4")]
            default: [.response(body: [1])]
            }
        }
        port.update { $0 = origin.port }
        let client = try client(
            netrc: "machine a.test login a password 1 machine b.test login b password 2",
            cookies: "a.test\tFALSE\t/\tFALSE\t0\tca\t1\n.test\tTRUE\t/4\tFALSE\t0\tall\t2\n", headers: "c.test X-Key: c\n")
        let response = try await client.fetch(request("http://a.test:\(origin.port)/1"), bodyLimit: 10)
        #expect(response.body == [1])
        let (a, b) = ("Basic YTox", "Basic Yjoy")
        #expect(origin.requests.map { $0["Authorization"] } == [a, b, nil, a])
        #expect(origin.requests.map { $0["Cookie"] } == ["ca=1", nil, nil, "all=2; ca=1"])
        #expect(origin.requests.map { $0["X-Key"] } == [nil, nil, "c", nil])
    }

    @Test("A member's file of the Internet Archive comes with keys or cookies for both hosts by pattern, over its data node")
    func internetArchive() async throws {
        let origin = try ScriptedOrigin { request in
            guard request["Authorization"] == "LOW key:secret" || request["Cookie"] == "logged-in-user=me; logged-in-sig=s" else {
                return [.response(401)]
            }
            let host = request["Host"] ?? ""
            return host.hasPrefix("archive.org")
                ? [.redirect(to: "http://ia800304.us.\(host)/12/items/x/a.pdf")] : [.response(body: [1])]
        }
        let address = "http://archive.org:\(origin.port)/download/x/a.pdf"
        let keys = try client(headers: "archive.org Authorization: LOW key:secret\n*.archive.org Authorization: LOW key:secret\n")
        #expect(try await keys.fetch(request(address), bodyLimit: 10).body == [1])
        let cookies = try client(
            cookies: ".archive.org\tTRUE\t/\tFALSE\t0\tlogged-in-user\tme\n.archive.org\tTRUE\t/\tFALSE\t0\tlogged-in-sig\ts\n")
        #expect(try await cookies.fetch(request(address), bodyLimit: 10).body == [1])
        let hosts = ["archive.org:\(origin.port)", "ia800304.us.archive.org:\(origin.port)"]
        #expect(origin.requests.map { $0["Host"] } == hosts + hosts)
        // The host alone is not enough: its data node is another one.
        let alone = try client(headers: "archive.org Authorization: LOW key:secret\n")
        #expect(try await alone.fetch(request(address), bodyLimit: 10).head.status.code == 401)
    }

    @Test("Cookies of a redirect with a domain reach its hosts in the same transfer, and no foreign host")
    func domainCookies() async throws {
        let port = Waiter(0)
        let origin = try ScriptedOrigin { request in
            switch request.target {
            case "/1":
                [
                    .response(
                        302,
                        [
                            ("Location", "http://b.site.test:\(port.value)/2"), ("Set-Cookie", "d=1; Domain=site.test; Path=/"),
                            ("Set-Cookie", "h=2; Path=/"), ("Set-Cookie", "f=3; Domain=other.test"),
                            ("Set-Cookie", "t=4; Domain=test"),
                        ])
                ]
            case "/2": [.redirect(to: "http://other.test:\(port.value)/3")]
            case "/3": [.redirect(to: "http://a.site.test:\(port.value)/4")]
            default: [.response(body: [1])]
            }
        }
        port.update { $0 = origin.port }
        let client = try client()
        for _ in 0..<2 {
            #expect(try await client.fetch(request("http://a.site.test:\(origin.port)/1"), bodyLimit: 10).body == [1])
        }
        let cookies = [nil, "d=1", nil, "d=1; h=2"]
        #expect(origin.requests.map { $0["Cookie"] } == cookies + cookies)
    }

    @Test("Harmless headers of a request travel to other hosts; changed credentials hold from the next request on")
    func harmlessAndChanged() async throws {
        let port = Waiter(0)
        let origin = try ScriptedOrigin { request in
            request.target == "/1" ? [.redirect(to: "http://b.test:\(port.value)/2")] : [.response(body: [1])]
        }
        port.update { $0 = origin.port }
        let client = try client(netrc: "machine a.test login a password 1")
        var request = try request("http://a.test:\(origin.port)/1")
        request.fields = [("User-Agent", "mine"), ("Accept", "a/b"), ("Accept-Language", "de"), ("Referer", "r"), ("X-Key", "k")]
        _ = try await client.fetch(request, bodyLimit: 10)
        for name in ["User-Agent", "Accept", "Accept-Language", "Referer"] {
            let values = origin.requests.map { $0[name] }
            #expect(values[0] == values[1] && values[0] != nil)
        }
        #expect(origin.requests.map { $0["X-Key"] } == ["k", nil])
        #expect(origin.requests.map { $0["Authorization"] } == ["Basic YTox", nil])
        let changed = try NetrcFile(parsing: Array("machine b.test login b password 2".utf8))
        client.changeCredentials {
            $0.netrc = changed
            $0.userAgent = "operator"
        }
        request.fields = []
        _ = try await client.fetch(request, bodyLimit: 10)
        #expect(origin.requests.dropFirst(2).map { $0["Authorization"] } == [nil, "Basic Yjoy"])
        #expect(origin.requests.dropFirst(2).map { $0["User-Agent"] } == ["operator", "operator"])
        // What is no request for an origin gets nothing of that.
        request.isForOrigin = false
        _ = try await client.fetch(request, bodyLimit: 10)
        #expect(origin.requests.dropFirst(4).map { $0["Authorization"] } == [nil, nil])
        #expect(origin.requests.dropFirst(4).map { $0["User-Agent"] } == ["pawl", "pawl"])
    }
}
