import Catalog
import DownloadCore
import HTTPCore
import System
import TestSupport
import Testing

@testable import HTTPClient
@testable import Subscriptions

/// Checks of feeds over https, with responses by address.
@Suite("Fetches of feeds")
struct FeedFetchTests {
    private final class Responses: UpstreamClient {
        private let responses: [String: (status: Int, location: String?, body: String)]
        let requests = Locked<[String]>([])
        let fields = Locked<[String]>([])
        let limits = Locked<[Duration?]>([])

        init(_ responses: [String: (status: Int, location: String?, body: String)]) { self.responses = responses }

        /// Follows redirects by the rules of the client.
        func fetch(_ request: ClientRequest, bodyLimit: Int) async throws(ClientError) -> ClientResponse {
            limits.withLock { $0.append(request.totalTimeout) }
            var policy = RedirectPolicy(request)
            var hop = Hop(request)
            while true {
                let sent = HopFields(of: hop, in: request, OriginCredentials(), CookieJar(), now: 0).fields.map(\.name)
                let marks = [
                    hop.trust.hasLostEncryption ? " plain" : "", sent.contains("X-Secret") ? " secret" : "",
                    sent.contains("If-None-Match") ? " conditional" : "",
                ]
                requests.withLock { $0.append(hop.url.string + marks.joined()) }
                fields.withLock { $0 += sent }
                let response = responses[hop.url.string] ?? (404, nil, "")
                switch policy.decide(status: HTTPStatus(response.status), location: response.location, hop: hop) {
                case .follow(let next): hop = next
                case .fail(let error): throw error
                case .deliver:
                    var head = ClientResponseHead(
                        status: HTTPStatus(response.status), fields: Fields(), url: hop.url, contentLength: nil)
                    head.permanentURL = hop.permanentURL
                    head.isConditional = sent.contains("If-None-Match")
                    head.trust = hop.trust
                    return ClientResponse(head: head, body: Array(response.body.utf8))
                }
            }
        }
    }

    private static func feed(_ next: String? = nil) -> (status: Int, location: String?, body: String) {
        let move = next.map { "<itunes:new-feed-url>\($0)</itunes:new-feed-url>" } ?? ""
        let body =
            "<rss xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd'><channel><title>a</title>\(move)<item>"
            + "<title>1</title><enclosure url='/1.mp3' type='audio/mpeg'/></item></channel></rss>"
        return (200, nil, body)
    }

    private static func page(_ feed: String) -> (status: Int, location: String?, body: String) {
        (200, nil, "<html><head><link rel=alternate type='application/rss+xml' href='\(feed)'></head></html>")
    }

    private static func moved(_ status: Int, _ location: String) -> (status: Int, location: String?, body: String) {
        (status, location, "")
    }

    /// A page of a feed with one episode.
    private static func part(_ number: Int, _ links: String) -> (status: Int, location: String?, body: String) {
        let body =
            "<rss xmlns:atom='http://www.w3.org/2005/Atom'><channel><title>Page \(number)</title>\(links)<item>"
            + "<guid>\(number)</guid><enclosure url='/\(number).mp3' type='audio/mpeg'/></item></channel></rss>"
        return (200, nil, body)
    }

    private static func link(_ relation: String, _ number: Int) -> String {
        "<atom:link rel='\(relation)' href='/feed?page=\(number)'/>"
    }

    private struct PagesCase: Sendable {
        /// The links of the pages.
        var pages: [String]
        /// The status of the last page.
        var status = 200
        var hasListing = false
        /// The number of items, a part of the warning, and the page with which the next check continues.
        var items: Int
        var warning: String?
        var next: Int?
    }

