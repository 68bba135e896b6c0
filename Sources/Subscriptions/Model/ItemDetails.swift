internal import Catalog
internal import Feeds
internal import HTTPCore
internal import JSON
internal import System

/// The properties of an item with which it becomes a download, also once its listing does not have it any more.
struct ItemDetails: Sendable {
    /// The item as a search result.
    var item: SearchItem
    /// The item's JSON object as it was stored; `nil` if the item was just listed.
    private var stored: [UInt8]?
    /// The item's JSON object.
    var track: [UInt8] { track(downloadURL: item.downloadUrl) }

    /// The name; for an item without one, its id.
    var name: String { item.name ?? item.id ?? "" }

    /// The text in the place of the download address if the row of the item has the same one.
    private static let sameURL = "="

    /// Returns the item's JSON object with another download address.
    private func track(downloadURL: String?) -> [UInt8] {
        guard let stored else {
            var item = item
            item.downloadUrl = downloadURL
            return item.encoded
        }
        guard let downloadURL, case .object(let members)? = try? JSONValue(parsing: stored) else { return stored }
        return JSONValue.object(
            members.map { $0.name == "downloadUrl" ? JSONMember(name: $0.name, value: .string(downloadURL)) : $0 }
        ).serialized()
    }

    /// Returns the stored form: a JSON object.
    /// - Parameter url: The address in the row of the item, which is not stored twice; `nil` for none.
    func encoded(besides url: String?) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("track")
        writer.raw(track(downloadURL: url != nil && url == item.downloadUrl ? Self.sameURL : item.downloadUrl))
        if let guid = item.guid { writer.member("guid", guid) }
        if let authorization = item.authorization { writer.member("authorization", authorization) }
        if let suggestion = item.suggestion {
            writer.name("folder")
            writer.beginArray()
            for name in suggestion.folder { writer.value(name) }
            writer.endArray()
            writer.member("prefix", suggestion.prefix)
            writer.member("title", suggestion.title)
            writer.member("suffix", suggestion.suffix)
            writer.member("connections", suggestion.connections)
        }
        writer.endObject()
        return writer.bytes
    }

    init(_ item: SearchItem) {
        self.item = item
    }

    /// Decodes the stored form; `nil` if it has a value that no release writes.
    /// - Parameter url: The address in the row of the item; `nil` for none.
    init?(decoding bytes: [UInt8], besides url: String?) {
        guard let document = try? JSONDocument(parsing: bytes), let track = document.root["track"] else { return nil }
        var item = SearchItem(raw: [])
        item.id = track["id"]?.string
        item.kind = track["kind"]?.string
        item.name = track["name"]?.string
        item.artist = track["artist"]?.string
        item.collection = track["collection"]?.string
        item.durationMs = track["durationMs"]?.integer
        item.releaseDate = track["releaseDate"]?.string
        item.explicit = track["explicit"]?.bool
        item.artworkUrl = track["artworkUrl"]?.string
        item.pageUrl = track["pageUrl"]?.string
        item.downloadUrl = track["downloadUrl"]?.string.flatMap { $0 == Self.sameURL ? url : $0 }
        item.partOf = track["partOf"]?.string
        item.number = track["number"]?.integer.map { Int(clamping: $0) }
        item.season = track["season"]?.integer.map { Int(clamping: $0) }
        item.format = track["format"]?.string
        item.bytes = track["bytes"]?.integer
        item.checksum = track["checksum"]?.string
        item.guid = document.root["guid"]?.string
        item.authorization = document.root["authorization"]?.string
        if let title = document.root["title"]?.string {
            var suggestion = SuggestedDownload(title: title)
            suggestion.folder = (document.root["folder"]?.array ?? []).compactMap(\.string)
            suggestion.prefix = document.root["prefix"]?.string
            suggestion.suffix = document.root["suffix"]?.string
            suggestion.connections = document.root["connections"]?.integer.map { Int(clamping: $0) }
            item.suggestion = suggestion
        }
        self.init(item)
        stored = track.serialized()
    }

    /// Returns the items of a listing with their keys, without later ones of the same identity.
    static func items(
        _ parts: [SearchItem], identity: (SearchItem) -> String?
    ) -> [(listed: ListedItem, details: ItemDetails)] {
        var seen: Set<String> = []
        return parts.compactMap { item in
            guard let identity = identity(item) else { return nil }
            let key = String(Hexadecimal.encode(SHA256.digest(of: Array(identity.utf8))).prefix(32))
            let details = ItemDetails(item)
            return seen.insert(key).inserted ? (details.listed(key: key), details) : nil
        }
    }

    /// Returns the item as decisions need it.
    /// - Parameter key: Its identity in the listing.
    func listed(key: String) -> ListedItem {
        let url = item.downloadUrl.flatMap { HTTPURL($0) }
        var listed = ListedItem(
            key: key, name: ItemFilter.name(of: item), date: item.releaseDate.flatMap { Timestamp(parsing: $0) },
            durationMs: item.durationMs, url: url?.string)
        listed.isNamedByAddress = url.map { Feed.isAddress(item.guid, of: $0) } ?? false
        return listed
    }
}
