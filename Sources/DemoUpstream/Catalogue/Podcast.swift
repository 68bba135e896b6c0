internal import JSON

/// The only podcast, with its episodes, the newest first. They are found through the podcast only, not by their own
/// ids. Its feed has later episodes: see ``PodcastFeed``.
struct Podcast: Sendable {
    struct Episode: Sendable {
        let id: Int64
        let name: String
        /// `yyyy-mm-dd`.
        let releaseDate: String
        let seconds: Int64
        let isExplicit: Bool
    }

    static let id: Int64 = 5_000_910_100
    /// The word for its kind: a search for it finds the podcast, like a search for its name.
    static let kind = "podcast"
    let name = "Slack Water"
    /// The id of one of the catalogue's artists.
    let artistID: Int64 = 5_000_710_000
    let artist = "Tidewater Field Recordings"
    let genre = "Nature"
    /// The number of episodes that it states. It has fewer, since the oldest are gone.
    let claimedCount = 14
    let episodes = JSONValue.entries(of: PackageResources.podcast_json).map { entry in
        Episode(
            id: entry.integer(of: "id"), name: entry.text("name"), releaseDate: entry.text("releaseDate"),
            seconds: entry.integer(of: "seconds"), isExplicit: entry["explicit"] != nil)
    }

    static let shared = Podcast()

    /// Whether a query has only words of the podcast, or of one of its episodes.
    func isFound(by query: CatalogueQuery, episode: Episode? = nil) -> Bool {
        let itsWords = [episode?.name ?? "", name, artist, Self.kind].flatMap(TrackWords.words)
        return (query.allowsExplicit || episode?.isExplicit != true)
            && query.words.allSatisfy { word in itsWords.contains { $0.hasPrefix(word) } }
    }
}
