import HTTPCore
import HTTPServer
import PawlConfiguration
import Testing

@testable import PawlService

@Suite("Tokens, hosts and origins")
struct AccessTests {
    @Test(
        "A token is exactly its bearer credentials",
        arguments: [
            ("Bearer s3cret", true), ("bearer s3cret", true), ("BEARER  s3cret", true),
            ("Bearer s3cre", false), ("Bearer s3cret2", false), ("Bearer S3cret", false), ("Bearer ", false), ("Bearer", false),
            ("Basic s3cret", false), ("s3cret", false), ("", false), ("Bearer s3crets3cret", false), ("Bearer \u{0}", false),
        ])
    func token(authorization: String, isRight: Bool) throws {
        let token = try #require(AccessToken("s3cret"))
        let sent = AccessToken.carried(by: Array(authorization.utf8)[...])
        #expect((sent.map { token.digest.equals(TokenDigest(of: $0)) } ?? false) == isRight)
    }

    @Test(
        "Beyond loopback, requires 16 characters of a token, with a hint for a longer one",
        arguments: [
            ("127.0.0.1", "s3cret", true), ("::1", "s3cret", true), ("127.9.9.9", "t", true), ("0.0.0.0", "s3cret", false),
            ("::", "s3cret", false), ("192.0.2.1", "fifteen-letters", false), ("192.0.2.1", "sixteen-letters!", true),
        ])
    func shortToken(host: String, text: String, isFine: Bool) {
        var configuration = Configuration()
        configuration.server.host = host
        configuration.token = AccessToken(text)
        // It permits a service without a token, not with a bad one.
        configuration.allowsAnonymous = true
        do throws(StartError) {
            try configuration.checkToken()
            #expect(isFine)
        } catch {
            #expect(!isFine)
            #expect("\(error)".contains("openssl rand -hex 32"))
            #expect(!"\(error)".contains(text))
        }
    }

