import HTTPClient
import HTTPCore
import TestSupport
import Testing

@testable import Catalog

/// The reading of the Internet Archive's items, and the selection of parts.
@Suite(.timeLimit(.minutes(3)))
struct ArchiveWorkTests {
    /// A catalog whose archive returns this response.
    private func bench(_ body: [UInt8]) -> Bench {
        Bench { _ in .success(.with(type: "application/json", body)) }
    }

    private func bench(_ body: String) -> Bench { bench(Array(body.utf8)) }

    /// An item of a kind with files.
    private func bench(_ files: [String], kind: String = "audio", more: String = "") -> Bench {
        bench(
            """
            {"created":1,"files":[\(files.joined(separator: ","))],"files_count":\(files.count),
             "metadata":{"identifier":"x","title":"Work","mediatype":"\(kind)"\(more)}}
            """)
    }

    private func file(_ name: String, _ format: String = "VBR MP3", source: String = "original", more: String = "") -> String {
        "{\"name\":\"\(name)\",\"source\":\"\(source)\",\"format\":\"\(format)\"\(more)}"
    }

    private func names(_ bench: Bench, _ text: String = "id=archive:x") async throws -> [String] {
        try await bench.catalog.parts(try partsQuery(text)).items.map { String($0.id?.dropFirst("archive:x/".count) ?? "") }
    }

    private func error(_ bench: Bench, _ text: String = "id=archive:x") async throws -> CatalogError? {
        let query = try partsQuery(text)
        return await failure { () async throws(CatalogError) in try await bench.catalog.parts(query) }
    }

    // MARK: Captured

