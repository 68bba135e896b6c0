import Feeds
import HTTPCore
import JSON

/// A file of an Internet Archive item, either uploaded or derived from an uploaded file.
struct ArchiveFile {
    /// The path within the item.
    let name: String
    let source: WorkFormat.Source
    let format: String?
    let track: Int?
    let isPrivate: Bool
    /// Whether only authorised readers can open it.
    let isEncrypted: Bool
    /// The range of its JSON object in the response.
    let raw: Range<Int>
    private let value: JSONValue

    /// Creates a file; `nil` for the archive's bookkeeping, and for files that no URL can name.
    /// - Parameter identifier: The item's identifier.
    init?(_ value: JSONValue, of identifier: Substring, raw: Range<Int>) {
        guard let name = value["name"]?.string, Self.isAddressable(name) else { return nil }
        let format = ArchiveSource.text(value["format"])
        // The archive's own files may be marked as originals.
        switch ArchiveSource.text(value["source"]) {
        case "original": source = .original
        case "derivative": source = .derivative
        case "metadata": return nil
        // A file without an `original` is not derived.
        default: source = value["original"] == nil ? .original : .derivative
        }
        // An uploaded file with a name such as `train_meta.xml` has the format Metadata, too.
        if let format, ["Item Tile", "Archive BitTorrent"].contains(format) { return nil }
        if format == "Metadata", source == .derivative || name == "\(identifier).xml" { return nil }
        // Only with the item's identifier in front; otherwise an uploader chose the name.
        if Self.bookkeeping.contains(where: { name == identifier + $0 }) { return nil }
        self.name = name
        self.format = format
        self.raw = raw
        self.value = value
        track = ArchiveSource.text(value["track"]).flatMap(Self.track)
        isPrivate = ArchiveSource.isSet(value["private"])
        isEncrypted = format.map { $0.contains("Encrypted") || $0.hasPrefix("ACS ") || $0.hasPrefix("LCP ") } ?? false
    }

    /// The suffixes of the archive's own files, whose names begin with the item's identifier.
    private static let bookkeeping = [
        "_files.xml", "_meta.xml", "_meta.sqlite", "_archive.torrent", "_reviews.xml", "_dc.xml", "_marc.xml", "_meta.mrc",
        "_metasource.xml", "_events.json", "_rules.conf",
    ]

    /// Whether a URL can name the file: path components `.` and `..` would lead elsewhere.
    private static func isAddressable(_ name: String) -> Bool {
        let names = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return names.allSatisfy { !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
    }

    /// The number in `1`, `01` or `1/3`, if it is at least 1; `nil` otherwise.
    private static func track(_ text: String) -> Int? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits.count == text.utf8.count || text.utf8.dropFirst(digits.count).first == UInt8(ascii: "/"),
            let number = Int(Substring(digits)), number > 0
        else { return nil }
        return number
    }

    private var fileExtension: String {
        let last = name.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? name
        return last.lastIndex(of: ".").map { last[last.index(after: $0)...].lowercased() } ?? ""
    }
}

// MARK: - Default selection

extension ArchiveFile {
    /// The extensions of media files, by kind of work; derived formats in order of preference.
    private static let extensions: [String: (originals: Set<String>, derived: [String])] = {
        let audio: Set = [
            "mp3", "flac", "ogg", "oga", "opus", "wav", "wave", "aif", "aiff", "m4a", "m4b", "aac", "shn", "ape", "wv", "wma",
            "mka",
            "mp2", "ra", "alac", "dsf", "dff", "amr", "au", "mid", "midi",
        ]
        let video: Set = [
            "mp4", "m4v", "mpeg", "mpg", "avi", "mkv", "webm", "mov", "ogv", "ogm", "wmv", "flv", "f4v", "3gp", "3g2", "ts",
            "m2ts", "mts",
            "vob", "rm", "rmvb", "divx", "asf", "dv", "m2v", "mxf",
        ]
        let texts: Set = ["pdf", "epub", "mobi", "djvu", "txt"]
        return [
            "audio": (audio, ["mp3", "ogg"]), "etree": (audio, ["mp3", "ogg"]), "movies": (video, ["mp4", "ogv"]),
            "texts": (texts, ["pdf", "epub", "txt"]),
        ]
    }()

    /// The indices of the files selected if the request names no formats.
    ///
    /// For known kinds of work, these are the originals with an extension of the kind, otherwise the derived files of
    /// the first available format. For other kinds, they are all originals.
    static func standard(of files: [ArchiveFile], kind: String?) -> Set<Int> {
        let originals = files.indices.filter { files[$0].source == .original }
        guard let (accepted, derived) = kind.flatMap({ extensions[$0] }) else { return Set(originals) }
        let fitting = originals.filter { accepted.contains(files[$0].fileExtension) }
        if !fitting.isEmpty { return Set(fitting) }
        for name in derived {
            let some = files.indices.filter { files[$0].source == .derivative && files[$0].fileExtension == name }
            if !some.isEmpty { return Set(some) }
        }
        return []
    }
}

// MARK: - Items

extension ArchiveFile {
    /// A pebibyte: larger sizes are considered invalid.
    private static let maximumBytes: Int64 = 1 << 50

    /// The file as a part of its work.
    func item(of work: SearchItem, raw: [UInt8], base: HTTPURL) -> SearchItem {
        let identifier = work.id.map { String($0.dropFirst("archive:".count)) } ?? ""
        let names = name.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        var item = SearchItem(raw: raw)
        let id = "archive:\(identifier)/\(name)"
        // A text that is not a valid id of a request is not offered as one.
        item.id = Catalog.canBeID(id) ? id : nil
        item.kind = "file"
        item.name = ArchiveSource.text(value["title"]) ?? names.last
        let creators = ArchiveSource.texts(value["creator"])
        item.artist = creators.isEmpty ? work.artist : ArchiveSource.joined(creators)
        item.collection = work.name
        item.durationMs = ArchiveSource.text(value["length"]).flatMap(PlayingTime.milliseconds)
        item.releaseDate = work.releaseDate
        item.artworkUrl = work.artworkUrl
        item.pageUrl = work.pageUrl
        item.licenseUrl = work.licenseUrl
        item.partOf = work.id
        item.path = name
        item.format = format
        if let bytes = ArchiveSource.text(value["size"]).flatMap({ Int64($0) }), (0...Self.maximumBytes).contains(bytes) {
            item.bytes = bytes
        }
        item.checksum = checksum
        // The URL before the redirect, whose target changes.
        let path = names.map(PercentEncoding.encodeComponent).joined(separator: "/")
        item.downloadUrl = base.appending(path: "download/\(identifier)/\(path)").description
        var suggestion = SuggestedDownload(title: names.last ?? name)
        suggestion.folder = [identifier] + names.dropLast()
        // The archive asks clients to use few connections.
        suggestion.connections = 1
        item.suggestion = suggestion
        return item
    }

    /// The stronger valid digest. The archive's CRC is not used: it is weak, and lacks leading zeros.
    private var checksum: String? {
        for (member, algorithm, digits) in [("sha1", "sha-1", 40), ("md5", "md5", 32)] {
            guard let digest = value[member]?.string, digest.utf8.count == digits, digest.utf8.allSatisfy(Self.isHexadecimal)
            else {
                continue
            }
            return "\(algorithm):\(digest.lowercased())"
        }
        return nil
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}
