import Foundation
import HTTPCore
import JSON
import TestSupport
import Testing

@testable import DemoUpstream

@Suite("Catalogue") @OffPool struct CatalogueTests {
    private let catalogue = Catalogue.shared

    @Test("Has the documented number of tracks of several artists and albums, each with its members")
    func size() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        for document in ["README.md", "docs/tour.md"] {
            let text = try String(contentsOf: root.appending(path: document), encoding: .utf8)
            #expect(text.contains("\(catalogue.tracks.count) tracks"), "\(document)")
        }
        #expect(catalogue.artists.count >= 10)
        #expect(catalogue.albums.count >= 20)
        #expect(catalogue.artists.allSatisfy { !$0.name.isEmpty && !$0.genre.isEmpty })
        #expect(catalogue.artists.filter { $0.timbre == nil }.map(\.name) == ["Tidewater Field Recordings"])
        #expect(
            catalogue.albums.allSatisfy { !$0.name.isEmpty && $0.releaseDate.count == 10 && $0.price > 1 && $0.trackCount > 2 })
        #expect(catalogue.tracks.allSatisfy { !$0.name.isEmpty && $0.milliseconds > 29_000 })
        #expect(catalogue.tracks.filter(\.isExplicit).map(\.name) == ["The Bosun's Complaint"])
    }

    @Test("Ids are unique over tracks, albums and artists, and exceed 32 bits")
    func ids() {
        let ids = catalogue.tracks.map(\.id) + catalogue.albums.map(\.id) + catalogue.artists.map(\.id)
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0 > Int64(UInt32.max) })
    }

    @Test("Ids are stable, since others have stored them")
    func stableIds() {
        #expect(catalogue.track(5_000_110_101)?.name == "Prelude and Fugue No. 1 in C Major, BWV 846")
        #expect(catalogue.track(5_000_420_101)?.name == "Gymnopédie No. 1: Lent et douloureux")
        #expect(catalogue.track(5_000_710_101)?.mediaTarget == "/large/field-recording-1.bin")
    }

    @Test(
        "A search finds tracks with all words, in any case, with or without diacritics",
        arguments: [
            ("gymnopedie", "Gymnopédie No. 1: Lent et douloureux"), ("GYMNOPÉDIE", "Gymnopédie No. 1: Lent et douloureux"),
            ("Gymnope\u{301}die", "Gymnopédie No. 1: Lent et douloureux"), ("fur elise", "Für Elise, WoO 59"),
            ("beethoven elise", "Für Elise, WoO 59"), ("maple  LEAF", "Maple Leaf Rag"), ("bydlo", "Bydło"),
            ("dvorak largo", "II. Largo"), ("childrens corner lullaby", "Jimbo's Lullaby"),
            ("field recording", "Field Recording 1: Harbour at Dawn"), ("golliwogg's", "Golliwogg's Cakewalk"),
        ])
    func finds(term: String, name: String) throws {
        let found = catalogue.search(try CatalogueQuery(items: [QueryItem(name: "term", value: term)]))
        let names = found.map { item in if case .track(let track) = item { track.name } else { "" } }
        #expect(names.contains(name))
    }

    @Test("A search whose words match no track finds nothing", arguments: ["beethoven gymnopedie", "zzz", "", "!?"])
    func findsNothing(term: String) throws {
        #expect(catalogue.search(try CatalogueQuery(items: [QueryItem(name: "term", value: term)])).isEmpty)
    }

    @Test("Tracks with matching names precede tracks with matching albums and artists")
    func order() throws {
        let found = catalogue.search(try CatalogueQuery(items: [QueryItem(name: "term", value: "waltz")]))
        let isNamed = found.map { item in
            if case .track(let track) = item { TrackWords.words(track.name).contains { $0.hasPrefix("waltz") } } else { false }
        }
        #expect(isNamed.first == true)
        #expect(isNamed.last == false)
        #expect(isNamed == isNamed.sorted { $0 && !$1 })
    }

    @Test(
        "Parameters narrow the results",
        arguments: [
            ("term=prelude&limit=3", 3), ("term=prelude&limit=3&offset=100000", 0), ("term=prelude&limit=1000", 200),
            ("term=satie&entity=album", 1), ("term=satie&entity=musicArtist", 1), ("term=satie&media=movie", 0),
            ("term=bosun", 1), ("term=bosun&explicit=No", 0), ("term=satie&attribute=songTerm", 0),
            ("term=satie&attribute=artistTerm&limit=200", 9), ("term=ragtime&attribute=genreIndex&limit=200", 15),
            ("term=planets&attribute=albumTerm", 7), ("term=satie&media=music&entity=mix", 0),
        ] as [(String, Int)])
    func parameters(query: String, atMost: Int) throws {
        let items = try RequestTarget("/search?" + query).queryItems()
        let found = catalogue.search(try CatalogueQuery(items: items))
        if atMost == 200 { #expect(found.count > 40) } else { #expect(found.count == atMost) }
    }

    @Test("An offset continues after the limit")
    func pages() throws {
        func ids(_ query: String) throws -> [Int64] {
            catalogue.search(try CatalogueQuery(items: try RequestTarget("/search?" + query).queryItems())).map { item in
                if case .track(let track) = item { track.id } else { 0 }
            }
        }
        #expect(try ids("term=bach&limit=20") == ids("term=bach&limit=7") + ids("term=bach&limit=13&offset=7"))
    }

    @Test(
        "Refuses a bad value as the real service does",
        arguments: [
            ("country=USA", "country"), ("limit=0", "limit"), ("limit=abc", "limit"), ("offset=-1", "offset"),
            ("country=X&limit=-1", "country, limit"),
        ])
    func refusals(query: String, keys: String) throws {
        let items = try RequestTarget("/search?term=a&" + query).queryItems()
        let refusal = #expect(throws: CatalogueQuery.Invalid.self) { _ = try CatalogueQuery(items: items) }
        #expect(refusal?.message == "Invalid value(s) for key(s): [\(keys)]")
        let body = try JSONValue(parsing: CatalogueEncoder.encode(try #require(refusal)))
        #expect(body["errorMessage"]?.string == refusal?.message)
    }

    @Test("A response has the form of a captured one, from blank lines to a song's fields")
    func shape() throws {
        let base = "http://127.0.0.1:1234"
        let found = catalogue.search(try CatalogueQuery(items: [QueryItem(name: "term", value: "clair de lune")]))
        let bytes = CatalogueEncoder(base: base).encode(found)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("\n\n\n{\n \"resultCount\":1,\n \"results\": [\n{\"wrapperType\":\"track\",\"kind\":\"song\""))
        #expect(text.hasSuffix("}]\n}\n\n\n"))
        let song = try #require(try JSONValue(parsing: bytes)["results"]?.array?.first)
        #expect(song["previewUrl"]?.string == "\(base)/media/\(song["trackId"]?.integer ?? 0).wav")
        #expect(song["artistName"]?.string == "Claude Debussy")
        #expect(song["collectionName"]?.string == "Suite bergamasque")
        #expect(song["releaseDate"]?.string == "2003-08-22T12:00:00Z")
        let milliseconds = try #require(song["trackTimeMillis"]?.integer)
        #expect((302_000..<303_000).contains(milliseconds))
    }

    @Test(
        "An id names a track, an album, an artist, a podcast, or nothing",
        arguments: [
            (5_000_420_000, "artist"), (1, ""), (5_000_420_102, "track"), (5_000_420_100, "album"), (5_000_910_100, "podcast"),
            (5_000_910_101, ""),
        ] as [(Int64, String)])
    func lookup(id: Int64, kind: String) {
        let found =
            switch catalogue.item(id) {
            case .track?: "track"
            case .album?: "album"
            case .artist?: "artist"
            case .podcast?: "podcast"
            case .episode?: "episode"
            case nil: ""
            }
        #expect(found == kind)
    }

    @Test("Has a hundred posts of ten users in JSONPlaceholder's form")
    func posts() throws {
        let posts = try #require(try JSONValue(parsing: Posts.all).array)
        #expect(posts.count == 100)
        #expect(posts.compactMap { $0["id"]?.integer } == Array(1...100))
        #expect(Set(posts.compactMap { $0["userId"]?.integer }).count == 10)
        #expect(Set(posts.compactMap { $0["title"]?.string }).count == 100)
        #expect(posts.allSatisfy { $0["body"]?.string?.isEmpty == false && $0.members?.count == 4 })
    }
}
