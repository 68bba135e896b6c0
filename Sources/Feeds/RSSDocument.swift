public import HTTPCore
import XML

/// A podcast to write as RSS 2.0 (https://www.rssboard.org/rss-specification), with Apple's elements for podcasts.
public struct RSSDocument: Sendable {
    /// An episode.
    public struct Item: Sendable {
        /// The identity, which is no address.
        public var guid: String
        /// The title.
        public var title: String
        /// The time of publication.
        public var date: HTTPDate
        /// The address of the file.
        public var fileURL: String
        /// The media type of the file.
        public var mediaType: String
        /// The length of the file in bytes.
        public var length: Int64
        /// The address of a page about the episode; `nil` for none.
        public var page: String?
        /// The address of a picture; `nil` for none.
        public var artwork: String?
        /// The duration in milliseconds; `nil` if it is unknown.
        public var durationMs: Int64?
        /// The number of the episode, from 1; `nil` if it has none.
        public var number: Int?
        /// The number of the season, from 1; `nil` if it has none.
        public var season: Int?
        /// Whether the episode is marked as explicit; `nil` if that is unknown.
        public var explicit: Bool?

        /// Creates an episode with a file.
        public init(guid: String, title: String, date: HTTPDate, fileURL: String, mediaType: String, length: Int64) {
            (self.guid, self.title, self.date) = (guid, title, date)
            (self.fileURL, self.mediaType, self.length) = (fileURL, mediaType, length)
        }
    }

    /// The title.
    public var title: String
    /// A text about the podcast.
    public var summary: String
    /// The address of the document itself.
    public var address: String
    /// The address of the page that the podcast belongs to.
    public var page: String
    /// The author; `nil` if it is unknown.
    public var author: String?
    /// The address of a picture; `nil` for none.
    public var artwork: String?
    /// The episodes, in the order of the document.
    public var items: [Item] = []

    /// Creates a podcast without episodes.
    public init(title: String, summary: String, address: String, page: String) {
        (self.title, self.summary, self.address, self.page) = (title, summary, address, page)
    }

    /// The document. It asks podcast directories not to list it.
    public var text: String {
        let image = artwork.map { address in
            "    <image>\(Self.element("url", address))\(Self.title(title))\(Self.element("link", page))</image>\n"
                + "    <itunes:image href=\"\(address.xmlEscaped)\"/>\n"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">
              <channel>
                \(Self.title(title))
                \(Self.element("link", page))
                \(Self.element("description", summary))
                <atom:link rel="self" type="application/rss+xml" href="\(address.xmlEscaped)"/>
                <itunes:block>Yes</itunes:block>
            \(author.map { "    \(Self.element("itunes:author", $0))\n" } ?? "")\(image ?? "")\
            \(items.map(Self.element).joined())  </channel>
            </rss>

            """
    }

    private static func element(_ item: Item) -> String {
        var lines = [
            "<guid isPermaLink=\"false\">\(item.guid.xmlEscaped)</guid>", title(item.title),
            element("pubDate", item.date.description),
            "<enclosure url=\"\(item.fileURL.xmlEscaped)\" length=\"\(item.length)\" type=\"\(item.mediaType.xmlEscaped)\"/>",
        ]
        if let page = item.page { lines.append(element("link", page)) }
        if let artwork = item.artwork { lines.append("<itunes:image href=\"\(artwork.xmlEscaped)\"/>") }
        if let duration = item.durationMs { lines.append(element("itunes:duration", "\(duration / 1_000)")) }
        if let number = item.number { lines.append(element("itunes:episode", "\(number)")) }
        if let season = item.season { lines.append(element("itunes:season", "\(season)")) }
        if let explicit = item.explicit { lines.append(element("itunes:explicit", "\(explicit)")) }
        return "    <item>\n\(lines.map { "      \($0)\n" }.joined())    </item>\n"
    }

    /// Some programs, such as mpd, cut a title at a reference.
    private static func title(_ text: String) -> String {
        let escaped = text.xmlEscaped
        guard escaped.utf8.contains(UInt8(ascii: "&")) else { return "<title>\(escaped)</title>" }
        return "<title><![CDATA[\(text.xmlCharacters.replacing("]]>", with: "]]]]><![CDATA[>"))]]></title>"
    }

    private static func element(_ name: String, _ text: String) -> String { "<\(name)>\(text.xmlEscaped)</\(name)>" }
}
