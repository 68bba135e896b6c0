import Feeds
import HTTPCore
import JSON
import XML

extension ArchiveSource {
    /// A result, or the metadata of a work, as an item; `nil` without an identifier, the only required member.
    static func item(_ metadata: JSONValue, raw: [UInt8], base: HTTPURL) -> SearchItem? {
        guard let identifier = text(metadata["identifier"]), isIdentifier(identifier[...]) else { return nil }
        var item = SearchItem(raw: raw)
        item.id = "archive:\(identifier)"
        item.kind = text(metadata["mediatype"])
        item.name = text(metadata["title"]) ?? identifier
        let creators = texts(metadata["creator"])
        item.artist = creators.isEmpty ? nil : joined(creators)
        item.collection = text(metadata["collection"])
        item.durationMs = text(metadata["runtime"]).flatMap(PlayingTime.milliseconds)
        item.releaseDate = text(metadata["date"]) ?? text(metadata["year"])
        item.licenseUrl = text(metadata["licenseurl"]).flatMap { HTTPURL($0)?.string }
        item.pageUrl = base.appending(path: "details/\(identifier)").description
        item.artworkUrl = base.appending(path: "services/img/\(identifier)").description
        item.hasParts = item.kind.map { !["collection", "account"].contains($0) } ?? true
        return item
    }

    /// The texts in a string, a number, or a list of these, as plain text and without blank ones.
    static func texts(_ value: JSONValue?) -> [String] {
        switch value {
        case .string(let string):
            let text = HTMLEntities.decoded(string)
            return text.allSatisfy(\.isWhitespace) ? [] : [cut(text)]
        case .integer(let integer): return [String(integer)]
        case .number(let number): return [number.description]
        case .array(let elements): return elements.flatMap { $0.array == nil ? texts($0) : [] }
        default: return []
        }
    }

    /// Several names, such as creators, as one text.
    static func joined(_ texts: [String]) -> String {
        cut(texts.joined(separator: ", "))
    }

    /// The text, cut to the maximum length of a name. Each file of a work repeats the work's name, so long names are
    /// expensive.
    private static func cut(_ text: String) -> String {
        if text.utf8.count <= 500 { return text }
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: text.unicodeScalars.prefix(500))
        return String(scalars)
    }

    /// The first text of a value; `nil` if it has none.
    static func text(_ value: JSONValue?) -> String? {
        texts(value).first
    }

    /// A work and its files, from a response of `/metadata`.
    static func work(_ id: String, in document: JSONDocument, base: HTTPURL) throws(CatalogError) -> Listing {
        let root = document.root
        // The archive's response if there is no such item.
        if root.members?.isEmpty == true || root.array?.isEmpty == true {
            return Listing(items: [], bodyBytes: document.bytes.count)
        }
        if isSet(root["is_dark"]) {
            return Listing(
                items: [], absence: "the Internet Archive has withdrawn \(SearchParameter.quoted(id))",
                bodyBytes: document.bytes.count)
        }
        guard let metadata = document.member("metadata"),
            var item = item(metadata.value, raw: Array(document.bytes[metadata.range]), base: base)
        else {
            throw .upstreamRejected("The Internet Archive answered without the metadata of an item.")
        }
        // The requested id: ids are compared exactly, and an item may have been renamed.
        item.id = id
        if !item.hasParts { return Listing(items: [item], bodyBytes: document.bytes.count) }
        guard let elements = document.elements(of: "files") else {
            throw .upstreamRejected("The Internet Archive answered without the array \"files\".")
        }
        guard elements.count <= ArchiveSource.maximumFiles else {
            throw .upstreamRejected(
                "\(SearchParameter.quoted(id)) has \(elements.count) files; at most \(ArchiveSource.maximumFiles) are read.")
        }
        let identifier = id.dropFirst("archive:".count)
        var files = elements.compactMap { ArchiveFile($0.value, of: identifier, raw: $0.range) }
        let all = files.count
        files.removeAll { $0.isPrivate || $0.isEncrypted }
        let isKeptBack = files.count < all || isLent(metadata.value)
        files.sort { NaturalOrder.precedes($0.name, $1.name) }
        let standard = ArchiveFile.standard(of: files, kind: item.kind)
        let parts = files.indices.map { index in
            var part = Work.Part(files[index].item(of: item, raw: Array(document.bytes[files[index].raw]), base: base))
            part.source = files[index].source
            part.track = files[index].track
            part.isStandard = standard.contains(index)
            return part
        }
        let restriction = isKeptBack ? "its files are restricted, such as those of a lent book" : nil
        return Listing(
            items: [item], work: Work(item, parts: parts, restriction: restriction), bodyBytes: document.bytes.count)
    }

    /// Whether an item is a book that is lent to one reader at a time.
    private static func isLent(_ metadata: JSONValue) -> Bool {
        isSet(metadata["access-restricted-item"]) || texts(metadata["collection"]).contains("inlibrary")
    }

    /// Whether a value is `true`, `"true"`, `"yes"` or `1`, or a list with such an element.
    static func isSet(_ value: JSONValue?) -> Bool {
        switch value {
        case .bool(let bool): bool
        case .array(let elements): elements.contains { isSet($0) }
        default: text(value).map { ["true", "1", "yes"].contains($0.lowercased()) } ?? false
        }
    }
}
