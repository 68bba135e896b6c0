internal import JSON

/// Writes results as the iTunes Search API does, down to its blank lines.
struct CatalogueEncoder: Sendable {
    /// `http://host:port`, where previews, artwork and pages are.
    let base: String

    /// `text/javascript`, although it is plain JSON: so the real service says.
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
        json.member("artworkUrl30", "\(base)/artwork/\(album.id)/30x30.png")
        json.member("artworkUrl60", "\(base)/artwork/\(album.id)/60x60.png")
        json.member("artworkUrl100", "\(base)/artwork/\(album.id)/100x100.png")
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
}
