import HTTPCore
import Testing

@testable import DownloadCore
@testable import DownloadTransfer

struct AnnouncedMirrorsTests {
    private static let digest = "SHA-256=\(OriginDigestsTests.sha256)"

    private func announced(
        _ links: [String], digest: (name: String, value: String)? = ("Digest", Self.digest),
        of url: String = "http://a.example/x/f", for own: String = "http://a.example/x/f"
    ) throws -> [String]? {
        var fields = Fields()
        for link in links { fields.append(FieldName(constant: "Link"), link) }
        if let digest { try fields.append(#require(FieldName(digest.name)), digest.value) }
        let found = AnnouncedMirrors(fields, of: try #require(HTTPURL(url)), for: try #require(HTTPURL(own)))
        if let found { #expect(found.digest.description == "sha-256:\(ChecksumTests.hex)") }
        return found?.urls.map(\.string)
    }

    @Test("Duplicates are mirrors, in the order of their priorities")
    func order() throws {
        let links = [
            "<http://c.example/f>; rel=duplicate, <http://b.example/f>; rel=duplicate; pri=2; geo=de",
            "<http://d.example/f>; rel=\"duplicate\"; pri=1, <http://e.example/f>; rel=duplicate; pri=0",
            "<http://f.example/f.meta4>; rel=describedby; type=\"application/metalink4+xml\"",
        ]
        let order = ["http://d.example/f", "http://b.example/f", "http://c.example/f", "http://e.example/f"]
        #expect(try announced(links) == order)
        #expect(try announced(links, digest: ("Repr-Digest", "sha-256=:\(OriginDigestsTests.sha256):")) == order)
    }

    @Test(
        "Without a usable digest of the same response, links are ignored",
        arguments: [
            nil, ("Digest", "MD5=HUXZLQLMuI/KZ5KDcJPcOA=="), ("Content-Digest", "sha-256=:\(OriginDigestsTests.sha256):"),
        ]
            as [(String, String)?])
    func unproven(digest: (String, String)?) throws {
        #expect(try announced(["<http://b.example/f>; rel=duplicate"], digest: digest.map { (name: $0.0, value: $0.1) }) == nil)
    }

    @Test(
        "Targets are resolved; other schemes, users, anchors, repetitions and the file's own URLs are left out",
        arguments: [
            ("</m/f>; rel=duplicate", ["http://a.example/m/f"]), ("<g>; rel=duplicate", ["http://a.example/x/g"]),
            ("<//b.example/f>; rel=duplicate", ["http://b.example/f"]), ("<f>; rel=duplicate", nil),
            ("<http://a.example/x/f>; rel=duplicate", nil), ("<ftp://b.example/f>; rel=duplicate", nil),
            ("<http://user:pass@b.example/f>; rel=duplicate", nil), ("<http://b.example/f>; rel=duplicate; anchor=\"#x\"", nil),
            (
                "<http://B.example:80/f>; rel=duplicate; pri=3, <http://b.example/f>; rel=duplicate; pri=1",
                ["http://b.example/f"]
            ),
            ("<http://b.example/f>; rel=alternate", nil), ("<javascript:x>; rel=duplicate", nil),
        ] as [(String, [String]?)])
    func targets(link: String, urls: [String]?) throws {
        #expect(try announced([link]) == urls)
    }

    @Test("An encrypted download, or an encrypted announcement, has only encrypted mirrors")
    func encryption() throws {
        let links = ["<http://b.example/f>; rel=duplicate; pri=1, <https://c.example/f>; rel=duplicate; pri=2"]
        let (plain, safe) = ("http://a.example/f", "https://a.example/f")
        #expect(try announced(links, of: plain, for: plain) == ["http://b.example/f", "https://c.example/f"])
        for (url, own) in [(safe, plain), (plain, safe), (safe, safe)] {
            #expect(try announced(links, of: url, for: own) == ["https://c.example/f"])
        }
    }

    @Test("The number of mirrors has a bound; the first by priority stay")
    func bound() throws {
        let links = (1...100).map { "<http://m\($0).example/f>; rel=duplicate; pri=\(101 - $0)" }
        #expect(try announced(links) == (85...100).reversed().map { "http://m\($0).example/f" })
        let long = "<http://b.example/\(String(repeating: "x", count: DownloadLimits.url))>; rel=duplicate"
        #expect(try announced([long]) == nil)
    }

    @Test("Another digest of the same algorithm contradicts the announcement")
    func contradiction() throws {
        var fields = Fields()
        fields.append(FieldName(constant: "Link"), "<http://b.example/f>; rel=duplicate")
        fields.append(FieldName(constant: "Digest"), Self.digest)
        let url = try #require(HTTPURL("http://a.example/f"))
        let found = try #require(AnnouncedMirrors(fields, of: url, for: url))
        #expect(!found.contradicts(nil) && !found.contradicts(found.digest))
        #expect(!found.contradicts(Checksum(.sha512, bytes: Array(0..<64))))
        #expect(found.contradicts(Checksum(.sha256, bytes: Array(0..<32))))
    }
}
