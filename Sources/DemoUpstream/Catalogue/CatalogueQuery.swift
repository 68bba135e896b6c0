internal import HTTPCore

/// What a search asks of the catalogue, read from the parameters of the iTunes Search API.
struct CatalogueQuery: Sendable {
    /// What the results are.
    enum Result: Sendable { case song, album, artist, nothing }

    var words: [String] = []
    var result = Result.song
    var fields = SearchFields.standard
    var limit = 50
    var offset = 0
    /// Three letters.
    var country = "USA"
    var allowsExplicit = true

    /// A refusal as the real service words it; the names are its own, which differ from those of the parameters.
    struct Invalid: Error, Equatable {
        let keys: [String]
        var message: String { "Invalid value(s) for key(s): [\(keys.joined(separator: ", "))]" }
    }

    init(items: [QueryItem]) throws(Invalid) {
        var invalid: [String] = []
        var media = "all"
        var entity: String?
        for item in items {
            switch item.name {
            case "term": words = SearchText.words(item.value)
            case "media": media = item.value
            case "entity": entity = item.value
            case "limit":
                // More than 200 is answered with 200.
                if let number = Int(item.value), number > 0 { limit = min(number, 200) } else { invalid.append("limit") }
            case "offset":
                if let number = Int(item.value), number >= 0 { offset = number } else { invalid.append("offset") }
            case "country":
                if let letters = Country.threeLetters(item.value) { country = letters } else { invalid.append("country") }
            case "explicit":
                if ["Yes", "No"].contains(item.value) {
                    allowsExplicit = item.value == "Yes"
                } else {
                    invalid.append("explicit")
                }
            case "lang":
                if !["en_us", "ja_jp"].contains(item.value) { invalid.append("language") }
            default: break
            }
        }
        guard let entities = Self.entities[media], let attributes = Self.attributes[media] else {
            throw Invalid(keys: invalid + ["mediaType"])
        }
        if let entity, !entities.contains(entity) { invalid.append("resultEntity") }
        for item in items where item.name == "attribute" {
            if attributes.contains(item.value) {
                fields = Self.fields(item.value)
            } else {
                invalid.append("attributeType")
            }
        }
        if !invalid.isEmpty { throw Invalid(keys: invalid) }
        result = Self.result(media: media, entity: entity)
    }

    /// Only music is here; other media are known and empty.
    private static func result(media: String, entity: String?) -> Result {
        guard media == "all" || media == "music" else { return .nothing }
        switch entity {
        case nil, "song", "musicTrack", "allTrack": return .song
        case "album": return .album
        case "musicArtist", "allArtist": return .artist
        default: return .nothing
        }
    }

    private static func fields(_ attribute: String) -> SearchFields {
        switch attribute {
        case "songTerm", "allTrackTerm", "titleTerm": .track
        case "artistTerm", "allArtistTerm", "composerTerm": .artist
        case "albumTerm": .album
        case "genreIndex": .genre
        default: []
        }
    }

    static let entities: [String: [String]] = [
        "all": [
            "movie", "album", "allArtist", "podcast", "musicVideo", "mix", "audiobook", "tvSeason", "allTrack", "song",
            "musicArtist", "musicTrack",
        ],
        "music": ["musicArtist", "musicTrack", "album", "musicVideo", "mix", "song"],
        "movie": ["movieArtist", "movie"],
        "podcast": ["podcastAuthor", "podcast", "podcastEpisode"],
        "musicVideo": ["musicArtist", "musicVideo"],
        "audiobook": ["audiobookAuthor", "audiobook"],
        "shortFilm": ["shortFilmArtist", "shortFilm"],
        "tvShow": ["tvEpisode", "tvSeason"],
        "software": ["software", "iPadSoftware", "desktopSoftware"],
        "ebook": ["ebook"],
    ]

    static let attributes: [String: [String]] = [
        "all": [
            "actorTerm", "languageTerm", "allArtistTerm", "tvEpisodeTerm", "shortFilmTerm", "directorTerm", "releaseYearTerm",
            "titleTerm", "featureFilmTerm", "ratingIndex", "keywordsTerm", "descriptionTerm", "authorTerm", "genreIndex",
            "mixTerm", "allTrackTerm", "artistTerm", "composerTerm", "tvSeasonTerm", "producerTerm", "ratingTerm", "songTerm",
            "movieArtistTerm", "showTerm", "movieTerm", "albumTerm",
        ],
        "music": ["mixTerm", "genreIndex", "artistTerm", "composerTerm", "albumTerm", "ratingIndex", "songTerm"],
        "movie": [
            "actorTerm", "genreIndex", "artistTerm", "shortFilmTerm", "producerTerm", "ratingTerm", "directorTerm",
            "releaseYearTerm", "featureFilmTerm", "movieArtistTerm", "movieTerm", "ratingIndex", "descriptionTerm",
        ],
        "podcast": [
            "titleTerm", "languageTerm", "authorTerm", "genreIndex", "artistTerm", "ratingIndex", "keywordsTerm",
            "descriptionTerm",
        ],
        "musicVideo": ["genreIndex", "artistTerm", "albumTerm", "ratingIndex", "songTerm"],
        "audiobook": ["titleTerm", "authorTerm", "genreIndex", "ratingIndex"],
        "shortFilm": ["genreIndex", "artistTerm", "shortFilmTerm", "ratingIndex", "descriptionTerm"],
        "tvShow": ["genreIndex", "tvEpisodeTerm", "showTerm", "tvSeasonTerm", "ratingIndex", "descriptionTerm"],
        "software": ["softwareDeveloper"],
        "ebook": ["titleTerm", "authorTerm", "genreIndex", "ratingIndex"],
    ]
}
