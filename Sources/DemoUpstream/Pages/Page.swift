/// Small pages behind the links in search results.
enum Page {
    /// The page at that path, or nil.
    static func html(_ segments: [String]) -> String? {
        let catalogue = Catalogue.shared
        if segments.isEmpty || segments == [""] { return index(catalogue) }
        guard segments.count == 2, let id = Int64(segments[1]) else { return nil }
        switch segments[0] {
        case "artist": return catalogue.artist(id).map(artist)
        case "album": return catalogue.album(id).map(album)
        case "track": return catalogue.track(id).map(track)
        default: return nil
        }
    }

    private static func index(_ catalogue: Catalogue) -> String {
        let links = catalogue.artists.map { "<li><a href=\"/artist/\($0.id)\">\(escaped($0.name))</a>" }.joined(separator: "\n")
        return page(
            "Demo upstream",
            """
            <p>An iTunes-shaped catalogue of \(catalogue.tracks.count) tracks for trying things out. The names are those of real \
            works; all sound is made up by a program. Try <a href="/search?term=prelude">/search?term=prelude</a>.</p>
            <ul>
            \(links)
            </ul>
            """)
    }

    private static func artist(_ artist: Catalogue.Artist) -> String {
        let links = artist.albums.map { "<li><a href=\"/album/\($0.id)\">\(escaped($0.name))</a>" }.joined(separator: "\n")
        return page(artist.name, "<p>\(escaped(artist.genre))</p>\n<ul>\n\(links)\n</ul>")
    }

    private static func album(_ album: Catalogue.Album) -> String {
        let links = album.tracks.map { "<li><a href=\"/track/\($0.id)\">\(escaped($0.name))</a>" }.joined(separator: "\n")
        return page(
            album.name,
            """
            <p><a href="/artist/\(album.artistId)">\(escaped(album.artistName))</a>, \(escaped(album.releaseDate))</p>
            <p><img src="/artwork/\(album.id)/300x300.png" width="300" height="300" alt=""></p>
            <ol>
            \(links)
            </ol>
            """)
    }

    private static func track(_ track: Catalogue.Track) -> String {
        let media =
            track.largeFile == nil
            ? "<p><audio controls preload=\"none\" src=\"\(track.mediaTarget)\"></audio></p>"
            : "<p><a href=\"\(track.mediaTarget)\">The recording</a></p>"
        return page(
            track.name,
            "<p>\(escaped(track.artistName)): <a href=\"/album/\(track.albumId)\">\(escaped(track.albumName))</a></p>\n\(media)")
    }

    private static func page(_ title: String, _ content: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <title>\(escaped(title))</title>
        <h1>\(escaped(title))</h1>
        \(content)

        """
    }

    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
