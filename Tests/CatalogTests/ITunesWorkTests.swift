import HTTPClient
import HTTPCore
import TestSupport
import Testing

@testable import Catalog

/// Albums, seasons and podcasts of iTunes, and their parts.
@Suite(.timeLimit(.minutes(3)))
struct ITunesWorkTests {
    private static let album =
        #"{"wrapperType":"collection","collectionType":"Album","collectionId":5,"collectionName":"Album","artistName":"X","trackCount":16}"#
    private static let season =
        #"{"wrapperType":"collection","collectionType":"TV Season","collectionId":5,"collectionName":"Season","trackCount":2}"#
    private static let podcast =
        #"{"wrapperType":"track","kind":"podcast","collectionId":5,"trackId":5,"artistName":"Host","collectionName":"Show","#
        + #""trackName":"Show","trackCount":340,"trackTimeMillis":2940}"#

    private static func answer(_ results: [String]) -> FakeClient.Outcome {
        .success(.with("{\"resultCount\":\(results.count),\"results\":[\(results.joined(separator: ","))]}"))
    }

    private static func song(_ id: Int, _ name: String, disc: Int = 1, discs: Int = 1, track: Int?, kind: String = "song")
        -> String
    {
        let number = track.map { ",\"trackNumber\":\($0)" } ?? ""
        return "{\"wrapperType\":\"track\",\"kind\":\"\(kind)\",\"collectionId\":5,\"trackId\":\(id),\"trackName\":\"\(name)\","
            + "\"collectionName\":\"Album\",\"discNumber\":\(disc),\"discCount\":\(discs),\"previewUrl\":\"https://a.test/mzaf_\(id).m4a\""
            + number + "}"
    }

    private static func episode(_ id: Int, _ name: String = "E", more: String = "") -> String {
        "{\"wrapperType\":\"podcastEpisode\",\"kind\":\"podcast-episode\",\"collectionId\":5,\"collectionName\":\"Show\",\"trackId\":\(id),"
            + "\"trackName\":\"\(name)\",\"releaseDate\":\"2023-05-01T09:00:00Z\",\"episodeUrl\":\"https://a.test/\(id)/audio.mp3\"\(more)}"
    }

    private func parts(_ results: [String], _ text: String = "id=itunes:collection:5") async throws -> SearchResponse {
        let bench = Bench { _ in Self.answer(results) }
        return try await bench.catalog.parts(try partsQuery(text))
    }

    // MARK: Limits

    @Test("Cuts texts to 500 characters, as in parts of a podcast that repeat its artist")
    func longTexts() async throws {
        let long = String(repeating: "é", count: 300_000)
        let podcast = Self.podcast.split(separator: "Host").joined(separator: long)
        let response = try await parts([podcast] + (1...50).map { Self.episode($0) }, "id=itunes:5")
        #expect(response.items.map(\.artist) == [String](repeating: String(long.prefix(500)) + "…", count: 50))
    }

    @Test("Omits durations of more than a year", arguments: [(31_622_400_000, true), (31_622_400_001, false)])
    func longTracks(milliseconds: Int64, isKept: Bool) async throws {
        let song = Self.song(1, "One", track: 1).dropLast() + ",\"trackTimeMillis\":\(milliseconds)}"
        #expect(try await parts([Self.album, String(song)]).items.map(\.durationMs) == [isKept ? milliseconds : nil])
    }

    // MARK: Stores

