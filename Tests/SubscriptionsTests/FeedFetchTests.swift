import Catalog
import DownloadCore
import HTTPClient
import HTTPCore
import System
import TestSupport
import Testing

@testable import Subscriptions

/// Checks of feeds over https, with responses by address.
@Suite("Fetches of feeds")
struct FeedFetchTests {
    private final class Responses: UpstreamClient {
        private let responses: [String: (status: Int, location: String?, body: String)]
        let requests = Locked<[String]>([])

        init(_ responses: [String: (status: Int, location: String?, body: String)]) { self.responses = responses }

        func fetch(_ request: ClientRequest, bodyLimit: Int) async throws(ClientError) -> ClientResponse {
            let marks = [
                request.hasLostEncryption ? " plain" : "", request.fields.contains { $0.name == "X-Secret" } ? " secret" : "",
            ]
            requests.withLock { $0.append(request.url.string + marks.joined()) }
            let response = responses[request.url.string] ?? (404, nil, "")
            var fields = Fields()
            if let location = response.location { fields.append(.location, location) }
            let head = ClientResponseHead(
                status: HTTPStatus(response.status), fields: fields, url: request.url, version: .http11, contentLength: nil)
            return ClientResponse(head: head, body: Array(response.body.utf8))
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
            settings.headers = Array(headers)
        }
        var subscription = Subscription(
            id: DownloadID(value: 1), source: .feed(url), settings: settings, at: Timestamp(millisecondsSinceEpoch: 1_000))
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
