import HTTPCore
import HTTPServer
import Testing

@Suite("Statements of proxies about clients")
struct IngressTests {
    /// The result of a request: `address[|port] Host scheme prefix`.
    private func admit(
        _ sent: [(FieldName, String)], from peer: SocketAddress, trusted: [String] = ["10.0.0.0/8", "::1", "fd00::/8"]
    ) throws -> String {
        var ingress = Ingress()
        ingress.trustedProxies = try trusted.map { try #require(AddressBlock(parsing: $0)) }
        var request = Request()
        request.head.fields.append(.host, "inner")
        for (name, value) in sent { request.head.fields.append(name, value) }
        ingress.admit(&request, from: peer)
        let port = request.peer.port == 0 ? "" : "|\(request.peer.port)"
        let parts = [request.peer.host + port, request.head.fields[.host], request.scheme, request.linkPrefix.text]
        #expect(request.head.fields.count(.host) == 1)
        return parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ")
    }

    private static let all: [(FieldName, String)] = [
        (.xForwardedFor, "203.0.113.9"), (.xForwardedProto, "https"), (.xForwardedHost, "media.example"),
        (.xForwardedPrefix, "/pawl"), (.forwarded, "for=203.0.113.9;proto=https;host=media.example"),
    ]

    @Test(
        "Trusts only trusted proxies",
        arguments: ["11.0.0.1", "127.0.0.1", "192.0.2.1", "::2", "fc00::1", "unix.example"])
    func strangers(peer: String) throws {
        #expect(try admit(Self.all, from: SocketAddress(host: peer, port: 0)) == "\(peer) inner")
        #expect(try admit(Self.all, from: SocketAddress(host: "10.0.0.1", port: 7), trusted: []) == "10.0.0.1|7 inner")
    }

    @Test("Trusts a proxy in any family and spelling of its address, and Unix sockets")
    func trusted() throws {
        for peer in ["10.0.0.1", "10.255.255.255", "::1", "fd12::9", "::ffff:10.0.0.1"] {
            let result = try admit(Self.all, from: SocketAddress(host: peer, port: 1))
            #expect(result == "203.0.113.9 media.example https /pawl", "\(peer)")
        }
        for peer in ["10.0.0.1", "::ffff:10.0.0.1", "::ffff:a00:1"] {
            let result = try admit(Self.all, from: SocketAddress(host: peer, port: 1), trusted: ["::ffff:10.0.0.0/104"])
            #expect(result == "203.0.113.9 media.example https /pawl", "\(peer)")
        }
        for trusted in ["127.0.0.1", "127.0.0.0/8", "::1"] {
            let result = try admit(Self.all, from: SocketAddress(host: "::1", port: 1), trusted: [trusted])
            #expect(result == "203.0.113.9 media.example https /pawl", "\(trusted)")
        }
        #expect(try admit(Self.all, from: .unixSocket, trusted: []) == "203.0.113.9 media.example https /pawl")
        #expect(try admit([], from: .unixSocket, trusted: []) == "unix inner")
        #expect(try admit([], from: SocketAddress(host: "10.0.0.1", port: 7)) == "10.0.0.1|7 inner")
    }

    @Test(
        "Reads X-Forwarded-For from its end to the first address that is no trusted proxy",
        arguments: [
            ("203.0.113.9", "203.0.113.9"), ("198.51.100.1, 203.0.113.9", "203.0.113.9"),
            ("203.0.113.9, 10.0.0.2", "203.0.113.9"), ("1.2.3.4, 203.0.113.9,10.0.0.2 ,\t10.0.0.3", "203.0.113.9"),
            ("10.0.0.5", "10.0.0.5"), ("10.0.0.5, 10.0.0.6", "10.0.0.5"), ("203.0.113.9:4711", "203.0.113.9|4711"),
            ("2001:db8::1", "2001:db8::1"), ("[2001:db8::1]:80", "2001:db8::1|80"), ("[2001:db8::1]", "2001:db8::1"),
            ("::ffff:203.0.113.9", "203.0.113.9"), ("203.0.113.9, ::1", "203.0.113.9"),
            ("203.0.113.9, ::ffff:10.0.0.2", "203.0.113.9"),
            // An invalid address is not trusted, nor are the elements before it.
            ("garbage", "10.0.0.1|7"), ("", "10.0.0.1|7"), (",", "10.0.0.1|7"), ("203.0.113.9, unknown", "10.0.0.1|7"),
            ("203.0.113.9, _hidden, 10.0.0.2", "10.0.0.2"), ("203.0.113.9, 010.0.0.2", "10.0.0.1|7"),
            ("\"203.0.113.9\"", "10.0.0.1|7"),
            ("203.0.113.9:99999", "10.0.0.1|7"), ("203.0.113.9 10.0.0.2", "10.0.0.1|7"),
            // A client cannot hide the proxy's own element.
            ("garbage\", 203.0.113.9", "203.0.113.9"), ("\", 203.0.113.9", "203.0.113.9"),
        ])
    func forwardedFor(value: String, client: String) throws {
        #expect(try admit([(.xForwardedFor, value)], from: SocketAddress(host: "10.0.0.1", port: 7)) == "\(client) inner")
    }

    @Test("Several fields of a name are one list")
    func severalFields() throws {
        let fields: [(FieldName, String)] = [
            (.xForwardedFor, "198.51.100.1"), (.xForwardedFor, "203.0.113.9"), (.xForwardedFor, "10.0.0.2"),
        ]
        #expect(try admit(fields, from: SocketAddress(host: "10.0.0.1", port: 7)) == "203.0.113.9 inner")
        let standard: [(FieldName, String)] = [
            (.forwarded, "for=198.51.100.1"), (.forwarded, "for=203.0.113.9"), (.forwarded, "for=10.0.0.2"),
        ]
        #expect(try admit(standard, from: SocketAddress(host: "10.0.0.1", port: 7)) == "203.0.113.9 inner")
    }

    @Test(
        "Scheme, host and prefix come from the outermost trusted proxy, if valid",
        arguments: [
            (["X-Forwarded-Proto": "HTTPS"], "inner https"), (["X-Forwarded-Proto": "http, https"], "inner https"),
            (["X-Forwarded-Proto": "https, http", "X-Forwarded-For": "203.0.113.9, 10.0.0.2"], "inner https"),
            (["X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9, 10.0.0.2"], "inner https"),
            (["X-Forwarded-Proto": "gopher"], "inner"), (["X-Forwarded-Proto": "https://"], "inner"),
            (["X-Forwarded-Proto": ""], "inner"),
            (["X-Forwarded-Host": "media.example:8443"], "media.example:8443"),
            (["X-Forwarded-Host": "a.example, b.example"], "b.example"),
            (["X-Forwarded-Host": "a.example, b.example", "X-Forwarded-For": "203.0.113.9, 10.0.0.2"], "a.example"),
            (["X-Forwarded-Host": "evil.example/x"], "inner"), (["X-Forwarded-Host": "a b"], "inner"),
            (["X-Forwarded-Host": "a:b"], "inner"),
            (["X-Forwarded-Prefix": "/pawl/"], "inner /pawl"), (["X-Forwarded-Prefix": "/"], "inner"),
            (["X-Forwarded-Prefix": "/evil, /pawl"], "inner /pawl"),
            (["X-Forwarded-Prefix": "/outer, /inner", "X-Forwarded-For": "203.0.113.9, 10.0.0.2"], "inner /outer/inner"),
            (["X-Forwarded-Prefix": "//evil.example"], "inner"), (["X-Forwarded-Prefix": "/a/../b"], "inner"),
            (["X-Forwarded-Prefix": "/<script>"], "inner"), (["X-Forwarded-Prefix": "pawl"], "inner"),
        ])
    func others(sent: [String: String], expected: String) throws {
        let fields = try sent.map { (try #require(FieldName($0.key)), $0.value) }
        let result = try admit(fields, from: SocketAddress(host: "10.0.0.1", port: 0))
        #expect(result.split(separator: " ").dropFirst().joined(separator: " ") == expected)
    }

    @Test(
        "Reads Forwarded from its end as well, and ignores it if malformed",
        arguments: [
            ("for=203.0.113.9;proto=https;host=media.example", "203.0.113.9 media.example https"),
            ("for=198.51.100.1;host=evil.example, for=203.0.113.9;proto=https", "203.0.113.9 inner https"),
            (
                "for=203.0.113.9;host=media.example;proto=https, for=10.0.0.2;host=between;proto=http",
                "203.0.113.9 media.example https"
            ),
            ("for=203.0.113.9, for=10.0.0.2;host=between;proto=http", "203.0.113.9 between http"),
            ("for=\"[2001:db8::1]:4711\"", "2001:db8::1|4711 inner"), ("for=unknown;proto=https", "10.0.0.1|7 inner https"),
            ("for=203.0.113.9, for=_hidden", "10.0.0.1|7 inner"), ("proto=https", "10.0.0.1|7 inner https"),
            ("for=203.0.113.9;proto=ftp", "203.0.113.9 inner"), ("for=203.0.113.9; proto=https", "10.0.0.1|7 inner"),
            ("for=203.0.113.9, for=10.0.0.2:80", "10.0.0.1|7 inner"), ("for=203.0.113.9;host=\"a b\"", "10.0.0.1|7 inner"),
            ("\"garbage, for=203.0.113.9", "10.0.0.1|7 inner"),
        ])
    func standard(value: String, expected: String) throws {
        #expect(try admit([(.forwarded, value)], from: SocketAddress(host: "10.0.0.1", port: 7)) == expected)
    }

    @Test(
        "If both kinds contradict each other, ignores both, since one is the client's",
        arguments: [
            ("for=198.51.100.1", "203.0.113.9", "10.0.0.1|7 inner"), ("for=203.0.113.9", "203.0.113.9", "203.0.113.9 inner"),
            ("for=bad value", "203.0.113.9", "203.0.113.9 inner"), ("for=198.51.100.1", "garbage", "198.51.100.1 inner"),
        ])
    func contradictions(forwarded: String, forwardedFor: String, expected: String) throws {
        let peer = SocketAddress(host: "10.0.0.1", port: 7)
        #expect(try admit([(.forwarded, forwarded), (.xForwardedFor, forwardedFor)], from: peer) == expected)
        let host = try admit(
            [(.forwarded, "host=localhost;proto=http"), (.xForwardedHost, "a"), (.xForwardedProto, "https")], from: peer)
        #expect(host == "10.0.0.1|7 inner")
    }

    @Test(
        "Links begin with the base path and the prefix that a proxy removed",
        arguments: [
            ("/pawl/downloads", "", "/downloads", "/pawl", true), ("/pawl", "", "", "/pawl", true),
            ("/pawl/", "", "/", "/pawl", true),
            ("/downloads", "", "/downloads", "/pawl", false), ("/pawlow", "", "/pawlow", "/pawl", false),
            ("/downloads", "/pawl", "/downloads", "/pawl", true), ("/pawl/downloads", "/pawl", "/downloads", "/pawl", true),
            ("/pawl/downloads", "/outer", "/downloads", "/outer/pawl", true),
            ("/downloads", "/outer/pawl", "/downloads", "/outer/pawl", true),
            ("/pawl/downloads", "/outer/pawl", "/downloads", "/outer/pawl", true),
            ("/downloads", "//evil", "/downloads", "/pawl", false),
        ])
    func basePath(target: String, stripped: String, path: String, prefix: String, isBelow: Bool) throws {
        var ingress = Ingress()
        ingress.trustedProxies = [try #require(AddressBlock(parsing: "127.0.0.1"))]
        ingress.basePath = try #require(PathPrefix(parsing: "/pawl"))
        var request = Request(head: RequestHead(target: try RequestTarget(target)))
        if !stripped.isEmpty { request.head.fields.append(.xForwardedPrefix, stripped) }
        ingress.admit(&request, from: SocketAddress(host: "127.0.0.1", port: 1))
        #expect(Array(request.head.target.rawPath) == Array(path.utf8))
        #expect(request.linkPrefix.text == prefix)
        #expect(request.isBelowBasePath == isBelow)
    }
}
