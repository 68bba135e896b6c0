import Catalog
import HTTPClient
import HTTPCore
import TestSupport
import Testing

/// Cached responses, and the reading of lookups and posts.
@Suite(.timeLimit(.minutes(3)))
struct MemoryTests {
    @Test("A response stays fresh for five minutes")
    func anAnswerIsCurrentForFiveMinutes() async throws {
        let bench = Bench { _ in .success(.with(Fixture.song())) }
        let search = try query("term=a")
        #expect(bench.catalog.cached(search) == nil)
        let answer = try await bench.catalog.search(search)
        #expect(answer.expires == bench.clock.now.advanced(by: .seconds(300)))
        #expect(answer.freshness(at: bench.clock.now) == .seconds(300))

        bench.clock.advance(by: .seconds(299))
        #expect(bench.catalog.cached(search)?.freshness(at: bench.clock.now) == .seconds(1))
        _ = try await bench.catalog.search(search)
        #expect(bench.client.count == 1)

        bench.clock.advance(by: .seconds(1))
        #expect(answer.freshness(at: bench.clock.now) == .zero)
        #expect(bench.catalog.cached(search) == nil)
        _ = try await bench.catalog.search(search)
        #expect(bench.client.count == 2)
    }

    @Test("Evicts the least recently used listing first")
    func theAnswerThatWasNotUsedForTheLongestTimeGoesFirst() async throws {
        let bench = Bench { _ in
            .success(.with(Fixture.song()))
        } configure: {
            $0.cacheEntries = 2
        }
        let (a, b, c) = (try query("term=a"), try query("term=b"), try query("term=c"))
        _ = try await bench.catalog.search(a)
        _ = try await bench.catalog.search(b)
        #expect(bench.catalog.cached(a) != nil)
        _ = try await bench.catalog.search(c)
        #expect(bench.catalog.cached(a) != nil)
        #expect(bench.catalog.cached(b) == nil)
        #expect(bench.catalog.cached(c) != nil)
    }

    @Test("Limits the bytes of all listings")
    func theBytesOfAllAnswersAreBounded() async throws {
        let bench = Bench { _ in
            .success(.with(Fixture.song(1, name: String(repeating: "x", count: 1_000))))
        } configure: {
            $0.cacheBytes = 9_000
        }
        let terms = try (0..<10).map { try query("term=\($0)") }
        for term in terms { _ = try await bench.catalog.search(term) }
        #expect(terms.filter { bench.catalog.cached($0) != nil }.count == 2)
        #expect(bench.catalog.cached(terms[9]) != nil)
    }

