import HTTPCore
import Testing

@testable import DownloadCore
@testable import DownloadTransfer

@Suite("Pages in place of files") struct ContentExpectationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let known: String?
        let sent: String?
        let isPage: Bool
        var testDescription: String { "\(known ?? "nothing"), then \(sent ?? "nothing")" }

        init(_ known: String?, _ sent: String?, isPage: Bool) {
            (self.known, self.sent, self.isPage) = (known, sent, isPage)
        }
    }

    static let films = [
        "video/x-matroska", "audio/mpeg", "application/octet-stream", "application/zip", "text/plain", "image/png",
    ]
    static let pages = [
        "text/html", "TEXT/HTML; charset=utf-8", "application/xhtml+xml", "application/json", "application/problem+json",
        "text/xml", "application/xml;charset=utf-8", "application/soap+xml", "text/html,text/html", "text/html charset=x",
        " text/html",
    ]

    static let cases: [Case] =
        films.flatMap { film in pages.map { Case(film, $0, isPage: true) } }
        + pages.map { Case(nil, $0, isPage: false) }
        + films.map { Case("video/mp4", $0, isPage: $0 == "text/plain") } + films.map { Case("text/html", $0, isPage: false) }
        + [
            Case("video/mp4", nil, isPage: false), Case("video/mp4", "nonsense", isPage: false),
            // The same type or family.
            Case("text/html", "application/xhtml+xml", isPage: false), Case("application/xhtml+xml", "text/html", isPage: false),
            Case("application/json", "application/geo+json", isPage: false),
            Case("text/xml", "application/rss+xml", isPage: false),
            Case("image/svg+xml", "text/xml", isPage: false),
            // Text in the place of what is no text.
            Case("audio/mpeg", "text/plain; charset=utf-8", isPage: true), Case("image/png", "text/markdown", isPage: true),
            Case("application/zip", "text/plain", isPage: false), Case(nil, "text/plain", isPage: false),
            // Another type.
            Case("application/json", "text/html", isPage: true), Case("application/rss+xml", "text/html", isPage: true),
            Case("text/html", "application/json", isPage: true),
        ]

    @Test("A page is none if the file had another type", arguments: cases)
    func types(_ rule: Case) {
        let expectation = ContentExpectation(mediaType: rule.known)
        for status in [200, 203] {
            var response = OriginResponse(status: status)
            response.contentType = rule.sent
            let failure = expectation.failure(for: response)
            #expect((failure != nil) == rule.isPage)
            guard let failure else { continue }
            #expect(failure.code == .mediaTypeMismatch && !failure.retryable && failure.httpStatus == status)
        }
        var refusal = OriginResponse(status: 403)
        refusal.contentType = rule.sent
        #expect(expectation.failure(for: refusal) == nil)
        // The bytes of a part have to prove themselves.
        refusal.status = 206
        refusal.contentRange = "bytes 5-9/10"
        #expect(expectation.failure(for: refusal) == nil)
        refusal.contentRange = "bytes 0-9/10"
        #expect((expectation.failure(for: refusal) != nil) == rule.isPage)
    }

    @Test(
        "The first bytes show that a body is no page, whatever its type is",
        arguments: [
            ("<!doctype html>", true, true), ("\u{FEFF}\r\n <html>", true, true), (#" {"error": 1}"#, true, true),
            ("", true, true),
            ("  ", true, true), ("RIFF", false, true), ("<\0", false, false), ("ID3\u{3}\0", false, false),
            ("expired", false, true),
        ])
    func beginnings(_ text: String, _ mayBeHTML: Bool, _ mayBeText: Bool) {
        for (type, mayBe) in [("text/html", mayBeHTML), ("text/plain", mayBeText)] {
            var response = OriginResponse(status: 200)
            response.contentType = type
            let expectation = ContentExpectation(mediaType: "audio/mpeg")
            #expect((expectation.failure(for: response, beginning: Array(text.utf8)) != nil) == mayBe, "\(type)")
        }
    }

    @Test("A type that the file had from its first response on is no page", arguments: ["a.m4b", "b.m2ts", "c.ape", "d.vob"])
    func wrongFromTheBeginning(_ name: String) {
        var response = OriginResponse(status: 200)
        response.contentType = "text/html"
        #expect(ContentExpectation(mediaType: "text/html", filename: name).failure(for: response) == nil)
        #expect(ContentExpectation(filename: name).failure(for: response, beginning: Array("....ftypM4B ".utf8)) == nil)
    }

    @Test("Finds a page among several types, and a type in an unusual value")
    func odd() {
        for values in [
            ["application/octet-stream", "text/html"], ["application/octet-stream, text/html"], ["text/html", "video/mp4"],
        ] {
            var fields = Fields()
            for value in values { fields.append(.contentType, value) }
            let response = OriginResponse(status: .ok, fields: fields, contentLength: 5)
            #expect(ContentExpectation(mediaType: "video/mp4").failure(for: response) != nil)
        }
        #expect(
            ["video/mp4, video/mp4", "video/mp4;;", "mkv", ""].map(PageFormat.mediaType) == ["video/mp4", "video/mp4", nil, nil])
    }

    @Test(
        "Keeps the bytes of a film when a page arrives, by the film's name",
        arguments: [("m.mkv", true), ("a.b.MP3", true), ("x.html", false), ("mkv", false)])
    func names(name: String, isPage: Bool) {
        var response = OriginResponse(status: 200)
        response.contentType = "text/html"
        #expect((ContentExpectation(filename: name).failure(for: response) != nil) == isPage)
    }

    @Test(
        "A catalogue can declare a file as audio or video",
        arguments: [
            (#"{"kind":"song"}"#, true), (#"{"kind":"podcast-episode","name":"One"}"#, true),
            (#"{"kind":"feature-movie"}"#, true),
            (#"{"kind":"file","name":"disc 1/01 - Intro.FLAC"}"#, true),
            (#"{"kind":"file","downloadUrl":"http://h/a.mkv?x=1"}"#, true),
            (#"{"kind":"file","name":"cover.jpg"}"#, false),
            (#"{"kind":"file","name":"notes.txt","downloadUrl":"http://h/mp3"}"#, false),
            (#"{"kind":"ebook"}"#, false), (#"{}"#, false), ("[]", false), ("nonsense", false), (nil, false),
        ] as [(String?, Bool)])
    func catalogue(track: String?, isMedia: Bool) {
        let expectation = ContentExpectation(track: track.map { Array($0.utf8) })
        var response = OriginResponse(status: 200)
        response.contentType = "text/html"
        #expect((expectation.failure(for: response) != nil) == isMedia)
        response.contentType = "audio/mpeg"
        #expect(expectation.failure(for: response) == nil)
    }
}
