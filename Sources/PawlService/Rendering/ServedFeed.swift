internal import Catalog
internal import DownloadCore
internal import Feeds
internal import HTTPCore
internal import Subscriptions
internal import System

/// Renders the feed of a subscription's finished files.
struct ServedFeed: Sendable, Hashable {
    /// The scheme and authority of the service, as the client reaches it.
    let origin: String
    let linkPrefix: PathPrefix
    /// Whether queries of addresses are left out.
    let hidesSecrets: Bool
    /// Whether the service's addresses in the feed have the key.
    let showsKey: Bool

    /// Returns the document.
    func text(of subscription: Subscription, _ items: [FinishedItem]) -> String {
        // Before the first check, the name is the address.
        let name = HTTPURL.withoutSecrets(in: subscription.name)
        var document = RSSDocument(
            title: name, summary: "The downloaded files of \(name)",
            address: origin + subscription.feedPath(linkPrefix, showsKey: showsKey),
            page: subscription.pageUrl.map(shown) ?? "\(origin)\(linkPrefix.text)/")
        document.author = subscription.artist
        document.artwork = subscription.artworkUrl.map(shown)
        document.items = items.map { item($0, key: showsKey ? "?key=\(subscription.key.text)" : "") }
        return document.text
    }

    private func item(_ finished: FinishedItem, key: String) -> RSSDocument.Item {
        let (item, download) = (finished.item, finished.download)
        // Programs name what they save after the end of its address.
        let name = download.filename.map { "/" + PercentEncoding.encodeComponent($0) } ?? ""
        // An id without its query could belong to another item.
        let guid = item.guid.flatMap { shown($0) == $0 ? $0 : nil } ?? finished.id
        var result = RSSDocument.Item(
            guid: guid, title: shown(item.name ?? download.filename ?? finished.id),
            date: HTTPDate(secondsSinceEpoch: finished.date.millisecondsSinceEpoch / 1_000),
            fileURL: "\(origin)\(linkPrefix.text)/downloads/\(download.id)/file\(name)\(key)",
            mediaType: Self.mediaType(download, stated: item.format), length: download.bytesReceived)
        result.page = item.pageUrl.map(shown)
        result.artwork = item.artworkUrl.map(shown)
        result.durationMs = item.durationMs
        result.number = item.number
        result.season = item.season
        result.explicit = item.explicit
        return result
    }

    /// Returns the type of a file. The feed's counts if the origin states none: programs do not play other files.
    private static func mediaType(_ download: Download, stated: String?) -> String {
        let type = download.mediaType ?? "application/octet-stream"
        guard type.hasSuffix("/octet-stream"), let stated, MediaType(parsing: stated) != nil else { return type }
        return stated
    }

    private func shown(_ text: String) -> String { hidesSecrets ? HTTPURL.withoutSecrets(in: text) : text }
}

/// The tags of feeds that were rendered, so that an unchanged feed is not rendered again.
final class FeedTags: Sendable {
    /// Counters that change whenever a feed may.
    struct State: Sendable, Equatable {
        /// The number of changes of the subscription.
        let version: Int64
        /// The number of changes of finished downloads.
        let finishedChanges: UInt64
    }

    private struct Key: Hashable {
        let id: RecordID
        let document: ServedFeed
    }

    /// The maximum number of tags. Beyond it, all are forgotten: clients choose the authority in the addresses.
    private static let maximum = 20_000

    private let tags = Locked<[Key: (state: State, tag: EntityTag)]>([:])

    /// Returns the tag of a feed that was rendered in the same state; `nil` if there is none.
    func tag(of id: RecordID, as document: ServedFeed, at state: State) -> EntityTag? {
        tags.withLock { $0[Key(id: id, document: document)] }.flatMap { $0.state == state ? $0.tag : nil }
    }

    /// Keeps the tag of a rendered feed.
    func keep(_ tag: EntityTag, of id: RecordID, as document: ServedFeed, at state: State) {
        tags.withLock { tags in
            if tags.count >= Self.maximum { tags = [:] }
            tags[Key(id: id, document: document)] = (state, tag)
        }
    }
}
