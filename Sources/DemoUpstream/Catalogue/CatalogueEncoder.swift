internal import JSON

/// Writes answers as the iTunes Search API does, down to its blank lines.
struct CatalogueEncoder: Sendable {
    /// `http://host:port`, where previews, artwork and pages are.
    let base: String
    /// Three letters.
    let country: String

    /// `text/javascript`, although it is plain JSON: so the real service says.
    static let mediaType = "text/javascript; charset=utf-8"

    func encode(_ items: [Catalogue.Item]) -> [UInt8] {
        var bytes = Array("\n\n\n{\n \"resultCount\":\(items.count),\n \"results\": [\n".utf8)
        for (place, item) in items.enumerated() {
            var json = JSONWriter()
            switch item {
            case .track(let track): encode(track, into: &json)
            case .album(let album): encode(album, into: &json)
            case .artist(let artist): encode(artist, into: &json)
            }
            bytes += json.bytes
            if place < items.count - 1 { bytes += Array(", \n".utf8) }
        }
        bytes += Array("]\n}\n\n\n".utf8)
        return bytes
    }

    /// The body of a 400.
    static func encode(_ refusal: CatalogueQuery.Invalid) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("errorMessage", refusal.message)
        json.name("queryParameters")
        json.beginObject()
        json.member("output", "json")
        json.member("country", "ISO-2A country code")
        json.member("limit", "The number of search results to return")
        json.member("term", "A search string")
        json.member("lang", "ISO-2A language code")
        json.endObject()
        json.endObject()
        return Array("\n\n\n".utf8) + json.bytes + Array("\n\n\n".utf8)
    }

    private func encode(_ track: Catalogue.Track, into json: inout JSONWriter) {
        let album = Catalogue.shared.album(track.albumId)
        json.beginObject()
        json.member("wrapperType", "track")
        json.member("kind", "song")
        json.member("artistId", track.artistId)
        json.member("collectionId", track.albumId)
        json.member("trackId", track.id)
        json.member("artistName", track.artistName)
        json.member("collectionName", track.albumName)
        json.member("trackName", track.name)
        json.member("collectionCensoredName", track.albumName)
        json.member("trackCensoredName", track.name)
        json.member("artistViewUrl", "\(base)/artist/\(track.artistId)")
        json.member("collectionViewUrl", "\(base)/album/\(track.albumId)")
        json.member("trackViewUrl", "\(base)/track/\(track.id)")
        json.member("previewUrl", base + track.mediaTarget)
        encodeArtwork(track.albumId, into: &json)
        json.member("collectionPrice", album?.price ?? -1)
        json.member("trackPrice", 0.99)
        json.member("releaseDate", (album?.releaseDate ?? "2000-01-01") + "T12:00:00Z")
        json.member("collectionExplicitness", album?.isExplicit == true ? "explicit" : "notExplicit")
        json.member("trackExplicitness", track.isExplicit ? "explicit" : "notExplicit")
        json.member("discCount", 1)
        json.member("discNumber", 1)
        json.member("trackCount", album?.tracks.count ?? 1)
        json.member("trackNumber", track.number)
        json.member("trackTimeMillis", track.milliseconds)
        json.member("country", country)
        json.member("currency", "USD")
        json.member("primaryGenreName", album?.genre ?? "")
        json.member("isStreamable", true)
        json.endObject()
    }

    private func encode(_ album: Catalogue.Album, into json: inout JSONWriter) {
        json.beginObject()
        json.member("wrapperType", "collection")
        json.member("collectionType", "Album")
        json.member("artistId", album.artistId)
        json.member("collectionId", album.id)
        json.member("artistName", album.artistName)
        json.member("collectionName", album.name)
        json.member("collectionCensoredName", album.name)
        json.member("artistViewUrl", "\(base)/artist/\(album.artistId)")
        json.member("collectionViewUrl", "\(base)/album/\(album.id)")
        encodeArtwork(album.id, into: &json)
        json.member("collectionPrice", album.price)
        json.member("collectionExplicitness", album.isExplicit ? "explicit" : "notExplicit")
        json.member("trackCount", album.tracks.count)
        json.member("country", country)
        json.member("currency", "USD")
        json.member("releaseDate", album.releaseDate + "T12:00:00Z")
        json.member("primaryGenreName", album.genre)
        json.endObject()
    }

    private func encode(_ artist: Catalogue.Artist, into json: inout JSONWriter) {
        json.beginObject()
        json.member("wrapperType", "artist")
        json.member("artistType", "Artist")
        json.member("artistName", artist.name)
        json.member("artistLinkUrl", "\(base)/artist/\(artist.id)")
        json.member("artistId", artist.id)
        json.member("primaryGenreName", artist.genre)
        json.endObject()
    }

    private func encodeArtwork(_ albumId: Int64, into json: inout JSONWriter) {
        json.member("artworkUrl30", "\(base)/artwork/\(albumId)/30x30.png")
        json.member("artworkUrl60", "\(base)/artwork/\(albumId)/60x60.png")
        json.member("artworkUrl100", "\(base)/artwork/\(albumId)/100x100.png")
    }
}