    @Test("The captured concert: originals by track, with digests")
    func theCapturedConcert() async throws {
        let bench = bench(try Fixture.captured("archive-metadata-concert"))
        let id = "archive:gd70-10-23.aud.wolfson.15080.sbefail.shnf"
        let response = try await bench.catalog.parts(try partsQuery("id=\(id)"))
        #expect(bench.client.requests.value.map(\.url.string) == ["https://archive.test/metadata/\(id.dropFirst(8))"])
        #expect(response.of?.id == id)
        #expect(response.of?.kind == "etree")
        #expect(response.total == 3)
        #expect(response.items.map(\.name) == ["Casey Jones", "Mama Tried", "Truckin'"])
        #expect(response.items.map(\.number) == [1, 2, 3])
        #expect(response.items.map(\.durationMs) == [nil, nil, nil])
        let first = try #require(response.items.first)
        #expect(first.id == "\(id)/GD70-10-23d1t01.shn")
        #expect(first.kind == "file")
        #expect(first.artist == "Grateful Dead")
        #expect(first.partOf == id)
        #expect(first.format == "Shorten")
        #expect(first.bytes == 39_753_085)
        #expect(first.checksum == "sha-1:475adc1ee19071dd3fe254e5e2146a65e8df421f")
        #expect(
            first.downloadUrl
                == "https://archive.test/download/gd70-10-23.aud.wolfson.15080.sbefail.shnf/GD70-10-23d1t01.shn")
        #expect(first.suggestion?.folder == ["gd70-10-23.aud.wolfson.15080.sbefail.shnf"])
        #expect(first.suggestion?.title == "GD70-10-23d1t01.shn")
        #expect(first.suggestion?.connections == 1)
        #expect(String(decoding: first.raw, as: UTF8.self).hasPrefix(#"{"name":"GD70-10-23d1t01.shn","source":"original","#))
        #expect(
            response.formats == [
                WorkFormat(name: "Checksums", count: 2, bytes: 810, source: .original, isSelected: false),
                WorkFormat(name: "Shorten", count: 3, bytes: 109_520_659, source: .original, isSelected: true),
                WorkFormat(name: "Text", count: 2, bytes: 4_381, source: .original, isSelected: false),
                WorkFormat(name: "Columbia Peaks", count: 3, bytes: 174_352, source: .derivative, isSelected: false),
                WorkFormat(name: "VBR MP3", count: 3, bytes: 22_321_152, source: .derivative, isSelected: false),
                WorkFormat(name: "Ogg Vorbis", count: 3, bytes: 10_827_973, source: .derivative, isSelected: false),
                WorkFormat(name: "PNG", count: 3, bytes: 31_101, source: .derivative, isSelected: false),
            ])

        // The same response with other formats; each has `length` in another form.
        let mp3 = try await bench.catalog.parts(try partsQuery("id=\(id)&format=vbr+mp3"))
        #expect(mp3.items.map(\.durationMs) == [337_000, 189_000, 387_000])
        let ogg = try await bench.catalog.parts(try partsQuery("id=\(id)&format=Ogg+Vorbis&limit=1&offset=1"))
        #expect(ogg.items.map(\.durationMs) == [189_940])
        #expect(ogg.total == 3)
        #expect(bench.client.count == 1)
    }

    @Test("The captured film: originals, without derivatives and metadata files")
    func theCapturedFilm() async throws {
        let bench = bench(try Fixture.captured("archive-metadata-film"))
        let response = try await bench.catalog.parts(try partsQuery("id=archive:AboutBan1935"))
        #expect(
            response.items.map(\.name) == [
                "AboutBan1935.avi", "AboutBan1935.mpeg", "AboutBan1935_64kb.rm", "AboutBan1935_edit.mp4",
            ])
        #expect(response.of?.durationMs == 663_000)
        #expect(response.of?.licenseUrl == "http://creativecommons.org/licenses/publicdomain/")
        #expect(response.items.map(\.durationMs) == [664_290, 663_990, 665_490, 663_890])
        let all = try await bench.catalog.parts(try partsQuery("id=archive:AboutBan1935&format=all"))
        // 20 files, six of them metadata.
        #expect(all.total == 14)
        #expect(!all.formats.map(\.name).contains { ["Metadata", "Item Tile", "Archive BitTorrent"].contains($0) })
        let thumbnail = try #require(all.items.first { $0.id?.hasSuffix("_000450.jpg") == true })
        #expect(thumbnail.suggestion?.folder == ["AboutBan1935", "AboutBan1935.thumbs"])
        // Its CRC lacks a zero, which has no effect.
        #expect(thumbnail.checksum == "sha-1:661f6c5dd4bdaf74f796a38d2f81654d5a40c7f5")
        #expect(all.items.first { $0.name == "AboutBan1935.asr.srt" }?.bytes == 0)
    }

    @Test("The captured book: the derived PDF of a scan in a tar, without files with DRM")
    func theCapturedBook() async throws {
        let bench = bench(try Fixture.captured("archive-metadata-book"))
        let response = try await bench.catalog.parts(try partsQuery("id=archive:goody"))
        #expect(response.items.map(\.id) == ["archive:goody/goody.pdf"])
        #expect(response.formats.filter(\.isSelected).map(\.name) == ["Text PDF"])
        #expect(!response.formats.contains { $0.name.contains("Encrypted") })
        let both = try await bench.catalog.parts(try partsQuery("id=archive:goody&format=epub&format=DjVuTXT"))
        #expect(both.items.map(\.name) == ["goody.epub", "goody_djvu.txt"])
        let error = try await error(bench, "id=archive:goody&format=LCP+Encrypted+EPUB")
        guard case .invalidRequest(let message) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.contains("'LCP Encrypted EPUB'") && message.contains("original, all") && message.contains("Text PDF"))
    }

    // MARK: Missing items

    @Test(
        "A missing item is not found, despite status 200",
        arguments: [
            ("{}", "archive:x"), ("[]", "archive:x"), (#"{"is_dark":true,"created":1}"#, "withdrawn"),
            (#"{"is_dark":"true","metadata":{}}"#, "withdrawn"),
            (#"{"metadata":{"identifier":"x","mediatype":"collection"},"files":[]}"#, "a collection of other items"),
            (#"{"metadata":{"identifier":"x","mediatype":"audio"},"files":[]}"#, "no parts"),
        ])
    func missingItemsAreNotFound(body: String, part: String) async throws {
        let bench = bench(body)
        for _ in 1...2 {
            guard case .notFound(let message) = try await error(bench) else {
                Issue.record("\(body)")
                return
            }
            #expect(message.contains(part), "\(message)")
        }
        #expect(bench.client.count == 1)
        guard !body.contains("identifier") else { return }
        let lookup = await failure { () async throws(CatalogError) in try await bench.catalog.lookup("archive:x/a.mp3") }
        #expect(lookup?.kind == "notFound")
    }

    @Test(
        "Rejects a response that is not a description of an item",
        arguments: [
            #"{"error":"invalid identifier"}"#, #"{"files":[]}"#, #"{"metadata":{"identifier":"x"}}"#,
            #"{"metadata":{"title":"x"},"files":[]}"#, #"{"metadata":[],"files":[]}"#, "null", "1", "[1]", "<html>",
        ])
    func invalidDescriptionsAreRejected(body: String) async throws {
        #expect(try await error(bench(body))?.kind == "upstreamRejected")
    }

    @Test("A lent book is restricted; its free files are listed for explicit formats only")
    func aLentBook() async throws {
        let bench = bench(
            [
                file("x.pdf", "Text PDF", source: "derivative", more: #","private":"true""#),
                file("x_encrypted.pdf", "ACS Encrypted PDF", source: "derivative"),
                file("x_lcp.epub", "LCP Encrypted EPUB", source: "derivative"),
                file("x_cover.jpg", "JPEG", source: "derivative"), file("x_meta.xml", "Metadata"),
            ], kind: "texts", more: #","access-restricted-item":"true","collection":["inlibrary","printdisabled"]"#)
        guard case .notFound(let message) = try await error(bench) else {
            Issue.record("not refused")
            return
        }
        #expect(message.contains("restricted") && message.contains("JPEG"))
        #expect(try await names(bench, "id=archive:x&format=all") == ["x_cover.jpg"])

        let closed = self.bench([file("x.pdf", source: "derivative", more: #","private":true"#)], kind: "texts")
        guard case .notFound(let reason) = try await error(closed) else {
            Issue.record("not refused")
            return
        }
        #expect(reason.contains("restricted"))
    }

    @Test("Restriction applies to files: public MP3s of a concert with private originals are listed")
    func restrictionIsPerFile() async throws {
        let bench = bench(
            [
                file("a.flac", "Flac", more: #","private":"true""#), file("b.flac", "Flac", more: #","private":"true""#),
                file("a.mp3", source: "derivative"), file("b.mp3", source: "derivative"),
                file("b.ogg", "Ogg Vorbis", source: "derivative"),
            ], kind: "etree")
        #expect(try await names(bench) == ["a.mp3", "b.mp3"])
        #expect(try await error(bench, "id=archive:x&format=Flac")?.kind == "invalidRequest")
        let lookup = await failure { () async throws(CatalogError) in try await bench.catalog.lookup("archive:x/a.flac") }
        #expect(lookup?.kind == "notFound")
        #expect(try await names(bench, "id=archive:x&format=all") == ["a.mp3", "b.mp3", "b.ogg"])
    }

    // MARK: Selection of files

    @Test(
        "Chooses the default formats",
        arguments: [
            // Originals of the kind, without other files of the item.
            ("audio", ["o a.flac", "o info.txt", "o cover.jpg", "d a.mp3"], ["a.flac"]),
            ("audio", ["o a.flac", "o b.mp3", "d a.mp3"], ["a.flac", "b.mp3"]),
            ("audio", ["o a.zip", "d a.ogg", "d a.mp3"], ["a.mp3"]), ("audio", ["o a.zip", "d a.ogg"], ["a.ogg"]),
            ("etree", ["o a.SHN", "d a.mp3"], ["a.SHN"]), ("movies", ["o a.iso", "d a.mp4", "d a.ogv"], ["a.mp4"]),
            ("movies", ["o a.iso", "d a.ogv", "d a.gif"], ["a.ogv"]), ("movies", ["o a.mov", "d a.mp4"], ["a.mov"]),
            ("texts", ["o a_jp2.tar", "d a.epub", "d a.txt"], ["a.epub"]), ("texts", ["o a.pdf", "d a.epub"], ["a.pdf"]),
            ("texts", ["o a.zip", "d a_djvu.txt"], ["a_djvu.txt"]), ("software", ["o a.iso", "o b", "d a.png"], ["a.iso", "b"]),
            ("image", ["o a.tiff", "d a.jpg"], ["a.tiff"]), ("data", ["o a.csv", "o dir.x/b.csv"], ["a.csv", "dir.x/b.csv"]),
            ("audio", ["o dir.mp3/readme", "o a.mp3"], ["a.mp3"]),
        ] as [(String, [String], [String])])
    func whichFilesAreTaken(kind: String, files: [String], expected: [String]) async throws {
        let bench = bench(
            files.map { file(String($0.dropFirst(2)), "F", source: $0.hasPrefix("o") ? "original" : "derivative") }, kind: kind)
        #expect(try await names(bench) == expected)
    }

    @Test("A work without default files is refused with its formats")
    func workWithoutDefaultFiles() async throws {
        let bench = bench([file("a.zip", "ZIP"), file("a.png", "PNG", source: "derivative")], kind: "audio")
        guard case .notFound(let message) = try await error(bench) else {
            Issue.record("not refused")
            return
        }
        #expect(message.contains("PNG, ZIP") && !message.contains("restricted"))
    }

    @Test(
        "Selects formats by name in any case, or by source",
        arguments: [
            ("format=flac", ["a.flac"]), ("format=FLAC&format=vbr%20mp3", ["a.flac", "a.mp3", "b.mp3"]),
            ("format=original", ["a.flac", "b.mp3", "c.txt"]),
            ("format=Original&format=PNG", ["a.flac", "a.png", "b.mp3", "c.txt"]),
            ("format=all", ["a.flac", "a.mp3", "a.png", "b.mp3", "c.txt"]), ("format=ALL&limit=2&offset=3", ["b.mp3", "c.txt"]),
            ("format=all&offset=9", []),
        ] as [(String, [String])])
    func formatsAreChosen(text: String, expected: [String]) async throws {
        let bench = bench([
            file("c.txt", "Text"), file("b.mp3"), file("a.flac", "Flac"), file("a.mp3", source: "derivative"),
            file("a.png", "PNG", source: "derivative"),
        ])
        let response = try await bench.catalog.parts(try partsQuery("id=archive:x&" + text))
        #expect(response.items.map { String($0.id?.dropFirst(10) ?? "") } == expected)
        #expect(response.items.map(\.number) == expected.indices.map { $0 + 1 + response.offset })
        // One name in two rows: originals exclude derivatives.
        #expect(
            response.formats.map { "\($0.source) \($0.name)" } == [
                "original Flac", "original VBR MP3", "original Text", "derivative VBR MP3", "derivative PNG",
            ])
    }

    // MARK: Metadata and order

    @Test(
        "Metadata files are no parts, whatever their formats are",
        arguments: [
            #"{"name":"x_files.xml","source":"original","format":"Text","md5":"0"}"#,
            #"{"name":"x_meta.xml","source":"original","format":"XML"}"#,
            #"{"name":"x_archive.torrent","source":"original"}"#, #"{"name":"x_meta.sqlite","source":"original"}"#,
            #"{"name":"x_reviews.xml","source":"original","format":"Metadata"}"#,
            #"{"name":"a.xml","source":"derivative","format":"Metadata"}"#,
            #"{"name":"a.mp3","source":"original","format":"Item Tile"}"#, #"{"name":"a.mp3","source":"metadata"}"#,
            #"{"name":"x_archive.torrent","source":"metadata","format":"Archive BitTorrent"}"#,
            #"{"source":"original","format":"VBR MP3"}"#, #"{"name":7,"source":"original"}"#, "1", "null",
            #"{"name":"../a.mp3","source":"original"}"#, #"{"name":"a/./b.mp3","source":"original"}"#,
            #"{"name":"/a.mp3","source":"original"}"#, #"{"name":"a//b.mp3","source":"original"}"#,
            #"{"name":"","source":"original"}"#,
        ])
    func bookkeepingIsNoPart(file: String) async throws {
        let bench = bench([file, self.file("good.mp3")])
        #expect(try await names(bench, "id=archive:x&format=all") == ["good.mp3"])
    }

    @Test(
        "A file with a name that only ends like a metadata file's is a part",
        arguments: ["scan_meta.xml", "y_files.xml", "my_archive.torrent", "a/x_meta.xml", "xx_meta.sqlite", "train_meta.xml"])
    func ownFilesAreParts(name: String) async throws {
        // The archive gives uploaded files with such names the format of its own.
        for format in ["Text", "Metadata"] {
            let bench = bench([#"{"name":"\#(name)","source":"original","format":"\#(format)"}"#])
            #expect(
                try await bench.catalog.parts(try partsQuery("id=archive:x&format=all")).items.map(\.id) == ["archive:x/\(name)"])
        }
    }

    @Test(
        "Files are in track order if all have distinct tracks, otherwise in natural order of names",
        arguments: [
            (["b.mp3 2", "a.mp3 10", "c.mp3 1"], ["c.mp3", "b.mp3", "a.mp3"]),
            (["b.mp3 02/3", "a.mp3 03/3", "c.mp3 1/3"], ["c.mp3", "b.mp3", "a.mp3"]),
            (["b.mp3 1", "a.mp3 1", "c.mp3 2"], ["a.mp3", "b.mp3", "c.mp3"]),
            (["b.mp3 1", "a.mp3", "c.mp3 2"], ["a.mp3", "b.mp3", "c.mp3"]),
            (["b.mp3 A1", "a.mp3 B1"], ["a.mp3", "b.mp3"]), (["b.mp3 0", "a.mp3 1"], ["a.mp3", "b.mp3"]),
            (["t10.mp3", "t9.mp3", "T1.mp3", "t1.mp3", "d2/t1.mp3"], ["d2/t1.mp3", "T1.mp3", "t1.mp3", "t9.mp3", "t10.mp3"]),
        ] as [([String], [String])])
    func filesAreInOrder(files: [String], expected: [String]) async throws {
        let bench = bench(
            files.map { text in
                let parts = text.split(separator: " ", maxSplits: 1)
                return file(String(parts[0]), more: parts.count > 1 ? ",\"track\":\"\(parts[1])\"" : "")
            })
        #expect(try await names(bench) == expected)
    }

    @Test("Tracks may be numbers")
    func tracksMayBeNumbers() async throws {
        let bench = bench([file("a.mp3", more: #","track":2"#), file("b.mp3", more: #","track":["1"]"#)])
        #expect(try await names(bench) == ["b.mp3", "a.mp3"])
    }

    // MARK: Members

    @Test(
        "Accepts valid sizes, digests and durations only",
        arguments: [
            (#""size":"12""#, 12, nil, nil), (#""size":12"#, 12, nil, nil), (#""size":"-1""#, nil, nil, nil),
            (#""size":"a""#, nil, nil, nil), (#""size":"99999999999999999999""#, nil, nil, nil), ("", nil, nil, nil),
            (#""sha1":"DA39A3EE5E6B4B0D3255BFEF95601890AFD80709""#, nil, "sha-1:da39a3ee5e6b4b0d3255bfef95601890afd80709", nil),
            (
                #""sha1":"da39a3ee5e6b4b0d3255bfef95601890afd8070z","md5":"d41d8cd98f00b204e9800998ecf8427e""#, nil,
                "md5:d41d8cd98f00b204e9800998ecf8427e", nil
            ),
            (#""sha1":"","md5":"d41d8cd98f00b204e9800998ecf8427""#, nil, nil, nil), (#""sha1":1,"md5":null"#, nil, nil, nil),
            (#""md5":"d41d8cd98f00b204e9800998ecf8427é""#, nil, nil, nil), (#""crc32":"8fb6e1b""#, nil, nil, nil),
            (#""length":"351.4""#, nil, nil, 351_400), (#""length":"05:37""#, nil, nil, 337_000),
            (#""length":"1:02:03""#, nil, nil, 3_723_000), (#""length":"0""#, nil, nil, nil),
            (#""length":351.4"#, nil, nil, 351_400),
        ] as [(String, Int64?, String?, Int64?)])
    func aSizeADigestAndALength(members: String, bytes: Int64?, checksum: String?, durationMs: Int64?) async throws {
        let bench = bench([file("a.mp3", more: members.isEmpty ? "" : "," + members)])
        let item = try #require(try await bench.catalog.parts(try partsQuery("id=archive:x")).items.first)
        #expect(item.bytes == bytes)
        #expect(item.checksum == checksum)
        #expect(item.durationMs == durationMs)
    }

    @Test("The size of a format is known if the sizes of all its files are")
    func theBytesOfAFormat() async throws {
        let bench = bench([
            file("a.mp3", more: #","size":"5""#), file("b.mp3", more: #","size":"6""#),
            file("a.ogg", "Ogg", more: #","size":"5""#),
            file("b.ogg", "Ogg"),
        ])
        let formats = try await bench.catalog.parts(try partsQuery("id=archive:x")).formats
        #expect(formats.map(\.bytes) == [11, nil])
        #expect(formats.map(\.count) == [2, 2])
    }

    @Test("A title is plain text; without one, the last path component is the name")
    func aTitleIsPlainText() async throws {
        let bench = bench([
            file("a.mp3", more: #","title":"Rock &amp; Roll &#39;n&#x27; &eacute;t&eacute;""#),
            file("d/b.mp3", more: #","title":"""#),
        ])
        let items = try await bench.catalog.parts(try partsQuery("id=archive:x")).items
        #expect(items.map(\.name) == ["Rock & Roll 'n' été", "b.mp3"])
        #expect(items.map(\.collection) == ["Work", "Work"])
    }

    @Test(
        "A path with any characters becomes a URL, and its id finds it",
        arguments: [
            ("disc 1/01 a.mp3", "disc%201/01%20a.mp3"), ("a?b#c%20d&e=f+g.mp3", "a%3Fb%23c%2520d%26e%3Df%2Bg.mp3"),
            ("Björk/Jóga – 王菲.mp3", "Bj%C3%B6rk/J%C3%B3ga%20%E2%80%93%20%E7%8E%8B%E8%8F%B2.mp3"), ("a\\\\b.mp3", "a%5Cb.mp3"),
            ("…/a:b;c@d!e*(f)'.mp3", "%E2%80%A6/a%3Ab%3Bc%40d%21e%2A%28f%29%27.mp3"), ("e\u{301}.mp3", "e%CC%81.mp3"),
            ("...mp3", "...mp3"), ("a/b/c/d/e/f/g/h/i/j.mp3", "a/b/c/d/e/f/g/h/i/j.mp3"),
        ])
    func aPathOfAnyName(name: String, path: String) async throws {
        let bench = bench([file(name), file("other.mp3")])
        let item = try #require(
            try await bench.catalog.parts(try partsQuery("id=archive:x")).items.first { $0.name != "other.mp3" })
        #expect(item.downloadUrl == "https://archive.test/download/x/\(path)")
        let id = try #require(item.id)
        #expect(
            try await bench.catalog.lookup(id).items
                == [item].map {
                    var item = $0; item.number = nil; return item
                })
        #expect(bench.client.count == 1)
    }

    @Test("Names that look alike are different")
    func namesThatLookAlike() async throws {
        let bench = bench([file("\u{E9}.mp3", more: #","size":"1""#), file("e\u{301}.mp3", more: #","size":"2""#)])
        #expect(try await bench.catalog.lookup("archive:x/\u{E9}.mp3").items.map(\.bytes) == [1])
        #expect(try await bench.catalog.lookup("archive:x/e\u{301}.mp3").items.map(\.bytes) == [2])
    }

    @Test("An id has at most 1,024 bytes")
    func anIdHas1024BytesAtMost() async throws {
        let long = String(repeating: "a", count: 1024 - "archive:x/.mp3".utf8.count)
        let bench = bench([file(long + ".mp3"), file(long + "b.mp3")])
        let items = try await bench.catalog.parts(try partsQuery("id=archive:x")).items
        #expect(items.map { $0.id?.utf8.count } == [1024, nil])
        #expect(try await bench.catalog.lookup("archive:x/\(long).mp3").items.count == 1)
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.lookup("archive:x/\(long)b.mp3") }
        guard case .invalidRequest(let message) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.contains("1024 bytes"))
    }

    @Test("Looks up an item with the request that lists its files")
    func anItemIsLookedUp() async throws {
        let bench = bench(try Fixture.captured("archive-metadata-film"))
        let item = try #require(try await bench.catalog.lookup("archive:AboutBan1935").items.first)
        #expect(item.name == "About Bananas")
        #expect(item.artist == "Castle Films")
        #expect(item.releaseDate == "1935")
        #expect(item.collection == "prelinger")
        #expect(item.downloadUrl == nil)
        #expect(String(decoding: item.raw, as: UTF8.self).hasPrefix(#"{"mediatype":"movies","identifier":"AboutBan1935","#))
        #expect(try await bench.catalog.lookup("archive:AboutBan1935/AboutBan1935.mp4").items.map(\.bytes) == [68_512_128])
        #expect(try await bench.catalog.parts(try partsQuery("id=archive:AboutBan1935")).total == 4)
        #expect(bench.client.count == 1)
    }

    @Test("Hides the password of the base URL")
    func aPasswordInTheBaseIsNotShown() async throws {
        let body = "{\"metadata\":{\"identifier\":\"x\",\"mediatype\":\"audio\"},\"files\":[\(file("a.mp3"))]}"
        let bench = Bench { _ in
            .success(.with(type: "application/json", body))
        } configure: {
            $0.bases["archive"] = url("https://user:secret@archive.test/base/")
        }
        let item = try #require(try await bench.catalog.parts(try partsQuery("id=archive:x")).items.first)
        #expect(item.downloadUrl == "https://archive.test/base/download/x/a.mp3")
        #expect(item.pageUrl == "https://archive.test/base/details/x")
    }
}
