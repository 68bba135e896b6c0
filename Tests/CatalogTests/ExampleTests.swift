import Foundation
import HTTPClient
import HTTPCore
import TestSupport
import Testing

@testable import Catalog

/// The worked example of docs/sources.md.
@Suite(.timeLimit(.minutes(3)))
struct ExampleTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    @Test("The documentation shows the source that is tested here")
    func theDocumentShowsTheSource() throws {
        let document = try String(contentsOf: Self.tests.appending(path: "../../docs/sources.md"), encoding: .utf8)
        let source = try String(contentsOf: Self.tests.appending(path: "Support/LibrarySource.swift"), encoding: .utf8)
        // Helpers that the module lacks.
        let shown = source.replacing("\n@testable import Catalog\n", with: "")
        #expect(document.contains("```swift\n\(shown)```\n"))
    }

    @Test("A new source needs one file and one row")
    func aSourceIsAFileAndARow() async throws {
        let book = #"{"id": 7, "title": "Pawls", "file": "https://library.example/7.epub"}"#
        let client = FakeClient { request in
            request.url.string == "https://library.example/books/8"
                ? .success(.with(type: "application/json", "{}")) : .success(.with(type: "application/json", "[\(book)]"))
        }
        let catalog = Catalog(
            configuration: CatalogConfiguration(), client: client, clock: TestClock(), sources: [LibrarySource.self])
        let query = SearchQuery(
            source: "library", term: "pawl", media: nil, entity: nil, attribute: nil, country: nil, lang: nil, explicit: nil,
            limit: 5, offset: 0, session: nil, includesRaw: false)
        let found = try #require(try await catalog.search(query).items.first)
        #expect(client.requests.value.map(\.url.string) == ["https://library.example/books?q=pawl"])
        #expect(found.id == "library:7" && found.name == "Pawls" && found.downloadUrl == "https://library.example/7.epub")
        #expect(try await catalog.lookup("library:7").items == [found])
        #expect(client.count == 1)
        let rejected = await failure { () async throws(CatalogError) in try await catalog.lookup("library:8") }
        #expect(rejected?.kind == "upstreamRejected")
        let without = await failure { () async throws(CatalogError) in try await catalog.parts(PartsQuery(id: "library:7")) }
        #expect(without?.kind == "notFound")
    }
}
