internal import HTTPCore

/// The feed of the podcast (RSS 2.0), with an episode for each minute. It lists the newest.
///
/// The store does not know these episodes: its list is older than the feed, as for real podcasts.
struct PodcastFeed: Sendable {
    /// The path.
    static let path = "/podcast/\(Podcast.id)/feed.xml"
    static let segments = ["podcast", "\(Podcast.id)", "feed.xml"]
    /// The minutes since 1970 that have an episode, from the day after the store's newest one. They are the ids.
    static let minutes: Range<Int64> = 28_494_720..<Podcast.id
    /// The number of listed episodes.
    static let count: Int64 = 20

    /// The minute of the newest episode.
    let minute: Int64

    /// Creates the feed at a time in seconds since 1970.
    init(at now: Int64) {
        minute = now / 60
    }

    /// The document.
    /// - Parameter base: The base URL of its links.
    func xml(base: String) -> [UInt8] {
        let podcast = Podcast.shared
        let name = Page.escaped(podcast.name)
        let author = Page.escaped(podcast.artist)
        let page = "\(base)/podcast/\(Podcast.id)"
        var text = """
            <?xml version="1.0" encoding="utf-8"?>
            <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">
            <channel>
            <title>\(name)</title>
            <link>\(page)</link>
            <description>The sea beside a tide mill, every minute.</description>
            <language>en</language>
            <itunes:author>\(author)</itunes:author>
            <itunes:explicit>false</itunes:explicit>
            <itunes:image href="\(base)/artwork/\(Podcast.id)/600x600.png"/>

            """
        for minute in (minute - Self.count + 1...minute).reversed() where Self.minutes.contains(minute) {
            text += Self.item(minute, base: base)
        }
        return Array((text + "</channel>\n</rss>\n").utf8)
    }

    private static func item(_ minute: Int64, base: String) -> String {
        let date = HTTPDate(secondsSinceEpoch: minute * 60)
        return """
            <item>
            <guid isPermaLink="false">slack-water-\(minute)</guid>
            <title>The Tide at \(time(of: minute))</title>
            <pubDate>\(date)</pubDate>
            <enclosure url="\(base)/episodes/\(minute)/audio.wav" length="\(Preview.fileLength)" type="audio/wav"/>
            <itunes:duration>\(Preview.sampleCount / Preview.rate)</itunes:duration>
            <itunes:explicit>false</itunes:explicit>
            </item>

            """
    }

    /// The time of the day in UTC: `14.32`, since names of files have no colons.
    private static func time(of minute: Int64) -> String {
        let numbers = [minute / 60 % 24, minute % 60]
        return numbers.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ".")
    }
}
