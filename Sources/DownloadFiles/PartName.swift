package import DownloadCore
internal import System

/// The name of a part file: `<id>.<generation>.part`, or `<id>.<generation>.<sha256>.whole` once all its bytes are
/// present and match the known digests.
///
/// Each beginning of a download has a generation of its own, which its record keeps. A part file that returns with a
/// volume or a backup is therefore never mistaken for one of another beginning.
package struct PartName: Hashable, Sendable {
    package let id: RecordID
    package let generation: UInt64
    /// The SHA-256 of a whole file; `nil` if bytes may be missing. Its bytes are durable before the file gets this name or, if
    /// it is small (``PublishedFile/smallLength``), before it is published.
    package let sha256: [UInt8]?
    /// The file name.
    package let text: String

    /// The length in bytes of the longest name, a whole file's.
    package static let longest = RecordID.length + 1 + 16 + 1 + 64 + ".whole".utf8.count

    /// Creates the name of a part file.
    /// - Parameter sha256: The digest of a whole file; `nil` for any other part file.
    package init(_ id: RecordID, _ generation: UInt64, whole sha256: [UInt8]? = nil) {
        self.id = id
        self.generation = generation
        self.sha256 = sha256
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.longest)
        id.encode(into: &bytes)
        bytes.append(UInt8(ascii: "."))
        Hexadecimal.encode(generation, into: &bytes)
        if let sha256 {
            bytes.append(UInt8(ascii: "."))
            Hexadecimal.encode(sha256, into: &bytes)
        }
        bytes.append(contentsOf: (sha256 == nil ? ".part" : ".whole").utf8)
        text = String(decoding: bytes, as: UTF8.self)
    }

    /// Parses the format of ``text``; `nil` for any other name.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 2, let id = RecordID(parts[0]), parts[1].utf8.count == 16,
            let generation = UInt64(parts[1], radix: 16)
        else { return nil }
        switch (parts.count, parts[parts.count - 1]) {
        case (3, "part"): self.init(id, generation)
        case (4, "whole"):
            guard let sha256 = Hexadecimal.decode(parts[2].utf8), sha256.count == 32 else { return nil }
            self.init(id, generation, whole: sha256)
        default: return nil
        }
        // A different spelling is the name of another file.
        if self.text != text { return nil }
    }
}
