import HTTPCore
import Testing

@testable import DownloadCore
@testable import DownloadStore

struct FileNamingTests {
    @Test(
        "Makes a name safe",
        arguments: [
            ("a.m4a", "a.m4a"),
            ("/etc/passwd", "passwd"),
            ("..\\..\\windows\\system.ini", "system.ini"),
            ("a/b\\c/d.txt", "d.txt"),
            ("dir/", "dir"),
            ("..", nil),
            ("", nil),
            ("/", nil),
            (". . .", nil),
            (".bashrc", "bashrc"),
            ("..a", "a"),
            (" . hidden", "hidden"),
            (".\u{301}hidden", "\u{301}hidden"),
            ("name. . ", "name"),
            ("a\u{0}b\r\nc\u{1B}[31m.txt", "abc[31m.txt"),
            ("a\u{202E}gpj.exe", "agpj.exe"),
            ("a\u{2066}b\u{2069}\u{200B}\u{FEFF}\u{AD}c", "abc"),
            ("line\u{2028}break\u{2029}s", "linebreaks"),
            ("\u{FFFE}x\u{1FFFF}", "x"),
            ("tag\u{E0041}", "tag"),
            ("می\u{200C}خواهم.pdf", "می\u{200C}خواهم.pdf"),
            ("\u{1F469}\u{200D}\u{1F4BB}.png", "\u{1F469}\u{200D}\u{1F4BB}.png"),
            ("\u{200D}a.txt\u{200C}", "a.txt"), ("\u{200D}\u{200C}", nil), ("nul\u{200D}", "_nul"),
            ("CON", "_CON"),
            ("con.txt", "_con.txt"),
            ("NUL.tar.gz", "_NUL.tar.gz"),
            ("aux .txt", "_aux .txt"),
            ("CON.\u{301}x", "_CON.\u{301}x"),
            ("Com1", "_Com1"),
            ("LPT\u{B9}.log", "_LPT\u{B9}.log"),
            ("COM10", "COM10"),
            ("CONTRACT.txt", "CONTRACT.txt"),
            ("conin$", "_conin$"),
            ("e\u{301}.txt", "\u{E9}.txt"),
            ("\u{1100}\u{1161}", "\u{AC00}"),
            ("Ａ／Ｂ", "Ａ／Ｂ"),
            ("日本語 ファイル.pdf", "日本語 ファイル.pdf"),
            ("what? *.txt:stream", "what_ _.txt_stream"),
            ("con:stream.txt", "con_stream.txt"),
            ("a|b<c>d\"e?.txt", "a_b_c_d_e_.txt"),
            ("C:evil.txt", "C_evil.txt"),
            ("name.txt::$DATA", "name.txt__$DATA"),
            ("???", "___"),
            ("a.txt:", "a.txt_"),
            ("COM\u{B2}.tar.gz", "_COM\u{B2}.tar.gz"),
            ("lpt0", "_lpt0"),
            ("CONOUT$.txt", "_CONOUT$.txt"),
            ("prn.", "_prn"),
            ("a<\u{338}b", "a_\u{338}b"),
            ("-rf", "-rf"),
        ] as [(String, String?)])
    func becomesSafe(_ name: String, _ expected: String?) {
        // Scalars, since canonically equivalent strings are equal in Swift.
        #expect(FileNaming.safe(name).map { Array($0.unicodeScalars) } == expected.map { Array($0.unicodeScalars) })
    }

    @Test(
        "A name in a record is safe if it names one visible file",
        arguments: [
            ("a.m4a", true), ("name. ", true), ("CON", true), ("e\u{301}", true), ("-rf", true), (" a", true),
            (String(repeating: "a", count: 255), true), (String(repeating: "a", count: 256), false), ("", false), (".", false),
            ("..", false), (".a", false), ("a/b", false), ("/a", false), ("a\\b", false), ("a\0", false), ("a\nb", false),
            ("a\u{202E}b", false),
            // Names that are changed before they come into a record.
            ("con:stream.txt", true), ("a|b<c>d\"e?.txt", true),
        ])
    func recordNameIsOneVisibleFile(_ name: String, _ isSafe: Bool) {
        #expect(FileNaming.isSafe(name) == isSafe)
    }

