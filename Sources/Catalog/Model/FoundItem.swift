internal import HTTPCore
internal import JSON

/// An item with its JSON.
struct FoundItem: Sendable {
    /// The texts of an item that are the same in every response.
    fileprivate struct Texts {
        /// The JSON members, without braces.
        let members: [UInt8]
        /// The URL to download in its normalised form; `nil` if there is nothing to download.
        let normalisedURL: String?
        /// The path of the item's parts, without the prefix of all links; empty if it has none.
        let partsPath: [UInt8]
        /// The path of the parts of the podcast's feed, without the prefix of all links; empty if it has none.
        let feedPath: [UInt8]
    }

    var item: SearchItem
    private let kept: Texts?
    private var texts: Texts { kept ?? Texts(item) }

    /// Creates a found item.
    /// - Parameter keepsTexts: Whether the texts are written once. Of a work with thousands of parts, most are never shown.
    init(_ item: SearchItem, keepsTexts: Bool = true) {
        self.item = item
        kept = keepsTexts ? Texts(item) : nil
    }

    /// The URL to download in its normalised form, by which downloads are found; `nil` if there is nothing to download.
    var normalisedURL: String? { kept.map(\.normalisedURL) ?? Texts.normalisedURL(of: item) }

    /// The bytes in memory in addition to the item itself.
    var cost: Int {
        guard let kept else { return 0 }
        return kept.members.count + kept.partsPath.count + kept.feedPath.count + (kept.normalisedURL?.utf8.count ?? 0)
    }

    /// The item as a JSON object, without the members that change: its links and its download.
    var encoded: [UInt8] {
        var writer = JSONWriter()
        beginObject(texts, &writer)
        writer.endObject()
        return writer.bytes
    }

    private func beginObject(_ texts: Texts, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.raw(texts.members)
        writer.member("number", item.number)
    }

    /// Writes the item. `linkPrefix` precedes its links.
    func encode(
        into writer: inout JSONWriter, linkPrefix: String, includesRaw: Bool, download: (id: String, state: String)?
    ) {
        let texts = texts
        beginObject(texts, &writer)
        writer.name("links")
        writer.beginObject()
        for (name, path) in [("parts", texts.partsPath), ("feed", texts.feedPath)] {
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

extension FoundItem.Texts {
    fileprivate init(_ item: SearchItem) {
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
        normalisedURL = Self.normalisedURL(of: item)
        partsPath = item.hasParts ? Array((item.id.map(PartsQuery.path) ?? "").utf8) : []
        feedPath = Array((item.feedID.map(PartsQuery.path) ?? "").utf8)
    }

    fileprivate static func normalisedURL(of item: SearchItem) -> String? {
        item.downloadUrl.flatMap { HTTPURL($0)?.string }
    }
}

extension SearchItem {
    /// The item as a JSON object, without the members that change: its links and its download.
    public var encoded: [UInt8] { FoundItem(self, keepsTexts: false).encoded }
}
