internal import System

/// The short name of a download in aria2's RPC: 64 bits, written as 16 hexadecimal digits.
public struct DownloadGID: Sendable, Hashable, LosslessStringConvertible {
    /// The 64 bits.
    public let value: UInt64

    /// Creates a gid from its bits.
    public init(_ value: UInt64) {
        self.value = value
    }

    /// Parses 16 hexadecimal digits in either case; `nil` for anything else.
    public init?(_ description: String) {
        guard description.utf8.count == 16, let bytes = Hexadecimal.decode(description.utf8) else { return nil }
        value = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// 16 lower-case hexadecimal digits.
    public var description: String {
        Hexadecimal.encode(value)
    }
}

extension RecordID {
    /// The gid of a download whose client has chosen none: the last 64 bits of the id, mixed.
    ///
    /// These bits are random, but begin alike in ids that are created together. Users distinguish gids by their first
    /// digits, so the bits are mixed. Different bits remain different.
    @usableFromInline package var gid: DownloadGID {
        var bits = UInt64(truncatingIfNeeded: value)
        bits = (bits ^ bits >> 32) &* 0xD6E8_FEB8_6659_FD93
        bits = (bits ^ bits >> 32) &* 0xD6E8_FEB8_6659_FD93
        return DownloadGID(bits ^ bits >> 32)
    }
}

/// The result of a search for the first digits of a ``DownloadGID``.
public enum GIDMatch: Sendable, Equatable {
    /// One download matches.
    case found(RecordID)
    /// No download matches.
    case notFound
    /// Several downloads match.
    case ambiguous
}
