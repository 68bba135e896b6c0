import Catalog
import HTTPClient
import HTTPCore
import TestSupport
import Testing

/// Requests to sources, and the handling of their responses.
@Suite(.timeLimit(.minutes(3)))
struct UpstreamTests {
    @Test(
        "A search requests its source",
        arguments: [
            ("term=jack+johnson", "https://itunes.test/search?term=jack+johnson&limit=50"),
            ("term=a%26callback%3Df%23%2B", "https://itunes.test/search?term=a%26callback%3Df%23%2B&limit=50"),
            ("term=bj%C3%B6rk&limit=5", "https://itunes.test/search?term=bj%C3%B6rk&limit=5"),
            (
                "offset=10&explicit=No&lang=ja_jp&country=jp&attribute=songTerm&entity=song&media=music&term=a&session=s&include=raw",
                "https://itunes.test/search?term=a&media=music&entity=song&attribute=songTerm&country=JP&lang=ja_jp&explicit=No"
                    + "&limit=50&offset=10"
            ),
            ("source=posts&term=sunt&limit=3", "https://posts.test/base/posts"),
        ])
    func aSearchAsksItsSource(text: String, expected: String) async throws {
        let bench = Bench { _ in .failure(.stalled) }
        let search = try query(text)
        _ = await failure { () async throws(CatalogError) in try await bench.catalog.search(search) }
        #expect(bench.client.requests.value.map(\.url.string) == [expected])
    }

    @Test("A request has time limits and accepts compressed responses")
    func aRequestIsBoundedInTimeAndTakesCompressedAnswers() async throws {
        let bench = Bench { _ in .failure(.stalled) }
        let search = try query("term=a")
        _ = await failure { () async throws(CatalogError) in try await bench.catalog.search(search) }
        let request = try #require(bench.client.requests.value.first)
        #expect(request.method == "GET")
        #expect(request.acceptsEncodings)
        #expect(request.connectTimeout == .seconds(5))
        #expect(request.totalTimeout == .seconds(10))
        #expect(request.fields.map(\.name) == ["Accept"])
    }

    @Test(
        "A failed transfer is an error of its kind, and not cached",
        arguments: [
            (ClientError.timedOut("x"), CatalogError.upstreamTimeout("")),
            (.stalled, .upstreamTimeout("")),
            (.connectionFailed("x"), .upstreamUnreachable("")),
            (.tls("x"), .upstreamUnreachable("")),
            (.transferBroken("x"), .upstreamUnreachable("")),
            (.cancelled, .upstreamUnreachable("")),
            (.destinationForbidden("x"), .upstreamUnreachable("")),
            (.bodyTooLarge(8), .upstreamRejected("")),
            (.invalidResponse("x"), .upstreamRejected("")),
            (.unsupportedEncoding("x"), .upstreamRejected("")),
            (.tooManyRedirects(status: 302), .upstreamRejected("")),
            (.unsupportedScheme(status: 302, "x"), .upstreamRejected("")),
        ])
    func aFailedTransferIsAnErrorOfItsKindAndNeverKept(transfer: ClientError, expected: CatalogError) async throws {
        let bench = Bench { _ in .failure(transfer) }
        let search = try query("term=a")
        for asked in 1...2 {
            let error = await failure { () async throws(CatalogError) in try await bench.catalog.search(search) }
            #expect(error?.kind == expected.kind)
            #expect(bench.client.count == asked)
            #expect(bench.catalog.cached(search) == nil)
        }
    }

    static let good = #"{"resultCount":0,"results":[]}"#

