import HTTPCore
import Testing

@testable import Feeds

@Suite("OPML", .timeLimit(.minutes(1)))
struct OPMLTests {
    private func read(_ text: String) throws -> OPML { try OPML(reading: Array(text.utf8)) }

    /// A document with this body.
    private func opml(_ body: String) -> String {
        "<opml version=\"2.0\"><head><title>L</title></head><body>\(body)</body></opml>"
    }

    // MARK: - Documents of programs

    @Test("Reads a flat list, as AntennaPod writes it")
    func antennaPod() throws {
        let list = try read(
            """
            <?xml version='1.0' encoding='UTF-8' standalone='no' ?>
            <opml version="2.0">
              <head>
                <title>AntennaPod Subscriptions</title>
                <dateCreated>2 Oct 26 15:00:00 +0200</dateCreated>
              </head>
              <body>
                <outline text="One &amp; Two" title="One &amp; Two" type="rss" xmlUrl="https://one.example/feed.xml?a=1&amp;b=2" \
            htmlUrl="https://one.example/" />
                <outline text="Three" title="Three" type="atom" xmlUrl="https://three.example/atom" />
              </body>
            </opml>
            """)
        #expect(list.title == "AntennaPod Subscriptions")
        #expect(
            list.outlines == [
                OPML.Outline(
                    address: "https://one.example/feed.xml?a=1&b=2", title: "One & Two", page: "https://one.example/"),
                OPML.Outline(address: "https://three.example/atom", title: "Three"),
            ])
    }

    @Test("Reads a list in one group, as Pocket Casts writes it")
    func pocketCasts() throws {
        let list = try read(
            """
            <?xml version='1.0' encoding='utf-8' standalone='yes' ?><opml version="1.0"><head><title>Pocket Casts Feeds</title></head>\
            <body><outline text="feeds"><outline type="rss" text="One" xmlUrl="https://one.example/feed" />\
            <outline type="rss" text="Two" xmlUrl="https://two.example/feed" /></outline></body></opml>
            """)
        #expect(list.outlines.map(\.address) == ["https://one.example/feed", "https://two.example/feed"])
        #expect(list.outlines.map(\.labels) == [["feeds"], ["feeds"]])
    }

    @Test("Reads a list with other attributes, as gPodder writes it")
    func gPodder() throws {
        let list = try read(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <opml version="2.0"><head><title>gPodder subscriptions</title><dateCreated>Fri, 02 Oct 2026 15:00:00 +0200</dateCreated></head>
            <body><outline text="Notes of the show &lt;b&gt;" title="One" type="rss" xmlUrl="feed://one.example/feed"/>
            <outline xmlUrl="https://two.example/feed" title="" text="Two"/></body></opml>
            """)
        #expect(list.outlines.map(\.title) == ["One", "Two"])
        #expect(list.outlines.first?.address == "feed://one.example/feed")
    }

    @Test("Reads groups, as feedly writes them")
    func feedly() throws {
        let list = try read(
            """
            <?xml version="1.0" encoding="UTF-8"?>

            <opml version="1.0">
                <head><title>Anna subscriptions in feedly Cloud</title></head>
                <body>
                    <outline text="News" title="News">
                        <outline type="rss" text="One" title="One" xmlUrl="https://one.example/feed" htmlUrl="https://one.example"/>
                        <outline text="Science"><outline type="rss" text="Two" xmlUrl="https://two.example/feed"></outline></outline>
                    </outline>
                    <outline text="Empty" title="Empty"/>
                    <outline type="rss" text="Three" xmlUrl="https://three.example/feed"/>
                </body>
            </opml>
            """)
        #expect(list.outlines.map(\.labels) == [["News"], ["News", "Science"], []])
    }

    // MARK: - Sloppy documents

    @Test("Names in any case, bare ampersands and missing parts are accepted")
    func sloppy() throws {
        let list = try read(
            """

            <OPML><outline TEXT="A & B&nbsp;&eacute;" XMLURL=" https://a.example/?x=1&y=2 " HTMLURL=""><outline xmlurl='https://b.example'>
            </outline></outline><outline text=" Group
             one "><outline text="Group one"><outline xmlUrl="https://c.example"/></OPML>
            """)
        #expect(
            list.outlines == [
                OPML.Outline(address: "https://a.example/?x=1&y=2", title: "A & B é"),
                OPML.Outline(address: "https://b.example"),
                OPML.Outline(address: "https://c.example", labels: ["Group one"]),
            ])
        #expect(list.title == nil)
        let latin = Array("<?xml version='1.0' encoding='ISO-8859-1'?><opml><body><outline text='caf".utf8) + [0xE9]
        #expect(try OPML(reading: latin + Array("' xmlUrl='x'/></body></opml>".utf8)).outlines.first?.title == "café")
    }

    @Test("Reads other encodings, and names one that is missing")
    func encodings() throws {
        let korean = Array("<?xml version='1.0' encoding='EUC-KR'?><opml><body><outline text='".utf8) + [0xC7, 0xD1, 0xB1, 0xDB]
        let end = Array("' xmlUrl='x'/></body></opml>".utf8)
        let list = try OPML(reading: korean + end)
        #expect(list.outlines.first?.title == "한글" && list.warnings.isEmpty)
        #expect(try OPML(reading: korean + end, charset: "utf-8").outlines.first?.title == "한글")
        let unknown = try read("<?xml version='1.0' encoding='x-unheard-of'?><opml><body><outline xmlUrl='x'/></body></opml>")
        #expect(unknown.outlines.count == 1 && unknown.warnings.count == 1 && unknown.warnings[0].contains("'x-unheard-of'"))
    }

    @Test("A title without its end tag hides no outline", arguments: ["</titel>", "", "</name>"])
    func unclosedTitles(end: String) throws {
        let list = try read("<opml><head><title>Mine\(end)</head><body><outline text='A' xmlUrl='x'/></body></opml>")
        #expect(list.outlines.map(\.title) == ["A"])
    }

    @Test(
        "A refusal says what the document is",
        arguments: [
            ("", "is no XML"), ("text", "is no XML"), ("GIF89a<x", "is a picture (image/gif)"),
            ("<html><body>Sign in</body></html>", "is a page (HTML)"),
            ("<rss version='2.0'></rss>", "is XML of another kind (rss)"),
            ("<opml><body><outline xmlUrl='x'/><outline", "breaks off after 1 outlines: it ends too early"),
            ("<opml><head><title>a", "breaks off in its title: it ends too early"),
        ])
    func refusals(text: String, finding: String) {
        #expect(throws: OPML.Refusal(finding: finding)) { try read(text) }
    }

    @Test("Every limit holds")
    func limits() throws {
        func nested(_ levels: Int) -> String {
            opml(
                String(repeating: "<outline text='g'>", count: levels - 1) + "<outline xmlUrl='x'/>"
                    + String(repeating: "</outline>", count: levels - 1))
        }
        let outline = "<outline xmlUrl='x'/>"
        #expect(try read(opml(String(repeating: outline, count: 20_000))).outlines.count == 20_000)
        #expect(throws: OPML.Refusal(finding: "has more than 20000 outlines")) {
            try read(opml(String(repeating: outline, count: 20_001)))
        }
        #expect(try read(nested(16)).outlines.count == 1)
        for levels in [17, 100, 1_000] {
            #expect(throws: OPML.Refusal(finding: "has more than 16 levels of outlines")) { try read(nested(levels)) }
        }
        #expect(throws: OPML.Refusal(finding: "is longer than 1 MiB")) {
            try OPML(reading: [UInt8](repeating: 0x20, count: 1 << 20 + 1))
        }
    }

    @Test("Every truncated or changed document is read or refused")
    func damaged() {
        let whole = Array(opml("<outline text='g'><outline xmlUrl='a&amp;b' text=\"é\"/></outline>").utf8)
        for index in whole.indices {
            #expect(throws: OPML.Refusal.self) { try OPML(reading: Array(whole[..<index])) }
            for byte in [0, 0x22, 0x26, 0x27, 0x2F, 0x3C, 0x3D, 0x3E, 0xFF] as [UInt8] {
                var changed = whole
                changed[index] = byte
                #expect((try? OPML(reading: changed))?.outlines.count ?? 0 <= 2)
            }
        }
    }

    // MARK: - Writing

    @Test("Writes OPML 2.0, with a group for the first label")
    func writing() {
        let list = OPML(
            title: "A & B",
            outlines: [
                OPML.Outline(
                    address: "https://a.example/?x=1&y=2", title: "\"A\" <1>", page: "https://a.example/", labels: ["News", "x"]),
                OPML.Outline(address: "https://b.example/"),
            ])
        #expect(
            list.document(created: HTTPDate(secondsSinceEpoch: 0)) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <opml version="2.0">
                  <head>
                    <title>A &amp; B</title>
                    <dateCreated>Thu, 01 Jan 1970 00:00:00 GMT</dateCreated>
                  </head>
                  <body>
                    <outline type="rss" text="https://b.example/" title="https://b.example/" xmlUrl="https://b.example/"/>
                    <outline text="News" title="News">
                      <outline type="rss" text="&quot;A&quot; &lt;1&gt;" title="&quot;A&quot; &lt;1&gt;" \
                xmlUrl="https://a.example/?x=1&amp;y=2" htmlUrl="https://a.example/" category="News,x"/>
                    </outline>
                  </body>
                </opml>

                """)
    }

    @Test("Tags are labels; those with a slash or a comma only as a group")
    func tags() throws {
        let list = try read(
            opml("<outline text='g'><outline xmlUrl='x' category='/a, b ,,/c/d,é &amp; f,g'/></outline>"))
        #expect(list.outlines.map(\.labels) == [["g", "a", "b", "é & f"]])
        let labels = [["a/b", "c,d", "e", "f"], ["h"], ["i", "j/k"]]
        let written = OPML(outlines: labels.map { OPML.Outline(address: "x", labels: $0) })
        let again = try read(written.document(created: HTTPDate(secondsSinceEpoch: 0)))
        #expect(again.outlines.map(\.labels) == [["a/b", "e", "f"], ["h"], ["i"]])
        #expect(
            !OPML(outlines: [OPML.Outline(address: "x", labels: ["i", "j/k"])])
                .document(created: HTTPDate(secondsSinceEpoch: 0)).contains("category"))
    }

    @Test("What is written is read again")
    func roundTrips() throws {
        let titles = ["Plain", "A & B", "<b>\"quoted\"</b> 'words'", "é 日本 😀", "&amp; &nbsp;", "]]>", "tab\u{1}less"]
        var list = OPML(title: "Mine & \"yours\"")
        for (number, title) in titles.enumerated() {
            list.outlines.append(
                OPML.Outline(
                    address: "https://\(number).example/?a=1&b=\"2\"", title: title,
                    page: number % 2 == 0 ? "https://x.example/" : nil,
                    labels: number < 3 ? [] : ["Group & \(number % 2)"]))
        }
        let read = try read(list.document(created: HTTPDate(secondsSinceEpoch: 1_800_000_000)))
        #expect(read.title == list.title)
        let byAddress = { (outlines: [OPML.Outline]) in outlines.sorted { $0.address < $1.address } }
        var expected = byAddress(list.outlines)
        expected[6].title = "tabless"
        #expect(byAddress(read.outlines) == expected)
        #expect(try self.read(OPML().document(created: HTTPDate(secondsSinceEpoch: 0))) == OPML())
    }
}
