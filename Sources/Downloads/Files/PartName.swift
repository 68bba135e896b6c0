internal import System

/// The name of a part file: `<id>.<generation>.part`, and `<id>.<generation>.<sha256>.whole` once all of its bytes are verified.
///
/// Each beginning of a download has a generation of its own, which its record tells. So a part file that comes back, with a volume or a
/// backup, never passes for the part file of another beginning.
struct PartName: Hashable, Sendable {
    let id: DownloadID
    /// `nil` in names that tell none.
    let generation: UInt64?
    /// The SHA-256 of the whole file, once its bytes are verified; they are on the disk before the file has this name.
    let sha256: [UInt8]?
    /// The name of the file.
    let text: String

    /// The bytes of the longest name, that of a whole file.
    static let longest = DownloadID.length + 1 + 16 + 1 + 64 + ".whole".utf8.count

    /// The name of a part file.
    /// - Parameter sha256: of the whole file, if its bytes are verified.
    init(_ id: DownloadID, _ generation: UInt64?, whole sha256: [UInt8]? = nil) {
        self.id = id
        self.generation = generation
        self.sha256 = sha256
        let beginning = generation.map { "\(id).\(Hexadecimal.encode($0))" } ?? "\(id)"
        text = sha256.map { "\(beginning).\(Hexadecimal.encode($0)).whole" } ?? "\(beginning).part"
    }

    /// Reads what ``text`` writes; `nil` for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1, let id = DownloadID(parts[0]) else { return nil }
        switch (parts.count, parts[parts.count - 1]) {
        case (2, "part"): self.init(id, nil)
        case (3, "part"):
            guard let generation = Self.generation(parts[1]) else { return nil }
            self.init(id, generation)
        case (3, "whole"), (4, "whole"):
            let generation = parts.count == 4 ? Self.generation(parts[1]) : nil
            guard let sha256 = Hexadecimal.decode(parts[parts.count - 2].utf8), sha256.count == 32 else { return nil }
            self.init(id, generation, whole: sha256)
        default: return nil
        }
        // Other spellings are names of other files.
        if self.text != text { return nil }
    }

    private static func generation(_ text: String) -> UInt64? { text.utf8.count == 16 ? UInt64(text, radix: 16) : nil }
}
