import Catalog
import DownloadCore
import HTTPCore
import Testing

@testable import Subscriptions

/// An episode of a feed in which every placeholder has a value.
private func episode(_ change: (inout SearchItem) -> Void = { _ in }) -> SearchItem {
    var item = SearchItem(raw: [])
    item.id = "feed:https://a.test/show.xml?a=b:c#0123456789abcdef0123456789abcdef"
    item.name = "Title"
    item.artist = "Artist"
    item.collection = "Work"
    item.number = 7
    item.season = 2
    item.releaseDate = "2025-12-31T23:30:00-01:00"
    item.suggestion = SuggestedDownload(title: "Title")
    item.suggestion?.prefix = "2026-01-01"
    item.suggestion?.folder = ["Work"]
    item.suggestion?.suffix = ".mp3"
    change(&item)
    return item
}

/// A file of an item of the Internet Archive.
private func file(_ path: String, title: String? = nil) -> SearchItem {
    let names = path.split(separator: "/").map(String.init)
    var item = SearchItem(raw: [])
    item.id = "archive:x/\(path)"
    item.path = path
    item.name = title ?? names.last
    item.collection = "Work"
    item.suggestion = SuggestedDownload(title: names.last ?? path)
    item.suggestion?.folder = ["x"] + names.dropLast()
    return item
}