    @Test("Refuses a listing larger than the cache, which would be requested each time")
    func anAnswerLargerThanTheMemoryIsRefused() async throws {
        let bench = Bench { _ in
            .success(.with(Fixture.song()))
        } configure: {
            $0.cacheBytes = 10
        }
        let search = try query("term=a")
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.search(search) }
        guard case .upstreamRejected(let message, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.contains("larger than the cache"))
        #expect(bench.catalog.cached(search) == nil)
    }

    // MARK: Posts

    private static let posts = FakeClient.Outcome.success(.with(type: "application/json; charset=utf-8", Fixture.posts))

    @Test(
        "Searches posts in title and body",
        arguments: [
            ("term=suscipit", [1, 3]), ("term=SUSCIPIT", [1, 3]), ("term=sunt", [1]), ("term=qui", [1, 2]),
            ("term=%C3%BCber", [2]), ("term=et+suscipit", [1]), ("term=nothing", []), ("term=suscipit&limit=1", [1]),
            ("term=suscipit&limit=1&offset=1", [3]), ("term=suscipit&offset=2", []), ("term=facere+quia", []),
        ] as [(String, [Int])])
    func postsAreSearchedInTitleAndBody(text: String, ids: [Int]) async throws {
        let bench = Bench { _ in Self.posts }
        let answer = try await bench.catalog.search(try query("source=posts&\(text)"))
        #expect(answer.items.map(\.id) == ids.map { "posts:\($0)" })
        #expect(answer.attribution == nil)
    }

    @Test("Maps a post to the members of the contract")
    func aPostIsMappedAsTheContractSays() async throws {
        let bench = Bench { _ in Self.posts }
        let item = try #require(try await bench.catalog.search(try query("source=posts&term=sunt")).items.first)
        #expect(item.kind == "post")
        #expect(item.name == "Sunt aut facere")
        #expect(item.downloadUrl == "https://posts.test/base/posts/1")
        #expect(
            String(decoding: item.raw, as: UTF8.self)
                == #"{"userId":1,"id":1,"title":"Sunt aut facere","body":"quia et suscipit\nsuscipit recusandae"}"#)
    }

    @Test("One request serves all terms and lookups of posts")
    func oneRequestServesAllTermsAndLookupsOfPosts() async throws {
        let bench = Bench { _ in Self.posts }
        _ = try await bench.catalog.search(try query("source=posts&term=sunt"))
        #expect(bench.catalog.cached(try query("source=posts&term=qui"))?.items.count == 2)
        _ = try await bench.catalog.lookup("posts:3")
        #expect(bench.client.count == 1)
    }

    @Test("Hides the password of the base URL")
    func aPasswordInTheBaseIsNotShown() async throws {
        let bench = Bench { _ in
            Self.posts
        } configure: {
            $0.bases["posts"] = url("https://user:secret@posts.test/")
        }
        let item = try #require(try await bench.catalog.search(try query("source=posts&term=sunt")).items.first)
        #expect(item.downloadUrl == "https://posts.test/posts/1")
    }

    // MARK: Lookup

    @Test(
        "A lookup requests one item",
        arguments: [
            (
                "itunes:263301273", "https://itunes.test/lookup?id=263301273",
                #"{"wrapperType":"track","kind":"song","trackId":263301273,"collectionId":5,"artistId":6}"#
            ),
            (
                "itunes:collection:5", "https://itunes.test/lookup?id=5",
                #"{"wrapperType":"collection","collectionId":5,"artistId":6}"#
            ),
            ("itunes:artist:6", "https://itunes.test/lookup?id=6", #"{"wrapperType":"artist","artistId":6}"#),
        ])
    func aLookupAsksForOneItem(id: String, expected: String, result: String) async throws {
        let bench = Bench { _ in .success(.with("{\"resultCount\":1,\"results\":[\(result)]}")) }
        let answer = try await bench.catalog.lookup(id)
        #expect(bench.client.requests.value.map(\.url.string) == [expected])
        #expect(answer.items.map(\.id) == [id])
        #expect(answer.term == id)
        #expect(answer.source == "itunes")
        #expect(answer.limit == 1)
        #expect(answer.attribution == "provided courtesy of iTunes")
    }

    @Test(
        "A missing item is not found",
        arguments: [
            // An empty result, another item with this number, and a bad id that only the posts lack.
            ("itunes:1", #"{"resultCount":0,"results":[]}"#), ("itunes:1", Fixture.song(2)),
            ("itunes:collection:1", Fixture.song(1)),
        ])
    func missingItemsAreNotFound(id: String, body: String) async throws {
        let bench = Bench { _ in .success(.with(body)) }
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.lookup(id) }
        guard case .notFound(let message) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.contains(id))
    }

    @Test("A missing post is not found")
    func aPostThatIsNotThereIsNotFound() async throws {
        let bench = Bench { _ in Self.posts }
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.lookup("posts:101") }
        #expect(error?.kind == "notFound")
    }

    @Test(
        "Refuses a malformed id",
        arguments: [
            "", "1", "itunes", "itunes:", "itunes:x", "itunes:-1", "itunes:+1", "itunes:01", "itunes:1,2", "itunes: 1",
            "itunes:1 ",
            "itunes:episode:1", "itunes:episode::1", "itunes:episode:1:", "itunes:episode:x:1", "itunes:episode:1:2:3",
            "archive:", "archive:/", "archive:a/", "archive:a b", "archive:..", "archive:a?b", "archive:é", "itunes:collection:",
            "itunes:collection:x", "itunes:album:1", "itunes:artist:1:2", "itunes:9223372036854775808",
            "itunes:0", "itunes:1000000000000000000", "posts:0", "posts:", "posts:x", "posts:collection:1", "spotify:1",
            "ITUNES:1",
            ":1", "itunes:١",
        ])
    func aMalformedIdIsRefused(id: String) async throws {
        let bench = Bench { _ in .success(.with(Fixture.song())) }
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.lookup(id) }
        guard case .invalidRequest(let message) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.contains("'\(id)'") && message.contains("itunes:<number>"))
        #expect(bench.client.count == 0)
    }

    @Test("A lookup of a recent result sends no request")
    func lookupsOfRecentResultsSendNoRequest() async throws {
        let bench = Bench { _ in .success(.with(Fixture.song(42))) }
        _ = try await bench.catalog.search(try query("term=a"))
        #expect(try await bench.catalog.lookup("itunes:42").items.map(\.id) == ["itunes:42"])
        #expect(bench.client.count == 1)
        bench.clock.advance(by: .seconds(300))
        _ = try await bench.catalog.lookup("itunes:42")
        #expect(bench.client.count == 2)
    }
}
