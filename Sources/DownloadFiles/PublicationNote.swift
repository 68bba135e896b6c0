internal import DownloadCore
internal import System

/// A note beside a part file, written before its rename to the final name. It is used if the file system has no hard
/// links. After a crash it is the only evidence that the file with that name belongs to the download.
struct PublicationNote: Equatable {
    let path: FilePath
    let identity: FileIdentity
    let sha256: [UInt8]
    /// The generation of the part file.
    let generation: UInt64

    /// The maximum size of a note in bytes. A path has at most nine names of 255 bytes each.
    private static let maximumBytes = 4096

    /// The four lines of the note: identity, digest, generation and path.
    var text: String {
        "\(identity)\n\(Hexadecimal.encode(sha256))\n\(Hexadecimal.encode(generation))\n\(path)"
    }
}

extension PublicationNote {
    /// Parses the format of ``text``; `nil` for any other text, such as one that a crash has cut.
    init?(_ text: String) {
        let lines = text.split(separator: "\n", maxSplits: 3, omittingEmptySubsequences: false)
        guard lines.count == 4, let identity = FileIdentity(String(lines[0])), let sha256 = Hexadecimal.decode(lines[1].utf8),
            sha256.count == 32, let generation = UInt64(lines[2], radix: 16), let path = FilePath(String(lines[3]))
        else { return nil }
        self.init(path: path, identity: identity, sha256: sha256, generation: generation)
    }

    /// Reads a note; `nil` if there is no valid one.
    init?(reading file: String, in directory: Directory) {
        var buffer = [UInt8](repeating: 0, count: Self.maximumBytes)
        guard let descriptor = try? directory.open(file, .reading), (try? descriptor.status().kind) == .regular,
            let count = try? descriptor.read(into: &buffer, count: buffer.count, at: 0)
        else { return nil }
        self.init(String(decoding: buffer.prefix(count), as: UTF8.self))
    }

    /// Writes the note in place of an older one. It is durable when this returns.
    func write(_ file: String, in directory: Directory) throws(SystemError) {
        try directory.remove(file)
        let descriptor = try directory.open(file, .creating)
        unsafe try descriptor.write(Array(text.utf8).span.bytes, at: 0)
        try descriptor.synchronizeData()
        try directory.synchronize()
    }
}
