import HTTPCore
import JSON
import TestSupport
import Testing

@testable import DemoUpstream

/// Albums with their songs and the podcast with its episodes, as in the real service's response to `entity=…`.
@Suite("Works of the catalogue", .timeLimit(.minutes(3))) @OffPool struct PodcastTests {
    private func results(_ base: String, _ target: String) throws -> [JSONValue] {
        try #require(try JSONValue(parsing: try get(base, target).body)["results"]?.array)
    }

    @Test("An album precedes the requested number of its songs; an album without songs is alone")
    func songs() async throws {
        try await withUpstream { _, base in
            let album = try results(base, "/lookup?id=5000420100&entity=song&limit=200")
            #expect(album.compactMap { $0["wrapperType"]?.string } == ["collection"] + Array(repeating: "track", count: 9))
            #expect(album.dropFirst().compactMap { $0["trackNumber"]?.integer } == Array(1...9))
            #expect(album.first?["trackCount"]?.integer == 9)
            for (query, count) in [
                ("id=5000420100&entity=song&limit=2", 3), ("id=5000420100", 1), ("id=5000420100&entity=tvEpisode", 1),
                ("id=5000420101&entity=song", 1), ("id=1&entity=song", 0), ("id=5000420100,5000510100&entity=song", 15),
            ] {
                #expect(try results(base, "/lookup?" + query).count == count, "\(query)")
            }
        }
    }

    @Test(
        "Podcast searches find the podcast by its name, artist or episodes; song searches do not",
        arguments: [
            ("term=podcast", 1), ("term=podcast&media=podcast", 1), ("term=podcast&media=podcast&entity=podcastEpisode", 12),
            ("term=podcast&media=music", 0), ("term=podcast&entity=album", 0), ("term=pod", 0), ("term=slack+podcast", 1),
            ("term=prelude+podcast", 0),
            ("term=slack+water&media=podcast", 1), ("term=tidewater&media=podcast&entity=podcast", 1),
            ("term=slack+water", 0), ("term=prelude&media=podcast", 0), ("term=foghorns&entity=podcastEpisode&media=podcast", 1),
            ("term=slack&media=podcast&entity=podcastEpisode", 12),
            ("term=slack&media=podcast&entity=podcastEpisode&explicit=No", 11),
            ("term=slack&media=podcast&entity=podcastEpisode&limit=5&offset=10", 2),
        ])
    func search(query: String, count: Int) async throws {
        try await withUpstream { _, base in
            let found = try results(base, "/search?" + query)
            #expect(found.count == count)
        }
    }

    @Test("A podcast precedes its episodes, newest first, with the members of episodes")
    func episodes() async throws {
        try await withUpstream { _, base in
            let all = try results(base, "/lookup?id=5000910100&entity=podcastEpisode&limit=200")
            let podcast = try #require(all.first)
            #expect(podcast["kind"]?.string == "podcast")
            // In seconds.
            #expect(podcast["trackTimeMillis"]?.integer == 1867)
            let episodes = all.dropFirst()
            #expect(podcast["trackCount"]?.integer ?? 0 > Int64(episodes.count))
            #expect(episodes.count == 12)
            let dates = episodes.compactMap { $0["releaseDate"]?.string }
            #expect(dates == dates.sorted(by: >))
            #expect(episodes.filter { $0["contentAdvisoryRating"]?.string == "Explicit" }.count == 1)
            #expect(episodes.allSatisfy { $0["artistName"] == nil && $0["kind"]?.string == "podcast-episode" })
            let newest = try #require(episodes.first)
            #expect(newest["trackTimeMillis"]?.integer == 1_867_000)
            #expect(newest["genres"]?.array?.first?["name"]?.string == "Nature")
            #expect(newest["collectionId"] == podcast["trackId"])
            let id = try #require(newest["trackId"]?.integer)
            #expect(try results(base, "/lookup?id=\(id)") == [])
            #expect(try results(base, "/lookup?id=5000910100&entity=podcastEpisode&limit=3").count == 4)

            let url = try #require(newest["episodeUrl"]?.string)
            #expect(url.hasSuffix("/audio.mp3"))
            let sound = try get(base, String(url.dropFirst(base.count)), "Range: bytes=0-3")
            #expect(sound.text == "RIFF")
            for (name, type) in [("artworkUrl600", "image/png"), ("trackViewUrl", "text/html")] {
                let linked = try #require(podcast[name]?.string)
                #expect(try get(base, String(linked.dropFirst(base.count)))["Content-Type"]?.hasPrefix(type) == true)
            }
            #expect(try get(base, "/episodes/1/audio.mp3").status == 404)
        }
    }
}
