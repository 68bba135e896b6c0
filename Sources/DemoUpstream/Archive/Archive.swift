internal import HTTPCore
internal import System

/// The contents of the emulated Internet Archive: items, each with metadata and files.
struct Archive: Sendable {
    /// A name and its value. A repeated name makes a list.
    struct Member: Sendable {
        let name: String
        let value: String
    }

    struct File: Sendable {
        let identifier: String
        /// The path within the item.
        let name: String
        let format: String
        let content: NoiseContent
        /// The title, track number, length and other metadata.
        let members: [Member]

        subscript(_ name: String) -> String? { members.first { $0.name == name }?.value }
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
        let members: [Member]
        var files: [File] = []

        /// All values of a name.
        subscript(_ name: String) -> [String] { members.filter { $0.name == name }.map(\.value) }
        var title: String { self["title"].first ?? identifier }
        /// Whether the item has been withdrawn, so that neither metadata nor files are served.
        var isDark: Bool { self["is_dark"] == ["true"] }
        func file(_ name: String) -> File? { isDark ? nil : files.first { $0.name == name } }
    }

    private(set) var items: [Item] = []
    /// Lines of the text that cannot be parsed; a test checks that there are none.
    private(set) var unreadableLines: [String] = []

    static let shared = Archive(text: text)

    init(text: String) {
        for line in text.split(separator: "\n") where !read(line: String(line)) { unreadableLines.append(String(line)) }
        for index in items.indices { items[index].files += Self.bookkeeping(of: items[index].identifier) }
    }

    func item(_ identifier: String) -> Item? { items.first { $0.identifier == identifier } }

    /// Parses a line of ``text``; returns whether it is valid.
    private mutating func read(line: String) -> Bool {
        if line.hasPrefix("@ ") {
            let parts = Self.parts(line.dropFirst(2))
            let members = parts.dropFirst().compactMap(Self.member)
            items.append(Item(identifier: parts.first ?? "", members: members))
            return members.count == parts.count - 1
        }
        guard var item = items.popLast() else { return false }
        defer { items.append(item) }
        let isDerived = line.hasPrefix("> ")
        let parts = Self.parts(line.replacing("*", with: item.identifier).dropFirst(isDerived ? 2 : 0))
        guard parts.count >= 3, let size = Int64(parts[1]) else { return false }
        let members = parts.dropFirst(3).compactMap(Self.member)
        var origin: [Member] = []
        if isDerived {
            guard let original = item.files.last(where: { $0["original"] == nil }) else { return false }
            origin = [Member(name: "original", value: original.name)]
        }
        item.files.append(Self.file(parts[0], of: item.identifier, parts[2], size, members + origin))
        return members.count == parts.count - 3
    }

    private static func parts(_ line: Substring) -> [String] { line.texts(between: " | ").map(String.init) }

    private static func member(_ text: String) -> Member? {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        return parts.count == 2 ? Member(name: parts[0], value: parts[1]) : nil
    }

    private static func file(
        _ name: String, of identifier: String, _ format: String, _ size: Int64, _ members: [Member]
    ) -> File {
        let content = NoiseContent(length: size, seed: Mix.scramble("\(identifier)/\(name)"))
        return File(identifier: identifier, name: name, format: format, content: content, members: members)
    }

    /// The files that the archive adds to every item. Some are marked as originals.
    private static func bookkeeping(of identifier: String) -> [File] {
        let metadata = [Member(name: "source", value: "metadata")]
        return [
            file("__ia_thumb.jpg", of: identifier, "Item Tile", 12_994, []),
            file("\(identifier)_archive.torrent", of: identifier, "Archive BitTorrent", 6_961, metadata),
            file("\(identifier)_files.xml", of: identifier, "Metadata", 9_038, []),
            file("\(identifier)_meta.xml", of: identifier, "Metadata", 2_555, metadata),
        ]
    }
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