    @Test(
        "The first listing has all pages of a feed, and tells where they end early",
        arguments: [
            PagesCase(pages: [link("next", 1), link("next", 2) + link("prev-archive", 9), ""], items: 3),
            PagesCase(pages: [link("prev-archive", 1), ""], items: 2),
            PagesCase(pages: [link("next", 1), ""], hasListing: true, items: 1),
            PagesCase(pages: [link("next", 1), link("next", 0) + link("first", 0)], items: 2, warning: "an earlier one"),
            PagesCase(pages: [link("next", 1), ""], status: 404, items: 1, warning: "a.test answered with status 404"),
            PagesCase(pages: [link("next", 1), link("next", 2), ""], status: 503, items: 2, warning: "status 503", next: 2),
            PagesCase(pages: (1...110).map { link("next", $0) }, items: 100, warning: "only the first 100"),
        ])
    private func pages(_ test: PagesCase) async throws {
        var responses: [String: (status: Int, location: String?, body: String)] = [:]
        for (number, links) in test.pages.enumerated() {
            responses["\(Self.start)\(number == 0 ? "" : "?page=\(number)")"] = Self.part(number, links)
        }
        responses["\(Self.start)?page=0"] = responses[Self.start]
        let last = "\(Self.start)?page=\(test.pages.count - 1)"
        responses[last]?.status = test.status
        let url = try #require(HTTPURL(Self.start))
        var subscription = Subscription(
            id: RecordID(value: 1), source: .feed(url), settings: Subscription.Settings(),
            at: Timestamp(millisecondsSinceEpoch: 1_000))
        subscription.hasListing = test.hasListing
        let fetch = FeedFetch(client: Responses(responses), destinationGuard: nil, subscription: subscription)
        guard case .listed(let listing) = await fetch.run(url) else { return #expect(Bool(false), "no listing") }
        #expect(listing.items.count == test.items && listing.name == "Page 0")
        #expect(listing.warnings.isEmpty == (test.warning == nil))
        #expect(test.warning.map { listing.warnings.joined().contains($0) } ?? true, "\(listing.warnings)")
        #expect(listing.nextPage?.string == test.next.map { "\(Self.start)?page=\($0)" })
        #expect(listing.isComplete == (test.next == nil))
        guard let next = test.next else { return }
        // The next check continues with the page that could not be read.
        responses[last]?.status = 200
        subscription.nextPage = listing.nextPage
        let client = Responses(responses)
        let again = await FeedFetch(client: client, destinationGuard: nil, subscription: subscription).run(url)
        #expect(client.requests.withLock { $0 } == [Self.start, "\(Self.start)?page=\(next)"])
        guard case .listed(let rest) = again else { return #expect(Bool(false), "no listing") }
        #expect(rest.isComplete && rest.items.count == 2 && rest.nextPage == nil)
    }

    @Test("A page that breaks off gives its first items, and is where the next check continues")
    func brokenPage() async throws {
        let url = try #require(HTTPURL(Self.start))
        let pages = (1...3).map { Self.part($0, $0 < 3 ? Self.link("next", $0 + 1) : "") }
        var responses = [Self.start: pages[0], "\(Self.start)?page=2": pages[1], "\(Self.start)?page=3": pages[2]]
        responses["\(Self.start)?page=2"]?.body.removeLast("</channel></rss>".count)
        var subscription = Subscription(
            id: RecordID(value: 1), source: .feed(url), settings: Subscription.Settings(),
            at: Timestamp(millisecondsSinceEpoch: 1_000))
        for isWhole in [false, true] {
            if isWhole { responses["\(Self.start)?page=2"] = pages[1] }
            let fetch = FeedFetch(client: Responses(responses), destinationGuard: nil, subscription: subscription)
            guard case .listed(let listing) = await fetch.run(url) else { return #expect(Bool(false), "no listing") }
            #expect(listing.items.count == 3 && listing.isComplete == isWhole)
            #expect(listing.warnings.joined().contains("breaks off") == !isWhole)
            #expect(listing.nextPage?.query == (isWhole ? nil : "page=2"))
            subscription.nextPage = listing.nextPage
        }
    }

    @Test("Later checks repeat that older pages are left out, while the feed names them", arguments: [true, false])
    func leftOutPages(hasPages: Bool) async throws {
        let url = try #require(HTTPURL(Self.start))
        var subscription = Subscription(
            id: RecordID(value: 1), source: .feed(url), settings: Subscription.Settings(),
            at: Timestamp(millisecondsSinceEpoch: 1_000))
        subscription.hasListing = true
        subscription.warnings = ["Older pages of the feed are left out: x.", "The document breaks off."]
        let client = Responses([Self.start: Self.part(1, hasPages ? Self.link("next", 2) : "")])
        let fetch = FeedFetch(client: client, destinationGuard: nil, subscription: subscription)
        guard case .listed(let listing) = await fetch.run(url) else { return #expect(Bool(false), "no listing") }
        #expect(listing.warnings == (hasPages ? [subscription.warnings[0]] : []) && listing.items.count == 1)
    }

    @Test("A check by a user has no conditions, and a check has five minutes", arguments: [true, false])
    func conditions(isConditional: Bool) async throws {
        let url = try #require(HTTPURL(Self.start))
        var subscription = Subscription(
            id: RecordID(value: 1), source: .feed(url), settings: Subscription.Settings(),
            at: Timestamp(millisecondsSinceEpoch: 1_000))
        subscription.validators = Subscription.Validators(entityTag: "\"a\"", lastModified: "then")
        let client = Responses([Self.start: Self.feed()])
        _ = await FeedFetch(
            client: client, destinationGuard: nil, subscription: subscription, isConditional: isConditional
        ).run(url)
        #expect(client.fields.withLock { $0.contains("If-None-Match") && $0.contains("If-Modified-Since") } == isConditional)
        #expect(client.limits.withLock { $0.allSatisfy { $0.map { $0 > .seconds(240) && $0 <= .seconds(300) } ?? false } })
    }

    @Test(
        "The target of permanent redirects has to give the feed; other targets may answer that nothing has changed",
        arguments: [301, 302])
    func conditionsAfterRedirects(status: Int) async throws {
        let url = try #require(HTTPURL(Self.start))
        var subscription = Subscription(
            id: RecordID(value: 1), source: .feed(url), settings: Subscription.Settings(),
            at: Timestamp(millisecondsSinceEpoch: 1_000))
        subscription.validators.entityTag = "\"a\""
        let client = Responses([Self.start: Self.moved(status, "/b"), "https://a.test/b": (304, nil, "")])
        let outcome = await FeedFetch(client: client, destinationGuard: nil, subscription: subscription).run(url)
        let mark = status == 302 ? " conditional" : ""
        #expect(client.requests.withLock { $0 } == ["\(Self.start) conditional", "https://a.test/b\(mark)"])
        switch outcome {
        case .unchanged: #expect(status == 302)
        case .failed(let failure, _): #expect(status == 301 && failure.message.contains("304"))
        default: Issue.record("\(outcome)")
        }
    }

    @Test(
        "A redirect that cannot be followed is named",
        arguments: [
            ("ftp://a.test/", 302), ("http://", 302), ("/feed", nil),
        ] as [(String, Int?)])
    func badRedirects(location: String, status: Int?) async throws {
        let url = try #require(HTTPURL(Self.start))
        let subscription = Subscription(
            id: RecordID(value: 1), source: .feed(url), settings: Subscription.Settings(),
            at: Timestamp(millisecondsSinceEpoch: 1_000))
        let client = Responses([Self.start: Self.moved(302, location)])
        let outcome = await FeedFetch(client: client, destinationGuard: nil, subscription: subscription).run(url)
        guard case .failed(let failure, _) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(failure.code == "upstream-rejected" && failure.message.hasPrefix("a.test: ") && failure.httpStatus == status)
        #expect(client.requests.withLock { $0.count } == (status == nil ? 11 : 1))
    }

    private struct Case: Sendable {
        var responses: [String: (status: Int, location: String?, body: String)]
        var requests: [String]
        /// The address of the listing; `nil` for a failure.
        var address: String?
        var hasSecrets = false
    }

    private static let start = "https://a.test/feed"

    @Test(
        "After a step from https to http no credentials are sent, and no address is kept",
        arguments: [
            Case(
                responses: [start: moved(301, "http://a.test/b"), "http://a.test/b": feed()],
                requests: [start, "http://a.test/b plain"], address: start),
            Case(
                responses: [
                    start: moved(302, "http://a.test/b"), "http://a.test/b": feed("http://other.test/c"),
                    "http://other.test/c": feed(),
                ], requests: [start, "http://a.test/b plain"], address: start),
            Case(
                responses: [start: feed("http://a.test/c"), "http://a.test/c": feed()], requests: [start], address: start),
            Case(
                responses: [start: feed("https://b.test/c"), "https://b.test/c": feed()],
                requests: [start, "https://b.test/c"], address: "https://b.test/c"),
            Case(
                responses: [
                    start: moved(302, "http://a.test/b"), "http://a.test/b": page("http://other.test/c"),
                    "http://other.test/c": feed(),
                ], requests: [start, "http://a.test/b plain"], address: nil),
            Case(
                responses: [start: page("http://a.test/c"), "http://a.test/c": feed("http://other.test/d")],
                requests: [start, "http://a.test/c plain"], address: "http://a.test/c"),
            Case(
                responses: [
                    start: moved(302, "http://a.test/b"), "http://a.test/b": moved(301, "https://a.test/d"),
                    "https://a.test/d": feed("https://other.test/e"), "https://other.test/e": feed(),
                ], requests: [start, "http://a.test/b plain", "https://a.test/d plain"], address: start),
            // Header fields do not return from another origin, which has chosen the address.
            Case(
                responses: [
                    start: moved(302, "https://b.test/x"), "https://b.test/x": moved(302, "https://a.test/y"),
                    "https://a.test/y": feed("https://a.test/z"), "https://a.test/z": feed(),
                ], requests: ["\(start) secret", "https://b.test/x", "https://a.test/y", "https://a.test/z"],
                address: "https://a.test/z", hasSecrets: true),
            Case(
                responses: [
                    start: moved(308, "https://a.test/y"), "https://a.test/y": feed("https://a.test/z"),
                    "https://a.test/z": feed(),
                ], requests: ["\(start) secret", "https://a.test/y secret", "https://a.test/z secret"],
                address: "https://a.test/z", hasSecrets: true),
            Case(
                responses: [start: moved(302, "http://a.test/b"), "http://a.test/b": feed()],
                requests: ["\(start) secret"], address: nil, hasSecrets: true),
        ])
    private func chain(_ test: Case) async throws {
        let client = Responses(test.responses)
        let url = try #require(HTTPURL(Self.start))
        var settings = Subscription.Settings()
        if test.hasSecrets {
            var headers = RequestHeaders()
            try headers.append(FieldName(constant: "X-Secret"), "s3cret")
            settings.options.headers = headers
        }
        var subscription = Subscription(
            id: RecordID(value: 1), source: .feed(url), settings: settings, at: Timestamp(millisecondsSinceEpoch: 1_000))
        subscription.headersOrigin = test.hasSecrets ? url.origin : nil
        let outcome = await FeedFetch(client: client, destinationGuard: nil, subscription: subscription).run(url)
        #expect(client.requests.withLock { $0 } == test.requests)
        if case .listed(let listing) = outcome {
            #expect(listing.address?.string == test.address)
            #expect(listing.items.count == 1)
        } else {
            #expect(test.address == nil, "\(outcome)")
        }
    }
}
