import HTTPCore
import JSON
import System
import TestSupport
import TestUpstream
import Testing

@testable import DemoUpstream

/// The demo's replacement of the Internet Archive.
@Suite("Archive", .timeLimit(.minutes(3))) @OffPool struct ArchiveTests {
    private let archive = Archive.shared

    @Test("Items and files have their members; identifiers and paths are unique")
    func entries() {
        #expect(archive.items.count == 7)
        #expect(Set(archive.items.map(\.identifier)).count == archive.items.count)
        for item in archive.items {
            let names = Set(item.files.map(\.name))
            #expect(names.count == item.files.count, "\(item.identifier)")
            #expect(
                item.isDark || !item["title"].isEmpty && item["mediatype"].count == 1 && names.count > 4, "\(item.identifier)")
            for file in item.files {
                #expect(!file.name.isEmpty && file.content.length > 1000 && file["format"] != nil, "\(file.name)")
                #expect(file["original"].map(names.contains) ?? true, "\(file.name)")
            }
        }
    }

    @Test("The tour's work takes 20 to 40 seconds at the demo's pace, four files at a time")
    func length() throws {
        let files = try #require(archive.item("tidewater-soundings-2023")).files.filter { $0["format"] == "Flac" }
        #expect(files.count == 8)
        let pace = DemoUpstream.pace / 2 * 4
        #expect((20...40).contains(files.reduce(0) { $0 + $1.content.length } / pace))
    }

    @Test(
        "A search finds open items of the type with all words",
        arguments: [
            ("(soundings) AND -access-restricted-item:(true)", ["tidewater-soundings-2023"]),
            (
                "(tidewater) AND mediatype:(audio OR etree) AND -access-restricted-item:(true)",
                ["tidewater-soundings-2023", "lighthouse-weather-calls"]
            ),
            ("(nightjar rope) AND mediatype:(audio OR etree)", ["nightjar-1977-08-13"]),
            ("(nightjar) AND mediatype:(movies)", []),
            ("(\\(Estuary\\) \"lanterns of\")", ["lanterns-of-the-estuary"]),
            ("(estuary) AND -access-restricted-item:(true)", []),
            ("(soundings\\: live\\!)", ["tidewater-soundings-2023"]),
            ("pilot's handbook", ["harbour-pilots-handbook-1881"]), ("(gannet)", []), ("(\\)", []), ("(((", []), (")x(\\", []),
        ] as [(String, [String])])
    func search(text: String, identifiers: [String]) {
        let query = ArchiveSearch(items: [QueryItem(name: "q", value: text)])
        // A query without a word finds everything, in the archive, too; here that is what is left of a broken one.
        guard !query.words.isEmpty else { return #expect(identifiers == []) }
        #expect(archive.items.filter(query.finds).map(\.identifier) == identifiers)
    }

    @Test("A search returns the requested fields as strings, lists or numbers")
    func results() async throws {
        try await withUpstream { _, base in
            let fields = ["identifier", "creator", "year", "nonsense"].map { "fl%5B%5D=" + $0 }.joined(separator: "&")
            let answer = try get(base, "/advancedsearch.php?q=(tidewater)&\(fields)&rows=1&page=2&output=json")
            #expect(answer.status == 200)
            #expect(answer["Content-Type"] == "application/json")
            let response = try #require(try JSONValue(parsing: answer.body)["response"])
            #expect(response["numFound"]?.integer == 2)
            #expect(response["start"]?.integer == 1)
            let documents = try #require(response["docs"]?.array)
            #expect(documents.map { $0.members?.map(\.name) } == [["identifier", "creator", "year"]])
            #expect(documents.first?["identifier"]?.string == "lighthouse-weather-calls")
            #expect(documents.first?["creator"]?.string == "Tidewater Field Recordings")
            #expect(documents.first?["year"]?.integer == 2021)
            let first = try JSONValue(parsing: try get(base, "/advancedsearch.php?q=(soundings)").body)
            #expect(first["response"]?["docs"]?.array?.first?["creator"]?.array?.count == 2)
        }
    }

    @Test(
        "Refuses results beyond the ten thousandth with status 200",
        arguments: [
            ("rows=100&page=100", false), ("rows=100&page=101", true), ("rows=10000&page=1", false), ("rows=10000&page=2", true),
            ("rows=99999999999999999999&page=99999999999999999999", false), ("rows=9999999999&page=9999999999", true),
        ])
    func bounds(query: String, isRefused: Bool) async throws {
        try await withUpstream { _, base in
            let answer = try get(base, "/advancedsearch.php?q=(tidewater)&\(query)&output=json")
            #expect(answer.status == 200)
            let error = try JSONValue(parsing: answer.body)["error"]?.string
            #expect(error?.hasPrefix("[RANGE_OUT_OF_BOUNDS] ") == (isRefused ? true : nil))
        }
    }

    @Test("Metadata describe an item; unknown and withdrawn items have none")
    func metadata() async throws {
        try await withUpstream { _, base in
            func metadata(_ identifier: String) throws -> JSONValue {
                let answer = try get(base, "/metadata/" + identifier)
                #expect(answer.status == 200)
                #expect(answer["Content-Type"] == "application/json")
                return try JSONValue(parsing: answer.body)
            }
            #expect(try metadata("nothing") == .object([]))
            let dark = try metadata("gannet-rock-broadcasts")
            #expect(dark["is_dark"] == .bool(true))
            #expect(dark["metadata"] == nil && dark["files"] == nil)
            let lent = try metadata("lanterns-of-the-estuary")
            #expect(lent["metadata"]?["access-restricted-item"]?.string == "true")
            #expect(lent["metadata"]?["collection"]?.array?.first?.string == "inlibrary")
            let files = try #require(lent["files"]?.array)
            #expect(lent["files_count"]?.integer == Int64(files.count))
            let isPrivate = files.filter { $0["private"]?.string == "true" }.compactMap { $0["format"]?.string }
            #expect(isPrivate == ["Single Page Original JP2 Tar", "Text PDF", "EPUB", "DjVuTXT"])
            let derived = try #require(files.first { $0["name"]?.string == "lanterns-of-the-estuary_lcp.epub" })
            #expect(derived["source"]?.string == "derivative")
            #expect(derived["original"]?.string == "lanterns-of-the-estuary_orig_jp2.tar")
            let list = try #require(files.first { $0["name"]?.string == "lanterns-of-the-estuary_files.xml" })
            #expect(list["size"] == nil && list["source"]?.string == "original")
        }
    }

    @Test(
        "Serves every open file through a node with its listed digests, except one",
        arguments: [
            ("paper-trails-maps", []), ("lighthouse-weather-calls", ["fisher.mp3"]), ("nightjar-1977-08-13", []),
        ] as [(String, [String])])
    func digests(identifier: String, damaged: [String]) async throws {
        try await withUpstream { _, base in
            let metadata = try JSONValue(parsing: try get(base, "/metadata/" + identifier).body)
            var wrong: [String] = []
            for file in try #require(metadata["files"]?.array) where file["private"] == nil && file["size"] != nil {
                let name = try #require(file["name"]?.string)
                let path = name.split(separator: "/").map { PercentEncoding.encodeComponent(String($0)) }.joined(separator: "/")
                let answer = try get(base, try location(base, "/download/\(identifier)/\(path)"))
                #expect(answer.status == 200, "\(name)")
                #expect(file["size"]?.string == String(answer.body.count), "\(name)")
                let bytes = answer.body
                var (md5, sha1) = (MessageDigest(.md5), MessageDigest(.sha1))
                unsafe md5.update(bytes.span.bytes)
                unsafe sha1.update(bytes.span.bytes)
                let found = [Hexadecimal.encode(md5.digest()), Hexadecimal.encode(sha1.digest())]
                let crc = unsafe CRC32.checksum(bytes.span.bytes)
                let isRight =
                    [file["md5"]?.string, file["sha1"]?.string] == found && file["crc32"]?.string == String(crc, radix: 16)
                if !isRight { wrong.append(name) }
            }
            #expect(wrong == damaged)
        }
    }

    /// The target of a redirect.
    private func location(_ base: String, _ target: String) throws -> String {
        let answer = try get(base, target)
        #expect(answer.status == 302, "\(target)")
        let location = try #require(answer["Location"])
        #expect(location.hasPrefix(base) && location.contains("/node-"), "\(location)")
        return String(location.dropFirst(base.count))
    }

    @Test("Each request uses another node, with the same tag and ranges")
    func nodes() async throws {
        try await withUpstream { _, base in
            let target = "/download/tidewater-soundings-2023/03%20The%20Mill%20Wheel.flac"
            let (first, second) = (try location(base, target), try location(base, target))
            #expect(first != second)
            #expect(first.hasSuffix("/items/tidewater-soundings-2023/03%20The%20Mill%20Wheel.flac"))
            let whole = try #require(TestUpstream.content(of: target))
            let start = try get(base, first, "Range: bytes=0-999")
            #expect(start.status == 206)
            #expect(start["Content-Type"] == "audio/flac")
            #expect(start["Content-Range"] == "bytes 0-999/5841331")
            #expect(start.body == whole.bytes(in: 0..<1000))
            #expect(start["Last-Modified"] != nil)
            let tag = try #require(start["ETag"])
            let rest = try get(base, second, "Range: bytes=5841000-", "If-Range: \(tag)")
            #expect(rest.status == 206)
            #expect(rest.body == whole.bytes(in: 5_841_000..<5_841_331))
            #expect(try get(base, second, "Range: bytes=5841000-", "If-Range: \"other\"", method: "HEAD").status == 200)
        }
    }

    @Test(
        "Refuses private files, also on a node; missing files are not found",
        arguments: [
            ("/download/nightjar-1977-08-13/nj77-08-13d1t01.flac", 403),
            ("/node-3/items/nightjar-1977-08-13/nj77-08-13d1t01.flac", 403),
            ("/download/nightjar-1977-08-13/nj77-08-13d1t01.mp3", 302),
            ("/download/nightjar-1977-08-13/nothing.mp3", 404), ("/download/nothing/nothing.mp3", 404),
            ("/download/gannet-rock-broadcasts/gannet-rock-broadcasts_meta.xml", 404), ("/download/nightjar-1977-08-13", 404),
            ("/node-1/items/nightjar-1977-08-13/", 404), ("/node-1/other/nightjar-1977-08-13/nj77-08-13d1t01.mp3", 404),
            ("/services/img/nightjar-1977-08-13", 200), ("/services/img/nothing", 404),
            ("/details/nightjar-1977-08-13", 200), ("/details/gannet-rock-broadcasts", 404), ("/details/nothing", 404),
        ])
    func refusals(target: String, status: Int) async throws {
        try await withUpstream { _, base in
            for prefix in ["", "/faulty/chunked"] {
                let answer = try get(base, prefix + target)
                #expect(answer.status == status, "\(prefix)")
            }
        }
    }

    @Test("Passes faults and pace to the node, which counts requests together")
    func faults() async throws {
        try await withUpstream { _, base in
            let target = "/faulty/reset@1000;times=1/download/nightjar-1977-08-13/nj77-08-13d1t01.mp3?pace=100000000"
            let (first, second) = (try location(base, target), try location(base, target))
            #expect(first.hasPrefix("/faulty/reset@1000;times=1/node-") && first.hasSuffix("?pace=100000000"))
            #expect(try getBroken(base, first).1 == .reset)
            #expect(try getBroken(base, second).1 == .complete)
            #expect(try get(base, "/metadata/nightjar-1977-08-13?fault=503").status == 503)
            #expect(try get(base, "/download/nightjar-1977-08-13/nj77-08-13.txt?fault=503,retry-after=7")["Retry-After"] == "7")
        }
    }
}
