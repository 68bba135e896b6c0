internal import System

/// The short name that aria2's RPC has for a download: 64 bits, written as 16 hexadecimal digits.
public struct DownloadGID: Sendable, Hashable, LosslessStringConvertible {
    /// The bits.
    public let value: UInt64

    /// Takes a name from its bits.
    public init(_ value: UInt64) {
        self.value = value
    }

    /// Reads 16 hexadecimal digits, in either case; `nil` for anything else.
    public init?(_ description: String) {
        guard description.utf8.count == 16, let bytes = Hexadecimal.decode(description.utf8) else { return nil }
        value = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// 16 lower-case hexadecimal digits.
    public var description: String {
        Hexadecimal.encode(value)
    }
}

extension DownloadID {
    /// The name of a download for which its client has chosen none: the 64 random bits, stirred, since those of downloads that are created
    /// together begin alike, and people tell names apart by their first digits. Different bits stay different.
    var gid: DownloadGID {
        var bits = UInt64(truncatingIfNeeded: value)
        bits = (bits ^ bits >> 32) &* 0xD6E8_FEB8_6659_FD93
        bits = (bits ^ bits >> 32) &* 0xD6E8_FEB8_6659_FD93
        return DownloadGID(bits ^ bits >> 32)
    }
}

/// What the first digits of a ``DownloadGID`` name.
public enum GIDMatch: Sendable, Equatable {
    /// One download.
    case found(DownloadID)
    /// None.
    case notFound
    /// Several.
    case ambiguous
}
