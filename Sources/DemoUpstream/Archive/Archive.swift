internal import HTTPCore
internal import JSON
internal import System

/// The contents of the emulated Internet Archive: items, each with metadata and files.
///
/// All names are invented, and all bytes are noise.
struct Archive: Sendable {
    struct File: Sendable {
        let identifier: String
        /// The path within the item.
        let name: String
        let content: NoiseContent
        /// The entry of the document: format, title, track number, length and other metadata.
        let entry: JSONValue

        init(_ entry: JSONValue, of identifier: String) {
            self.identifier = identifier
            self.entry = entry
            name = entry.text("name")
            content = NoiseContent(length: entry.integer(of: "size"), seed: Mix.scramble("\(identifier)/\(name)"))
        }

        subscript(_ name: String) -> String? { entry[name]?.string }
        var isPrivate: Bool { self["private"] == "true" }
        /// The path for clients, which redirects to a node.
        var downloadTarget: String {
            let path = name.split(separator: "/").map { PercentEncoding.encodeComponent(String($0)) }.joined(separator: "/")
            return "/download/\(identifier)/\(path)"
        }
        /// Whether the archive states the file's size and digests, as for all files except its list of files.
        var isListed: Bool { !name.hasSuffix("_files.xml") }
    }

    struct Item: Sendable {
        let identifier: String
        /// An object of strings, and of lists of strings.
        let metadata: JSONValue
        /// Whether the item has been withdrawn, so that neither metadata nor files are served.
        let isDark: Bool
        let files: [File]

        init(_ entry: JSONValue) {
            let identifier = entry.text("identifier")
            self.identifier = identifier
            metadata = entry["metadata"] ?? .object([])
            isDark = entry["is_dark"]?.bool ?? false
            files = entry.entries("files").map { File($0, of: identifier) }
        }

        /// All values of a name.
        subscript(_ name: String) -> [String] {
            metadata[name]?.string.map { [$0] } ?? metadata.entries(name).compactMap(\.string)
        }
        var title: String { self["title"].first ?? identifier }
        func file(_ name: String) -> File? { files.first { $0.name == name } }
    }

    let items = JSONValue.entries(of: PackageResources.archive_json).map(Item.init)

    static let shared = Archive()

    func item(_ identifier: String) -> Item? { items.first { $0.identifier == identifier } }
}

// MARK: - Digests

extension Archive.File {
    /// Digests in hexadecimal, as the archive states them.
    struct Digests: Sendable {
        let md5: String
        let sha1: String
        /// The CRC-32 without leading zeros.
        let crc32: String
    }

    /// The digests computed so far; computing them takes time.
    private static let known = Locked<[String: Digests]>([:])

    /// The digests of the file's bytes, or wrong ones if the file is marked as damaged.
    var digests: Digests {
        let key = "\(identifier)/\(name)"
        if let digests = Self.known.withLock({ $0[key] }) { return digests }
        var (md5, sha1, crc) = (MessageDigest(.md5), MessageDigest(.sha1), UInt32(0))
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: content.length, by: 1 << 20) {
            bytes.removeAll(keepingCapacity: true)
            content.append(start..<min(start + 1 << 20, content.length), to: &bytes)
            if self["damaged"] != nil, start == 0 { bytes[0] ^= 1 }
            unsafe md5.update(bytes.span.bytes)
            unsafe sha1.update(bytes.span.bytes)
            crc = unsafe CRC32.checksum(bytes.span.bytes, after: crc)
        }
        let digests = Digests(
            md5: Hexadecimal.encode(md5.digest()), sha1: Hexadecimal.encode(sha1.digest()), crc32: String(crc, radix: 16))
        Self.known.withLock { $0[key] = digests }
        return digests
    }
}
