import CommandLine
import JSON
import Testing

@testable import PawlClient

@Suite("Requests of pawl add")
struct AddRequestTests {
    private static func result(_ id: String, file: Bool, parts: Bool) -> SearchMemory.Result {
        SearchMemory.Result(id: id, name: "the \(id)", isDownloadable: file, hasParts: parts)
    }

    private static let memory = SearchMemory(
        search: SearchMemory.Listing(
            term: "bach", work: nil,
            results: [
                result("a:song", file: true, parts: false), result("a:album", file: false, parts: true),
                result("a:both", file: true, parts: true), result("a:artist", file: false, parts: false),
            ]))

    private static func named(_ source: AddRequest.Source, _ id: String) -> AddRequest { AddRequest(source, name: "the \(id)") }

    @Test(
        "A number or id means a file, or a work if it has no file or formats are given",
        arguments: [
            ("1", false, [named(.item("a:song"), "a:song")]), ("2", false, [named(.work("a:album"), "a:album")]),
            ("2-3", false, [named(.work("a:album"), "a:album"), named(.item("a:both"), "a:both")]),
            ("2-3", true, [named(.work("a:album"), "a:album"), named(.work("a:both"), "a:both")]),
            ("a:album", false, [named(.work("a:album"), "a:album")]), ("a:song", false, [named(.item("a:song"), "a:song")]),
            // The service decides about unlisted ids.
            ("b:1", false, [AddRequest(.item("b:1"), name: "b:1")]), ("b:1", true, [AddRequest(.work("b:1"), name: "b:1")]),
            (
                "http://me:secret@a.example/x?y", false,
                [AddRequest(.url("http://me:secret@a.example/x?y"), name: "http://a.example/x")]
            ),
        ] as [(String, Bool, [AddRequest])])
    func meaning(operand: String, choosesFormats: Bool, expected: [AddRequest]) throws {
        let operand = try #require(DownloadOperand(operand))
        #expect(try AddRequest.requests(operand, Self.memory, choosesFormats: choosesFormats) == expected)
    }

    @Test("A listed part gets its work's label")
    func parts() throws {
        let listing = SearchMemory.Listing(
            term: "a:album", work: "the album", results: [Self.result("a:part", file: true, parts: false)])
        let memory = SearchMemory(search: Self.memory.search, parts: listing)
        let requests = try AddRequest.requests(try #require(DownloadOperand("1")), memory, choosesFormats: false)
        #expect(requests == [AddRequest(.item("a:part"), name: "the a:part", of: "a:album")])
        let invocation = try CommandLineParser.parse(["add", "1", "-l", "x"], environment: [:])
        let sent = ClientCommand.body(try #require(requests.first), invocation)
        #expect(String(decoding: sent.serialized(), as: UTF8.self) == #"{"trackId":"a:part","labels":["x","a:album"]}"#)
    }

    @Test(
        "Refuses unusable operands before any request",
        arguments: [
            ("4", false, "'the a:artist' has nothing to download"), ("1-5", false, "there is no 5"),
            ("1", true, "'the a:song' has no parts"), ("a:song", true, "'the a:song' has no parts"),
            ("a:artist", false, "nothing to download"), ("http://a.example/", true, "'http://a.example/' is a URL"),
        ] as [(String, Bool, String)])
    func refusals(operand: String, choosesFormats: Bool, complaint: String) throws {
        let operand = try #require(DownloadOperand(operand))
        do throws(RemoteError) {
            _ = try AddRequest.requests(operand, Self.memory, choosesFormats: choosesFormats)
            Issue.record("\(operand) is taken")
        } catch {
            #expect(error.message.contains(complaint), "\(error.message)")
            #expect(error.status == .usage)
        }
    }

    @Test(
        "Sends given options only",
        arguments: [
            ([], AddRequest.Source.url("http://a.example/"), #"{"url":"http://a.example/"}"#),
            (
                ["--header", "X-Key: k", "--user", "ada:pass"], .work("a:2"),
                #"{"partsOf":"a:2","headers":{"X-Key":"k","Authorization":"Basic YWRhOnBhc3M="}}"#
            ),
            (["--paused", "-l", "x", "-l", "y"], .item("a:1"), #"{"trackId":"a:1","labels":["x","y"],"paused":true}"#),
            (
                ["--format", "Flac", "--format", "VBR MP3", "--priority", "2", "-x", "1", "--limit", "1k"], .work("a:2"),
                #"{"partsOf":"a:2","formats":["Flac","VBR MP3"],"segments":1,"speedLimit":1024,"priority":2}"#
            ),
        ] as [([String], AddRequest.Source, String)])
    func bodies(flags: [String], source: AddRequest.Source, body: String) throws {
        let invocation = try CommandLineParser.parse(["add", "a:1"] + flags, environment: [:])
        let sent = ClientCommand.body(AddRequest(source, name: ""), invocation)
        #expect(String(decoding: sent.serialized(), as: UTF8.self) == body)
    }

    @Test(
        "A refusal names no members of the request",
        arguments: [
            ("'downloads[0].trackId' is 'x:1'; it takes itunes:<number>", "the ID is 'x:1'; it takes itunes:<number>"),
            ("'downloads[12].url' is 'ftp://a'; it takes http", "the URL is 'ftp://a'; it takes http"),
            ("'url' is too long", "the URL is too long"), ("'downloads[' is odd", "'downloads[' is odd"), ("[x]. y", "[x]. y"),
        ])
    func refusal(detail: String, expected: String) {
        #expect(ClientCommand.reason(.object([JSONMember(name: "detail", value: .string(detail))])) == expected)
    }
}
