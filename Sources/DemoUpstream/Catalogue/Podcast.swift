import HTTPCore

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
    /// The episodes of all valid lines; a test checks that none is missing.
    let episodes: [Episode]

    static let shared = Podcast(text: text)

    init(text: String) {
        let lines = text.split(separator: "\n")
        episodes = lines.enumerated().compactMap { index, line in
            let parts = line.texts(between: " | ").map(String.init)
            guard parts.count == 2 else { return nil }
            let time = parts[0].dropFirst(10).split { " :E".contains($0) }.compactMap { Int64($0) }
            guard time.count == 2 else { return nil }
            // Ids begin with the oldest episode.
            return Episode(
                id: Self.id + Int64(lines.count - index), name: parts[1], releaseDate: String(parts[0].prefix(10)),
                seconds: time[0] * 60 + time[1], isExplicit: parts[0].hasSuffix("E"))
        }
    }

    /// Whether a query has only words of the podcast, or of one of its episodes.
    func isFound(by query: CatalogueQuery, episode: Episode? = nil) -> Bool {
        let itsWords = [episode?.name ?? "", name, artist, Self.kind].flatMap(TrackWords.words)
        return (query.allowsExplicit || episode?.isExplicit != true)
            && query.words.allSatisfy { word in itsWords.contains { $0.hasPrefix(word) } }
    }

    /// Lines of the form `yyyy-mm-dd minutes:seconds | title`. An `E` after the time marks explicit content.
    private static let text = """
        2024-03-05 31:07 | What the Harbour Says at Night
        2024-02-20 28:44 | The Keeper Who Counted Waves
        2024-02-06 33:15 | Foghorns: A Love Story
        2024-01-23 26:58E | Things Sailors Shout
        2024-01-09 41:20 | Ice on the Estuary
        2023-12-19 24:36 | A Very Quiet Winter
        2023-12-05 35:02 | Eels, and Where They Go
        2023-11-21 29:49 | How to Read a Tide Table
        2023-11-07 30:11 | The Bell under the Water
        2023-10-24 27:33 | Mud: An Appreciation
        2023-10-10 32:27 | Reeds, Rushes and Rain
        2023-09-26 36:40 | Where the River Stops
        """
}
