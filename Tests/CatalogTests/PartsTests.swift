import HTTPClient
import HTTPCore
import JSON
import TestSupport
import Testing

@testable import Catalog

/// The listing of parts: its parameters, its response and its requests to the source.
@Suite(.timeLimit(.minutes(3)))
struct PartsTests {
    private static let work =
        #"{"metadata":{"identifier":"x","title":"T","mediatype":"audio"},"files":[{"name":"a b.mp3","source":"original","#
        + #""format":"VBR MP3","size":"7","private":"false"}, {"name":"c.mp3","source":"original","format":"VBR MP3"}]}"#
    private static let outcome = FakeClient.Outcome.success(.with(type: "application/json", work))

    @Test("A minimal query has the documented defaults")
    func aQueryAloneHasTheDocumentedDefaults() throws {
        let query = try partsQuery("id=archive:x")
        #expect(query == PartsQuery(id: "archive:x"))
        #expect(query.limit == 1000 && query.offset == 0 && query.formats.isEmpty && !query.includesRaw)
        let full = try partsQuery("format=FLAC&id=archive:x/a%20b&limit=7&offset=3&include=raw&format=all")
        #expect(full.id == "archive:x/a b")
        #expect(full.formats == ["FLAC", "all"])
        #expect(full.limit == 7 && full.offset == 3 && full.includesRaw)
    }

