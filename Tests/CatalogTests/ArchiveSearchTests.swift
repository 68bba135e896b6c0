import HTTPClient
import HTTPCore
import TestSupport
import Testing

@testable import Catalog

/// Requests to the Internet Archive, and the reading of its results.
@Suite(.timeLimit(.minutes(3)))
struct ArchiveSearchTests {
    private static let fields =
        ["identifier", "title", "creator", "mediatype", "collection", "date", "year", "runtime", "licenseurl"]
        .map { "&fl%5B%5D=\($0)" }.joined()

    private func response(_ docs: String, _ text: String = "source=archive&term=a") async throws -> SearchResponse {
        let bench = Bench { _ in .success(.with(type: "application/json", "{\"response\":{\"numFound\":1,\"docs\":[\(docs)]}}")) }
        return try await bench.catalog.search(try query(text))
    }

    private func item(_ doc: String) async throws -> SearchItem {
        try #require(try await response(doc).items.first)
    }

    @Test(
        "A search requests a page in the language of the index, without scripts",
        arguments: [
            ("term=live+jazz", "(live jazz)", "rows=50&page=1"),
            ("term=a&media=all&limit=20&offset=40", "(a)", "rows=20&page=3"),
            ("term=a&media=audio&limit=1", "(a) AND mediatype:(audio OR etree)", "rows=1&page=1"),
            ("term=a&media=texts", "(a) AND mediatype:(texts)", "rows=50&page=1"),
            ("term=a&limit=50&offset=25", "(a)", "rows=75&page=1"),
        ])
    func aSearchAsksForAPage(text: String, query: String, page: String) async throws {
        let bench = Bench { _ in .failure(.stalled) }
        let search = try CatalogTests.query("source=archive&" + text)
        _ = await failure { () async throws(CatalogError) in try await bench.catalog.search(search) }
        let expected =
            "https://archive.test/advancedsearch.php?q="
            + PercentEncoding.encodeForm(query + " AND -access-restricted-item:(true)") + Self.fields + "&" + page
            + "&output=json"
        #expect(bench.client.requests.value.map(\.url.string) == [expected])
        #expect(!expected.contains("callback"))
    }

    @Test(
        "Sends a term as words, without operators of the index",
        arguments: [
            ("mozart", "mozart"), ("what? (live) [1970]", "what? \\(live\\) \\[1970\\]"), ("a:b", "a\\:b"), ("AC/DC", "AC\\/DC"),
            ("x^2 ~y {z} \\", "x\\^2 \\~y \\{z\\} \\\\"), ("wow!", "wow\\!"),
            // The archive refuses these characters if they are escaped.
            ("rock & roll", "rock roll"), ("a - b", "a b"), ("c++", "c++"), ("-live", "-live"), ("+live", "+live"),
            ("r&b", "r&b"),
            ("--live", "live"), ("a || b", "a b"), ("a -", "a"), ("+", nil), ("- - &&", nil), ("!", nil), ("\"\"", nil),
            ("\"dark star\"", "\"dark star\""), ("7\" single", "7 single"), ("\"dark star\" \"live", "\"dark star\" live"),
            ("\"rock AND roll\"", "\"rock AND roll\""), ("\"a - b\"", "\"a - b\""),
            // Operators of the index.
            ("rock AND", "rock and"), ("NOT me", "not me"), ("this OR that", "this or that"), ("王 菲", "王 菲"), ("*", nil),
            ("♥", "♥"), ("a\u{3000}b", "a b"),
        ] as [(String, String?)])
    func aTermIsTakenAsWords(term: String, expected: String?) {
        let text = ArchiveQuery.text(term: term, media: nil)
        #expect(text == expected.map { "(\($0)) AND -access-restricted-item:(true)" })
    }

