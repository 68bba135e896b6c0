import HTTPCore
import Testing

@testable import Feeds

@Suite("Feeds", .timeLimit(.minutes(1)))
struct FeedTests {
    private static let address: HTTPURL = {
        guard let url = HTTPURL("https://feeds.example/show/feed.xml?key=1") else { fatalError("the address is none") }
        return url
    }()

    private func feed(_ text: String, charset: String? = nil) throws -> Feed {
        try Feed(reading: Array(text.utf8), from: Self.address, charset: charset)
    }

    /// An RSS document with these items.
    private func rss(_ items: String, channel: String = "<title>Show</title>", attributes: String = "") -> String {
        "<?xml version=\"1.0\"?><rss version=\"2.0\" \(Self.namespaces) \(attributes)><channel>\(channel)\(items)</channel></rss>"
    }

    private static let namespaces = """
        xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:media="http://search.yahoo.com/mrss/" \
        xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom" \
        xmlns:sy="http://purl.org/rss/1.0/modules/syndication/" xmlns:podcast="https://podcastindex.org/namespace/1.0"
        """

    private static let enclosure = "<enclosure url=\"https://cdn.example/1.mp3\" type=\"audio/mpeg\" length=\"1000\"/>"

    // MARK: - Formats

    @Test("Reads a podcast in RSS 2.0")
    func podcast() throws {
        let feed = try feed(
            rss(
                """
                <item><title>One &amp;amp; <![CDATA[<b>only</b>]]></title><guid isPermaLink="false"> abc </guid>
                <link>/e/1</link><pubDate>Wed, 02 Oct 2002 15:00:00 +0200</pubDate>
                <enclosure url="ep/1.mp3?source=feed" type="Audio/MPEG; x=1" length="12,345"/>
                <itunes:duration>1:02:03</itunes:duration><itunes:episode>7</itunes:episode><itunes:season>2</itunes:season>
                <itunes:explicit>true</itunes:explicit><itunes:image href="https://cdn.example/1.jpg"/>
                <description>&lt;p&gt;Text with <br> sloppy markup</description></item>
                <item><title>No enclosure</title></item>
                """,
                channel: """
                    <title>The &lt;i&gt;Show&lt;/i&gt;</title><link>https://show.example/</link>
                    <atom:link rel="self" href="https://feeds.example/other"/><itunes:author>Anna</itunes:author>
                    <image><url>/small.png</url><title>Image</title><link>https://wrong.example/</link></image>
                    <itunes:image href="/large.png"/><ttl>90</ttl><sy:updatePeriod>hourly</sy:updatePeriod>
                    <itunes:new-feed-url>https://new.example/feed</itunes:new-feed-url>
                    """))
        #expect(feed.title == "The Show")
        #expect(feed.author == "Anna")
        #expect(feed.page == "https://show.example/")
        #expect(feed.artwork?.string == "https://feeds.example/large.png")
        #expect(feed.interval == 5_400)
        #expect(feed.newAddress?.string == "https://new.example/feed")
        #expect(feed.itemCount == 2)
        #expect(feed.isComplete && feed.warnings.isEmpty)
        let item = try #require(feed.items.first)
        #expect(feed.items.count == 1)
        #expect(item.title == "One & only")
        #expect(item.identity == "abc")
        #expect(item.date?.description == "2002-10-02T13:00:00.000Z")
        #expect(item.durationMs == 3_723_000)
        #expect(item.number == 7 && item.season == 2 && item.explicit == true)
        #expect(item.artwork?.string == "https://cdn.example/1.jpg")
        #expect(item.page == "https://feeds.example/e/1")
        #expect(item.enclosure.url.string == "https://feeds.example/show/ep/1.mp3?source=feed")
        #expect(item.enclosure.type == "audio/mpeg" && item.enclosure.length == 12_345)
        #expect(item.key == "ba7816bf8f01cfea414140de5dae2223")
    }

