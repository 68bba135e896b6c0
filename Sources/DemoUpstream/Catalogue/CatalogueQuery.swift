internal import HTTPCore

/// A search of the catalogue, parsed from the parameters of the iTunes Search API.
struct CatalogueQuery: Sendable {
    /// The kinds of results.
    enum Result: Sendable { case song, album, artist, podcast, episode, nothing }

    private(set) var words: [String] = []
    private(set) var result = Result.song
    /// The field to search in; `nil` for track, artist and album.
    private(set) var field: TrackWords.Field?
    private(set) var limit = 50
    private(set) var offset = 0
    private(set) var allowsExplicit = true
    /// Whether only music is searched.
    private(set) var isMusic = false

    /// A refusal in the words of the real service, whose names differ from the parameters'.
    struct Invalid: Error, Equatable {
        let keys: [String]
        var message: String { "Invalid value(s) for key(s): [\(keys.joined(separator: ", "))]" }
    }

    /// Parses the parameters that Pawl's catalogue sends, which it has checked. Only music and podcasts have contents;
    /// other media are accepted and empty.
    init(items: [QueryItem]) throws(Invalid) {
        var invalid: [String] = []
        for item in items {
            switch item.name {
            case "term": words = TrackWords.words(item.value)
            case "media":
                isMusic = item.value == "music"
                if item.value == "podcast" {
                    // The parameter `entity` may precede `media`.
                    if result == .song { result = .podcast }
                } else if !["all", "music"].contains(item.value) {
                    result = .nothing
                }
            case "entity":
                guard result != .nothing else { continue }
                switch item.value {
                case "song", "musicTrack", "allTrack": result = .song
                case "album": result = .album
                case "musicArtist", "allArtist": result = .artist
                case "podcast": result = .podcast
                case "podcastEpisode": result = .episode
                default: result = .nothing
                }
            case "attribute":
                switch item.value {
                case "songTerm", "allTrackTerm", "titleTerm": field = .track
                case "artistTerm", "allArtistTerm", "composerTerm": field = .artist
                case "albumTerm": field = .album
                case "genreIndex": field = .genre
                default: result = .nothing
                }
            case "limit":
                if let number = Int(item.value), number > 0 { limit = min(number, 200) } else { invalid.append("limit") }
            case "offset":
                if let number = Int(item.value), number >= 0 { offset = number } else { invalid.append("offset") }
            case "country": if item.value.utf8.count != 2 { invalid.append("country") }
            case "explicit": allowsExplicit = item.value != "No"
            default: break
            }
        }
        if !invalid.isEmpty { throw Invalid(keys: invalid) }
    }
}

extension Catalogue {
    /// A result of a search or lookup.
    enum Item: Sendable {
        case track(Track)
        case album(Album)
        case artist(Artist)
        case podcast
        case episode(Podcast.Episode)
    }

    /// The tracks, albums, artists, podcasts or episodes that a query finds. Tracks whose own names have all the words
    /// come first.
    func search(_ query: CatalogueQuery) -> [Item] {
        guard !query.words.isEmpty else { return [] }
        func matching(_ fields: [TrackWords.Field]) -> [Track] {
            tracks.filter { (query.allowsExplicit || !$0.isExplicit) && $0.words.match(query.words, in: fields) }
        }
        let items: [Item]
        switch query.result {
        case .nothing: items = []
        case .song:
            let found = matching(query.field.map { [$0] } ?? [.track, .artist, .album])
            let isNamed = found.map { $0.words.match(query.words, in: [.track]) }
            let isPodcastWanted = !query.isMusic && query.words.contains(Podcast.kind) && Podcast.shared.isFound(by: query)
            items =
                (isPodcastWanted ? [.podcast] : [])
                + [true, false].flatMap { named in zip(found, isNamed).filter { $0.1 == named }.map { .track($0.0) } }
        case .album:
            // Only the names of albums and artists are searched: "prelude" finds albums of that name, not all that
            // contain one.
            let found = Set(matching(query.field.map { [$0] } ?? [.album, .artist]).map(\.album.id))
            items = albums.filter { found.contains($0.id) }.map(Item.album)
        case .artist:
            let found = Set(matching([.artist]).map(\.album.artist.id))
            items = artists.filter { found.contains($0.id) }.map(Item.artist)
        case .podcast: items = Podcast.shared.isFound(by: query) ? [.podcast] : []
        case .episode: items = Podcast.shared.episodes.filter { Podcast.shared.isFound(by: query, episode: $0) }.map(Item.episode)
        }
        return Array(items.dropFirst(query.offset).prefix(query.limit))
    }

    /// The item with an id. As in the real service, an episode's id finds nothing.
    func item(_ id: Int64) -> Item? {
        track(id).map(Item.track) ?? album(id).map(Item.album) ?? artist(id).map(Item.artist)
            ?? (id == Podcast.id ? .podcast : nil)
    }

    /// The parts of an item of the kind that the parameter `entity` names.
    func parts(of item: Item, entity: String?) -> [Item] {
        switch (item, entity) {
        case (.album(let album), "song"): tracks(of: album).map(Item.track)
        case (.podcast, "podcastEpisode"): Podcast.shared.episodes.map(Item.episode)
        default: []
        }
    }
}
