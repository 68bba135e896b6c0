import Catalog
import HTTPClient
import HTTPCore
import JSON
import Testing

@Suite(.timeLimit(.minutes(3)))
struct AnswerTests {
    /// The response to a search with this upstream response.
    private func answer(_ body: String, _ text: String = "term=a") async throws -> SearchResponse {
        let bench = Bench { _ in .success(.with(body)) }
        return try await bench.catalog.search(try query(text))
    }

    private func item(_ result: String) async throws -> SearchItem {
        try #require(try await answer("{\"resultCount\":1,\"results\":[\(result)]}").items.first)
    }

    @Test("Reads the captured response item by item")
    func theCapturedAnswerIsReadItemByItem() async throws {
        let body = try Fixture.songSearch()
        #expect(body.starts(with: "\n\n\n".utf8))
        let bench = Bench { _ in .success(.with(body)) }
        let answer = try await bench.catalog.search(try query("term=jack+johnson&entity=song"))
        let results = try #require(try JSONValue(parsing: body)["results"]?.array)
        #expect(answer.source == "itunes")
        #expect(answer.term == "jack johnson")
        #expect(answer.attribution == "provided courtesy of iTunes")
        #expect(results.count == 9)
        #expect(answer.items.count == results.count)
        for (item, result) in zip(answer.items, results) {
            #expect(item.id == result["trackId"]?.integer.map { "itunes:\($0)" })
            #expect(item.kind == "song")
            #expect(item.name == result["trackName"]?.string)
            #expect(item.artist == result["artistName"]?.string)
            #expect(item.collection == result["collectionName"]?.string)
            #expect(item.genre == result["primaryGenreName"]?.string)
            #expect(item.durationMs == result["trackTimeMillis"]?.integer)
            #expect(item.releaseDate == result["releaseDate"]?.string)
            #expect(item.explicit == (result["trackExplicitness"]?.string == "explicit"))
            #expect(item.artworkUrl == result["artworkUrl100"]?.string)
            #expect(item.pageUrl == result["trackViewUrl"]?.string)
            #expect(item.downloadUrl == result["previewUrl"]?.string)
            #expect(try JSONValue(parsing: item.raw) == result)
        }
        let first = answer.items[0]
        #expect(first.id == "itunes:263301273")
        #expect(first.name == "Jack Johnson")
        #expect(first.artist == "This Bike Is a Pipe Bomb")
        #expect(first.collection == "Three Way Tie for a Fifth")
        #expect(first.genre == "Alternative")
        #expect(first.durationMs == 117_573)
        #expect(first.releaseDate == "2004-06-15T12:00:00Z")
        #expect(first.explicit == false)
        #expect(first.raw.starts(with: #"{"wrapperType":"track","kind":"song","artistId":41742672,"#.utf8))
        #expect(first.raw.last == UInt8(ascii: "}"))
    }

    @Test("The response has the contract's members in order")
    func theEnvelopeHasTheContractsMembersInOrder() async throws {
        let song = """
            {"wrapperType":"track","kind":"song","trackId":7,"trackName":"A \\"b\\"","previewUrl":"https://a.test/x.m4a", \
            "extra" : [1, 2.50]}
            """
        let answer = try await answer("{\"resultCount\":1,\"results\":[ \(song) ]}", "term=a+%22&limit=3&offset=2")
        var writer = JSONWriter()
        answer.encode(into: &writer, includesRaw: true) { url in
            url == "https://a.test/x.m4a" ? (id: "01J", state: "queued") : nil
        }
        let head =
            #"{"source":"itunes","term":"a \"","limit":3,"offset":2,"count":1,"attribution":"provided courtesy of iTunes","#
            + #""results":[{"id":"itunes:7","kind":"song","name":"A \"b\"","artist":null,"collection":null,"genre":null,"#
            + #""durationMs":null,"releaseDate":null,"explicit":null,"artworkUrl":null,"pageUrl":null,"#
            + #""downloadUrl":"https://a.test/x.m4a","partCount":null,"partOf":null,"season":null,"format":null,"bytes":null,"checksum":null,"#
            + #""licenseUrl":null,"number":null,"links":{"parts":null,"feed":null},"download":"#
        #expect(String(decoding: writer.bytes, as: UTF8.self) == head + #"{"id":"01J","state":"queued"},"raw":\#(song)}]}"#)

        var plain = JSONWriter()
        answer.encode(into: &plain, includesRaw: false) { _ in nil }
        #expect(String(decoding: plain.bytes, as: UTF8.self) == head + "null}]}")
    }