    @Test(
        "A refusal names the parameter, the value and the accepted values",
        arguments: [
            ("", ["'id'", "missing"]), ("limit=5", ["'id'", "missing"]), ("id=", ["'id'"]), ("id=a&id=b", ["'id'", "2 times"]),
            ("id=a&limit=0", ["'limit'", "'0'", "1 to 1000"]), ("id=a&limit=1001", ["'limit'", "1 to 1000"]),
            ("id=a&offset=-1", ["'offset'", "'-1'"]), ("id=a&include=all", ["'include'", "raw"]),
            ("id=a&term=b", ["'term'", "unknown", "id, format, limit, offset, include"]),
            ("id=a&session=b", ["'session'", "unknown"]), ("id=a&limit=1&limit=2", ["'limit'", "2 times"]),
            ("id=a" + String(repeating: "&format=b", count: 65), ["'format'", "65 times", "64"]),
        ])
    func aRefusalNamesTheParameter(text: String, parts: [String]) throws {
        do {
            _ = try partsQuery(text)
            Issue.record("\(text) was accepted")
        } catch CatalogError.invalidRequest(let message) {
            for part in parts { #expect(message.contains(part), "\(message)") }
        }
    }

    @Test(
        "Refuses an invalid id without a request",
        arguments: ["a", "archive:", "spotify:1", "itunes:x", "archive:x/" + String(repeating: "a", count: 1015)])
    func invalidIDsAreRefused(id: String) async throws {
        let bench = Bench { _ in Self.outcome }
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.parts(PartsQuery(id: id)) }
        guard case .invalidRequest(let message) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.contains("archive:<identifier>/<path>") && message.count < 500)
        #expect(try bench.catalog.cachedParts(PartsQuery(id: id)) == nil)
        #expect(bench.client.count == 0)
    }

    @Test("The response has the members of a search, and work, total and formats")
    func theEnvelope() async throws {
        let bench = Bench { _ in Self.outcome }
        let response = try await bench.catalog.parts(try partsQuery("id=archive:x&limit=1&include=raw"))
        var writer = JSONWriter()
        response.encode(into: &writer, linkPrefix: "/base", includesRaw: true) { url in
            url.hasSuffix("/a%20b.mp3") ? (id: "01J", state: "queued") : nil
        }
        let members = #""genre":null,"durationMs":null,"releaseDate":null,"explicit":null,"#
        let urls = #""artworkUrl":"https://archive.test/services/img/x","pageUrl":"https://archive.test/details/x","#
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"source":"archive","term":"archive:x","limit":1,"offset":0,"count":1,"attribution":null,"#
                + #""of":{"id":"archive:x","kind":"audio","name":"T","artist":null,"collection":null,"# + members + urls
                + #""downloadUrl":null,"partCount":null,"partOf":null,"season":null,"format":null,"bytes":null,"checksum":null,"#
                + #""licenseUrl":null,"number":null,"links":{"parts":"/base/search/parts?id=archive%3Ax","feed":null},"download":null,"#
                + #""raw":{"identifier":"x","title":"T","mediatype":"audio"}},"total":2,"#
                + #""formats":[{"name":"VBR MP3","count":2,"bytes":null,"source":"original","selected":true}],"warnings":[],"#
                + #""results":[{"id":"archive:x/a b.mp3","kind":"file","name":"a b.mp3","artist":null,"collection":"T","#
                + members + urls
                + #""downloadUrl":"https://archive.test/download/x/a%20b.mp3","partCount":null,"partOf":"archive:x","#
                + #""season":null,"format":"VBR MP3","bytes":7,"checksum":null,"licenseUrl":null,"number":1,"links":{"parts":null,"feed":null},"#
                + #""download":{"id":"01J","state":"queued"},"#
                + #""raw":{"name":"a b.mp3","source":"original","format":"VBR MP3","size":"7","private":"false"}}]}"#)
    }

    @Test("One request serves all formats, pages and lookups for five minutes")
    func oneRequestServesAll() async throws {
        let bench = Bench { _ in Self.outcome }
        #expect(try bench.catalog.cachedParts(try partsQuery("id=archive:x")) == nil)
        _ = try await bench.catalog.parts(try partsQuery("id=archive:x"))
        for text in [
            "id=archive:x&format=all", "id=archive:x&limit=1&offset=1", "id=archive:x&format=vbr%20mp3",
            "id=archive:x&include=raw",
        ] {
            #expect(try bench.catalog.cachedParts(try partsQuery(text)) != nil)
        }
        _ = try await bench.catalog.lookup("archive:x/c.mp3")
        #expect(throws: CatalogError.self) { try bench.catalog.cachedParts(try partsQuery("id=archive:x&format=Flac")) }
        #expect(bench.client.count == 1)
        bench.clock.advance(by: .seconds(300))
        #expect(try bench.catalog.cachedParts(try partsQuery("id=archive:x")) == nil)
        _ = try await bench.catalog.parts(try partsQuery("id=archive:x"))
        #expect(bench.client.count == 2)
    }

    @Test("Concurrent requests for a work share one request, which is cancelled without waiters")
    func looksShareOneRequest() async throws {
        let bench = Bench()
        let looking = ["id=archive:x", "id=archive:x&format=all", "id=archive:x&limit=1"].map { text in
            Task { () async -> Result<SearchResponse, CatalogError> in
                do throws(CatalogError) {
                    let query: PartsQuery
                    do { query = try partsQuery(text) } catch { throw .cancelled }
                    return .success(try await bench.catalog.parts(query))
                } catch {
                    return .failure(error)
                }
            }
        }
        let key = "archive https://archive.test/metadata/x"
        while bench.catalog.waiting(for: key) < 3 { try await nextTurn() }
        looking[0].cancel()
        guard case .failure(.cancelled) = await looking[0].value else {
            Issue.record("not cancelled")
            return
        }
        #expect(bench.client.cancelled.value.isEmpty)
        bench.client.respond(0, Self.outcome)
        #expect(try await looking[1].value.get().total == 2)
        #expect(try await looking[2].value.get().items.count == 1)
        #expect(bench.client.count == 1)
        #expect(bench.catalog.isIdle)

        let alone = Task {
            await failure { () async throws(CatalogError) in try await bench.catalog.parts(PartsQuery(id: "archive:y")) }
        }
        try await bench.client.requests.wait { $0.count >= 2 }
        alone.cancel()
        #expect(await alone.value == .cancelled)
        try await bench.client.cancelled.wait { $0 == [1] }
    }

    @Test("A work of a thousand files is one response")
    func aWorkOfAThousandFiles() async throws {
        let files = (1...1200).map { "{\"name\":\"\($0).mp3\",\"source\":\"original\",\"format\":\"VBR MP3\",\"size\":\"1\"}" }
        let body = "{\"files\":[\(files.joined(separator: ","))],\"metadata\":{\"identifier\":\"x\",\"mediatype\":\"audio\"}}"
        let bench = Bench { _ in .success(.with(type: "application/json", body)) }
        let response = try await bench.catalog.parts(try partsQuery("id=archive:x"))
        #expect(response.total == 1200)
        #expect(response.items.count == 1000)
        #expect(response.items.map(\.number) == Array(1...1000))
        let rest = try await bench.catalog.parts(try partsQuery("id=archive:x&offset=1000"))
        #expect(rest.items.map(\.name) == (1001...1200).map { "\($0).mp3" })
        #expect(bench.client.count == 1)
    }
}