    @Test("Ids from the store of another country name it, and are looked up there")
    func storesOfCountries() async throws {
        let song = Self.song(1, "One", track: 1)
        let episode = Self.episode(2)
        let bench = Bench { request in
            let asked = request.url.string
            let isJapanese = asked.hasSuffix("&country=JP") || asked.contains("&country=JP&")
            guard isJapanese else { return Self.answer([]) }
            if asked.contains("entity=song") { return Self.answer([Self.album, song]) }
            if asked.contains("entity=podcastEpisode") { return Self.answer([Self.podcast, episode]) }
            return Self.answer([song, Self.album, episode])
        }
        let asked = try query("term=x&country=jp")
        let found = try await bench.catalog.search(asked)
        #expect(found.items.map(\.id) == ["itunes:jp:1", "itunes:jp:collection:5", "itunes:jp:episode:5:2"])
        #expect(found.items.map(\.partOf) == ["itunes:jp:collection:5", nil, "itunes:jp:5"])
        // Another service with an empty cache requests the same store.
        for id in ["itunes:jp:1", "itunes:jp:collection:5", "itunes:jp:episode:5:2"] {
            let other = Bench { _ in nil }
            async let looked = other.catalog.lookup(id)
            try await other.client.requests.wait { $0.count == 1 }
            #expect(other.client.requests.value[0].url.string.contains("country=JP"))
            other.client.respond(0, Self.answer(id.contains("episode") ? [Self.podcast, episode] : [song, Self.album]))
            #expect(try await looked.items.map(\.id) == [id])
        }
        let parts = try await bench.catalog.parts(try partsQuery("id=itunes:jp:collection:5"))
        #expect(parts.of?.id == "itunes:jp:collection:5")
        #expect(parts.items.map(\.id) == ["itunes:jp:1"])
        let same = try await bench.catalog.parts(try partsQuery("id=itunes:collection:5&country=JP"))
        #expect(same.items.map(\.id) == ["itunes:jp:1"])
        let podcast = try await bench.catalog.parts(try partsQuery("id=itunes:jp:5"))
        #expect(podcast.items.map(\.id) == ["itunes:jp:episode:5:2"])
    }