    @Test("A token never describes itself")
    func silence() throws {
        let token = try #require(AccessToken("s3cret"))
        var configuration = Configuration()
        configuration.token = token
        #expect(!"\(token) \(configuration) \(String(reflecting: configuration))".contains("s3cret"))
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("s3cret"))
    }

    @Test("Refuses tokens that no client could send", arguments: ["", "a b", "a\u{7F}", "é", "a\n"])
    func badToken(text: String) {
        #expect(AccessToken(text) == nil)
    }

    @Test(
        "On loopback, accepts loopback names only",
        arguments: [
            ("127.0.0.1", true), ("127.0.0.1:8080", true), ("localhost", true), ("LOCALHOST:1", true), ("[::1]:8080", true),
            ("localhost.", true), ("pawl.localhost:80", true),
            ("evil.example", false), ("evil.example:8080", false), ("127.0.0.1.evil.example", false), ("10.0.0.1", false),
            ("localhost:x", false), ("[::1", false), ("", false), ("::1", true), ("localhostx", false),
            ("::1:80", false), ("localhost:123456", false), ("127.0.0.1:", true),
        ])
    func hosts(authority: String, isOurs: Bool) {
        #expect(allows(authority, bound: "127.0.0.1", []) == isOurs)
    }

    @Test(
        "Bound to all addresses, accepts addresses but no names",
        arguments: [("10.0.0.1:8080", true), ("[2001:db8::1]", true), ("pawl.example", false), ("localhost", true)])
    func unspecified(authority: String, isOurs: Bool) {
        #expect(allows(authority, bound: "0.0.0.0", []) == isOurs)
        #expect(allows(authority, bound: "::", []) == isOurs)
    }

    @Test(
        "--allowed-host adds names, suffixes, or all",
        arguments: [
            ("pawl.example", "pawl.example:9", true), ("pawl.example", "x.pawl.example", false),
            ("*.example", "pawl.example", true), ("*.example", "example", false), ("*", "anything.at.all", true),
            ("pawl.example:8080", "pawl.example", true), ("[::2]", "[::2]:80", true),
        ])
    func allowed(pattern: String, authority: String, isOurs: Bool) throws {
        #expect(allows(authority, bound: "127.0.0.1", [try #require(AllowedHost(parsing: pattern))]) == isOurs)
    }

    private func allows(_ authority: String, bound: String, _ extra: [AllowedHost]) -> Bool {
        var configuration = Configuration()
        configuration.server.host = bound
        configuration.allowedHosts = extra
        var fields = Fields()
        fields.append(.host, authority)
        do throws(Problem) {
            try AccessPolicy(configuration).checkHost(fields)
            return true
        } catch {
            #expect(error.code == .hostNotAllowed)
            return false
        }
    }

    @Test(
        "An allowed origin is a scheme and an authority",
        arguments: [
            ("https://a.example", "https://a.example"), ("HTTPS://A.example:443", "https://a.example"),
            ("http://a.example:8080", "http://a.example:8080"), ("http://[::1]:3000", "http://[::1]:3000"),
        ])
    func origins(text: String, serialized: String) {
        #expect(AllowedOrigin(parsing: text) == .origin(serialized))
    }

    @Test(
        "Refuses other texts as origins",
        arguments: [
            "", "a.example", "https://", "https://a.example/", "https://a.example?x", "https://u@a.example", "null", "ftp://a",
        ])
    func badOrigins(text: String) {
        #expect(AllowedOrigin(parsing: text) == nil)
    }

    @Test(
        "Accepts changes from programs, own pages and allowed origins",
        arguments: [
            (nil, true), ("http://127.0.0.1:8080", true), ("https://127.0.0.1:8080", true), ("https://friend.example", true),
            ("https://evil.example", false), ("null", false), ("http://127.0.0.1:9090", false), ("http://127.0.0.1", false),
            ("file://", false), ("", false),
            // The Kelvin sign is a k in lower case.
            ("https://\u{212a}iosk.example", false), ("https://kiosk.example", true), ("HTTPS://KIOSK.example", true),
        ] as [(String?, Bool)])
    func changes(origin: String?, isAllowed: Bool) {
        let policy = CrossOriginPolicy([.origin("https://friend.example"), .origin("https://kiosk.example")])
        var fields = Fields()
        fields.append(.host, "127.0.0.1:8080")
        if let origin { fields.append(.origin, origin) }
        #expect(policy.allowsChange(by: fields, scheme: nil) == isAllowed)
    }

    @Test(
        "Accepts reads from programs, own pages, allowed origins and followed links",
        arguments: [
            ([:], true), (["Sec-Fetch-Site": "same-origin"], true), (["Sec-Fetch-Site": "none"], true),
            (["Sec-Fetch-Site": "cross-site"], false), (["Sec-Fetch-Site": "same-site"], false),
            (["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"], false),
            (["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"], true),
            (["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"], false),
            (["Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"], false),
            (["Sec-Fetch-Site": "cross-site", "Origin": "https://friend.example"], true),
        ] as [([String: String], Bool)])
    func reads(sent: [String: String], isAllowed: Bool) throws {
        var fields = Fields()
        for (name, value) in sent { fields.append(try #require(FieldName(name)), value) }
        let policy = CrossOriginPolicy([.origin("https://friend.example")])
        #expect(policy.allowsRead(by: fields, isFile: false) == isAllowed)
        // The player of an allowed page does not name its page.
        #expect(policy.allowsRead(by: fields, isFile: true))
        #expect(CrossOriginPolicy([.any]).allowsRead(by: fields, isFile: false))
        #expect(CrossOriginPolicy([]).allowsRead(by: fields, isFile: true) == (isAllowed && sent["Origin"] == nil))
    }

    @Test(
        "A refusal suggests fixing a proxy that replaces Host, and --cors-origin only for possibly foreign pages",
        arguments: [("same-origin", false), ("cross-site", true), (nil, true)] as [(String?, Bool)])
    func advice(site: String?, namesOption: Bool) {
        var fields = Fields()
        fields.append(.host, "backend:8080")
        fields.append(.origin, "https://pawl.example")
        if let site { fields.append(.secFetchSite, site) }
        let text = CrossOriginPolicy([]).refusal(of: fields)
        #expect(
            text.contains("'https://pawl.example'") && text.contains("'backend:8080'")
                && text.contains("pass on the original Host"))
        #expect(text.contains("--cors-origin") == namesOption)
    }

    @Test(
        "If a proxy names the scheme, the own page has it",
        arguments: [("http", "http://pawl.example"), ("https", "https://pawl.example"), ("https", "https://pawl.example:443")])
    func ownScheme(scheme: String, origin: String) {
        let policy = CrossOriginPolicy([])
        var fields = Fields()
        fields.append(.host, origin.hasSuffix(":443") ? "pawl.example:443" : "pawl.example")
        fields.append(.origin, origin.hasSuffix(":443") ? "https://pawl.example" : origin)
        #expect(policy.allowsChange(by: fields, scheme: scheme))
        #expect(!policy.allowsChange(by: fields, scheme: scheme == "http" ? "https" : "http"))
    }

    @Test(
        "The default port of a scheme is optional in origins and hosts",
        arguments: [
            ("pawl.example", "https://pawl.example", true), ("pawl.example", "https://pawl.example:443", true),
            ("pawl.example:443", "https://pawl.example", true), ("pawl.example:80", "http://pawl.example", true),
            ("pawl.example", "http://pawl.example:80", true), ("PAWL.example", "HTTPS://Pawl.Example:443", true),
            ("pawl.example", "https://pawl.example:80", false), ("pawl.example", "http://pawl.example:443", false),
            ("pawl.example:443", "http://pawl.example", false), ("pawl.example", "https://pawl.example:8443", false),
            ("pawl.example", "https://friend.example:443", true), ("pawl.example", "https://friend.example:80", false),
        ])
    func usualPorts(host: String, origin: String, isAllowed: Bool) {
        let policy = CrossOriginPolicy([.origin("https://friend.example")])
        var fields = Fields()
        fields.append(.host, host)
        fields.append(.origin, origin)
        #expect(policy.allowsChange(by: fields, scheme: nil) == isAllowed)
        fields.append(.origin, origin)
        #expect(!policy.allowsChange(by: fields, scheme: nil))
    }
}
