internal import JSON

/// Encodes results as the iTunes Search API does, including its blank lines.
struct CatalogueEncoder: Sendable {
    /// The base URL of previews, artwork and pages: `http://host:port`.
    let base: String

    /// The media type of the real service, although the content is plain JSON.
    static let mediaType = "text/javascript; charset=utf-8"

    func encode(_ items: [Catalogue.Item]) -> [UInt8] {
        var bytes = Array("\n\n\n{\n \"resultCount\":\(items.count),\n \"results\": [\n".utf8)
        for (index, item) in items.enumerated() {
            var json = JSONWriter()
            json.beginObject()
            switch item {
            case .track(let track):
                json.member("wrapperType", "track")
                json.member("kind", "song")
                encode(track.album.artist, into: &json)
                encode(track.album, into: &json)
                encode(track, into: &json)
            case .album(let album):
                json.member("wrapperType", "collection")
                json.member("collectionType", "Album")
                encode(album.artist, into: &json)
                encode(album, into: &json)
            case .artist(let artist):
                json.member("wrapperType", "artist")
                json.member("artistType", "Artist")
                encode(artist, into: &json)
            case .podcast: encode(Podcast.shared, into: &json)
            case .episode(let episode): encode(episode, of: .shared, into: &json)
            }
            json.endObject()
            bytes += json.bytes
            if index < items.count - 1 { bytes += Array(", \n".utf8) }
        }
        return bytes + Array("]\n}\n\n\n".utf8)
    }

    /// The body of a 400.
    static func encode(_ refusal: CatalogueQuery.Invalid) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("errorMessage", refusal.message)
        json.endObject()
        return Array("\n\n\n".utf8) + json.bytes + Array("\n\n\n".utf8)
    }

    private func encode(_ artist: Catalogue.Artist, into json: inout JSONWriter) {
        json.member("artistId", artist.id)
        json.member("artistName", artist.name)
        json.member("artistViewUrl", "\(base)/artist/\(artist.id)")
        json.member("primaryGenreName", artist.genre)
    }

    private func encode(_ album: Catalogue.Album, into json: inout JSONWriter) {
        json.member("collectionId", album.id)
        json.member("collectionName", album.name)
        json.member("collectionViewUrl", "\(base)/album/\(album.id)")
        encodeArtwork(album.id, [30, 60, 100], into: &json)
        json.member("collectionPrice", album.price)
        json.member("releaseDate", album.releaseDate + "T12:00:00Z")
        json.member("collectionExplicitness", album.isExplicit ? "explicit" : "notExplicit")
        json.member("trackCount", album.trackCount)
        json.member("country", "USA")
        json.member("currency", "USD")
    }

    private func encode(_ track: Catalogue.Track, into json: inout JSONWriter) {
        json.member("trackId", track.id)
        json.member("trackName", track.name)
        json.member("trackViewUrl", "\(base)/track/\(track.id)")
        json.member("previewUrl", base + track.mediaTarget)
        json.member("trackPrice", 0.99)
        json.member("trackExplicitness", track.isExplicit ? "explicit" : "notExplicit")
        json.member("trackNumber", track.number)
        json.member("trackTimeMillis", track.milliseconds)
    }

    private func encodeArtwork(_ id: Int64, _ sides: [Int], into json: inout JSONWriter) {
        for side in sides { json.member("artworkUrl\(side)", "\(base)/artwork/\(id)/\(side)x\(side).png") }
    }

    /// Writes a podcast. It is a track and a collection with the same id. Its duration is the newest episode's,
    /// in seconds.
    private func encode(_ podcast: Podcast, into json: inout JSONWriter) {
        json.member("wrapperType", "track")
        json.member("kind", "podcast")
        json.member("artistId", podcast.artistID)
        json.member("artistName", podcast.artist)
        json.member("artistViewUrl", "\(base)/artist/\(podcast.artistID)")
        json.member("trackId", Podcast.id)
        json.member("trackName", podcast.name)
        json.member("trackViewUrl", "\(base)/podcast/\(Podcast.id)")
        json.member("feedUrl", base + PodcastFeed.path)
        encodeCollection(podcast, into: &json)
        encodeArtwork(Podcast.id, [30, 60, 100, 600], into: &json)
        json.member("releaseDate", podcast.episodes.first.map { $0.releaseDate + "T06:00:00Z" })
        json.member("trackExplicitness", podcast.episodes.contains(where: \.isExplicit) ? "explicit" : "notExplicit")
        json.member("trackCount", podcast.claimedCount)
        json.member("trackTimeMillis", podcast.episodes.first?.seconds)
        json.member("primaryGenreName", podcast.genre)
        json.member("genres", .array([.string(podcast.genre), .string("Podcasts")]))
    }

    /// Writes an episode. It has no artist, its genres are objects, and its preview is the whole episode.
    private func encode(_ episode: Podcast.Episode, of podcast: Podcast, into json: inout JSONWriter) {
        json.member("wrapperType", "podcastEpisode")
        json.member("kind", "podcast-episode")
        json.member("trackId", episode.id)
        json.member("trackName", episode.name)
        json.member("trackViewUrl", "\(base)/podcast/\(Podcast.id)")
        encodeCollection(podcast, into: &json)
        encodeArtwork(Podcast.id, [60, 160, 600], into: &json)
        json.member("releaseDate", episode.releaseDate + "T06:00:00Z")
        json.member("contentAdvisoryRating", episode.isExplicit ? "Explicit" : "Clean")
        json.member("trackTimeMillis", episode.seconds * 1000)
        json.member("genres", .array([.object([.init(name: "name", value: .string(podcast.genre))])]))
        json.member("episodeContentType", "audio")
        json.member("episodeFileExtension", "mp3")
        for name in ["previewUrl", "episodeUrl"] { json.member(name, "\(base)/episodes/\(episode.id)/audio.mp3") }
    }

    private func encodeCollection(_ podcast: Podcast, into json: inout JSONWriter) {
        json.member("collectionId", Podcast.id)
        json.member("collectionName", podcast.name)
        json.member("collectionViewUrl", "\(base)/podcast/\(Podcast.id)")
        json.member("country", "USA")
        json.member("currency", "USD")
    }
}
