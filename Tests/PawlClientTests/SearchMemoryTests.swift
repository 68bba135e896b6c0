import CommandLine
import JSON
import System
import TestSupport
import Testing

@testable import PawlClient

@Suite("The memory of the last lists")
struct SearchMemoryTests {
    private static func result(_ id: String, _ name: String) -> SearchMemory.Result {
        SearchMemory.Result(id: id, name: name, isDownloadable: true, hasParts: false)
    }

    private static let search = SearchMemory.Listing(
        term: "bach", work: nil, results: [result("itunes:1", "One"), result("itunes:2", "Two"), result("itunes:3", "Three")])
    private static let parts = SearchMemory.Listing(
        term: "itunes:collection:4", work: "Album", results: [result("itunes:1", "One"), result("itunes:2", "Two")])

    @Test(
        "Numbers start at one; an unknown number is refused with the count",
        arguments: [
            (1...2, search, nil), (1...2, parts, nil), (4...4, search, "for 'bach', has 3 results: there is no 4"),
            (2...5, search, "there is no 5"), (3...3, parts, "the list of 'Album' has 2 parts: there is no 3"),
            (1...1, nil, "run pawl search"),
        ] as [(ClosedRange<Int>, SearchMemory.Listing?, String?)])
    func numbers(range: ClosedRange<Int>, listing: SearchMemory.Listing?, complaint: String?) {
        do throws(RemoteError) {
            let results = try SearchMemory.results(range, of: listing)
            #expect(complaint == nil)
            #expect(results.map(\.id) == ["itunes:1", "itunes:2"])
        } catch {
            #expect(complaint.map(error.message.contains) == true, "\(error.message)")
            #expect(error.status == .usage)
        }
    }

    @Test(
        "The environment names the file",
        arguments: [
            (["XDG_STATE_HOME": "/state", "HOME": "/home/me"], "/state/pawl/search.json"),
            (["XDG_STATE_HOME": "relative", "HOME": "/home/me"], "/home/me/.local/state/pawl/search.json"),
            (["HOME": "/home/me"], "/home/me/.local/state/pawl/search.json"), ([:], nil),
        ] as [([String: String], String?)])
    func place(environment: [String: String], path: String?) {
        #expect(SearchMemory.path { environment[$0] } == path)
    }

    private func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    @Test("Reads the stored lists; parts are stored beside their search until the next one")
    func keeping() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/state/pawl/search.json"
        #expect(SearchMemory.read(path) == SearchMemory())
        let search = try json(
            #"{"term":"t","results":[{"id":"a:1","name":"N","downloadUrl":"http://a.example/","links":{"parts":null}},"#
                + #"{"id":null,"name":"?","downloadUrl":"http://a.example/"},"#
                + #"{"id":"a:2","name":"M","downloadUrl":null,"links":{"parts":"/search/parts?id=a:2"}}]}"#)
        #expect(SearchMemory.keep(search, path) == nil)
        var memory = SearchMemory.read(path)
        let found = try #require(memory.search)
        #expect(found.term == "t" && found.work == nil)
        // A result that cannot be added has its number, too.
        #expect(found.results.map(\.isDownloadable) == [true, false, false])
        #expect(found.results.map(\.hasParts) == [false, false, true])
        #expect(memory.latest == found)

        let parts = #""total":2,"formats":[],"results":[{"id":"a:2/x","name":"X","downloadUrl":"http://a.example/x"}]"#
        #expect(SearchMemory.keep(try json(#"{"term":"a:2","of":{"id":"a:2","name":"M"},\#(parts)}"#), path) == nil)
        memory = SearchMemory.read(path)
        #expect(memory.search == found)
        #expect(memory.latest?.work == "M")
        #expect(memory.latest?.results.map(\.id) == ["a:2/x"])
        #expect(memory.result(id: "a:2/x")?.name == "X")
        #expect(memory.result(id: "a:2")?.hasParts == true)
        #expect(memory.result(id: "a:3") == nil)

        #expect(SearchMemory.keep(search, path) == nil)
        #expect(SearchMemory.read(path) == SearchMemory(search: found))
    }

    @Test("Reports if nothing can be stored; other contents count as an empty memory")
    func failures() throws {
        let directory = try TemporaryDirectory()
        let response = try json(#"{"term":"t","results":[]}"#)
        #expect(SearchMemory.keep(response, nil) != nil)
        #expect(SearchMemory.keep(response, "/dev/null/pawl/search.json") != nil)
        #expect(SearchMemory.read(nil) == SearchMemory())
        let path = directory.path + "/search.json"
        for text in ["", "{", "[]", "null", #"{"search":5,"parts":{"term":"t"}}"#, #"{"term":"t","results":[]}"#] {
            try SmallFile.write(Array(text.utf8), to: path)
            #expect(SearchMemory.read(path) == SearchMemory(), "\(text)")
        }
    }
}
