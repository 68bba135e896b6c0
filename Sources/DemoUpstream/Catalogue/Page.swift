/// Small pages for the links in search results.
enum Page {
    /// The page at a path; `nil` if there is none.
    static func html(_ segments: [String]) -> String? {
        let catalogue = Catalogue.shared
        if segments.isEmpty || segments == [""] {
            let notice = """
                <p>An iTunes-shaped catalogue of \(catalogue.tracks.count) tracks, a podcast and some items of an archive, for trying \
                things out. The names of tracks are those of real works; all sound is synthesised. Try \
                <a href="/search?term=prelude">/search?term=prelude</a>.</p>
                """
            var links = catalogue.artists.map { ("/artist/\($0.id)", $0.name) }
            links.append(("/podcast/\(Podcast.id)", Podcast.shared.name))
            links += Archive.shared.items.filter { !$0.isDark }.map { ("/details/\($0.identifier)", $0.title) }
            return page("Demo upstream", notice + list(links))
        }
        if segments.count == 2, segments[0] == "details" {
            guard let item = Archive.shared.item(segments[1]), !item.isDark else { return nil }
            let picture = "<p><img src=\"/services/img/\(item.identifier)\" alt=\"\"></p>"
            return page(item.title, picture + list(item.files.map { ($0.downloadTarget, $0.name) }))
        }
        guard segments.count == 2, let id = Int64(segments[1]) else { return nil }
        if segments[0] == "podcast", id == Podcast.id {
            let feed = "<link rel=\"alternate\" type=\"application/rss+xml\" href=\"\(PodcastFeed.path)\">"
            return page(
                Podcast.shared.name, list(Podcast.shared.episodes.map { ("/episodes/\($0.id)/audio.mp3", $0.name) }), head: feed)
        }
        if segments[0] == "artist", let artist = catalogue.artist(id) {
            return page(artist.name, list(catalogue.albums(of: artist).map { ("/album/\($0.id)", $0.name) }))
        }
        if segments[0] == "album", let album = catalogue.album(id) {
            let cover = "<p>\(escaped(album.artist.name))</p><p><img src=\"/artwork/\(id)/300x300.png\" alt=\"\"></p>"
            return page(album.name, cover + list(catalogue.tracks(of: album).map { ("/track/\($0.id)", $0.name) }))
        }
        guard segments[0] == "track", let track = catalogue.track(id) else { return nil }
        let player = "<p><audio controls preload=\"none\" src=\"\(track.mediaTarget)\"></audio></p>"
        let links = [(track.mediaTarget, "The file"), ("/album/\(track.album.id)", track.album.name)]
        return page(track.name, (track.album.artist.timbre == nil ? "" : player) + list(links))
    }

    private static func list(_ links: [(target: String, name: String)]) -> String {
        "\n<ul>\n" + links.map { "<li><a href=\"\($0.target)\">\(escaped($0.name))</a>\n" }.joined() + "</ul>"
    }

    static func page(_ title: String, _ content: String, head: String = "") -> String {
        let title = escaped(title)
        return
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>\(title)</title>\(head)\n<h1>\(title)</h1>\n\(content)\n"
    }

    static func escaped(_ text: String) -> String {
        let entities: [Character: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"]
        return text.map { entities[$0] ?? String($0) }.joined()
    }
}
