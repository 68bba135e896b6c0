import HTTPCore
import Testing

@testable import HTTPClient

@Suite
struct RedirectPolicyTests {
    /// A decision as text: "GET https://… fields body", "deliver", or the error's kind.
    static func summary(_ decision: RedirectPolicy.Decision) -> String {
        switch decision {
        case .deliver: "deliver"
        case .fail(let error): error.kind
        case .follow(let hop):
            "\(hop.method) \(hop.url.string)" + (hop.trust.hasLeftOrigin ? "" : " fields") + (hop.sendsBody ? " body" : "")
        }
    }

    static func decide(
        _ status: Int, _ location: String?, from base: String = "http://a.example/x/y?z", method: String = "GET",
        fields: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) throws -> String {
        var request = ClientRequest(url: try url(base))
        request.method = method
        request.fields = fields
        request.body = body.map { .bytes($0) }
        var policy = RedirectPolicy(request)
        return summary(policy.decide(status: HTTPStatus(status), location: location, hop: Hop(request)))
    }

    @Test(
        "Follows only the five redirect statuses",
        arguments: [
            (301, "GET /n"), (302, "GET /n"), (303, "GET /n"), (307, "GET /n"), (308, "GET /n"), (300, "deliver"),
            (304, "deliver"),
            (305, "deliver"), (306, "deliver"), (309, "deliver"), (200, "deliver"), (201, "deliver"), (404, "deliver"),
        ])
    func onlyRedirectStatusesAreFollowed(status: Int, expected: String) throws {
        let result = try Self.decide(status, "/n")
        #expect(result == (expected == "deliver" ? "deliver" : "GET http://a.example/n fields"))
    }

    @Test(
        "Methods and content change as in the Fetch standard",
        arguments: [
            ("POST", 301, "GET http://a.example/n fields"), ("POST", 302, "GET http://a.example/n fields"),
            ("POST", 303, "GET http://a.example/n fields"), ("POST", 307, "POST http://a.example/n fields body"),
            ("POST", 308, "POST http://a.example/n fields body"), ("PUT", 301, "PUT http://a.example/n fields body"),
            ("PUT", 303, "GET http://a.example/n fields"), ("HEAD", 303, "HEAD http://a.example/n fields body"),
        ])
    func methodsChangeAsInFetch(method: String, status: Int, expected: String) throws {
        #expect(try Self.decide(status, "/n", method: method, body: [1]) == expected)
    }

    @Test(
        "Resolves references against the redirecting URL",
        arguments: [
            ("n", "http://a.example/x/n"), ("./n", "http://a.example/x/n"), ("../n", "http://a.example/n"),
            ("../../../n", "http://a.example/n"),
            ("/n?a=b", "http://a.example/n?a=b"), ("?q", "http://a.example/x/y?q"), ("#f", "http://a.example/x/y?z"),
            ("//b.example/n", "http://b.example/n"), ("HTTP://B.example:80", "http://b.example/"),
            ("/a b", "http://a.example/a%20b"),
            ("/é", "http://a.example/%C3%A9"), ("http://b.example/#f", "http://b.example/"),
            ("http://u:p@b.example/", "http://b.example/"),
            ("http://[::1]:8080/", "http://[::1]:8080/"),
            // The origin interprets an invalid escape.
            ("/a%zz%", "http://a.example/a%zz%"),
        ])
    func referencesAreResolvedWhereFound(location: String, expected: String) throws {
        let result = try Self.decide(302, location)
        let kept = expected.hasPrefix("http://a.example/") ? " fields" : ""
        #expect(result == "GET \(expected)\(kept)")
    }

    @Test(
        "Fails on targets that are no http URLs",
        arguments: [
            ("ftp://b.example/", "unsupportedScheme"), ("file:///etc/passwd", "unsupportedScheme"),
            ("FILE:/etc/passwd", "unsupportedScheme"),
            ("javascript:alert(1)", "unsupportedScheme"), ("mailto:a@b.example", "unsupportedScheme"),
            ("data:,x", "unsupportedScheme"),
            ("gopher://127.0.0.1:25/", "unsupportedScheme"),
            ("http:relative", "invalidRedirect 302"), ("http://", "invalidRedirect 302"), ("http:///x", "invalidRedirect 302"),
            ("http://b.example:99999/", "invalidRedirect 302"), ("//", "invalidRedirect 302"),
            ("http://b example/", "invalidRedirect 302"),
            ("http://[::1/", "invalidRedirect 302"), ("/a\\b", "invalidRedirect 302"),
            ("http://b.example\\@c.example/", "invalidRedirect 302"),
        ])
    func badTargetsFail(location: String, kind: String) throws {
        #expect(try Self.decide(302, location) == kind)
    }

    @Test("A redirect without a Location is the final response")
    func missingLocationIsFinal() throws {
        #expect(try Self.decide(302, nil) == "deliver")
        #expect(try Self.decide(302, "") == "deliver")
    }

    @Test(
        "Another origin does not get the caller's fields",
        arguments: [
            "http://b.example/", "http://a.example:8080/", "http://sub.a.example/", "http://a.example./",
        ])
    func otherOriginGetsNoFields(target: String) throws {
        let result = try Self.decide(302, target, fields: [("Authorization", "secret")])
        #expect(result.hasPrefix("GET http://"))
        #expect(!result.contains("fields"))
    }

