internal import System

/// A note that is written beside a part file before it is renamed to its final name, where a file system has no hard links. After a
/// crash nothing else tells that the file under that name is this download's.
struct PublicationNote: Equatable {
    let path: FilePath
    let identity: FileIdentity
    let sha256: [UInt8]
    /// The generation of the part file.
    let generation: UInt64?

    /// The most bytes a note has; a path has nine names at most, of 255 each.
    private static let mostBytes = 4096

    /// Four lines: identity, digest, generation, path.
    var text: String {
        "\(identity)\n\(Hexadecimal.encode(sha256))\n\(generation.map { Hexadecimal.encode($0) } ?? "")\n\(path)"
    }

    init(path: FilePath, identity: FileIdentity, sha256: [UInt8], generation: UInt64?) {
        self.path = path
        self.identity = identity
        self.sha256 = sha256
        self.generation = generation
    }

    /// Reads what ``text`` writes; `nil` for anything else, as a crash may leave it.
    init?(_ text: String) {
        let lines = text.split(separator: "\n", maxSplits: 3, omittingEmptySubsequences: false)
        guard lines.count == 4, let identity = FileIdentity(String(lines[0])), let sha256 = Hexadecimal.decode(lines[1].utf8),
            sha256.count == 32, let path = FilePath(String(lines[3]))
        else { return nil }
        self.init(path: path, identity: identity, sha256: sha256, generation: UInt64(lines[2], radix: 16))
    }

    /// Reads a note; `nil` if there is none that can be read.
    init?(reading file: String, in directory: Directory) {
        var buffer = [UInt8](repeating: 0, count: Self.mostBytes)
        guard let descriptor = try? directory.open(file, .reading), (try? descriptor.status().kind) == .regular,
            let count = try? descriptor.read(into: &buffer, count: buffer.count, at: 0)
        else { return nil }
        self.init(String(decoding: buffer.prefix(count), as: UTF8.self))
    }

    /// Writes the note in place of an older one; it is on the disk when this returns.
    func write(_ file: String, in directory: Directory) throws(SystemError) {
        try directory.remove(file)
        let descriptor = try directory.open(file, .creating)
        unsafe try descriptor.write(Array(text.utf8).span.bytes, at: 0)
        try descriptor.synchronizeData()
        try directory.synchronize()
    }
}
