import HTTPCore
import Testing
import XML

@testable import Feeds

@Suite("Podcasts as RSS", .timeLimit(.minutes(1)))
struct RSSDocumentTests {
    private func item(_ guid: String, _ title: String) -> RSSDocument.Item {
        RSSDocument.Item(
            guid: guid, title: title, date: HTTPDate(secondsSinceEpoch: 1_000_000_000), fileURL: "https://h.test/1?a=1&b=2",
            mediaType: "audio/mpeg", length: 7)
    }

    @Test("Writes RSS 2.0 with Apple's elements")
    func writing() {
        var document = RSSDocument(
            title: "A & B", summary: "Files", address: "https://h.test/feed.xml?key=1", page: "https://a.test/")
        document.author = "Ada <a@a.test>"
        document.artwork = "https://a.test/1.png"
        var item = item("https://a.test/?p=1&q", "\"One\"")
        item.page = "https://a.test/1"
        item.artwork = "https://a.test/2.png"
        item.durationMs = 61_999
        item.number = 3
        item.season = 2
        item.explicit = false
        document.items = [item]
        #expect(
            document.text == """
                <?xml version="1.0" encoding="UTF-8"?>
                <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">
                  <channel>
                    <title><![CDATA[A & B]]></title>
                    <link>https://a.test/</link>
                    <description>Files</description>
                    <atom:link rel="self" type="application/rss+xml" href="https://h.test/feed.xml?key=1"/>
                    <itunes:block>Yes</itunes:block>
                    <itunes:author>Ada &lt;a@a.test&gt;</itunes:author>
                    <image><url>https://a.test/1.png</url><title><![CDATA[A & B]]></title><link>https://a.test/</link></image>
                    <itunes:image href="https://a.test/1.png"/>
                    <item>
                      <guid isPermaLink="false">https://a.test/?p=1&amp;q</guid>
                      <title><![CDATA["One"]]></title>
                      <pubDate>Sun, 09 Sep 2001 01:46:40 GMT</pubDate>
                      <enclosure url="https://h.test/1?a=1&amp;b=2" length="7" type="audio/mpeg"/>
                      <link>https://a.test/1</link>
                      <itunes:image href="https://a.test/2.png"/>
                      <itunes:duration>61</itunes:duration>
                      <itunes:episode>3</itunes:episode>
                      <itunes:season>2</itunes:season>
                      <itunes:explicit>false</itunes:explicit>
                    </item>
                  </channel>
                </rss>

                """)
    }

    @Test(
        "Titles have no references, which some programs cannot read",
        arguments: [
            "plain é", "A & B", "5 < 6 > 4", "\"q\" 'w'", "]]>", "a]]>b]]>&", "&amp;nbsp;", "<![CDATA[", "&\u{1}\u{FFFE}",
        ])
    func titles(title: String) throws {
        var document = RSSDocument(title: "T", summary: "S", address: "https://h.test/", page: "https://a.test/")
        document.items = [item("1", title)]
        var reader = XMLReader(Array(document.text.utf8), isTolerant: false)
        var titles: [String] = []
        while let token = try reader.next() {
            if token == .start, reader.name == "title" { titles.append(try reader.readText()) }
        }
        #expect(titles == ["T", title.replacing("\u{1}", with: "").replacing("\u{FFFE}", with: "\u{FFFD}")])
        let start = try #require(document.text.firstRange(of: "<item>"))
        let written = document.text[start.upperBound...]
        let end = try #require(written.firstRange(of: "</title>"))
        #expect(!written[..<end.lowerBound].replacing(/<!\[CDATA\[.*?\]\]>/, with: "").contains("&"))
    }

    @Test("What is written is read as a feed, whatever the texts are")
    func roundTrips() throws {
        let texts = [
            "plain", "A & B", "<b>\"q\"</b> 'w'", "é 日本 😀", "&amp;nbsp;", "]]>", "<!--", "a\u{1}b\u{0}\u{1F}",
            "\u{FFFE}x\u{FFFF}",
        ]
        var document = RSSDocument(title: "T", summary: "S", address: "https://h.test/", page: "https://a.test/")
        document.items = texts.enumerated().map { item("\($0)\($1)", "t") }
        let address = try #require(HTTPURL("https://h.test/"))
        let feed = try Feed(reading: Array(document.text.utf8), from: address)
        #expect(feed.isComplete && feed.warnings.isEmpty && feed.items.count == texts.count)
        let kept = texts.map { $0.replacing("a\u{1}b\u{0}\u{1F}", with: "ab").replacing(/[\u{FFFE}\u{FFFF}]/, with: "\u{FFFD}") }
        #expect(Set(feed.items.compactMap(\.guid)) == Set(kept.enumerated().map { "\($0)\($1)" }))
        #expect(feed.items.allSatisfy { $0.enclosure.length == 7 && $0.enclosure.url.string == "https://h.test/1?a=1&b=2" })
    }
}