    @Test("Reads Atom")
    func atom() throws {
        let feed = try feed(
            """
            <feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://base.example/a/"><title type="html">A &amp;amp; B</title>
            <author><name>Berta</name><uri>x</uri></author><link href="page"/><link rel="self" href="feed"/><logo>logo.png</logo>
            <entry xml:base="b/"><title type="text">1 &lt; 2 <![CDATA[<b>]]></title><id>tag:x,1</id><updated>2020-01-02T03:04:05Z</updated>
            <published>2020-01-01T00:00:00+01:00</published><link href="e1"/>
            <link rel="enclosure" type="text/html" href="e.html"/><link rel="enclosure" type="video/mp4" length="5" href="e.mp4"/></entry>
            </feed>
            """)
        #expect(feed.title == "A & B" && feed.author == "Berta")
        #expect(feed.page == "https://base.example/a/page")
        #expect(feed.artwork?.string == "https://base.example/a/logo.png")
        let item = try #require(feed.items.first)
        #expect(item.title == "1 < 2 <b>" && item.identity == "tag:x,1")
        #expect(item.date?.description == "2019-12-31T23:00:00.000Z")
        #expect(item.enclosure.url.string == "https://base.example/a/b/e.mp4")
        #expect(item.page == "https://base.example/a/b/e1")
    }

    @Test("Reads RSS 1.0 and RSS 0.91")
    func older() throws {
        let rdf = try feed(
            """
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
             xmlns:enc="http://purl.oclc.org/net/rss_2.0/enc#" xmlns:dc="http://purl.org/dc/elements/1.1/">
            <channel rdf:about="x"><title>Old</title></channel>
            <item rdf:about="urn:1"><title>One</title><dc:date>2001-02-03</dc:date>
            <enc:enclosure rdf:resource="http://a.example/1.ogg" enc:type="audio/ogg" enc:length="9"/></item></rdf:RDF>
            """)
        #expect(rdf.title == "Old")
        #expect(rdf.items.first?.identity == "urn:1")
        #expect(rdf.items.first?.date?.description == "2001-02-03T00:00:00.000Z")
        #expect(rdf.items.first?.enclosure.length == 9)
        let rss = try feed(
            """

            <!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/rss-0.91.dtd">
            <rss version="0.91"><channel><title>Ancient</title><item><title>One</title>\(Self.enclosure)</item></channel></rss>
            """)
        #expect(rss.title == "Ancient" && rss.items.first?.identity == "https://cdn.example/1.mp3")
    }

    @Test("Reads JSON Feed")
    func json() throws {
        let feed = try feed(
            """
            {"version":"https://jsonfeed.org/version/1.1","title":"J","authors":[{"name":"C"}],"home_page_url":"https://j.example",
             "icon":"/i.png","items":[{"id":7,"title":"T","url":"/t","date_published":"2020-01-01T00:00:00Z","attachments":
             [{"url":"/t.m4a","mime_type":"audio/x-m4a","size_in_bytes":5,"duration_in_seconds":61.5}]},{"id":"8"}]}
            """)
        #expect(feed.title == "J" && feed.author == "C" && feed.itemCount == 2)
        let item = try #require(feed.items.first)
        #expect(item.identity == "7" && item.durationMs == 61_500 && item.enclosure.length == 5)
        #expect(item.enclosure.url.string == "https://feeds.example/t.m4a")
    }

    @Test(
        "The type of a title in Atom decides whether it is HTML",
        arguments: [
            ("", "1 &lt;b> &amp;amp;", "1 <b> &amp;"), (" type=\"text\"", "&lt;b>", "<b>"),
            (" type=\"html\"", "&lt;b>A &amp;amp; B", "A & B"),
            (" type=\"text/plain\"", "&lt;b>", "<b>"), (" type=\"text/html\" mode=\"escaped\"", "&lt;b>A &amp;amp; B", "A & B"),
            (" type=\"xhtml\"", "<div>A <b>B</b> &lt;i></div>", "A B <i>"),
            (" type=\"application/xhtml+xml\" mode=\"escaped\"", "&lt;b>A", "A"),
        ])
    func typesOfTitles(type: String, written: String, read: String) throws {
        let feed = try feed("<feed xmlns=\"http://www.w3.org/2005/Atom\"><title\(type)>\(written)</title></feed>")
        #expect(feed.title == read)
    }

