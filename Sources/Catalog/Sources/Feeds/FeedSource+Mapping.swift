import Feeds
import HTTPCore

extension FeedSource {
    /// Returns a feed as a work.
    static func item(of feed: Feed, at address: HTTPURL) -> SearchItem {
        var item = SearchItem(raw: [])
        item.id = id(of: address)
        item.kind = feed.items.isEmpty ? "feed" : "podcast"
        item.name = feed.title ?? address.host
        item.artist = feed.author
        item.artworkUrl = feed.artwork?.withoutUserInfo.string
        item.pageUrl = feed.page
        item.partCount = Int64(feed.items.count)
        item.hasParts = true
        return item
    }

    /// Returns an episode as a part of its feed.
    static func item(_ episode: Feed.Item, of work: SearchItem, _ feed: Feed) -> SearchItem {
        var item = SearchItem(raw: [])
        item.id = work.id.map { "\($0)#\(episode.key)" }
        item.kind = "podcast-episode"
        item.name = episode.title ?? episode.enclosure.url.lastPathComponent
        item.artist = work.artist
        item.collection = work.name
        item.durationMs = episode.durationMs
        let date = episode.date?.text
        item.releaseDate = date
        item.explicit = episode.explicit
        item.artworkUrl = episode.artwork?.withoutUserInfo.string ?? work.artworkUrl
        item.pageUrl = episode.page
        item.downloadUrl = episode.enclosure.url.withoutUserInfo.string
        item.authorization = episode.enclosure.url.basicAuthorization
        item.partOf = work.id
        item.number = episode.number
        item.season = episode.season
        item.guid = episode.guid
        item.bytes = episode.enclosure.length
        let suffix = suffix(of: episode.enclosure)
        item.format = episode.enclosure.type ?? suffix.map { String($0.dropFirst()) }
        if let name = item.name {
            // The name of a file has its extension already.
            let title = name.dropping(suffix: suffix ?? "")
            var suggestion = SuggestedDownload(title: title.isEmpty ? name : title)
            suggestion.prefix = date.map { String(Substring($0.utf8.prefix(10))) }
            suggestion.suffix = suffix
            suggestion.folder = work.name.map { [$0] } ?? []
            item.suggestion = suggestion
        }
        return item
    }

    /// Returns the extension of an episode's file with its dot: its address's if media files have it, else its
    /// type's; `nil` if the response decides.
    private static func suffix(of enclosure: Feed.Enclosure) -> String? {
        if let name = enclosure.url.lastPathComponent, let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")),
            MediaTypeExtensions.contains(name[dot...])
        {
            return String(name[dot...])
        }
        return enclosure.type.flatMap(MediaTypeExtensions.name)
    }
}

extension Timestamp {
    /// The text to the second, as other sources write dates: `2026-11-21T09:16:07Z`.
    fileprivate var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        encode(into: &bytes)
        bytes.removeLast(bytes.count - 19)
        return String(decoding: bytes + "Z".utf8, as: UTF8.self)
    }
}
