import CommandLine
import JSON
import TestSupport
import Testing

@testable import PawlClient

@Suite("The results of the last search")
struct SearchMemoryTests {
    private static let memory = SearchMemory(
        term: "bach",
        results: [
            SearchMemory.Result(id: "itunes:1", name: "One", isDownloadable: true),
            SearchMemory.Result(id: "itunes:2", name: "Two", isDownloadable: true),
            SearchMemory.Result(id: "itunes:collection:3", name: "Album", isDownloadable: false),
        ])

    @Test(
        "numbers count from one, and what is not there is named",
        arguments: [
            (1...2, memory, nil), (4...4, memory, "has 3 results: there is no 4"), (2...3, memory, "'Album' of the last search"),
            (1...1, nil, "run pawl search"),
        ] as [(ClosedRange<Int>, SearchMemory?, String?)])
    func numbers(range: ClosedRange<Int>, memory: SearchMemory?, complaint: String?) {
        do throws(RemoteError) {
            let results = try SearchMemory.results(range, of: memory)
            #expect(complaint == nil)
            #expect(results.map(\.id) == ["itunes:1", "itunes:2"])
        } catch {
            #expect(complaint.map(error.message.contains) == true, "\(error.message)")
            #expect(error.status == .usage)
        }
    }

    @Test(
        "it is kept where the environment says",
        arguments: [
            (["XDG_STATE_HOME": "/state", "HOME": "/home/me"], "/state/pawl/search.json"),
            (["XDG_STATE_HOME": "relative", "HOME": "/home/me"], "/home/me/.local/state/pawl/search.json"),
            (["HOME": "/home/me"], "/home/me/.local/state/pawl/search.json"), ([:], nil),
        ] as [([String: String], String?)])
    func place(environment: [String: String], path: String?) {
        #expect(SearchMemory.path { environment[$0] } == path)
    }

    @Test("what is kept is what is read; anything else is as if nothing was kept")
    func keeping() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/state/pawl/search.json"
        #expect(SearchMemory.read(path) == nil)
        let response = try JSONValue(
            parsing: Array(
                #"{"term":"t","results":[{"id":"a:1","name":"N","downloadUrl":"http://a.example/"},{"id":"a:2","name":"M","downloadUrl":null}]}"#
                    .utf8))
        #expect(SearchMemory.keep(response, path) == nil)
        let memory = try #require(SearchMemory.read(path))
        #expect(memory.term == "t")
        #expect(memory.results.map(\.isDownloadable) == [true, false])
        #expect(SearchMemory.keep(response, nil) != nil)
        #expect(SearchMemory.keep(response, "/dev/null/pawl/search.json") != nil)
    }
}
