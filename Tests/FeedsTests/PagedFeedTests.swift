import HTTPCore
import Testing

@testable import Feeds

@Suite("Pages and identities of feeds")
struct PagedFeedTests {
    private static let address = HTTPURL(.https, host: "a.test")

    private func feed(_ items: String, _ channel: String = "") throws -> Feed {
        let text =
            "<rss xmlns:atom='http://www.w3.org/2005/Atom'><channel><title>T</title>\(channel)\(items)</channel></rss>"
        return try Feed(reading: Array(text.utf8), from: Self.address)
    }

    private func item(_ id: String, _ date: String = "", file: String? = nil) -> String {
        let date = date.isEmpty ? "" : "<pubDate>\(date)</pubDate>"
        return "<item><guid>\(id)</guid>\(date)<enclosure url='\(file ?? "/\(id).mp3")' type='audio/mpeg'/></item>"
    }

    @Test(
        "A feed names the page with its older items",
        arguments: [
            ("<atom:link rel='next' href='/2'/>", "https://a.test/2"),
            ("<atom:link rel='prev-archive' href='/3'/>", "https://a.test/3"),
            ("<atom:link rel='prev-archive' href='/3'/><atom:link rel='next' href='/2'/>", "https://a.test/2"),
            ("<atom:link rel='next' href='/2'/><atom:link rel='prev-archive' href='/3'/>", "https://a.test/2"),
            ("<atom:link rel='self' href='/1'/><atom:link rel='last' href='/9'/>", nil),
            ("<atom:link rel='next' href='ftp://a.test/'/>", nil),
        ] as [(String, String?)])
    func links(channel: String, expected: String?) throws {
        #expect(try feed("", channel).next?.string == expected)
    }

    @Test("JSON Feed and Atom name the next page as well")
    func formats() throws {
        let json = #"{"version":"https://jsonfeed.org/version/1.1","next_url":"/2","items":[]}"#
        #expect(try Feed(reading: Array(json.utf8), from: Self.address).next?.string == "https://a.test/2")
        let atom = "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='next' href='/2'/></feed>"
        #expect(try Feed(reading: Array(atom.utf8), from: Self.address).next?.string == "https://a.test/2")
    }

    @Test("Pages make one feed, with every item once and the newest first")
    func merging() throws {
        let next = "<atom:link rel='next' href='/2'/>"
        let first = try feed(item("c", "3 Oct 2024") + item("b", "2 Oct 2024"), next)
        var pages = PagedFeed(first, at: Self.address)
        #expect(pages.next?.path == "/2")
        pages.add(try feed(item("d", "4 Oct 2024") + item("b", "2 Oct 2024") + item("a", "1 Oct 2024")))
        #expect(pages.next == nil && pages.feed.items.map(\.identity) == ["d", "c", "b", "a"])
        #expect(pages.feed.warnings.isEmpty && pages.feed.title == "T")
    }

    @Test("Of items that are dated in the future, the one with the latest date is the newest", arguments: [true, false])
    func futureDates(isReversed: Bool) throws {
        let items = [item("c", "1 Jan 2099"), item("b", "1 Jan 2090"), item("a", "2 Jan 2020"), item("z", "1 Jan 2020")]
        let document = isReversed ? items.reversed().joined() : items.joined()
        #expect(try feed(document).items.map(\.identity) == ["c", "b", "a", "z"])
    }

    @Test("A warning of pages that are left out is one sentence, and is recognised")
    func ends() throws {
        var pages = PagedFeed(try feed("", "<atom:link rel='next' href='/2'/>"), at: Self.address)
        pages.end("a.test answered with status 404.")
        let warning = "Older pages of the feed are left out: a.test answered with status 404."
        #expect(pages.feed.warnings == [warning] && pages.next == nil)
        #expect(PagedFeed.isEnd(warning) && !PagedFeed.isEnd("The document breaks off after 1 items: x."))
    }

    @Test(
        "An id that is the address of the file names no item beside it",
        arguments: [
            (nil, "/1.mp3?t=x", true), ("https://a.test/1.mp3?t=x", "/1.mp3?t=x", true), ("https://A.test/1.mp3", "/1.mp3", true),
            ("https://a.test/Ep 1.mp3?key=a", "/Ep 1.mp3?key=a", true), ("https://a.test/\u{C9}1.mp3", "/\u{C9}1.mp3", true),
            ("https://a.test/1.mp3", "https://u:p@a.test/1.mp3", true), ("http://b.test/1.mp3?t", "/1.mp3?t", true),
            ("/e/1.mp3?t", "/e/1.mp3?t", true), ("https://a.test/latest?1", "/latest", false),
            ("https://a.test/1", "/1.mp3", false), ("1.mp3", "/1.mp3", false), ("tag:1", "/1.mp3", false), ("", "/1.mp3", false),
        ] as [(String?, String, Bool)])
    func addressesAsIds(id: String?, file: String, expected: Bool) throws {
        let url = try #require(Self.address.resolving(file))
        #expect(Feed.isAddress(id, of: url) == expected)
    }

    @Test(
        "An id that is the address of the file counts without its query if other items show that it names none",
        arguments: [
            (
                ["https://A.test/1.mp3?t=x", "https://a.test/2.mp3?t=x"], ["/1.mp3?t=x", "/2.mp3?t=x"],
                ["https://a.test/1.mp3", "https://a.test/2.mp3"]
            ),
            (["https://a.test/1.mp3?t=x"], ["/1.mp3?t=x"], ["https://a.test/1.mp3?t=x"]),
            (
                ["https://a.test/play?1", "https://a.test/2.mp3"], ["/play?1", "/2.mp3"],
                ["https://a.test/play?1", "https://a.test/2.mp3"]
            ),
            (["https://a.test/1"], ["/1.mp3?t=y"], ["https://a.test/1"]), (["one"], ["/1.mp3"], ["one"]),
            (
                ["https://a.test/play?1", "https://a.test/play?2"], ["/play?1", "/play?2"],
                ["https://a.test/play?1", "https://a.test/play?2"]
            ),
        ])
    func addresses(ids: [String], files: [String], expected: [String]) throws {
        let items = zip(ids, files).map { item($0, file: $1) }.joined()
        #expect(try feed(items).items.map(\.identity) == expected)
    }

    @Test("The date of the newest item that is left out is known")
    func cut() throws {
        let items = (0..<20_002).map { offset in
            item("\(offset)", "2 Oct 2024 \(23 - offset / 3600):\(59 - offset / 60 % 60):\(59 - offset % 60) GMT")
        }
        let feed = try feed(items.joined())
        #expect(feed.items.count == 20_000 && feed.cut?.description == "2024-10-02T18:26:39.000Z")
    }
}