    @Test("Dropped fields are not sent again to the first origin")
    func droppedFieldsStayDropped() throws {
        let request = ClientRequest(url: try url("http://a.example/"))
        var policy = RedirectPolicy(request)
        guard case .follow(let away) = policy.decide(status: .found, location: "http://b.example/", hop: Hop(request)),
            case .follow(let back) = policy.decide(status: .found, location: "http://a.example/", hop: away)
        else {
            Issue.record("not followed")
            return
        }
        #expect(away.trust.hasLeftOrigin && back.trust.hasLeftOrigin)
    }

    @Test(
        "Conditions are sent until permanent redirects lead to another URL",
        arguments: [
            ([], "a", true), ([301], "b", false), ([308, 301], "c", false), ([302], "a", true), ([303, 301], "a", true),
            ([301, 307], "b", true), ([301, 302, 308], "b", true),
        ] as [([Int], String, Bool)])
    func conditions(statuses: [Int], permanent: String, sendsConditions: Bool) throws {
        var request = ClientRequest(url: try url("https://a.example/"))
        request.conditions = [("If-None-Match", "x")]
        var policy = RedirectPolicy(request)
        var hop = Hop(request)
        for (status, host) in zip(statuses, ["b", "c", "d"]) {
            let decision = policy.decide(status: HTTPStatus(status), location: "//\(host).example/", hop: hop)
            if case .follow(let next) = decision { hop = next }
        }
        #expect(hop.permanentURL.string == "https://\(permanent).example/" && hop.sendsConditions == sendsConditions)
        let fields = HopFields(of: hop, in: request, OriginCredentials(), CookieJar(), now: 0).fields
        #expect(fields.map(\.name) == (sendsConditions ? ["If-None-Match"] : []))
    }

    @Test("Fields of another origin are not sent, and allow the change from https to http")
    func fieldsOfAnotherOrigin() throws {
        var request = ClientRequest(url: try url("https://a.example/"))
        request.fields = [("X-Key", "x"), ("Accept", "x")]
        request.trust.hasLeftOrigin = true
        var policy = RedirectPolicy(request)
        let hop = Hop(request)
        #expect(HopFields(of: hop, in: request, OriginCredentials(), CookieJar(), now: 0).fields.map(\.name) == ["Accept"])
        let decision = policy.decide(status: HTTPStatus(301), location: "http://a.example/", hop: hop)
        guard case .follow(let next) = decision else { return #expect(Bool(false), "not followed") }
        #expect(next.trust.hasLostEncryption && next.permanentURL == hop.url)
    }

    @Test("Content is not sent to another origin")
    func contentStaysAtOrigin() throws {
        #expect(try Self.decide(307, "http://b.example/", method: "POST", body: [1]) == "deliver")
        #expect(try Self.decide(303, "http://b.example/", method: "POST", body: [1]) == "GET http://b.example/")
    }

    @Test("Allows the change from https to http only for requests without secrets")
    func encryptionIsKeptWhereNeeded() throws {
        #expect(try Self.decide(302, "http://b.example/", from: "https://a.example/") == "GET http://b.example/")
        #expect(try Self.decide(302, "https://a.example/", from: "http://a.example/") == "GET https://a.example/")
        #expect(
            try Self.decide(302, "http://b.example/", from: "https://a.example/", fields: [("Cookie", "x")])
                == "destinationForbidden")
        #expect(
            try Self.decide(
                302, "http://b.example/", from: "https://a.example/",
                fields: [("User-Agent", "x"), ("accept", "x"), ("Accept-Language", "x"), ("Referer", "x")])
                == "GET http://b.example/")
        #expect(
            try Self.decide(
                302, "http://b.example/", from: "https://a.example/", fields: [("User-Agent", "x"), ("X-Key", "x")])
                == "destinationForbidden")
        #expect(try Self.decide(302, "http://a.example/", from: "https://u:p@a.example/") == "destinationForbidden")
        #expect(
            try Self.decide(303, "http://a.example/", from: "https://a.example/", method: "POST", body: [])
                == "destinationForbidden")
    }

    @Test("Remembers a loss of encryption, and begins with no answered challenge at each hop")
    func lossOfEncryption() throws {
        let request = ClientRequest(url: try url("https://a.example/"))
        var policy = RedirectPolicy(request)
        var hop = Hop(request)
        hop.answeredChallenges = 2
        var losses = [hop.trust.hasLostEncryption]
        for target in ["https://b.example/", "http://b.example/", "http://c.example/", "https://a.example/"] {
            guard case .follow(let next) = policy.decide(status: .found, location: target, hop: hop) else { break }
            hop = next
            losses.append(hop.trust.hasLostEncryption)
            #expect(hop.answeredChallenges == 0)
        }
        #expect(losses == [false, false, true, true, true])
        var later = request
        later.trust.hasLostEncryption = true
        #expect(Hop(later).trust.hasLostEncryption)
    }

    @Test("Limits the number of redirects", arguments: [0, 1, 10])
    func redirectsAreLimited(maximum: Int) throws {
        var request = ClientRequest(url: try url("http://a.example/"))
        request.maximumRedirects = maximum
        var policy = RedirectPolicy(request)
        var hop = Hop(request)
        for _ in 0..<maximum {
            guard case .follow(let next) = policy.decide(status: .found, location: "/", hop: hop) else {
                Issue.record("given up too early")
                return
            }
            hop = next
        }
        #expect(Self.summary(policy.decide(status: .found, location: "/", hop: hop)) == "tooManyRedirects")
    }

    @Test("User information is sent as a field and never displayed")
    func userInformationIsNotShown() throws {
        let request = ClientRequest(url: try url("http://na%40me:p%3Ass@a.example/x"))
        #expect(Hop(request).url.string == "http://a.example/x")
    }
}