    @Test("Albums and artists have their own names and ids")
    func albumsAndArtistsHaveTheirOwnNamesAndIds() async throws {
        let album = try await item(
            """
            {"wrapperType":"collection","collectionType":"Album","artistId":1,"collectionId":2,"artistName":"X",
             "collectionName":"Y","collectionExplicitness":"explicit","collectionViewUrl":"https://m.test/y",
             "artistViewUrl":"https://m.test/x"}
            """)
        #expect(album.id == "itunes:collection:2")
        #expect(album.kind == "album")
        #expect(album.name == "Y")
        #expect(album.artist == "X")
        #expect(album.explicit == true)
        #expect(album.pageUrl == "https://m.test/y")
        #expect(album.downloadUrl == nil)

        let artist = try await item(
            #"{"wrapperType":"artist","artistType":"Artist","artistName":"X","artistId":1,"artistLinkUrl":"https://m.test/x"}"#)
        #expect(artist.id == "itunes:artist:1")
        #expect(artist.kind == "artist")
        #expect(artist.name == "X")
        #expect(artist.pageUrl == "https://m.test/x")

        let book = try await item(#"{"wrapperType":"audiobook","collectionId":5,"collectionName":"B","artistName":"W"}"#)
        #expect(book.id == "itunes:collection:5")
        #expect(book.kind == "audiobook")
        #expect(book.name == "B")
    }

    @Test("An episode is downloaded whole")
    func anEpisodeIsDownloadedWhole() async throws {
        let episode = try await item(
            """
            {"wrapperType":"podcastEpisode","kind":"podcast-episode","trackId":3,"previewUrl":"https://p.test/preview.mp3",
             "episodeUrl":"https://p.test/whole.mp3"}
            """)
        #expect(episode.downloadUrl == "https://p.test/whole.mp3")
        let withoutURL = try await item(
            #"{"kind":"podcast-episode","trackId":3,"previewUrl":"https://p.test/preview.mp3"}"#)
        #expect(withoutURL.downloadUrl == "https://p.test/preview.mp3")
    }

    @Test("Every member of a result is optional")
    func everyFieldOfAResultIsOptional() async throws {
        let item = try await item("{}")
        #expect(item == SearchItem.none(raw: "{}"))
    }

    @Test("A member of another type counts as absent")
    func aFieldOfAnotherTypeCountsAsAbsent() async throws {
        let raw =
            #"{"wrapperType":1,"kind":[],"trackId":"7","trackName":3,"artistName":null,"collectionName":{},"trackTimeMillis":-1,"#
            + #""trackExplicitness":true,"previewUrl":5,"artworkUrl100":{},"releaseDate":0}"#
        #expect(try await item(raw) == SearchItem.none(raw: raw))
    }

    @Test(
        "Reads explicitness from its word",
        arguments: [("explicit", true), ("notExplicit", false), ("cleaned", false), ("unheard", nil)] as [(String, Bool?)])
    func explicitnessIsReadFromItsWord(word: String, expected: Bool?) async throws {
        #expect(try await item("{\"trackId\":1,\"trackExplicitness\":\"\(word)\"}").explicit == expected)
    }

    @Test("Ids of more than 32 bits stay exact")
    func idsOfMoreThan32BitsStayExact() async throws {
        #expect(try await item(#"{"trackId":9007199254740993}"#).id == "itunes:9007199254740993")
        #expect(try await item(#"{"trackId":9223372036854775807}"#).id == "itunes:9223372036854775807")
        #expect(try await item(#"{"trackId":9223372036854775808}"#).id == nil)
    }

    @Test(
        "Only HTTP URLs are accepted",
        arguments: ["javascript:alert(1)", "file:///etc/passwd", "ftp://a.test/x", "data:audio/mp4,x", "/x", "", "https://"])
    func onlyHTTPURLsPass(url: String) async throws {
        let item = try await item(
            "{\"trackId\":1,\"previewUrl\":\"\(url)\",\"trackViewUrl\":\"\(url)\",\"artworkUrl100\":\"\(url)\"}")
        #expect(item.downloadUrl == nil)
        #expect(item.pageUrl == nil)
        #expect(item.artworkUrl == nil)
    }

    @Test("Chooses the largest image")
    func theLargestPictureIsTaken() async throws {
        let item = try await item(
            """
            {"artworkUrl100":"https://a.test/100","artworkUrl600":"https://a.test/600","artworkUrl30":"https://a.test/30",
             "artworkUrl999":"data:,","artworkUrlX":"https://a.test/x","artworkUrl99999999999999999999":"https://a.test/y"}
            """)
        #expect(item.artworkUrl == "https://a.test/600")
    }

    @Test("An empty result is a response")
    func anEmptyResultIsAnAnswer() async throws {
        let answer = try await answer("\n\n\n{\n \"resultCount\":0,\n \"results\": []\n}\n\n\n")
        #expect(answer.items.isEmpty)
    }

    @Test("Cuts excess results of a source")
    func aSourceThatGivesTooManyResultsIsCut() async throws {
        let answer = try await answer(#"{"resultCount":3,"results":[{},{},{}]}"#, "term=a&limit=2")
        #expect(answer.items.count == 2)
    }
}

extension SearchItem {
    /// An item without any member.
    static func none(raw: String) -> SearchItem {
        SearchItem(raw: Array(raw.utf8))
    }
}