    @Test("A permanent link takes the place of a missing page")
    func permanentLinks() throws {
        let guids = [
            "<guid>https://show.example/1</guid>", "<guid isPermaLink=\"false\">https://show.example/1</guid>", "<guid>1</guid>",
            "<guid>https://show.example/1</guid><link>https://show.example/2</link>",
        ]
        let pages = try guids.map { try feed(rss("<item>\($0)\(Self.enclosure)</item>")).items.first?.page }
        #expect(pages == ["https://show.example/1", nil, nil, "https://show.example/2"])
    }

    @Test(
        "A permanent link may be relative, and pages keep their fragments",
        arguments: [
            ("<guid isPermaLink=\"true\">e/1.html</guid>", "https://feeds.example/show/e/1.html"),
            ("<guid>/e/1#top</guid>", "https://feeds.example/e/1#top"),
            ("<guid isPermaLink='TRUE'>?p=1</guid>", "https://feeds.example/show/feed.xml?p=1"),
            ("<guid isPermaLink=\"true\">tag:x,1</guid>", nil), ("<guid isPermaLink='false'>/e/1</guid>", nil),
            ("<guid>urn:uuid:1</guid>", nil),
            ("<link>https://u:p@show.example/#/e/1 é</link>", "https://show.example/#/e/1%20%C3%A9"),
            ("<link> https://show.example/e#a%20b </link>", "https://show.example/e#a%20b"),
            ("<atom:link href='/e#1'/>", "https://feeds.example/e#1"), ("<link>/e#</link>", "https://feeds.example/e"),
        ] as [(String, String?)])
    func relativePages(written: String, page: String?) throws {
        #expect(try feed(rss("<item>\(written)\(Self.enclosure)</item>")).items.first?.page == page)
    }

    // MARK: - Found in feedparser's, podcastparser's and gofeed's tests

    @Test("Reads RSS in a namespace of its own, with a prefix")
    func prefixed() throws {
        for namespace in [
            "http://backend.userland.com/rss2", "http://blogs.law.harvard.edu/tech/rss", "http://cyber.law.harvard.edu/rss",
            "http://any.example/x",
        ] {
            let read = try feed(
                """
                <r:rss version="2.0" xmlns:r="\(namespace)"><r:channel><r:title>Show</r:title><r:item><r:title>One</r:title>
                <r:guid>1</r:guid><r:enclosure url="/1.mp3"/></r:item></r:channel></r:rss>
                """)
            #expect(read.title == "Show" && read.items.map(\.title) == ["One"], "\(namespace)")
        }
    }

