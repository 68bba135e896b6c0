/// Decides which downloads may take room under a quota. Pure: the bytes of everything else are passed in.
///
/// A download claims the bytes that its file will have, as soon as they are known; one of unknown length claims what it has, and more as it
/// grows. What is kept and what is claimed stay within the quota, but for one download: the last one may go beyond, and as long as it
/// does, or as the others fill the quota, no other claim is granted.
struct QuotaLedger: Sendable, Equatable {
    /// The most bytes of a claim: a pebibyte. No file has more.
    static let largestClaim: Int64 = 1 << 50

    /// In bytes; 0 is no limit.
    let quota: Int64
    /// Bytes by download.
    private(set) var claims: [DownloadID: Int64] = [:]
    /// The download that may go beyond the quota.
    private(set) var exception: DownloadID?

    init(quota: Int64) {
        self.quota = max(0, quota)
    }

    /// The sum of all claims, in bytes.
    var claimed: Int128 { claims.values.reduce(0) { $0 + Int128($1) } }

    /// Whether nothing may begin that has no bytes yet.
    /// - Parameter kept: bytes of everything that has no claim.
    func isFull(beside kept: Int128) -> Bool { quota > 0 && kept + claimed >= quota }

    /// Claims bytes for a download, in place of those that it has claimed before.
    /// - Parameters:
    ///   - bytes: what it takes in all, with what it has.
    ///   - own: what it takes now, if it has no claim yet.
    ///   - kept: bytes of everything else that has no claim.
    /// - Returns: false, and the former claim stays, if there is no room.
    mutating func claim(_ bytes: Int64, for id: DownloadID, having own: Int64 = 0, beside kept: Int128) -> Bool {
        guard quota > 0 else { return true }
        let wanted = min(max(0, bytes), Self.largestClaim)
        let former = claims[id] ?? own
        let others = kept + claimed - Int128(claims[id] ?? 0)
        // Once room was made, nothing goes beyond any more.
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

    /// Ends the claim of a download that does not transfer any more. Its bytes are counted as kept from then on.
    mutating func release(_ id: DownloadID) {
        claims[id] = nil
        if exception == id { exception = nil }
    }
}