    @Test("Looks up many ids store by store")
    func manyIDsOfStores() async {
        let bench = Bench { _ in Self.answer([Self.song(1, "One", track: 1), Self.song(2, "Two", track: 2)]) }
        let results = await bench.catalog.lookup(["itunes:1", "itunes:jp:1", "itunes:2", "itunes:jp:2"])
        #expect(results.map { try? $0.get().items.first?.id } == ["itunes:1", "itunes:jp:1", "itunes:2", "itunes:jp:2"])
        #expect(
            Set(bench.client.requests.value.map(\.url.string)) == [
                "https://itunes.test/lookup?id=1%2C2", "https://itunes.test/lookup?id=1%2C2&country=JP",
            ])
    }

    @Test(
        "An id and a country must name the same store",
        arguments: [
            ("itunes:1", nil, "itunes:1"), ("itunes:1", "US", "itunes:1"), ("itunes:1", "jp", "itunes:jp:1"),
            ("itunes:episode:5:2", "GB", "itunes:gb:episode:5:2"), ("itunes:jp:1", "JP", "itunes:jp:1"),
            ("itunes:jp:1", "US", nil), ("itunes:jp:1", "GB", nil), ("itunes:1", "XX", nil), ("itunes:1", "", nil),
            ("itunes:x", "JP", nil), ("archive:x", "JP", nil), ("posts:1", "JP", nil),
        ] as [(String, String?, String?)])
    func idInCountry(id: String, country: String?, expected: String?) {
        #expect((try? Catalog.id(id, inCountry: country)) == expected)
    }

    @Test(
        "An id names a store only by its code in lower case, and never the default store",
        arguments: ["itunes:us:1", "itunes:JP:1", "itunes:jpn:1", "itunes:jp:", "itunes:jp", "itunes:jp:jp:1", "itunes:jp:x"])
    func notIDs(id: String) {
        #expect(!Bench { _ in nil }.catalog.isID(id))
    }

    @Test("A country without a store has no results and gets no request")
    func unknownStore() async {
        let bench = Bench { _ in nil }
        #expect(bench.catalog.isID("itunes:xx:1"))
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.lookup("itunes:xx:1") }
        guard case .notFound = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(bench.client.count == 0)
    }

    // MARK: Limits

    @Test("Rejects responses with too many results or values")
    func bounds() async throws {
        for body in [
            #"{"resultCount":1,"results":[\#([String](repeating: "{}", count: 501).joined(separator: ","))]}"#,
            #"{"results":[{"a":[\#([String](repeating: "0", count: 100_000).joined(separator: ","))]}]}"#,
        ] {
            let bench = Bench { _ in .success(.with(body)) }
            let asked = try query("term=x")
            let error = await failure { () async throws(CatalogError) in try await bench.catalog.search(asked) }
            guard case .upstreamRejected = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    // MARK: Captured

    @Test("The captured album: songs in order, with numbers and file names")
    func theCapturedAlbum() async throws {
        let body = try Fixture.captured("itunes-album-lookup", "txt")
        let bench = Bench { _ in .success(.with(body)) }
        let response = try await bench.catalog.parts(try partsQuery("id=itunes:collection:1038991417"))
        #expect(
            bench.client.requests.value.map(\.url.string) == [
                "https://itunes.test/lookup?id=1038991417&entity=song&limit=200"
            ])
        #expect(response.of?.id == "itunes:collection:1038991417")
        #expect(response.of?.kind == "album")
        #expect(response.of?.partCount == 10)
        #expect(response.of?.hasParts == true)
        #expect(response.total == 10)
        #expect(response.formats.isEmpty)
        #expect(response.items.map(\.number) == Array(1...10))
        #expect(response.attribution == "provided courtesy of iTunes")
        let first = try #require(response.items.first)
        #expect(first.id == "itunes:1038991437")
        #expect(first.name == "Angel of Death")
        #expect(first.partOf == "itunes:collection:1038991417")
        #expect(first.partCount == nil)
        #expect(!first.hasParts)
        #expect(first.durationMs == 291_813)
        #expect(first.suggestion?.folder == ["Reign In Blood"])
        #expect(first.suggestion?.prefix == "01")
        #expect(first.suggestion?.title == "Angel of Death")
        #expect(first.suggestion?.suffix == ".m4a")
        #expect(response.items.last?.suggestion?.prefix == "10")
    }

    @Test("The captured podcast: episodes in order, with artist, genre and lookable ids")
    func theCapturedPodcast() async throws {
        let body = try Fixture.captured("itunes-podcast-lookup")
        let bench = Bench { _ in .success(.with(body)) }
        let response = try await bench.catalog.parts(try partsQuery("id=itunes:934552872"))
        #expect(
            bench.client.requests.value.map(\.url.string) == [
                "https://itunes.test/lookup?id=934552872&entity=podcastEpisode&limit=200"
            ])
        #expect(response.of?.kind == "podcast")
        #expect(response.of?.partCount == 340)
        // The member named milliseconds has seconds.
        #expect(response.of?.durationMs == nil)
        #expect(response.total == 3)
        let first = try #require(response.items.first)
        #expect(first.id == "itunes:episode:934552872:1000610099308")
        #expect(first.kind == "podcast-episode")
        #expect(first.name == "A.I. Drake has put music in a tailspin")
        #expect(first.artist == "Vulture")
        #expect(first.genre == "Music Commentary")
        #expect(first.collection == "Switched on Pop")
        #expect(first.durationMs == 2_234_000)
        #expect(first.partOf == "itunes:934552872")
        #expect(first.number == 1)
        #expect(first.downloadUrl?.hasSuffix("/VMP6807581673.mp3?updated=1682099892") == true)
        #expect(first.suggestion?.folder == ["Switched on Pop"])
        #expect(first.suggestion?.prefix == "2023-04-21")
        #expect(first.suggestion?.suffix == ".mp3")
        #expect(response.items.map(\.releaseDate) == ["2023-04-21T14:16:00Z", "2023-04-18T09:00:00Z", "2023-04-11T07:00:00Z"])
    }

    // MARK: Former mistakes

    @Test("A podcast has no duration")
    func aPodcastHasNoPlayingTime() async throws {
        let bench = Bench { _ in Self.answer([Self.podcast]) }
        let item = try #require(try await bench.catalog.search(try query("term=a")).items.first)
        #expect(item.durationMs == nil)
        #expect(item.partCount == 340)
        #expect(item.hasParts)
        #expect(item.id == "itunes:5")
    }

    @Test(
        "An episode has a genre, its own explicitness and its podcast's artist",
        arguments: [
            (#","genres":[{"name":"Music","id":"1"}],"contentAdvisoryRating":"Explicit""#, "Music", true),
            (#","genres":["Music","Podcasts"],"contentAdvisoryRating":"Clean""#, "Music", false),
            (#","genres":[],"contentAdvisoryRating":"PG-13""#, nil, nil), (#","genres":[1]"#, nil, nil), ("", nil, nil),
        ] as [(String, String?, Bool?)])
    func anEpisodeHasAGenre(members: String, genre: String?, explicit: Bool?) async throws {
        let response = try await parts([Self.podcast, Self.episode(7, more: members)], "id=itunes:5")
        let item = try #require(response.items.first)
        #expect(item.genre == genre)
        #expect(item.explicit == explicit)
        #expect(item.artist == "Host")
    }

    @Test("Finds an episode by its id after the search has expired")
    func anEpisodeIsFoundByItsID() async throws {
        let bench = Bench { request in
            request.url.string.contains("/search")
                ? Self.answer([Self.episode(7)]) : Self.answer([Self.podcast, Self.episode(8), Self.episode(7)])
        }
        let found = try #require(
            try await bench.catalog.search(try query("term=a&media=podcast&entity=podcastEpisode")).items.first)
        let id = try #require(found.id)
        #expect(id == "itunes:episode:5:7")
        bench.clock.advance(by: .seconds(300))
        let item = try #require(try await bench.catalog.lookup(id).items.first)
        #expect(item.id == id)
        #expect(item.downloadUrl == "https://a.test/7/audio.mp3")
        #expect(item.artist == "Host")
        #expect(bench.client.requests.value.last?.url.string == "https://itunes.test/lookup?id=5&entity=podcastEpisode&limit=200")
        // The other items are cached now.
        _ = try await bench.catalog.lookup("itunes:episode:5:8")
        #expect(bench.client.count == 2)
        let older = await failure { () async throws(CatalogError) in try await bench.catalog.lookup("itunes:episode:5:9") }
        #expect(older?.kind == "notFound")
        #expect(bench.client.count == 2)
    }

    @Test("An episode without a podcast has no id, since lookups need the podcast")
    func anEpisodeWithoutItsPodcastHasNoID() async throws {
        let bench = Bench { _ in Self.answer([#"{"kind":"podcast-episode","trackId":7,"trackName":"E"}"#]) }
        let item = try #require(try await bench.catalog.search(try query("term=a")).items.first)
        #expect(item.id == nil && item.partOf == nil)
    }

    @Test("Many lookups share one request, whose response has a result for each")
    func manyLookupsAreOneRequest() async throws {
        let bench = Bench { _ in Self.answer((1...15).filter { $0 != 3 }.map { Self.song($0, "S", track: $0) } + [Self.album]) }
        let ids = (1...15).map { "itunes:\($0)" } + ["itunes:collection:5", "nonsense", "itunes:1"]
        let results = await bench.catalog.lookup(ids)
        #expect(bench.client.count == 1)
        #expect(
            bench.client.requests.value.first?.url.query
                == "id="
                + ["1", "10", "11", "12", "13", "14", "15", "2", "3", "4", "5", "6", "7", "8", "9"].joined(separator: "%2C"))
        for (id, result) in zip(ids, results) {
            switch result {
            case .success(let response): #expect(response.items.map(\.id) == [id])
            case .failure(.notFound(let message)): #expect(id == "itunes:3" && message.contains(id))
            case .failure(let error): #expect(id == "nonsense" && error.kind == "invalidRequest")
            }
        }
        // The results are cached now.
        _ = await bench.catalog.lookup(["itunes:9", "itunes:2"])
        #expect(bench.client.count == 1)
    }

    @Test("A failure reaches each lookup that shares the request")
    func aFailureIsThatOfEach() async throws {
        let bench = Bench { _ in .failure(.timedOut("x")) }
        let results = await bench.catalog.lookup(["itunes:1", "itunes:2"])
        for result in results {
            guard case .failure(let error) = result else {
                Issue.record("\(result)")
                continue
            }
            #expect(error.kind == "upstreamTimeout")
        }
        #expect(bench.client.count == 1)
    }

    @Test("Two hundred and fifty lookups need three requests")
    func manyLookupsAreAFewRequests() async throws {
        let bench = Bench { request in
            let numbers = (try? QueryItem.parse((request.url.query ?? "").utf8))?.first?.value.split(separator: ",") ?? []
            return Self.answer(numbers.compactMap { Int($0) }.map { Self.song($0, "S", track: 1) })
        }
        let results = await bench.catalog.lookup((1...250).map { "itunes:\($0)" })
        #expect(results.count == 250)
        #expect(results.allSatisfy { (try? $0.get()) != nil })
        #expect(bench.client.count == 3)
    }

    // MARK: Albums

    @Test("Songs are in the order of discs and tracks, music videos included; the album claims more parts")
    func songsAreInOrder() async throws {
        let response = try await parts([
            Self.album, Self.song(21, "C", disc: 2, discs: 2, track: 1), Self.song(12, "B", discs: 2, track: 2),
            Self.song(11, "A", discs: 2, track: 1), Self.song(22, "V", disc: 2, discs: 2, track: 2, kind: "music-video"),
            Self.song(23, "D", disc: 2, discs: 2, track: nil),
        ])
        #expect(response.items.map(\.name) == ["A", "B", "C", "V", "D"])
        #expect(response.items.map(\.number) == [1, 2, 3, 4, 5])
        #expect(response.items.map(\.suggestion?.prefix) == ["1", "2", "3", "4", "5"])
        #expect(response.of?.partCount == 16)
        #expect(response.total == 5)
        #expect(response.items[3].kind == "music-video")
    }

    @Test("A song keeps its number if others are missing; songs of several discs have no numbers")
    func aSongKeepsItsNumber() async throws {
        let response = try await parts([Self.album, Self.song(1, "A", track: 1), Self.song(12, "L", track: 12)])
        #expect(response.items.map(\.number) == [1, 12])
        #expect(response.items.map(\.suggestion?.prefix) == ["01", "12"])
        let bench = Bench { _ in
            Self.answer([
                Self.song(1, "A", track: 4), Self.song(2, "B", discs: 2, track: 4), Self.song(3, "C", disc: 2, track: 4),
            ])
        }
        let items = try await bench.catalog.search(try query("term=a")).items
        #expect(items.map(\.number) == [4, nil, nil])
        #expect(items.map(\.suggestion?.prefix) == [nil, nil, nil])
        #expect(items.map(\.suggestion?.folder) == [["Album"], ["Album"], ["Album"]])
        #expect(items.map(\.partOf) == Array(repeating: "itunes:collection:5", count: 3))
    }

    @Test("Skips tracks of other works, and results that are no tracks")
    func resultsOfOtherWorksAreSkipped() async throws {
        let response = try await parts([
            Self.album, Self.song(1, "A", track: 1), #"{"wrapperType":"artist","artistId":5}"#, "{}",
            #"{"kind":"song","trackId":9,"trackName":"Z","collectionId":6,"trackNumber":1}"#,
        ])
        #expect(response.items.map(\.id) == ["itunes:1"])
    }

    @Test(
        "An item without parts is not found",
        arguments: [
            ("id=itunes:collection:5", [] as [String], "itunes:collection:5"), ("id=itunes:collection:5", [album], "no parts"),
            (
                "id=itunes:collection:5", [#"{"wrapperType":"audiobook","collectionId":5,"collectionName":"B"}"#], "no parts"
            ),
            ("id=itunes:7", [song(7, "A", track: 1)], "no parts"), ("id=itunes:artist:5", [], "no parts"),
            ("id=itunes:5", [podcast], "no parts"), ("id=itunes:episode:5:7", [], "no parts"), ("id=posts:1", [], "no parts"),
        ])
    func itemsWithoutPartsAreNotFound(text: String, results: [String], part: String) async throws {
        let query = try partsQuery(text)
        let bench = Bench { _ in Self.answer(results) }
        for _ in 1...2 {
            let error = await failure { () async throws(CatalogError) in try await bench.catalog.parts(query) }
            guard case .notFound(let message) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(message.contains(part), "\(message)")
        }
        #expect(bench.client.count <= 1)
    }

    @Test("Rejects parts without their work")
    func partsWithoutTheirWorkAreRejected() async throws {
        let bench = Bench { _ in Self.answer([Self.song(1, "A", track: 1)]) }
        let query = try partsQuery("id=itunes:collection:5")
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.parts(query) }
        #expect(error?.kind == "upstreamRejected")
    }

    // MARK: Seasons

    private static let seasons: FakeClient.Script = { request in
        guard request.url.string.contains("entity=tvEpisode") else { return answer([season]) }
        return answer([season] + [2, 1].map { song($0, "Pilot \($0)", track: $0, kind: "tv-episode") })
    }

    @Test("A season from a search needs one request, an unknown one two")
    func aSeasonCostsOneRequest() async throws {
        let unknown = Bench(Self.seasons)
        let response = try await unknown.catalog.parts(try partsQuery("id=itunes:collection:5"))
        #expect(response.items.map(\.name) == ["Pilot 1", "Pilot 2"])
        #expect(response.of?.kind == "tv-season")
        #expect(response.items.map(\.suggestion?.prefix) == ["1", "2"])
        #expect(unknown.client.count == 2)
        #expect(try unknown.catalog.cachedParts(try partsQuery("id=itunes:collection:5&limit=1"))?.items.count == 1)
        _ = try await unknown.catalog.parts(try partsQuery("id=itunes:collection:5"))
        #expect(unknown.client.count == 2)

        let known = Bench(Self.seasons)
        let found = try await known.catalog.search(try query("term=a&media=tvShow&entity=tvSeason"))
        #expect(found.items.map(\.hasParts) == [true])
        _ = try await known.catalog.parts(try partsQuery("id=itunes:collection:5"))
        #expect(known.client.count == 2)
        #expect(known.client.requests.value.last?.url.query == "id=5&entity=tvEpisode&limit=200")
    }

    // MARK: Links

    @Test(
        "Only works have links to parts",
        arguments: [
            (album, true), (season, true), (podcast, true), (song(1, "A", track: 1), false), (episode(7), false),
            (#"{"wrapperType":"collection","collectionType":"Compilation","collectionId":5}"#, true),
            (#"{"wrapperType":"audiobook","collectionId":5}"#, false), (#"{"wrapperType":"artist","artistId":5}"#, false),
        ])
    func onlyWorksHaveLinks(result: String, hasParts: Bool) async throws {
        let bench = Bench { _ in Self.answer([result]) }
        #expect(try await bench.catalog.search(try query("term=a")).items.map(\.hasParts) == [hasParts])
    }

    @Test(
        "A file name is the title with the extension of the URL",
        arguments: [
            ("https://a.test/mzaf_1.plus.aac.p.m4a", ".m4a"), ("https://a.test/x.M4V?a=b.c", ".M4V"), ("https://a.test/x", nil),
            ("https://a.test/x.", nil), ("https://a.test/x.averylongone", nil), ("https://a.test/x.m%204", nil),
            ("https://a.test/", nil), ("https://a.test/x.php?file=x.mp3", nil), ("https://a.test/x.12", nil),
        ] as [(String, String?)])
    func aFileIsNamedAfterItsTitle(url: String, suffix: String?) async throws {
        let bench = Bench { _ in
            Self.answer(["{\"kind\":\"song\",\"trackId\":1,\"trackName\":\"A/B\",\"previewUrl\":\"\(url)\"}"])
        }
        let item = try #require(try await bench.catalog.search(try query("term=a")).items.first)
        #expect(item.suggestion?.title == "A/B")
        #expect(item.suggestion?.suffix == suffix)
        #expect(item.suggestion?.folder == [])
    }

    @Test(
        "An episode's URL without an extension gets the valid one that iTunes names",
        arguments: [
            ("https://a.test/play/1", "\"mp3\"", ".mp3"), ("https://a.test/play.php?id=1", "\"mp3\"", ".mp3"),
            ("https://a.test/play.ASPX", "\"m4a\"", ".m4a"), ("https://a.test/1.5", "\"mp3\"", ".mp3"),
            ("https://a.test/a.m4b", "\"mp3\"", ".m4b"), ("https://a.test/play", "\".mp3\"", ".mp3"),
            ("https://a.test/play", "\"../x\"", nil), ("https://a.test/play", "\"\"", nil),
            ("https://a.test/play", "\"php\"", nil),
            ("https://a.test/play", "\"a b\"", nil), ("https://a.test/play", "\"waytoolong\"", nil),
            ("https://a.test/play", "7", nil),
            ("https://a.test/play", "null", nil),
        ] as [(String, String, String?)])
    func episodeExtension(url: String, member: String, suffix: String?) async throws {
        let result =
            "{\"kind\":\"podcast-episode\",\"collectionId\":5,\"trackId\":1,\"trackName\":\"A\",\"episodeUrl\":\"\(url)\","
            + "\"episodeFileExtension\":\(member)}"
        let bench = Bench { _ in Self.answer([result]) }
        let item = try #require(try await bench.catalog.search(try query("term=a")).items.first)
        #expect(item.suggestion?.suffix == suffix)
    }

    @Test(
        "An invalid date is not part of a name",
        arguments: [
            ("2023-05-01T09:00:00Z", "2023-05-01"), ("2023-05-01", "2023-05-01"), ("2023", nil), ("May 1, 2023", nil),
            ("2023/05/01", nil),
        ]
            as [(String, String?)])
    func aDateThatIsNone(date: String, prefix: String?) async throws {
        let result =
            "{\"kind\":\"podcast-episode\",\"collectionId\":5,\"trackId\":1,\"trackName\":\"A\",\"episodeUrl\":\"https://a.test/a.mp3\","
            + "\"releaseDate\":\"\(date)\"}"
        let bench = Bench { _ in Self.answer([result]) }
        #expect(try await bench.catalog.search(try query("term=a")).items.map(\.suggestion?.prefix) == [prefix])
    }
}