    @Test("Dates of dcterms count, and titles of dc where there is no other")
    func dublinCore() throws {
        let terms = "xmlns:dcterms=\"http://purl.org/dc/terms/\""
        for name in ["issued", "created", "modified", "available"] {
            let item = "<item><dcterms:\(name)>2020-01-02T03:04:05Z</dcterms:\(name)>\(Self.enclosure)</item>"
            for attributes in [terms, ""] {
                #expect(
                    try feed(rss(item, attributes: attributes)).items.first?.date?.description == "2020-01-02T03:04:05.000Z",
                    "\(name)")
            }
        }
        let item =
            "<item><dc:title>Other</dc:title>\(Self.enclosure)</item><item><dc:title>O</dc:title><title>T</title><guid>2</guid>\(Self.enclosure)</item>"
        let read = try feed(rss(item, channel: "<dc:title>Show</dc:title>"))
        #expect(read.title == "Show" && read.items.map(\.title) == ["Other", "T"])
        #expect(try feed(rss("", channel: "<dc:title>Other</dc:title><title>Show</title>")).title == "Show")
    }

    @Test(
        "The name of an author stands alone",
        arguments: [
            ("Jane Doe (jane@example.com)", "Jane Doe"), ("jane@example.com (Jane Doe)", "Jane Doe"),
            ("Jane Doe &lt;jane@example.com&gt;", "Jane Doe"),
            ("&quot;Jane Doe&quot; &amp;lt;jane@example.com&amp;gt;", "\"Jane Doe\""),
            ("Jane Doe, jane@example.com", "Jane Doe"), ("jane@example.com", "jane@example.com"),
            ("Jane (and Jim) Doe", "Jane (and Jim) Doe"),
            ("Jane (and Jim) Doe (jane@example.co.uk)", "Jane (and Jim) Doe"), ("(Jane)", "(Jane)"),
            ("Jane @ Home", "Jane @ Home"),
            ("@jane", "@jane"), ("https://social.example/@jane.doe", "https://social.example/@jane.doe"),
        ])
    func authors(written: String, name: String) throws {
        for element in ["author", "itunes:author", "dc:creator"] {
            #expect(try feed(rss("", channel: "<\(element)>\(written)</\(element)>")).author == name, "\(element)")
        }
    }

    @Test("A period of updates is divided by their frequency")
    func frequencies() throws {
        for (written, interval) in [
            ("<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>", 21_600),
            ("<sy:updateFrequency>2</sy:updateFrequency><sy:updatePeriod>weekly</sy:updatePeriod>", 302_400),
            ("<sy:updateFrequency>12</sy:updateFrequency>", 7_200), ("<sy:updatePeriod>hourly</sy:updatePeriod>", 3_600),
            ("<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>0</sy:updateFrequency>", 86_400),
            ("<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>24</sy:updateFrequency><ttl>120</ttl>", 7_200),
        ] as [(String, Int64)] {
            #expect(try feed(rss("", channel: written)).interval == interval, "\(written)")
        }
    }

    @Test(
        "An end tag that is missing or misspelt hides neither items nor their files",
        arguments: [
            "<title>Show</titel>", "<title>Show", "<title>Show</Title>", "<title>Show</title><description>Text</descripton>",
            "<title>Show</title><itunes:summary>Text", "<title>Show</title><image><url>/1.png</url></imgae>",
            "<title>Show</title><itunes:owner><itunes:name>A</itunes:nam>", "<title>Show</title><managingEditor>A</editor>",
            "<title>Show</title><x:y xmlns:x='http://x.test/'>A", "<title>Show</title><image><url>/1.png</image>",
        ])
    func misspelt(channel: String) throws {
        let items = (1...3).map { "<item><guid>\($0)</guid><title>T\($0)</title>\(Self.enclosure)</item>" }.joined()
        let read = try feed(rss(items, channel: channel))
        #expect(read.title == "Show" && read.items.map(\.title) == ["T1", "T2", "T3"])
        let files = [
            "<title>A</titel>", "<guid>1</giud>", "<description>a <b>b</b></descripton>", "<pubDate>2020-01-02",
            "<itunes:summary>A</summary>",
        ]
        for written in files {
            let item = "<item><itunes:episode>7</itunes:episode>\(written)\(Self.enclosure)</item>"
            #expect(try feed(rss(item + item.replacing("1", with: "2"))).items.map(\.number) == [7, 7], "\(written)")
        }
        let early = "<rss><x:y xmlns:x='http://x.test/'>A<channel><title>Show</title>\(items)</channel></rss>"
        #expect(try feed(early).title == "Show" && feed(early).items.count == 3)
        let many = String(repeating: "<item><guid>1</guid>\(Self.enclosure)", count: 200)
        #expect(try feed(rss(many)).itemCount == 200)
    }

    @Test("Markup of descriptions and feeds within elements leave the items as they are")
    func nestedMarkup() throws {
        let read = try feed(
            rss(
                """
                <podcast:liveItem><title>Live</title><guid>live</guid><enclosure url="/live.mp3"/></podcast:liveItem>
                <item><guid>1</guid><title>One</title><description><title>No</title><link rel="stylesheet" href="x"/><p>a</i></description>
                <x:inline xmlns:x="http://x.test/"><rss><channel><item><guid>inner</guid><enclosure url="/2.mp3"/></item></channel></rss></x:inline>
                <itunes:owner><itunes:name>A</itunes:name></itunes:owner><podcast:episode>3</podcast:episode>\(Self.enclosure)</item>
                """))
        #expect(read.itemCount == 1 && read.items.map(\.guid) == ["1"] && read.items.map(\.title) == ["One"])
        #expect(read.items.first?.number == 3 && read.items.first?.page == nil)
    }

    @Test("The picture of a feed is the best one, in any order")
    func pictures() throws {
        let parts = [
            "<media:thumbnail url=\"/3.jpg\"/>", "<image><url>/2.jpg</url></image>", "<image><url>/2b.jpg</url></image>",
            "<itunes:image href=\"/1.jpg\"/>",
        ]
        func picture(_ parts: [String]) throws -> String? { try feed(rss("", channel: parts.joined())).artwork?.path }
        #expect(try picture(parts) == "/1.jpg" && picture(parts.reversed()) == "/1.jpg")
        #expect(try picture(Array(parts[..<3])) == "/2.jpg" && picture(parts[..<3].reversed()) == "/2b.jpg")
        #expect(try picture([parts[0]]) == "/3.jpg" && picture([]) == nil)
        let atom = try feed(
            "<feed xmlns=\"http://www.w3.org/2005/Atom\"><icon>/i.png</icon><logo>/l.png</logo><icon>/j.png</icon></feed>")
        #expect(atom.artwork?.path == "/l.png")
    }

    @Test("White space around long addresses and ids does not cut them")
    func longAddresses() throws {
        let address = "https://show.example/" + String(repeating: "a", count: 1000)
        let feed = try feed(rss("<item><guid>\n \(address) </guid><link>\n \(address) </link>\(Self.enclosure)</item>"))
        #expect(feed.items.first?.page == address)
        #expect(feed.items.first?.identity == address)
    }

    // MARK: - Enclosures and identities

    @Test("Of several enclosures, takes the first of audio or video, and media:content only without an enclosure")
    func enclosures() throws {
        let feed = try feed(
            rss(
                """
                <item><guid>1</guid><enclosure url="https://a.example/1.pdf" type="application/pdf"/>\(Self.enclosure)</item>
                <item><guid>2</guid><media:group><media:content url="https://a.example/2.jpg" medium="image"/>
                <media:content url="https://a.example/2.mp4" medium="video" fileSize="7" duration="60"/></media:group></item>
                <item><guid>3</guid><media:content url="https://a.example/3.mp4" type="video/mp4"/>\(Self.enclosure)</item>
                <item><guid>4</guid><enclosure url="javascript:alert(1)" type="audio/mpeg"/></item>
                <item><guid>5</guid><enclosure url="https://a.example/5.bin"/></item>
                """))
        let paths = feed.items.map { "\($0.identity) \($0.enclosure.url.path)" }
        #expect(paths == ["1 /1.mp3", "2 /2.mp4", "3 /1.mp3", "5 /5.bin"])
        #expect(feed.items[1].durationMs == 60_000 && feed.items[1].enclosure.length == 7)
    }

    @Test("An item without an id is identified by its enclosure, and each identity counts once")
    func identities() throws {
        func item(_ guid: String, _ url: String) -> String {
            "<item><title>\(url)</title>\(guid)<enclosure url=\"https://a.example/\(url)\"/></item>"
        }
        let feed = try feed(
            rss(
                item("<guid>x</guid>", "1.mp3") + item("<guid>x</guid>", "2.mp3") + item("", "3.mp3?token=1")
                    + item("", "play?id=4") + item("", "play?id=5") + item("<guid/>", "6.mp3")))
        #expect(
            feed.items.map(\.identity) == [
                "x", "https://a.example/3.mp3", "https://a.example/play?id=4", "https://a.example/play?id=5",
                "https://a.example/6.mp3",
            ])
        #expect(feed.items[0].enclosure.url.path == "/1.mp3")
    }

    @Test("The newest item comes first; one without a date stays where it is")
    func order() throws {
        func item(_ name: String, _ date: String?) -> String {
            "<item><guid>\(name)</guid>\(date.map { "<pubDate>\($0)</pubDate>" } ?? "")\(Self.enclosure)</item>"
        }
        let feed = try feed(
            rss(
                item("undated", nil) + item("old", "1 Jan 2020 00:00 GMT") + item("beside old", nil)
                    + item("new", "1 Jan 2021 00:00 GMT") + item("middle", "1 Jul 2020 00:00 GMT")))
        #expect(feed.items.map(\.identity) == ["new", "middle", "undated", "old", "beside old"])
    }

    @Test("Of too many items, the newest count")
    func manyItems() throws {
        let items = (0..<45_000).map { number in
            let date = "1 Jan \(1000 + number / 50) 0\(number % 50 / 10):0\(number % 10) GMT"
            return "<item><guid>\(number)</guid><pubDate>\(date)</pubDate>\(Self.enclosure)</item>"
        }
        let feed = try feed(rss(items.joined()))
        #expect(feed.itemCount == 45_000)
        #expect(feed.items.count == 20_000)
        #expect(feed.items.first?.identity == "44999" && feed.items.last?.identity == "25000")
        #expect(feed.warnings.count == 1)
    }

    // MARK: - Sloppy documents

    @Test(
        "Reads titles in spite of mistakes",
        arguments: [
            ("Q&A", "Q&A"), ("a &nbsp;&eacute;&hellip; b", "a é… b"), ("a < b", "a < b"), ("&unknown; x", "&unknown; x"),
            ("<![CDATA[Q&amp;A]]>", "Q&A"), ("<em>nested</em> tag", "nested tag"), ("line\n  break", "line break"),
            ("&#8217;&#x1F600;&#146;", "’😀’"), ("one<br>two", "onetwo"), ("&lt;br&gt;a&lt;/br&gt;", "a"),
            ("<![CDATA[5 < 6 > 4]]>", "5 < 6 > 4"), ("R&amp;amp;D", "R&D"),
            ("&lt;script&gt;alert('a &lt; b')&lt;/script&gt;Safe", "Safe"), ("<![CDATA[A<STYLE type=x>b{}</STYLE > B]]>", "A B"),
            ("A<script>x()</script>B", "AB"), ("<![CDATA[A<!-- > no --> B]]>", "A B"), ("<![CDATA[A <script>x()]]>", "A"),
            ("<![CDATA[A <scripted>B]]>", "A B"), ("<![CDATA[a < b <i]]>", "a < b <i"),
        ])
    func titles(written: String, read: String) throws {
        let feed = try feed(rss("<item><title>\(written)</title><guid>1</guid>\(Self.enclosure)</item>"))
        #expect(feed.items.first?.title == read)
        #expect(feed.items.first?.identity == "1")
    }

    @Test("Undeclared prefixes, unquoted attributes, and text around the document are accepted")
    func sloppy() throws {
        let feed = try feed(
            """
            PHP Notice: something <?xml version="1.0"?><rss><channel><title>S</title><item><guid>1</guid>
            <enclosure url=https://a.example/1.mp3 type='audio/mpeg' length="x"/><itunes:duration> 90 </itunes:duration></item>
            </channel></rss> trailing <more>
            """)
        #expect(feed.items.first?.enclosure.url.string == "https://a.example/1.mp3")
        #expect(feed.items.first?.durationMs == 90_000)
    }

    @Test("A document that breaks off gives the items before the break, and a warning")
    func broken() throws {
        let whole = rss((1...3).map { "<item><guid>\($0)</guid>\(Self.enclosure)</item>" }.joined())
        for length in 0..<whole.utf8.count {
            guard let feed = try? feed(String(decoding: whole.utf8.prefix(length), as: UTF8.self)) else { continue }
            #expect(!feed.isComplete && feed.warnings.count == 1)
            #expect(feed.items.map(\.identity) == (1...3).prefix(feed.items.count).map(String.init))
        }
        let end = try #require(whole.firstRange(of: "<item><guid>3"))
        #expect(try feed(String(whole[..<end.upperBound])).items.count == 2)
    }

    @Test("An item without an end tag does not hide the next ones")
    func unclosedItems() throws {
        func item(_ id: Int) -> String { "<item><guid>\(id)</guid><enclosure url='http://x.test/\(id).mp3'/>" }
        let read = try feed(rss(item(1) + item(2) + "</item>" + item(3) + "</item>" + item(4)))
        #expect(read.items.map(\.guid) == ["1", "2", "3", "4"] && read.isComplete)
    }

    @Test(
        "A fault in a JSON Feed costs a text, or what follows it",
        arguments: [
            // Each stands in the place of the second title.
            (Array("J2 \\ud83d".utf8), ["1", "J2 \u{FFFD}", "3"]), ([0x4A, 0xFF, 0x32], ["1", "Jÿ2", "3"]),
            (Array("J\t2\n".utf8), ["1", "J 2", "3"]), (Array("\\ud83d\\ude00".utf8), ["1", "😀", "3"]),
            (Array("J\",,".utf8), ["1"]), (Array("J\",\"_x\":\(String(repeating: "[", count: 200))".utf8), ["1"]),
        ] as [([UInt8], [String])])
    func brokenJSON(title: [UInt8], titles: [String]) throws {
        func item(_ id: Int, _ title: [UInt8]) -> [UInt8] {
            Array("{\"id\":\"\(id)\",\"attachments\":[{\"url\":\"http://x.test/\(id)\"}],\"title\":\"".utf8) + title
                + Array("\"},".utf8)
        }
        let head = Array("{\"version\":\"https://jsonfeed.org/version/1.1\",\"items\":[".utf8)
        let last = item(3, Array("3".utf8)).dropLast()
        let text = head + item(1, Array("1".utf8)) + item(2, title) + last + Array("]}".utf8)
        let address = try #require(HTTPURL("http://x.test/"))
        let read = try Feed(reading: text, from: address)
        #expect(read.items.compactMap(\.title) == titles)
        #expect(read.isComplete == (titles.count == 3) && read.warnings.isEmpty == read.isComplete)
        let cut = try Feed(reading: Array(text.prefix(head.count + item(1, Array("1".utf8)).count + 20)), from: address)
        #expect(cut.items.compactMap(\.title) == ["1"] && !cut.isComplete)
    }

    @Test("Lengths that nothing needs are bounded: of namespaces, bases, names of elements and marks on a character")
    func lengths() throws {
        let long = String(repeating: "a", count: 3_000)
        let item = "<item><guid>1</guid><enclosure url='1.mp3'/></item>"
        let based = try feed(rss(item, attributes: " xmlns='http://x.test/\(long)' xml:base='http://y.test/\(long)/'"))
        #expect(based.items.first?.enclosure.url.string == "https://feeds.example/show/1.mp3")
        do {
            _ = try feed("<\(long)/>")
        } catch let refusal as Feed.Refusal {
            #expect(refusal.finding.utf8.count < 100)
        }
        let marked = "<title>a\(String(repeating: "\u{301}", count: 100_000))</title>"
        let title = try #require(try feed(rss(item, channel: marked)).title)
        #expect(title.utf8.count < 5_000)
    }

    @Test("A relation of Atom may be written as an address, and in any case")
    func relations() throws {
        for relation in ["enclosure", " Enclosure ", "http://www.iana.org/assignments/relation/enclosure"] {
            let read = try feed(
                """
                <feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><link rel="\(relation)" href="http://x.test/1.mp3"/>
                </entry></feed>
                """)
            #expect(read.items.count == 1, "\(relation)")
        }
    }

    @Test("A comment in a document type declaration has no quotation marks")
    func comments() throws {
        let text = "<!DOCTYPE rss [<!-- it's a comment -->]>" + rss("<item><guid>1</guid><enclosure url='1.mp3'/></item>")
        #expect(try feed(text).items.count == 1)
    }

    @Test(
        "What is no feed is told by its kind",
        arguments: [
            ("<!DOCTYPE html><html><body>404</body></html>", "a page (HTML)"), ("", "an empty document"),
            ("  \n", "an empty document"),
            ("{\"error\":1}", "JSON of another kind"), ("{", "broken JSON"), ("hello", "text that is neither a feed nor a page"),
            ("<svg></svg>", "an XML document of another kind (svg)"), ("%PDF-1.7\n<x>", "a PDF document (application/pdf)"),
            ("ID3\u{4}", "a file with sound (audio/mpeg)"), ("GIF89a<rss>", "a picture (image/gif)"),
            ("#EXTM3U\n", "a playlist (audio/x-mpegurl)"),
            ("<rss><channel><title>A</title>", "a feed that breaks off before its first item: it ends too early"),
            (
                "<rss><channel>" + String(repeating: "<a>", count: 1_000),
                "a feed that breaks off before its first item: it has more than 64 levels of elements"
            ),
        ])
    func refusals(text: String, finding: String) {
        #expect(throws: Feed.Refusal(finding: finding)) { try feed(text) }
    }

    @Test("A file that its bytes do not show is named by the type of the response")
    func types() {
        let unknown = Feed.Refusal.unknown
        #expect(unknown.finding(ofType: "audio/x-any") == "a file with sound (audio/x-any)")
        #expect(unknown.finding(ofType: "application/x-bittorrent") == "a file (application/x-bittorrent)")
        for type in [nil, "text/plain", "application/rss+xml", "application/octet-stream"] {
            #expect(unknown.finding(ofType: type) == unknown.finding)
        }
        #expect(Feed.Refusal(finding: "a page (HTML)").finding(ofType: "audio/mpeg") == "a page (HTML)")
        let picture = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A] + Array("<x:xmpmeta>".utf8)
        #expect(throws: Feed.Refusal(finding: "a picture (image/png)")) { try Feed(reading: picture, from: Self.address) }
    }

    @Test("A missing encoding is a warning that names it")
    func missingEncodings() throws {
        let read = try feed("<?xml version='1.0' encoding='x-unheard-of'?><rss><channel><title>é</title></channel></rss>")
        #expect(read.title == "é" && read.warnings.count == 1 && read.warnings[0].contains("'x-unheard-of'"))
    }

    @Test("Nothing is expanded from a document type declaration")
    func entities() throws {
        let feed = try feed(
            """
            <!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>
            <rss><channel><title>&b; &x;</title></channel></rss>
            """)
        #expect(feed.title == "&b; &x;")
    }

    @Test("Deep nesting ends the document, and long texts are cut")
    func bounds() throws {
        let deep = try feed(rss("<item><guid>1</guid>\(Self.enclosure)</item>" + String(repeating: "<a>", count: 1000)))
        #expect(deep.items.count == 1 && !deep.isComplete)
        let long = try feed(rss("<item><title>\(String(repeating: "é", count: 1 << 20))</title>\(Self.enclosure)</item>"))
        #expect(long.items.first?.title?.count == 501)
    }

    // MARK: - Encodings

    @Test(
        "Reads each encoding, named by the response, the mark or the declaration",
        arguments: [
            ("iso-8859-1", nil), (nil, "ISO-8859-1"), (nil, "windows-1252"), ("windows-1252", "utf-8"), (nil, nil),
            (nil, "utf-8"), ("utf-8", nil),
        ] as [(String?, String?)])
    func latin(charset: String?, declared: String?) throws {
        let declaration = declared.map { "<?xml version='1.0' encoding='\($0)'?>" } ?? ""
        let document = Array("\(declaration)<rss><channel><title>caf".utf8) + [0xE9] + Array("</title></channel></rss>".utf8)
        #expect(try Feed(reading: document, from: Self.address, charset: charset).title == "café")
    }

    @Test("Reads UTF-16 and Cyrillic, and loses one title to broken bytes")
    func otherEncodings() throws {
        let text = "<?xml version='1.0' encoding='UTF-16'?><rss><channel><title>héllo 😀</title></channel></rss>"
        for (mark, isBig) in [([0xFE, 0xFF], true), ([0xFF, 0xFE], false), ([], true), ([], false)] as [([UInt8], Bool)] {
            let units = text.utf16.flatMap { isBig ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
            #expect(try Feed(reading: mark + units, from: Self.address, charset: "utf-8").title == "héllo 😀")
        }
        let cyrillic = Array("<?xml version=\"1.0\" encoding=\"windows-1251\"?><rss><channel><title>".utf8) + [0xCF, 0xF0]
        #expect(try Feed(reading: cyrillic + Array("</title></channel></rss>".utf8), from: Self.address).title == "Пр")
        let broken =
            Array("<rss><channel><item><guid>1</guid><title>a".utf8) + [0xFF]
            + Array(
                "</title>\(Self.enclosure)</item><item><guid>2</guid><title>ü</title>\(Self.enclosure)</item></channel></rss>"
                    .utf8)
        let feed = try Feed(reading: broken, from: Self.address, charset: "utf-8")
        #expect(feed.items.map(\.title) == ["a\u{FFFD}", "ü"])
    }

    // MARK: - Pages

    @Test("Finds the first feed that a page announces")
    func discovery() {
        let page = """
            <!DOCTYPE html><html><head><base href="/sub/"><link rel=stylesheet href=x.css>
            <link rel="alternate" type="text/html" href="/m"><LINK REL='Alternate' TYPE='application/rss+xml; x=1' HREF='f?a=1&amp;b=2'>
            <link rel="alternate" type="application/atom+xml" href="/other"></head><body><p>a < b</body></html>
            """
        #expect(FeedLink.first(in: Array(page.utf8), at: Self.address)?.string == "https://feeds.example/sub/f?a=1&b=2")
        #expect(FeedLink.first(in: Array("<html><p>none".utf8), at: Self.address) == nil)
    }
}
