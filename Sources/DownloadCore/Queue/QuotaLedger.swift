/// Decides which downloads may take space under a quota. Pure: the bytes of everything else are passed in.
///
/// A download claims the bytes of its file as soon as the length is known. A download of unknown length claims the
/// bytes that it has, and more as it grows. Kept and claimed bytes together stay within the quota, with one exception:
/// the last download may exceed it. No other claim is granted while it does, or while the others fill the quota.
package struct QuotaLedger: Sendable, Equatable {
    /// The maximum number of bytes in a claim: a pebibyte. No file is larger.
    package static let largestClaim: Int64 = 1 << 50

    /// The quota in bytes; 0 is no limit.
    package let quota: Int64
    /// The claimed bytes of each download.
    package private(set) var claims: [DownloadID: Int64] = [:]
    /// The download that may exceed the quota.
    package private(set) var exception: DownloadID?

    package init(quota: Int64) {
        self.quota = max(0, quota)
    }

    /// The sum of all claims, in bytes.
    package var claimed: Int128 { claims.values.reduce(0) { $0 + Int128($1) } }

    /// Whether no download without bytes may begin.
    /// - Parameter kept: The bytes of everything without a claim.
    package func isFull(beside kept: Int128) -> Bool { quota > 0 && kept + claimed >= quota }

    /// Claims bytes for a download, in place of its former claim.
    /// - Parameters:
    ///   - bytes: All bytes that the download takes, including those that it has.
    ///   - own: The bytes that it takes now, if it has no claim yet.
    ///   - kept: The bytes of everything else without a claim.
    /// - Returns: `false` if there is no room. The former claim then stays.
    package mutating func claim(_ bytes: Int64, for id: DownloadID, having own: Int64 = 0, beside kept: Int128) -> Bool {
        guard quota > 0 else { return true }
        let wanted = min(max(0, bytes), Self.largestClaim)
        let former = claims[id] ?? own
        let others = kept + claimed - Int128(claims[id] ?? 0)
        // Since room has been made, no download exceeds the quota any more.
        if others + Int128(former) <= quota { exception = nil }
        if others + Int128(wanted) > quota {
            guard others < quota, exception == nil || exception == id else { return false }
            exception = id
        } else if exception == id {
            exception = nil
        }
        claims[id] = wanted
        return true
    }

    /// Ends the claim of a download that no longer transfers. Its bytes count as kept from then on.
    package mutating func release(_ id: DownloadID) {
        claims[id] = nil
        if exception == id { exception = nil }
    }
}