    @Test(
        "Cuts a long name between characters, and keeps its extension",
        arguments: [
            (String(repeating: "a", count: 300) + ".tar.gz", 200, ".tar.gz"),
            (String(repeating: "ä", count: 150) + ".mp3", 200, ".mp3"),
            (String(repeating: "日", count: 150) + ".mp3", 199, ".mp3"),
            (String(repeating: "👩‍🚀", count: 60), 196, ""),
            (String(repeating: "a", count: 198) + ". b", 198, "a"),
            ("x." + String(repeating: "e", count: 250), 200, "e"),
            ("a" + String(repeating: "\u{301}", count: 200) + ".txt", 200, ".txt"),
        ])
    func longNameIsCut(_ name: String, _ bytes: Int, _ suffix: String) throws {
        let safe = try #require(FileNaming.safe(name))
        // Joiners are removed before anything is counted.
        #expect(safe.utf8.count <= 200)
        #expect(safe.utf8.count >= bytes - 5)
        #expect(safe.hasSuffix(suffix))
        #expect(FileNaming.safe(safe) == safe)
        #expect(!safe.unicodeScalars.contains("\u{FFFD}"))
    }

    @Test("Makes a name safe again if cutting made it a device's")
    func cutNameIsNoDevice() {
        #expect(FileNaming.safe("con" + String(repeating: " ", count: 250) + "x.txt") == "_con.txt")
        #expect(FileNaming.safe("NUL" + String(repeating: " ", count: 250) + "x") == "_NUL")
    }

    @Test(
        "A used name gets a number before its extension",
        arguments: [
            ("a.m4a", 2, "a (2).m4a"),
            ("a.tar.gz", 2, "a (2).tar.gz"),
            ("a.TAR.XZ", 3, "a (3).TAR.XZ"),
            ("a.b.gz", 2, "a.b (2).gz"),
            ("README", 12, "README (12)"),
            ("Mr. Smith", 2, "Mr. Smith (2)"),
            ("a (2).txt", 3, "a (2) (3).txt"),
        ])
    func takenNameGetsNumber(_ name: String, _ number: Int, _ expected: String) {
        #expect(FileNaming.numbered(name, number) == expected)
    }

    @Test("A number never makes a name too long")
    func numberKeepsNameShort() {
        let name = String(repeating: "a", count: 196) + ".mp3"
        #expect(FileNaming.numbered(name, 1_000) == String(repeating: "a", count: 189) + " (1000).mp3")
        let single = String(repeating: "b", count: 200)
        #expect(FileNaming.numbered(single, 2) == String(repeating: "b", count: 196) + " (2)")
    }

