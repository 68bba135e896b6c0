extension Catalogue {
    /// One result of a search or look-up.
    enum Item: Sendable {
        case track(Track)
        case album(Album)
        case artist(Artist)
    }

    /// The tracks, albums or artists that a query finds, those first whose own name has all the words.
    func search(_ query: CatalogueQuery) -> [Item] {
        guard !query.words.isEmpty else { return [] }
        let matching = tracks.filter {
            (query.allowsExplicit || !$0.isExplicit) && $0.words.match(query.words, in: query.fields)
        }
        let items: [Item]
        switch query.result {
        case .nothing: items = []
        case .song:
            let named = matching.filter { $0.words.match(query.words, in: .track) }
            let others = matching.filter { !$0.words.match(query.words, in: .track) }
            items = (named + others).map(Item.track)
        case .album:
            // By the album's and its artist's names only: "prelude" finds albums called so, not all that have one.
            let fields = query.fields == .standard ? [.album, .artist] : query.fields
            let found = Set(matching.filter { $0.words.match(query.words, in: fields) }.map(\.albumId))
            items = albums.filter { found.contains($0.id) }.map(Item.album)
        case .artist:
            let found = Set(matching.filter { $0.words.match(query.words, in: .artist) }.map(\.artistId))
            items = artists.filter { found.contains($0.id) }.map(Item.artist)
        }
        return Array(items.dropFirst(query.offset).prefix(query.limit))
    }

    /// What the ids name, in their order; with `result`, followed by the songs or albums that belong to each.
    func lookup(ids: [Int64], result: CatalogueQuery.Result?, limit: Int) -> [Item] {
        var items: [Item] = []
        for id in ids {
            if let track = track(id) {
                items.append(.track(track))
            } else if let album = album(id) {
                items.append(.album(album))
                if result == .song { items += album.tracks.prefix(limit).map(Item.track) }
            } else if let artist = artist(id) {
                items.append(.artist(artist))
                if result == .album { items += artist.albums.prefix(limit).map(Item.album) }
                if result == .song { items += artist.albums.flatMap(\.tracks).prefix(limit).map(Item.track) }
            }
        }
        return items
    }
}