    @Test(
        "Refuses a term without words before any request",
        arguments: ["term=-", "term=%22%22", "term=%26+%7C", "term=a&offset=9951", "term=a&limit=200&offset=9801"])
    func aTermWithoutAWordIsRefused(text: String) async throws {
        let bench = Bench { _ in .success(.with("")) }
        let search = try query("source=archive&" + text)
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.search(search) }
        guard case .invalidRequest(let message) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.contains("'archive'") && message.contains(text.contains("offset") ? "10000 together" : "word"))
        #expect(bench.client.count == 0)
    }

    @Test("Each page has the requested number of results, ends with the archive's last one, and is not much larger")
    func pagesHaveTheRequestedResults() {
        for limit in [1, 2, 3, 7, 20, 49, 50, 99, 100, 101, 199, 200] {
            for offset in 0...(10_000 - limit) {
                let page = ArchivePage(offset: offset, limit: limit)
                let first = (page.number - 1) * page.rows
                guard first + page.skipped == offset, page.skipped >= 0, offset + limit <= first + page.rows,
                    first + page.rows <= 10_000, page.number >= 1, page.rows <= max(2 * limit, 24)
                else {
                    Issue.record("offset \(offset), limit \(limit): \(page)")
                    return
                }
            }
        }
    }

    @Test("Adjacent pages neither skip nor repeat results", arguments: [1, 3, 7, 20, 50])
    func pagesSideBySideSkipNothing(limit: Int) async throws {
        // A source of 500 results with the archive's pages.
        let bench = Bench { request in
            let items = (try? QueryItem.parse((request.url.query ?? "").utf8)) ?? []
            let (rows, page) = (
                items.first { $0.name == "rows" }.flatMap { Int($0.value) } ?? 0,
                items.first { $0.name == "page" }.flatMap { Int($0.value) } ?? 0
            )
            let numbers = ((page - 1) * rows)..<min(500, page * rows)
            let docs = numbers.map { "{\"identifier\":\"i\($0)\"}" }.joined(separator: ",")
            return .success(.with(type: "application/json", "{\"response\":{\"docs\":[\(docs)]}}"))
        } configure: {
            $0.longestWait = .seconds(3600)
        }
        var found: [String?] = []
        for offset in stride(from: 13, to: 113, by: limit) {
            let search = try query("source=archive&term=a&limit=\(limit)&offset=\(offset)")
            found += try await bench.catalog.search(search).items.map(\.id)
            bench.clock.advance(by: .seconds(4))
        }
        #expect(found == (13..<(13 + found.count)).map { "archive:i\($0)" })
        #expect(found.count >= 100)
    }

    @Test(
        "Reads the captured responses",
        arguments: [
            ("archive-search-films", 3, "AboutBan1935", "About Bananas", "Castle Films", "1935", 663_000),
            (
                "archive-search-concerts", 5, "gd73-06-10.sbd.hollister.174.sbeok.shnf",
                "Grateful Dead Live at Robert F. Kennedy Stadium on 1973-06-10", "Grateful Dead", "1973", nil
            ),
            ("archive-search-nasa", 4, "A-11464", "A-11464", "NASA Ames Research Center", "1947", nil),
        ] as [(String, Int, String, String, String, String, Int64?)])
    func theCapturedResponsesAreRead(
        file: String, count: Int, identifier: String, name: String, artist: String, date: String, durationMs: Int64?
    ) async throws {
        let body = try Fixture.captured(file)
        let bench = Bench { _ in .success(.with(type: "application/json", body)) }
        let response = try await bench.catalog.search(try query("source=archive&term=a&limit=50"))
        #expect(response.source == "archive")
        #expect(response.attribution == nil)
        #expect(response.items.count == count)
        let first = try #require(response.items.first)
        #expect(first.id == "archive:\(identifier)")
        #expect(first.name == name)
        #expect(first.artist == artist)
        #expect(first.releaseDate == date)
        #expect(first.durationMs == durationMs)
        #expect(first.downloadUrl == nil)
        #expect(first.hasParts)
        #expect(first.partCount == nil)
        #expect(first.pageUrl == "https://archive.test/details/\(identifier)")
        #expect(first.artworkUrl == "https://archive.test/services/img/\(identifier)")
        #expect(first.raw.first == UInt8(ascii: "{") && first.raw.last == UInt8(ascii: "}"))
        #expect(body.contains(first.raw))
    }

    @Test(
        "Reads strings, numbers and lists; texts are plain",
        arguments: [
            (#""title":"A &amp; B""#, "A & B", nil, nil), (#""title":["A","B"]"#, "A", nil, nil),
            (#""title":1984"#, "1984", nil, nil),
            (#""title":"""#, "x", nil, nil), (#""title":[]"#, "x", nil, nil), (#""title":null"#, "x", nil, nil),
            (#""title":{"a":1}"#, "x", nil, nil), (#""creator":["A","B &quot;C&quot;"]"#, "x", "A, B \"C\"", nil),
            (#""creator":[]"#, "x", nil, nil), (#""creator":[1,"B",["C"],null]"#, "x", "1, B", nil),
            (#""collection":["one","two"]"#, "x", nil, "one"), (#""collection":"one""#, "x", nil, "one"),
            (#""title":"<b>A</b>""#, "<b>A</b>", nil, nil),
        ] as [(String, String, String?, String?)])
    func aValueIsAStringANumberOrAList(member: String, name: String, artist: String?, collection: String?) async throws {
        let item = try await item("{\"identifier\":\"x\",\(member)}")
        #expect(item.name == name)
        #expect(item.artist == artist)
        #expect(item.collection == collection)
    }

    @Test(
        "Reads dates, licences and kinds in the archive's forms",
        arguments: [
            (#""date":"2010-09-13T00:00:00Z","year":2010"#, "2010-09-13T00:00:00Z", nil), (#""year":1947"#, "1947", nil),
            (#""year":["1947"]"#, "1947", nil),
            (
                #""licenseurl":"http://creativecommons.org/licenses/by/4.0/""#, nil,
                "http://creativecommons.org/licenses/by/4.0/"
            ),
            (#""licenseurl":"javascript:alert(1)""#, nil, nil), (#""licenseurl":["https://a.test/l"]"#, nil, "https://a.test/l"),
        ] as [(String, String?, String?)])
    func aDateAndALicence(members: String, date: String?, licence: String?) async throws {
        let item = try await item("{\"identifier\":\"x\",\"mediatype\":\"etree\",\(members)}")
        #expect(item.releaseDate == date)
        #expect(item.licenseUrl == licence)
        #expect(item.kind == "etree")
    }

    @Test("A collection has no parts", arguments: [("collection", false), ("account", false), ("audio", true), ("web", true)])
    func aCollectionHasNoParts(kind: String, hasParts: Bool) async throws {
        #expect(try await item("{\"identifier\":\"x\",\"mediatype\":\"\(kind)\"}").hasParts == hasParts)
    }

    @Test("A result without an identifier does not affect the others; a very long title is cut")
    func oddResults() async throws {
        let title = String(repeating: "n\u{300}", count: 100_000)
        let docs =
            #"{"identifier":"@some_user","mediatype":"account"},null,{"title":"a"},{"identifier":"good","title":"\#(title)"}"#
        let found = try await response(docs)
        #expect(found.items.map(\.id) == ["archive:good"])
        #expect(found.items.first?.name?.unicodeScalars.count == 500)
    }

    @Test(
        "Rejects a response without a list despite status 200, and does not cache it",
        arguments: [
            (#"{"error":"[RANGE_OUT_OF_BOUNDS] page and rows lead beyond 10000 results","forensics":{}}"#, "RANGE_OUT_OF_BOUNDS"),
            (#"{"error":{"code":1}}"#, "error"), ("{}", "docs"), ("[]", "docs"), (#"{"response":[]}"#, "docs"),
            (#"{"response":{"docs":{}}}"#, "docs"), (#"{"docs":[]}"#, "docs"), (#"{"response":{"docs":[1]}}"#, "identifier"),
            (#"{"response":{"docs":[{"title":"a"}]}}"#, "identifier"),
            (#"{"response":{"docs":[{"identifier":"../a"}]}}"#, "identifier"),
            ("<html>", "not JSON"), ("callback({})", "not JSON"),
        ])
    func aResponseThatIsNoListIsRejected(body: String, part: String) async throws {
        let bench = Bench { _ in .success(.with(type: "application/json", body)) }
        let search = try query("source=archive&term=a")
        for asked in 1...2 {
            let error = await failure { () async throws(CatalogError) in try await bench.catalog.search(search) }
            guard case .upstreamRejected(let message, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(message.contains(part), "\(message)")
            #expect(bench.client.count == asked)
        }
    }

    @Test(
        "Throttling stops requests to the archive only",
        arguments: [(429, "7", 7), (503, "120", 120), (503, nil, 30), (429, "", 30)] as [(Int, String?, Int)])
    func throttlingLeavesTheArchiveAlone(status: Int, retryAfter: String?, seconds: Int) async throws {
        let fields = retryAfter.map { [(FieldName.retryAfter, $0)] } ?? []
        let bench = Bench { request in
            request.url.host == "archive.test"
                ? .success(.with(status: status, type: nil, fields: fields, "")) : .success(.with(Fixture.song()))
        }
        let search = try query("source=archive&term=a")
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.search(search) }
        #expect(error == .upstreamRateLimited(retryAfter: .seconds(seconds), httpStatus: status))
        #expect(try await bench.catalog.search(try query("term=a")).items.count == 1)
        let again = await failure { () async throws(CatalogError) in try await bench.catalog.lookup("archive:other") }
        #expect(again == .upstreamRateLimited(retryAfter: .seconds(seconds)))
        #expect(bench.client.count == 2)
    }

    @Test("The archive has its own budget of four requests in four seconds")
    func theArchiveHasABudgetOfItsOwn() async throws {
        let bench = Bench { request in
            request.url.host == "archive.test"
                ? .success(.with(type: "application/json", #"{"response":{"docs":[]}}"#)) : .success(.with(Fixture.song()))
        } configure: {
            $0.requestsPerMinute = 1
            $0.longestWait = .zero
        }
        for term in 1...4 { _ = try await bench.catalog.search(try query("source=archive&term=\(term)")) }
        let fifth = try query("source=archive&term=5")
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.search(fifth) }
        #expect(error == .upstreamRateLimited(retryAfter: .seconds(4)))
        // The other budget is unchanged.
        _ = try await bench.catalog.search(try query("term=a"))
        bench.clock.advance(by: .seconds(4))
        _ = try await bench.catalog.search(fifth)
        #expect(bench.client.count == 6)
    }
}