    @Test(
        "The name comes from the user, otherwise Content-Disposition, otherwise the URL",
        arguments: [
            ("mine.txt", "attachment; filename=theirs.txt", "https://h/p/url.txt", "mine.txt"),
            (nil, "attachment; filename=theirs.txt", "https://h/p/url.txt", "theirs.txt"),
            (nil, "attachment; filename*=UTF-8''na%C3%AFve%20file.txt; filename=x", "https://h/url", "naïve file.txt"),
            (nil, #"attachment; filename="../../evil/.profile""#, "https://h/url.txt", "profile"),
            (nil, #"attachment; filename="..""#, "https://h/url.txt", "url.txt"),
            (nil, "inline", "https://h/url.txt", "url.txt"),
            (nil, nil, "https://h/a/b%20c.txt?x=/y.bin", "b c.txt"),
            (nil, nil, "https://h/a/..%2F..%2Fetc%2Fpasswd", "passwd"),
            (nil, nil, "https://h/a/%2e%2e", "download"),
            (nil, nil, "https://h/a/what%3F.txt%3As", "what_.txt_s"),
            (nil, nil, "https://h/a/con:stream.txt", "con_stream.txt"),
            (nil, #"attachment; filename="a|b<c>d\"e?.txt""#, "https://h/url", "a_b_c_d_e_.txt"),
            (nil, nil, "https://h/a/%FF.txt", "ÿ.txt"),
            (nil, nil, "https://h/a/%00", "download"),
            (nil, nil, "https://h/a/", "download"),
            (nil, nil, "https://h", "download"),
            (nil, nil, "https://h/posts/1", "1"),
        ] as [(String?, String?, String, String)])
    func nameHasThreeSources(
        _ requested: String?, _ disposition: String?, _ url: String, _ expected: String
    ) throws {
        let url = try #require(HTTPURL(url))
        #expect(FileNaming.name(requested: requested, contentDisposition: disposition, url: url) == expected)
    }

    @Test(
        "A URL's name without an extension, or with a script's, gives way to a more specific one of the redirect's target",
        arguments: [
            ("https://h/film.mkv", "https://cdn/other.mp4", "film.mkv"),
            ("https://h/download", "https://cdn/film.mkv?sig=/x.php", "film.mkv"),
            ("https://h/download?file=x.zip", "https://cdn/film.mkv", "film.mkv"),
            ("https://h/download.php?file=x.zip", "https://cdn/film.mkv", "film.mkv"),
            ("https://h/GET.PHP", "https://cdn/film.mkv", "film.mkv"),
            ("https://h/a.asp", "https://cdn/b.bin", "b.bin"), ("https://h/a.Aspx", "https://cdn/b.bin", "b.bin"),
            ("https://h/a.ashx", "https://cdn/b.bin", "b.bin"), ("https://h/a.jsp", "https://cdn/b.bin", "b.bin"),
            ("https://h/a.cgi", "https://cdn/b.bin", "b.bin"), ("https://h/a.do", "https://cdn/b.bin", "b.bin"),
            ("https://h/a.phtml", "https://cdn/b.bin", "b.bin"), ("https://h/a.action", "https://cdn/b.bin", "b.bin"),
            // Extensions other than scripts' stay, even if a part of the name looks like a script's.
            ("https://h/get.php.zip", "https://cdn/b.bin", "get.php.zip"),
            ("https://h/tool.pl", "https://cdn/b.bin", "tool.pl"), ("https://h/notes.doc", "https://cdn/b.bin", "notes.doc"),
            ("https://h/a.tar.gz", "https://cdn/b.bin", "a.tar.gz"),
            // Neither is more specific.
            ("https://h/latest", "https://cdn/get.php", "latest"), ("https://h/latest", "https://cdn/abc123", "latest"),
            ("https://h/get.php", "https://cdn/send.aspx", "get.php"), ("https://h/latest", "https://cdn/", "latest"),
            ("https://h/latest", "https://h/latest", "latest"), ("https://h/get.php", "https://h/get.php?token=1", "get.php"),
            ("https://h/get.php", "https://cdn/README", "README"),
            // A version is no extension.
            ("https://h/download/2.0", "https://cdn/tool-2.0.tar.gz", "tool-2.0.tar.gz"),
            ("https://h/movie.part.001", "https://cdn/zz.bin", "movie.part.001"),
            ("https://h/get.jsp;jsessionid=12", "https://cdn/zz.bin", "zz.bin"),
            ("https://h/v1.2.3", "https://cdn/1.2.4", "v1.2.3"),
            ("https://h/Mr.%20Smith", "https://cdn/film.mkv", "film.mkv"),
            // A target without a useful name.
            ("https://h/", "https://cdn/film.mkv", "film.mkv"), ("https://h/", "https://cdn/README", "README"),
            ("https://h/", "https://h/", "download"), ("https://h/dir/", "https://h/dir/index.php", "index.php"),
            // The target's name is decoded and made safe as any other.
            ("https://h/get", "https://cdn/b%20c%2F..%2Fd%3A.txt", "d_.txt"),
            ("https://h/get", "https://cdn/caf%C3%A9.zip", "café.zip"),
            ("https://h/get", "https://cdn/.hidden.zip", "hidden.zip"), ("https://h/get", "https://cdn/%2e%2e", "get"),
            ("https://h/get", "https://cdn/con.txt", "_con.txt"), ("https://h/get", "https://cdn/x.zip/", "get"),
        ])
    func linkGivesWay(_ url: String, _ target: String, _ expected: String) throws {
        let (url, target) = (try #require(HTTPURL(url)), try #require(HTTPURL(target)))
        #expect(FileNaming.name(requested: nil, contentDisposition: nil, url: url, target: target) == expected)
        #expect(
            FileNaming.name(requested: nil, contentDisposition: "attachment; filename=it.bin", url: url, target: target)
                == "it.bin")
        #expect(FileNaming.name(requested: "mine", contentDisposition: nil, url: url, target: target) == "mine")
    }

    @Test(
        "A chosen name without an extension gets the media type's, otherwise the origin's name's",
        arguments: [
            ("audio/mpeg", nil, "https://h/a.m4b", ".mp3"), ("audio/x-m4a", nil, "https://h/a", ".m4a"),
            ("video/mp4", "attachment; filename=a.mov", "https://h/a", ".mp4"),
            ("application/octet-stream", "attachment; filename=a.mov", "https://h/a.mp3", ".mov"),
            ("application/octet-stream", "attachment; filename=a", "https://h/a.mp3", ".mp3"),
            (nil, nil, "https://h/a.mp3", ".mp3"), (nil, nil, "https://h/a.php", nil), (nil, nil, "https://h/a.2", nil),
            ("text/html", nil, "https://h/play", nil),
        ] as [(String?, String?, String, String?)])
    func suffix(_ mediaType: String?, _ disposition: String?, _ target: String, _ expected: String?) {
        #expect(FileNaming.suffix(mediaType: mediaType, contentDisposition: disposition, target: HTTPURL(target)) == expected)
    }

    @Test("Appends an extension once to the whole name, and keeps it when the name is cut")
    func appendedSuffix() {
        #expect(FileNaming.appending(".mp3", to: "2023-04-21 A.I. is Feat.Now") == "2023-04-21 A.I. is Feat.Now.mp3")
        #expect(FileNaming.appending(".mp3", to: "a.MP3") == "a.MP3")
        let long = FileNaming.appending(".mp3", to: String(repeating: "日", count: 66))
        #expect(long == String(repeating: "日", count: 65) + ".mp3")
    }

    @Test(
        "Numbers a used name without testing each existing number",
        arguments: [0, 1, 2, 3, 4, 7, 8, 9, 100, 9_999])
    func nextNumberIsFoundQuickly(_ others: Int) {
        let names = (0..<others).map { $0 == 0 ? "a.bin" : FileNaming.numbered("a.bin", $0 + 1) }
        var looks = 0
        let free = FileNaming.free("a.bin") { name in
            looks += 1
            return names.contains(name)
        }
        #expect(free == (others == 0 ? "a.bin" : "a (\(others + 1)).bin"))
        #expect(looks < 32)
    }

    @Test("A free number between used ones is found")
    func nameFreeBetweenOthers() {
        let taken: Set<String> = ["a", "a (2)", "a (4)", "a (8)"]
        #expect(!taken.contains(FileNaming.free("a", isTaken: taken.contains)))
    }

    @Test(
        "Accepts a good name from a user unchanged",
        arguments: [
            "a.m4a", "no extension", "日本語.pdf", "نامه\u{200C}ها.pdf", "क्\u{200D}ष.pdf",
            "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}.mp4", "e\u{301}", "…", "a..b", "x" + String(repeating: "y", count: 199),
        ])
    func goodUserNameStands(_ name: String) {
        #expect(FileNaming.objection(to: name) == nil)
        #expect(FileNaming.safe(name) == name)
    }

    @Test(
        "Refuses a bad name from a user with its reason",
        arguments: [
            ("", "filename must not be empty"),
            (String(repeating: "x", count: 201), "filename must not be longer than 200 bytes"),
            ("a/b", "filename must not contain '/' or '\\'"),
            ("..\\b", "filename must not contain '/' or '\\'"),
            ("a\nb", "filename must not contain control or formatting characters"),
            ("a\u{202E}b", "filename must not contain control or formatting characters"),
            ("a\u{200F}b", "filename must not contain control or formatting characters"),
            ("a\u{2067}b", "filename must not contain control or formatting characters"),
            ("a\u{200B}b", "filename must not contain control or formatting characters"),
            ("a\u{FEFF}b", "filename must not contain control or formatting characters"),
            ("\u{200D}", "filename cannot be used as it is"),
            ("con:stream.txt", "filename must not contain any of < > : \" | ? *"),
            ("a|b<c>d\"e?.txt", "filename must not contain any of < > : \" | ? *"),
            ("*", "filename must not contain any of < > : \" | ? *"),
            (".hidden", "filename must not begin with a dot or a space"),
            ("..", "filename must not begin with a dot or a space"),
            (".\u{301}x", "filename must not begin with a dot or a space"),
            (" a", "filename must not begin with a dot or a space"),
            ("a.", "filename must not end with a dot or a space"),
            ("a ", "filename must not end with a dot or a space"),
            ("nul", "filename 'nul' is reserved for a device on some systems"),
            ("LPT9.txt", "filename 'LPT9.txt' is reserved for a device on some systems"),
        ])
    func badUserNameIsRefused(_ name: String, _ objection: String) {
        #expect(FileNaming.objection(to: name) == objection)
    }

    @Test("Refusing and cleaning agree on every character at both ends")
    func refusedIsWhatWouldChange() {
        for value in (0...0x30FF).compactMap(Unicode.Scalar.init) {
            let scalar = String(Character(value))
            for name in ["\(scalar)a", "a\(scalar)", "a\(scalar)b"] {
                let isTaken = FileNaming.objection(to: name) == nil
                #expect(isTaken == (FileNaming.safe(name) == name), "U+\(String(value.value, radix: 16))")
            }
        }
    }

    @Test(
        "A file has its title's name after a number or a date, which stays when the name is cut",
        arguments: [
            ("01", "Angel of Death", ".m4a", "01 Angel of Death.m4a"), (nil, "Angel of Death", ".m4a", "Angel of Death.m4a"),
            ("2023-05-01", "An: \"episode\"?", ".mp3", "2023-05-01 An_ _episode__.mp3"),
            ("07", "AC/DC\\live", ".m4a", "07 AC_DC_live.m4a"),
            ("1", "...Baby One More Time", ".m4a", "1 ...Baby One More Time.m4a"), (nil, "...Baby", ".m4a", "Baby.m4a"),
            ("3", "Wait...", ".m4a", "3 Wait....m4a"), ("12", "Mr. Smith", "", "12 Mr. Smith"), (nil, "CON", ".mp3", "_CON.mp3"),
            ("1", "CON", ".mp3", "1 CON.mp3"), ("1", "...", ".mp3", "1.mp3"), (nil, "..", ".mp3", nil), (nil, "", "", nil),
            (nil, "a\u{202E}b\n", ".m4a", "ab.m4a"), (nil, "e\u{301}te\u{301}", ".m4a", "\u{E9}t\u{E9}.m4a"),
            (nil, "t01.flac", "", "t01.flac"), (nil, "a\\b.flac", "", "a_b.flac"), (nil, "王菲", ".m4a", "王菲.m4a"),
            ("001", String(repeating: "x", count: 300), ".m4a", "001 " + String(repeating: "x", count: 192) + ".m4a"),
            ("99", String(repeating: "王", count: 100), "", "99 " + String(repeating: "王", count: 65)),
            (nil, String(repeating: "x", count: 300) + ".flac", "", String(repeating: "x", count: 195) + ".flac"),
        ] as [(String?, String, String, String?)])
    func fileIsNamedAfterTitle(prefix: String?, title: String, suffix: String, expected: String?) {
        let name = FileNaming.name(prefix: prefix, title: title, suffix: suffix)
        #expect(name == expected)
        if let name { #expect(FileNaming.objection(to: name) == nil) }
    }

    @Test(
        "Makes a folder of any names, at most eight directories deep",
        arguments: [
            ([], ""), (["Reign In Blood"], "Reign In Blood"), (["gd70", "disc 1", "a"], "gd70/disc 1/a"),
            (["AC/DC", "a:b"], "AC_DC/a_b"), (["..", "a"], "_/a"), (["", "a"], "_/a"), (["CON", " a. "], "_CON/a"),
            (["Greatest Hits, Vol. 2..."], "Greatest Hits, Vol. 2"), (["e\u{301}"], "\u{E9}"),
            (["1", "2", "3", "4", "5", "6", "7", "8"], "1/2/3/4/5/6/7/8"),
            (["1", "2", "3", "4", "5", "6", "7", "8", "9", "a/b"], "1/2/3/4/5/6/7/8 - 9 - a_b"),
            ([String(repeating: "x", count: 300), "b"], String(repeating: "x", count: 200) + "/b"),
            (
                ["1", "2", "3", "4", "5", "6", "7", String(repeating: "x", count: 150), String(repeating: "y", count: 150)],
                "1/2/3/4/5/6/7/" + String(repeating: "x", count: 150) + " - " + String(repeating: "y", count: 47)
            ),
        ])
    func folderIsMadeOfNames(names: [String], expected: String) {
        let folder = FileNaming.folder(of: names)
        #expect(folder == expected)
        #expect(folder.isEmpty || FileNaming.objection(toFolder: folder) == nil)
    }
}