    @Test(
        "Rejects a bad response and does not cache it",
        arguments: [
            // Status.
            (500, "application/json", good, "500"),
            (404, "text/html", "<html>", "404"),
            (304, "application/json", "", "304"),
            (
                400, "application/json",
                #"{"errorMessage":"Invalid value(s) for key(s): [country]","queryParameters":{"country":"XX"}}"#,
                "400: Invalid value(s) for key(s): [country]"
            ),
            // Media type.
            (200, nil, good, "without a media type"),
            (200, "text/html", good, "text/html"),
            (200, "text/plain", good, "text/plain"),
            (200, "text/javascriptx", good, "text/javascript or application/json"),
            (200, "", good, "media type"),
            // Shape.
            (200, "text/html; charset=utf-8", "<!DOCTYPE html><title>Oops</title>", "text/html"),
            (200, "text/javascript", "<!DOCTYPE html><title>Oops</title>", "not JSON"),
            (200, "text/javascript", "[newNullResponse]", "not JSON"),
            (200, "text/javascript", "", "not JSON"),
            (200, "text/javascript", #"callback({"resultCount":0,"results":[]})"#, "not JSON"),
            (200, "text/javascript", #"{"resultCount":0,"results":["#, "not JSON"),
            (200, "text/javascript", #"{"errorMessage":"Try later","results":[]}"#, "Try later"),
            (
                200, "text/javascript", #"{"errorMessage":"\#(String(repeating: "x", count: 900_000))"}"#,
                "error: \(String(repeating: "x", count: 500))…"
            ),
            (200, "text/javascript", #"{"resultCount":0}"#, "results"),
            (200, "text/javascript", "{}", "results"),
            (200, "text/javascript", "[]", "results"),
            (200, "text/javascript", "null", "results"),
            (200, "text/javascript", #"{"resultCount":1,"results":null}"#, "results"),
            (200, "text/javascript", #"{"resultCount":1,"results":{}}"#, "results"),
            (200, "text/javascript", #"{"resultCount":"one","results":[]}"#, "resultCount"),
            (200, "text/javascript", #"{"resultCount":-1,"results":[]}"#, "resultCount"),
            (200, "text/javascript", #"{"resultCount":1,"results":["a"]}"#, "not an object"),
            (200, "text/javascript", #"{"resultCount":2,"results":[{},null]}"#, "not an object"),
        ])
    func aBadAnswerIsRejectedAndNeverKept(status: Int, type: String?, body: String, part: String) async throws {
        let bench = Bench { _ in .success(.with(status: status, type: type, body)) }
        let search = try query("term=a")
        for asked in 1...2 {
            let error = await failure { () async throws(CatalogError) in try await bench.catalog.search(search) }
            guard case .upstreamRejected(let message, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(message.contains(part), "\(message)")
            #expect(bench.client.count == asked)
            #expect(bench.catalog.cached(search) == nil)
        }
    }

    @Test(
        "Rejects a bad response with posts",
        arguments: [
            (200, "text/html", Fixture.posts), (500, "application/json", Fixture.posts), (200, "text/javascript", Fixture.posts),
            (200, "application/json", "{}"), (200, "application/json", "[1]"), (200, "application/json", "["),
        ])
    func aBadAnswerWithPostsIsRejected(status: Int, type: String, body: String) async throws {
        let bench = Bench { _ in .success(.with(status: status, type: type, body)) }
        let search = try query("source=posts&term=a")
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.search(search) }
        #expect(error?.kind == "upstreamRejected")
    }

    @Test(
        "Accepts Apple's media types",
        arguments: ["text/javascript; charset=utf-8", "TEXT/JavaScript", "application/json", "application/json;charset=UTF-8"])
    func theTypesThatAppleUsesAreAccepted(type: String) async throws {
        let bench = Bench { _ in .success(.with(type: type, Self.good)) }
        _ = try await bench.catalog.search(try query("term=a"))
    }

    @Test("Rejects deep nesting without a trap")
    func deepNestingIsRejectedAndDoesNotTrap() async throws {
        let bomb = "{\"results\":" + String(repeating: "[", count: 200_000)
        let bench = Bench { _ in .success(.with(bomb)) }
        let search = try query("term=a")
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.search(search) }
        #expect(error?.kind == "upstreamRejected")
    }

    @Test(
        "Throttling stops requests to the source",
        arguments: [
            (403, "", nil, 30), (403, "<html>Forbidden</html>", nil, 30), (403, good, nil, 30), (429, "", nil, 30),
            (429, "slow down", "7", 7), (403, "", "120", 120), (429, "", "99999", 300),
            (503, "", "120", 120), (503, "", "Wed, 21 Oct 2026 07:28:00 GMT", 30),
            (429, "", "0", 30), (429, "", "Wed, 21 Oct 2026 07:28:00 GMT", 30),
        ])
    func throttlingLeavesTheSourceAlone(status: Int, body: String, retryAfter: String?, seconds: Int) async throws {
        let fields = retryAfter.map { [(FieldName.retryAfter, $0)] } ?? []
        let response = ClientResponse.with(status: status, type: nil, fields: fields, body)
        let bench = Bench { request in
            request.url.string.contains("term=first") ? .success(response) : .success(.with(Self.good))
        }
        let (first, second) = (try query("term=first"), try query("term=second"))
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.search(first) }
        #expect(error == .upstreamRateLimited(retryAfter: .seconds(seconds), httpStatus: status))

        // No search is sent before the time is over, and each gets the remaining time.
        bench.clock.advance(by: .seconds(1))
        let later = await failure { () async throws(CatalogError) in try await bench.catalog.search(second) }
        #expect(later == .upstreamRateLimited(retryAfter: .seconds(seconds - 1)))
        #expect(bench.client.count == 1)

        bench.clock.advance(by: .seconds(seconds - 1))
        _ = try await bench.catalog.search(second)
        #expect(bench.client.count == 2)
    }

    @Test("503 is throttling with `Retry-After` only, for the posts as well")
    func unavailableSources() async throws {
        for (delay, kind, count) in [("7", "upstreamRateLimited", 1), (nil, "upstreamRejected", 2)] as [(String?, String, Int)] {
            let fields = delay.map { [(FieldName.retryAfter, $0)] } ?? []
            let bench = Bench { _ in .success(.with(status: 503, type: nil, fields: fields, "")) }
            for term in ["a", "b"] {
                let search = try query("source=posts&term=\(term)")
                let error = await failure { () async throws(CatalogError) in try await bench.catalog.search(search) }
                #expect(error?.kind == kind)
            }
            #expect(bench.client.count == count)
        }
    }

    @Test("Throttling by one source does not affect another")
    func throttlingByOneSourceDoesNotCloseTheOther() async throws {
        let bench = Bench { request in
            request.url.host == "posts.test"
                ? .success(.with(type: "application/json", Fixture.posts)) : .success(.with(status: 403, type: nil, ""))
        }
        let search = try query("term=a")
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.search(search) }
        #expect(error?.kind == "upstreamRateLimited")
        #expect(try await bench.catalog.search(try query("source=posts&term=sunt")).items.count == 1)
    }
}

extension CatalogError {
    /// The case without its associated value.
    var kind: String {
        switch self {
        case .invalidRequest: "invalidRequest"
        case .superseded: "superseded"
        case .notFound: "notFound"
        case .destinationForbidden: "destinationForbidden"
        case .upstreamRejected: "upstreamRejected"
        case .upstreamUnreachable: "upstreamUnreachable"
        case .upstreamRateLimited: "upstreamRateLimited"
        case .upstreamTimeout: "upstreamTimeout"
        case .cancelled: "cancelled"
        }
    }
}
