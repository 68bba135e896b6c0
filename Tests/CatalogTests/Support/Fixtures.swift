import Foundation
import HTTPClient
import HTTPCore
import JSON
import System
import TestSupport
import Testing

@testable import Catalog

/// The base URLs of the sources in tests, with unknown hosts.
let itunesURL = url("https://itunes.test")
let postsURL = url("https://posts.test/base")
let archiveURL = url("https://archive.test")

func url(_ string: String) -> HTTPURL {
    guard let url = HTTPURL(string) else { preconditionFailure("\(string) is not a URL") }
    return url
}

enum Fixture {
    /// A captured response to `term=jack+johnson&entity=song`, with the surrounding line feeds.
    static func songSearch() throws -> [UInt8] {
        try captured("itunes-song-search", "txt")
    }

    /// A captured response, byte for byte. `Fixtures/README.md` names the origin of each.
    static func captured(_ name: String, _ type: String = "json") throws -> [UInt8] {
        let file = try #require(Bundle.module.url(forResource: name, withExtension: type, subdirectory: "Fixtures"))
        return [UInt8](try Data(contentsOf: file))
    }

    /// Three posts.
    static let posts = """
        [ {"userId":1,"id":1,"title":"Sunt aut facere","body":"quia et suscipit\\nsuscipit recusandae"},
          {"userId":1,"id":2,"title":"Qui est esse","body":"est rerum tempore ÜBER alles"},
          {"userId":2,"id":3,"title":"Ea molestias","body":"et iusto sed quo iure suscipit"} ]
        """

    /// A response of one song with this id.
    static func song(_ id: Int64 = 1, name: String = "A") -> String {
        #"{"resultCount":1,"results":[{"wrapperType":"track","kind":"song","trackId":\#(id),"trackName":"\#(name)"}]}"#
    }
}

/// A catalog with its source and its clock.
struct Bench {
    let client: FakeClient
    let clock = TestClock()
    let catalog: Catalog

    init(_ script: @escaping FakeClient.Script = { _ in nil }) {
        self.init(script, configure: { _ in })
    }

    init(_ script: @escaping FakeClient.Script = { _ in nil }, configure: (inout CatalogConfiguration) -> Void) {
        var configuration = CatalogConfiguration(bases: ["itunes": itunesURL, "posts": postsURL, "archive": archiveURL])
        configure(&configuration)
        client = FakeClient(script)
        catalog = Catalog(configuration: configuration, client: client, clock: clock)
    }
}

extension Bench {
    /// Continues when this number of waiters share the search. They arrive on their own threads without a signal.
    func waitForWaiters(_ count: Int, _ text: String) async throws {
        let search = try query(text)
        while catalog.waiting(for: search) < count { try await nextTurn() }
    }
}

extension Catalog {
    /// The parts of a work, in memory or at its source.
    func parts(_ query: PartsQuery) async throws(CatalogError) -> SearchResponse { try await work(for: query).parts(query) }

    /// Whether no search waits and no session is in memory.
    var isIdle: Bool { state.withLock { $0.singleFlight.isIdle && $0.waiting.isEmpty && $0.tasks.isEmpty } }

    /// The number of waiters for the response to the search.
    func waiting(for query: SearchQuery) -> Int {
        sources[query.source].map { waiting(for: Self.key($0.request(for: query), $0)) } ?? 0
    }

    /// The number of waiters for the key.
    func waiting(for key: String) -> Int { state.withLock { $0.singleFlight.waiting(for: key) } }
}

/// A query from `name=value` pairs.
func query(_ text: String) throws -> SearchQuery {
    try Catalog.query(from: try QueryItem.parse(text.utf8))
}

/// A request for parts from `name=value` pairs.
func partsQuery(_ text: String) throws -> PartsQuery {
    try Catalog.partsQuery(from: try QueryItem.parse(text.utf8))
}

/// The error of the work; nil without one.
func failure(_ work: () async throws(CatalogError) -> SearchResponse) async -> CatalogError? {
    do {
        _ = try await work()
        return nil
    } catch {
        return error
    }
}