@Suite("Names of parts by templates")
struct NamingTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let template: String
        let part: SearchItem
        let expected: String?

        init(_ template: String, _ part: SearchItem, _ expected: String?) {
            (self.template, self.part, self.expected) = (template, part, expected)
        }

        init(_ template: String, _ expected: String) {
            self.init(template, episode(), expected)
        }

        var testDescription: String { "\(template) is \(expected ?? "nothing")" }
    }

    private static let none = episode {
        ($0.id, $0.name, $0.artist, $0.collection, $0.number, $0.season) = (nil, nil, nil, nil, nil, nil)
        ($0.releaseDate, $0.suggestion) = (nil, nil)
    }
    private static let plain = episode { ($0.number, $0.season) = (nil, nil) }

    @Test(
        "A file's name is its template with values and the extension",
        arguments: [
            Row("{work} {title} {artist}", "Work Title Artist.mp3"), Row("{number} {season}", "7 2.mp3"),
            Row("{number:02} {number:01} {season:09}", "07 7 000000002.mp3"),
            Row("{number:02}", episode { $0.number = 1234 }, "1234.mp3"),
            // In UTC it is the next year.
            Row("{date} {year}", "2026-01-01 2026.mp3"), Row("{id}", "0123456789abcdef0123456789abcdef.mp3"),
            Row("{{{title}}} {{{{", "{Title} {{.mp3"), Row("episode", "episode.mp3"),
            Row("{date}", episode { $0.releaseDate = "2026-11-21" }, "2026-11-21.mp3"),
            Row("{date}", episode { $0.releaseDate = "2026-11-21 12:30:00" }, "2026-11-21.mp3"),
            Row("{date} {year}", episode { $0.releaseDate = "1987" }, "1987.mp3"),
            Row("{year}", episode { $0.releaseDate = "1987-05" }, "1987.mp3"),
            Row("{date} {year} {title}", episode { $0.releaseDate = "2026-02-30" }, "2026 Title.mp3"),
            Row("{date} {year} {title}", episode { $0.releaseDate = "[20th century]" }, "Title.mp3"),
            Row("{id}", episode { $0.id = "itunes:jp:episode:9:91" }, "91.mp3"),
            Row("{id}", file("disc 1/a b.mp3"), "x_disc 1_a b.mp3"),
            // Without a value
            Row("{number}. {title}", plain, "Title.mp3"), Row("{title} - {season} - {date}", plain, "Title - 2026-01-01.mp3"),
            Row("{title} - {number}", plain, "Title.mp3"), Row("{title} {season}x{number}", plain, "Title.mp3"),
            Row("{season}x{number} {title}", plain, "Title.mp3"),
            Row("{season}x{number} {title}", episode { $0.number = nil }, "2xTitle.mp3"),
            Row("{title} {season}x{number}", episode { $0.season = nil }, "Title 7.mp3"),
            Row("{title} ({number})", plain, "Title.mp3"), Row("{title} ({number}) {date}", plain, "Title 2026-01-01.mp3"),
            Row("[S{season:02}E{number:02}] {title}", plain, "Title.mp3"),
            Row("[S{season:02}E{number:02}] {title}", "[S02E07] Title.mp3"),
            Row("{title} [S{season} (E{number})]", episode { $0.number = nil }, "Title [S2].mp3"),
            Row("{title} [[({number}", plain, "Title.mp3"),
            Row("Episode {number}", plain, nil), Row("{title}", none, nil), Row("{work} {id} {year}", none, nil),
            Row("Vol. {number} of {title} (all)", plain, "Vol. Title (all).mp3"),
            // Values
            Row("{title}", episode { $0.name = "../../etc" }, "_.._etc.mp3"),
            Row("{date} {title}", episode { $0.name = "../../etc" }, "2026-01-01 .._.._etc.mp3"),
            Row("{date} {title}", episode { $0.name = ".." }, "2026-01-01.mp3"),
            Row("{title} {date}", episode { $0.name = " \u{200B}. " }, "2026-01-01.mp3"),
            Row("{title}", episode { $0.name = "CON" }, "_CON.mp3"), Row("COM{number}", "_COM7.mp3"),
            Row("{artist} - {title}", episode { ($0.artist, $0.name) = ("R.E.M.", "a: b?") }, "R.E.M. - a_ b_.mp3"),
            Row("{title}", episode { $0.name = "{date} {{" }, "{date} {{.mp3"),
            Row("{title}", episode { $0.name = "u\u{308}ber \u{1F600}" }, "\u{FC}ber \u{1F600}.mp3"),
            Row("{title}", episode { $0.name = "a\u{202E}b\nc" }, "abc.mp3"),
            Row(
                "{title} {date}", episode { $0.name = String(repeating: "ä", count: 5_000) },
                String(repeating: "ä", count: 98) + ".mp3"),
            Row(
                "{number} {title}", episode { $0.name = String(repeating: "a", count: 300) },
                "7 " + String(repeating: "a", count: 194) + ".mp3"),
            // Extensions
            Row("{title}", episode { $0.suggestion?.suffix = nil }, "Title"), Row("{title}", file("a/b.tar.gz"), "b.tar.gz"),
            Row("{title} {work}", file("a/01 b.MP3", title: "The b"), "The b Work.MP3"), Row("{title}", file("README"), "README"),
            Row("{title} {date}", episode { $0.name = "show.MP3" }, "show 2026-01-01.mp3"),
            Row("{title}", episode { $0.suggestion = nil }, "Title"),
        ])
    func files(row: Row) throws {
        #expect(try NamingTemplate(folder: nil, file: row.template).filename(of: row.part) == row.expected)
    }

    @Test(
        "A folder's names are those that have values",
        arguments: [
            Row("{artist}/{work}", "Artist/Work"), Row("", ""), Row("music/live", "music/live"),
            Row("{artist}/{work}", episode { $0.artist = nil }, "Work"),
            Row("{artist}/{work}", episode { $0.collection = nil }, "Artist"),
            Row("Podcasts/{work}/Season {season:02}", "Podcasts/Work/Season 02"),
            Row("Podcasts/{work}/Season {season:02}", plain, "Podcasts/Work"), Row("Season {season}/{work}", plain, "Work"),
            Row("{artist} - {season}/{year}", plain, "Artist/2026"), Row("Podcasts/{season}", plain, "Podcasts"),
            Row("{season}/{number}", plain, nil),
            Row("{artist}/{title}", episode { ($0.artist, $0.name) = ("AC/DC", "..\\..\\x") }, "AC_DC/_.._x"),
            Row("{artist}/{title}", episode { ($0.artist, $0.name) = ("..", "NUL.txt") }, "_NUL.txt"),
            Row("{work}", file("a/b.mp3"), "Work"), Row("{id}", file("a/b.mp3"), "x_a_b.mp3"),
        ])
    func folders(row: Row) throws {
        #expect(try NamingTemplate(folder: row.template, file: nil).folder(of: row.part) == row.expected)
    }

    @Test(
        "A faulty template is refused with the fault and the placeholders",
        arguments: [
            ("{name}", "has the unknown placeholder '{name}'; it takes {work}, {title}, {artist}, {number}, {number:02}, "),
            ("{Title}", "has the unknown placeholder '{Title}'"), ("{}", "has the unknown placeholder '{}'"),
            ("{ title }", "has the unknown placeholder '{ title }'"), ("{a/b}", "has the unknown placeholder '{a/b}'"),
            ("{title", "has '{' without '}'"), ("a}", "has '}' without '{'"), ("{{title}", "has '}' without '{'"),
            ("{number:2}", "has '{number:2}'; a width is 01 to 09"), ("{number:00}", "has '{number:00}'"),
            ("{number:010}", "has '{number:010}'"), ("{number:}", "has '{number:}'"), ("{season:+1}", "has '{season:+1}'"),
            ("{title:02}", "has '{title:02}'; a width is 01 to 09, and only numbers take one, as in {number:02}; it takes"),
            ("../{title}", "a name in it must not begin with a dot or a space"), ("{title}/..", "must not begin with a dot"),
            ("{title}/./x", "must not begin with a dot"), (".{title}", "must not begin with a dot"),
            ("/{title}", "it must be a relative path such as music/live, without an empty name in it"),
            ("{title}//x", "it must be a relative path"), ("{title}/", "it must be a relative path"),
            ("{title}\\x", "must not contain '/' or '\\'"), ("{title}: x", "must not contain any of < > : \" | ? *"),
            ("CON/{title}", "'CON' is reserved for a device"), ("{title}\u{202E}", "must not contain control or formatting"),
            ("{title} ", "must not end with a dot or a space"), ("a/b/c/d/e/f/g/h/{title}", "must not have more than 8 names"),
            (String(repeating: "a", count: 201), "must not be longer than 200 bytes"),
        ])
    func faults(template: String, reason: String) throws {
        let fault = try #require(throws: NamingTemplate.Fault.self) { try NamingTemplate(folder: template, file: nil) }
        #expect(fault.member == "folder")
        #expect(fault.reason.contains(reason), "\(fault.reason)")
        if reason.contains("has ") { #expect(fault.reason.hasSuffix("{year}, {id}, and '{{' and '}}' for braces")) }
    }

    @Test("A file's template has no slash and is not empty", arguments: ["{work}/{title}", "a\\b", "", "/"])
    func fileFaults(template: String) throws {
        let fault = try #require(throws: NamingTemplate.Fault.self) { try NamingTemplate(folder: nil, file: template) }
        #expect(fault.member == "file")
        #expect(fault.reason.hasPrefix("is '\(template)'; it must not "), "\(fault.reason)")
    }

    @Test("Any template that is accepted makes names that a request may choose", arguments: 0..<100)
    func safety(seed: UInt64) throws {
        var random = Seeded(state: seed)
        let texts = ["a", "/", " ", ".", "(", ")", "[", "]", "-", "CO", "{{", "}}", "..", "u\u{308}", "\u{301}"]
        let fields = ["{work}", "{title}", "{artist}", "{number:02}", "{season}", "{date}", "{year}", "{id}", "{"]
        let values = [
            nil, "", "..", "../../etc", "CON", "N", "a/b\\c", " x ", ".hidden", "\u{202E}", "\u{301}\u{301}", "1:2",
            String(repeating: "\u{308}", count: 300), String(repeating: "long ", count: 100), "nul.mp3", "/",
        ]
        for _ in 0..<50 {
            let template = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                (Bool.random(using: &random) ? texts : fields).randomElement(using: &random) ?? ""
            }.joined()
            let part = episode {
                $0.name = values.randomElement(using: &random) ?? nil
                $0.artist = values.randomElement(using: &random) ?? nil
                $0.collection = values.randomElement(using: &random) ?? nil
                $0.id = values.randomElement(using: &random) ?? nil
                $0.releaseDate = values.randomElement(using: &random) ?? nil
                $0.suggestion?.suffix = [nil, "", ".mp3"].randomElement(using: &random) ?? nil
                if Bool.random(using: &random) { $0.number = nil }
            }
            if let folder = try? NamingTemplate(folder: template, file: nil).folder(of: part) {
                #expect(FileNaming.objection(toFolder: folder) == nil, "\(template): \(folder)")
                #expect(!template.isEmpty)
                let names = folder.utf8.count { $0 == UInt8(ascii: "/") }
                #expect(names <= template.utf8.count { $0 == UInt8(ascii: "/") }, "a value of \(template) has a slash: \(folder)")
            }
            if let name = try? NamingTemplate(folder: nil, file: template).filename(of: part) {
                #expect(FileNaming.objection(to: name) == nil, "\(template): \(name)")
            }
        }
    }

    @Test(
        "A naming's folder precedes the chosen one, and that the suggested one",
        arguments: [
            (nil, nil, "Work", "2026-01-01 Title.mp3"), (nil, "mine", "mine", "2026-01-01 Title.mp3"),
            (nil, "", "", "2026-01-01 Title.mp3"), ("{artist}", "mine", "Artist", "2026-01-01 Title.mp3"),
            ("{season}", "mine", "mine", "2026-01-01 Title.mp3"), ("{season}", nil, "Work", "2026-01-01 Title.mp3"),
            ("", "mine", "", "2026-01-01 Title.mp3"),
        ] as [(String?, String?, String, String)])
    func folderChoice(template: String?, chosen: String?, folder: String, filename: String) throws {
        let url = try #require(HTTPURL("https://a.test/1"))
        let naming = try NamingTemplate(folder: template, file: nil)
        var options = DownloadOptions()
        options.folder = chosen
        let made = NewDownload(of: episode { $0.season = nil }, at: url, track: [], options, naming: naming)
        #expect(made.folder == folder)
        #expect(made.filename == filename)
        #expect(!made.lacksExtension)
    }

    @Test("A name gets its extension from the response if the source knows none")
    func extensions() throws {
        let url = try #require(HTTPURL("https://a.test/1"))
        let naming = try NamingTemplate(folder: nil, file: "{number} {title}")
        func download(of part: SearchItem) -> NewDownload {
            NewDownload(of: part, at: url, track: [], DownloadOptions(), naming: naming)
        }
        for part in [episode { $0.suggestion?.suffix = nil }, episode { $0.suggestion = nil }] {
            let made = download(of: part)
            #expect(made.filename == "7 Title")
            #expect(made.lacksExtension)
        }
        #expect(!download(of: file("README")).lacksExtension)
        let usual = download(
            of: episode {
                ($0.number, $0.name) = (nil, nil)
                $0.suggestion?.title = ".."
                $0.suggestion?.suffix = nil
            })
        #expect(usual.filename == "2026-01-01")
        #expect(usual.lacksExtension)
    }

    @Test("A filter compares paths of files, and names of other parts")
    func paths() {
        var filter = ItemFilter()
        filter.include = [GlobPattern("disc ?/*.MP3")]
        #expect(filter.accepts(file("disc 1/a/b.mp3", title: "b")))
        #expect(!filter.accepts(file("b.mp3", title: "disc 1/x.mp3")))
        #expect(!filter.accepts(episode()))
        filter.include = [GlobPattern("t*")]
        #expect(filter.accepts(episode()))
        filter.exclude = [GlobPattern("*L?")]
        #expect(!filter.accepts(episode()))
    }
}
