import Catalog
import HTTPCore
import JSON
import Testing

struct QueryTests {
    @Test("A term alone has the documented defaults")
    func aTermAloneHasTheDocumentedDefaults() throws {
        let query = try query("term=jack+johnson")
        #expect(query.source == "itunes")
        #expect(query.term == "jack johnson")
        #expect(query.limit == 50)
        #expect(query.offset == 0)
        #expect(query.media == nil && query.entity == nil && query.attribute == nil && query.country == nil)
        #expect(query.lang == nil && query.explicit == nil && query.session == nil)
        #expect(!query.includesRaw)
    }

    @Test("Reads every parameter")
    func everyParameterIsTaken() throws {
        let query = try query(
            "source=itunes&term=a&media=music&entity=song&attribute=artistTerm&country=jp&lang=ja_jp&explicit=No&limit=200"
                + "&offset=400&session=tab-1&include=raw")
        #expect(query.media == "music")
        #expect(query.entity == "song")
        #expect(query.attribute == "artistTerm")
        #expect(query.country == "JP")
        #expect(query.lang == "ja_jp")
        #expect(query.explicit == false)
        #expect(query.limit == 200)
        #expect(query.offset == 400)
        #expect(query.session == "tab-1")
        #expect(query.includesRaw)
    }

    @Test(
        "Accepts the documented values",
        arguments: [
            "term=a&limit=1", "term=a&limit=200", "term=a&entity=song", "term=a&entity=ebook", "term=a&media=all&entity=allTrack",
            "term=a&media=ebook", "term=a&media=podcast&entity=podcastEpisode", "term=a&explicit=Yes", "term=a&country=US",
            "term=a&country=de", "source=posts&term=a&limit=3&offset=2&session=s&include=raw", "term=%E7%8E%8B",
            "term=a&media=software&attribute=softwareDeveloper", "term=a&limit=007",
        ])
    func documentedValuesAreAccepted(text: String) throws {
        _ = try query(text)
    }

    @Test(
        "A refusal names the parameter, the value and the accepted values",
        arguments: [
            ("", ["'term'", "missing"]),
            ("source=itunes", ["'term'", "missing"]),
            ("term=", ["'term'", "''", "not blank"]),
            ("term=+%09", ["'term'", "not blank"]),
            ("term=a%00b", ["'term'", "control"]),
            ("term=" + String(repeating: "x", count: 201), ["'term'", "200 characters"]),
            ("term=a&term=b", ["'term'", "2 times", "one value"]),
            ("term=a&callback=f", ["'callback'", "unknown", "country"]),
            ("term=a&version=2", ["'version'", "unknown"]),
            ("term=a&Limit=5", ["'Limit'", "unknown"]),
            ("term=a&source=spotify", ["'source'", "'spotify'", "itunes, posts"]),
            ("term=a&source=", ["'source'", "itunes, posts"]),
            ("term=a&media=vinyl", ["'media'", "'vinyl'", "musicVideo"]),
            ("term=a&entity=record", ["'entity'", "'record'", "song", "podcastEpisode"]),
            ("term=a&media=movie&entity=song", ["'entity'", "'song'", "movieArtist", "'movie'"]),
            ("entity=song&media=movie&term=a", ["'entity'", "'song'", "movieArtist"]),
            ("term=a&media=music&attribute=actorTerm", ["'attribute'", "'actorTerm'", "songTerm", "'music'"]),
            ("term=a&media=ebook&attribute=titleTerm", ["'attribute'", "not accepted", "'ebook'"]),
            ("term=a&country=USA", ["'country'", "'USA'", "3166-1"]),
            ("term=a&country=XX", ["'country'", "'XX'", "3166-1"]),
            ("term=a&lang=de_de", ["'lang'", "'de_de'", "en_us, ja_jp"]),
            ("term=a&explicit=true", ["'explicit'", "'true'", "Yes, No"]),
            ("term=a&limit=0", ["'limit'", "'0'", "1 to 200"]),
            ("term=a&limit=201", ["'limit'", "'201'", "1 to 200"]),
            ("term=a&limit=-1", ["'limit'", "'-1'", "1 to 200"]),
            ("term=a&limit=%2B5", ["'limit'", "'+5'"]),
            ("term=a&limit=", ["'limit'", "''"]),
            ("term=a&limit=5.0", ["'limit'", "'5.0'"]),
            ("term=a&limit=99999999999999999999", ["'limit'", "1 to 200"]),
            ("term=a&offset=-1", ["'offset'", "'-1'"]),
            ("term=a&offset=1000001", ["'offset'", "0 to 1000000"]),
            ("term=a&session=", ["'session'", "not blank"]),
            ("term=a&session=" + String(repeating: "s", count: 65), ["'session'", "64 characters"]),
            ("term=a&include=everything", ["'include'", "'everything'", "raw"]),
            ("source=posts&term=a&media=music", ["'media'", "'posts'", "offset"]),
            ("source=posts&term=a&country=US", ["'country'", "'posts'"]),
            ("source=posts&term=a&entity=song", ["'entity'", "'posts'"]),
            ("source=posts&term=a&attribute=songTerm", ["'attribute'", "'posts'"]),
            ("source=posts&term=a&lang=en_us", ["'lang'", "'posts'"]),
            ("source=posts&term=a&explicit=No", ["'explicit'", "'posts'"]),
        ])
    func refusalsNameParameterAndValues(text: String, parts: [String]) throws {
        do {
            _ = try query(text)
            Issue.record("\(text) was accepted")
        } catch CatalogError.invalidRequest(let message) {
            for part in parts { #expect(message.contains(part), "\(message)") }
            #expect(message.count < 1_000)
        }
    }

    @Test("The list of sources has the accepted values")
    func sourcesListTheirValues() throws {
        var writer = JSONWriter()
        Catalog.encodeSources(into: &writer)
        let sources = try #require(try JSONValue(parsing: writer.bytes)["sources"]?.array)
        #expect(sources.compactMap { $0["id"]?.string } == ["itunes", "posts", "archive", "feed"])
        #expect(sources.compactMap { $0["hasParts"]?.bool } == [true, false, true, true])
        #expect(sources.compactMap { $0["hasFormats"]?.bool } == [false, false, true, false])
        #expect(sources[0]["attribution"]?.string == "provided courtesy of iTunes")
        #expect(sources[1]["attribution"]?.isNull == true)

        let parameters = try #require(sources[0]["parameters"]?.array)
        #expect(
            parameters.compactMap { $0["name"]?.string } == [
                "term", "media", "entity", "attribute", "country", "lang", "explicit", "limit", "offset", "session", "include",
            ])
        #expect(parameters[0]["required"]?.bool == true)
        #expect(parameters[2]["valuesByMedia"]?["movie"]?.array?.compactMap(\.string) == ["movieArtist", "movie"])
        #expect(parameters[4]["values"]?.array?.count == 249)
        #expect(parameters[7]["maximum"]?.integer == 200)
        #expect(parameters[7]["default"]?.integer == 50)
        #expect(
            sources[1]["parameters"]?.array?.compactMap { $0["name"]?.string } == [
                "term", "limit", "offset", "session", "include",
            ])
        #expect(
            sources[2]["parameters"]?.array?.compactMap { $0["name"]?.string } == [
                "term", "media", "limit", "offset", "session", "include",
            ])
    }
}
