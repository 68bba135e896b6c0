import HTTPClient
import HTTPCore
import TestSupport
import Testing

@testable import Catalog

/// The same with the real client and a real connection.
@Suite(.timeLimit(.minutes(3)))
struct SocketTests {
    private func catalog(_ origin: ScriptedOrigin) throws -> Catalog {
        let base = url(origin.url("/api"))
        return Catalog(configuration: CatalogConfiguration(bases: ["itunes": base, "posts": base]), client: try HTTPClient())
    }

    @Test("Reads the captured response from a socket")
    func theCapturedAnswerComesThroughASocket() async throws {
        let body = try Fixture.songSearch()
        let origin = try ScriptedOrigin { _ in
            [.response(200, [("Content-Type", "text/javascript; charset=utf-8")], body: body)]
        }
        let answer = try await catalog(origin).search(try query("term=jack+johnson&entity=song"))
        #expect(answer.items.count == 9)
        let request = try #require(origin.requests.first)
        #expect(request.target == "/api/search?term=jack+johnson&entity=song&limit=50")
        #expect(request["Accept-Encoding"]?.contains("gzip") == true)
        #expect(request["Accept"] == "text/javascript, application/json")
    }

    @Test("A body shorter than its length is a broken transfer")
    func aBodyShorterThanItsLengthIsABrokenTransfer() async throws {
        let origin = try ScriptedOrigin { _ in
            [.text("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{\"results\":[]}"), .close]
        }
        let (catalog, search) = (try catalog(origin), try query("term=a"))
        let error = await failure { () async throws(CatalogError) in try await catalog.search(search) }
        #expect(error?.kind == "upstreamUnreachable")
    }

    @Test("Closes the connection without waiters")
    func connectionsWithoutWaitersClose() async throws {
        let origin = try ScriptedOrigin { _ in [.stall] }
        let (catalog, search) = (try catalog(origin), try query("term=a"))
        let task = Task { await failure { () async throws(CatalogError) in try await catalog.search(search) } }
        _ = try await origin.requests(atLeast: 1)
        task.cancel()
        #expect(await task.value == .cancelled)
        try await origin.openConnections(exactly: 0)
        #expect(catalog.isIdle)
    }
}
