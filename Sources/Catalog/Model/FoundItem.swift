internal import HTTPCore
internal import JSON

/// An item with its JSON, which is written once, when the item comes from its source.
struct FoundItem: Sendable {
    var item: SearchItem
    /// The JSON members, without braces, that are the same in every response.
    private let members: [UInt8]
    /// The URL to download in its normalised form, by which downloads are found; `nil` if there is nothing to download.
    let normalisedURL: String?
    /// The path of the item's parts, without the prefix of all links; empty if it has none.
    private let partsPath: [UInt8]
    /// The path of the parts of the podcast's feed, without the prefix of all links; empty if it has none.
    private let feedPath: [UInt8]

    init(_ item: SearchItem) {
        self.item = item
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("id", item.id)
        writer.member("kind", item.kind)
        writer.member("name", item.name)
        writer.member("artist", item.artist)
        writer.member("collection", item.collection)
        writer.member("genre", item.genre)
        writer.member("durationMs", item.durationMs)
        writer.member("releaseDate", item.releaseDate)
        writer.member("explicit", item.explicit)
        writer.member("artworkUrl", item.artworkUrl)
        writer.member("pageUrl", item.pageUrl)
        writer.member("downloadUrl", item.downloadUrl)
        writer.member("partCount", item.partCount)
        writer.member("partOf", item.partOf)
        writer.member("season", item.season)
        writer.member("format", item.format)
        writer.member("bytes", item.bytes)
        writer.member("checksum", item.checksum)
        writer.member("licenseUrl", item.licenseUrl)
        members = Array(writer.bytes.dropFirst())
        normalisedURL = item.downloadUrl.flatMap { HTTPURL($0)?.string }
        partsPath = item.hasParts ? Array((item.id.map(Catalog.partsPath) ?? "").utf8) : []
        feedPath = Array((item.feedID.map(Catalog.partsPath) ?? "").utf8)
    }

    /// The bytes in memory in addition to the item itself.
    var cost: Int { members.count + partsPath.count + feedPath.count + (normalisedURL?.utf8.count ?? 0) }

    /// The item as a JSON object, without the members that change: its links and its download.
    var encoded: [UInt8] {
        var writer = JSONWriter()
        beginObject(&writer)
        writer.endObject()
        return writer.bytes
    }

    private func beginObject(_ writer: inout JSONWriter) {
        writer.beginObject()
        writer.raw(members)
        writer.member("number", item.number)
    }

    /// Writes the item. `linkPrefix` precedes its links.
    func encode(
        into writer: inout JSONWriter, linkPrefix: String, includesRaw: Bool, download: (id: String, state: String)?
    ) {
        beginObject(&writer)
        writer.name("links")
        writer.beginObject()
        for (name, path) in [("parts", partsPath), ("feed", feedPath)] {
            writer.name(name)
            if path.isEmpty {
                writer.null()
            } else {
                // Prefix and path need no escaping in JSON.
                writer.plain { bytes in
                    bytes.append(contentsOf: linkPrefix.utf8)
                    bytes.append(contentsOf: path)
                }
            }
        }
        writer.endObject()
        writer.name("download")
        if let download {
            writer.beginObject()
            writer.member("id", download.id)
            writer.member("state", download.state)
            writer.endObject()
        } else {
            writer.null()
        }
        if includesRaw {
            writer.name("raw")
            if item.raw.isEmpty { writer.null() } else { writer.raw(item.raw) }
        }
        writer.endObject()
    }
}
