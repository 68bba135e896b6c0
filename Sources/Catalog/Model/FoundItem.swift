internal import HTTPCore
internal import JSON

/// An item with its JSON: what every response says of it alike is written once, when the item comes from its source.
struct FoundItem: Sendable {
    var item: SearchItem
    /// The members, without braces, that depend on nothing else.
    private let members: [UInt8]
    /// What is to be downloaded, spelled as downloads are known by; nil: nothing.
    let normalisedURL: String?
    /// Where its parts are, behind the prefix of all links; empty: it has none.
    private let partsPath: [UInt8]

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
        writer.member("format", item.format)
        writer.member("bytes", item.bytes)
        writer.member("checksum", item.checksum)
        writer.member("licenseUrl", item.licenseUrl)
        members = Array(writer.bytes.dropFirst())
        normalisedURL = item.downloadUrl.flatMap { HTTPURL($0)?.string }
        partsPath = item.hasParts ? Array((item.id.map(Catalog.partsPath) ?? "").utf8) : []
    }

    /// The bytes it takes in memory beside the item's own.
    var cost: Int { members.count + partsPath.count + (normalisedURL?.utf8.count ?? 0) }

    /// The item as a JSON object, without what changes: its links, which depend on the request, and its download.
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
        writer.name("parts")
        if partsPath.isEmpty {
            writer.null()
        } else {
            // Both are made of characters that stand for themselves in JSON.
            writer.plain { bytes in
                bytes.append(contentsOf: linkPrefix.utf8)
                bytes.append(contentsOf: partsPath)
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
            writer.raw(item.raw)
        }
        writer.endObject()
    }
}
