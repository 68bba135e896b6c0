import HTTPCore

extension ITunesSource {
    static let description = SourceDescription(
        id: "itunes", name: "iTunes Search API", base: HTTPURL(.https, host: "itunes.apple.com"),
        attribution: "provided courtesy of iTunes",
        // Apple labels JSON as JavaScript because of JSONP.
        mediaTypes: ["text/javascript", "application/json"],
        ids: [
            "itunes:<number>", "itunes:collection:<number>", "itunes:artist:<number>", "itunes:episode:<podcast>:<episode>",
            "the same with the country of another store than that of the US, in lower case (itunes:jp:<number>)",
        ],
        hasParts: true,
        parameters: [
            .term,
            SearchParameter(
                name: "media", summary: "The kind of media.", accepted: .values(entities.map(\.media)), standard: "all"),
            SearchParameter(
                name: "entity", summary: "The kind of result; media decides the accepted values.",
                accepted: .valuesByMedia(entities)),
            SearchParameter(
                name: "attribute", summary: "The field to search in; media decides the accepted values.",
                accepted: .valuesByMedia(attributes)),
            SearchParameter(
                name: "country", summary: "The country of the store, as an ISO 3166-1 alpha-2 code.",
                accepted: .countries(CountryCodes.all),
                standard: "US"),
            SearchParameter(
                name: "lang", summary: "The language of the response.", accepted: .values(["en_us", "ja_jp"]), standard: "en_us"),
            SearchParameter(
                name: "explicit", summary: "Whether explicit content is included.", accepted: .values(["Yes", "No"]),
                standard: "Yes"),
            .limit, .offset, .session, .include,
        ])

    private typealias MediaValues = SearchParameter.MediaValues

    /// The entities of each media, as Apple documents them.
    private static let entities = [
        MediaValues(
            media: "all",
            values: [
                "movie", "album", "allArtist", "podcast", "musicVideo", "mix", "audiobook", "tvSeason", "allTrack",
            ]),
        MediaValues(media: "movie", values: ["movieArtist", "movie"]),
        MediaValues(media: "podcast", values: ["podcastAuthor", "podcast", "podcastEpisode"]),
        MediaValues(media: "music", values: ["musicArtist", "musicTrack", "album", "musicVideo", "mix", "song"]),
        MediaValues(media: "musicVideo", values: ["musicArtist", "musicVideo"]),
        MediaValues(media: "audiobook", values: ["audiobookAuthor", "audiobook"]),
        MediaValues(media: "shortFilm", values: ["shortFilmArtist", "shortFilm"]),
        MediaValues(media: "tvShow", values: ["tvEpisode", "tvSeason"]),
        MediaValues(media: "software", values: ["software", "iPadSoftware", "desktopSoftware"]),
        MediaValues(media: "ebook", values: ["ebook"]),
    ]

    /// The attributes of each media, as Apple documents them; it documents none for ebooks.
    private static let attributes = [
        MediaValues(
            media: "all",
            values: [
                "actorTerm", "languageTerm", "allArtistTerm", "tvEpisodeTerm", "shortFilmTerm", "directorTerm",
                "releaseYearTerm", "titleTerm", "featureFilmTerm", "ratingIndex", "keywordsTerm", "descriptionTerm",
                "authorTerm", "genreIndex", "mixTerm", "allTrackTerm", "artistTerm", "composerTerm", "tvSeasonTerm",
                "producerTerm", "ratingTerm", "songTerm", "movieArtistTerm", "showTerm", "movieTerm", "albumTerm",
            ]),
        MediaValues(
            media: "movie",
            values: [
                "actorTerm", "genreIndex", "artistTerm", "shortFilmTerm", "producerTerm", "ratingTerm", "directorTerm",
                "releaseYearTerm", "featureFilmTerm", "movieArtistTerm", "movieTerm", "ratingIndex", "descriptionTerm",
            ]),
        MediaValues(
            media: "podcast",
            values: [
                "titleTerm", "languageTerm", "authorTerm", "genreIndex", "artistTerm", "ratingIndex", "keywordsTerm",
                "descriptionTerm",
            ]),
        MediaValues(
            media: "music",
            values: ["mixTerm", "genreIndex", "artistTerm", "composerTerm", "albumTerm", "ratingIndex", "songTerm"]),
        MediaValues(media: "musicVideo", values: ["genreIndex", "artistTerm", "albumTerm", "ratingIndex", "songTerm"]),
        MediaValues(media: "audiobook", values: ["titleTerm", "authorTerm", "genreIndex", "ratingIndex"]),
        MediaValues(
            media: "shortFilm", values: ["genreIndex", "artistTerm", "shortFilmTerm", "ratingIndex", "descriptionTerm"]),
        MediaValues(
            media: "tvShow",
            values: ["genreIndex", "tvEpisodeTerm", "showTerm", "tvSeasonTerm", "ratingIndex", "descriptionTerm"]),
        MediaValues(media: "software", values: ["softwareDeveloper"]),
        MediaValues(media: "ebook", values: []),
    ]
}
