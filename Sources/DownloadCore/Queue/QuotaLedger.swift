/// Decides which downloads may take space under a quota. Pure: the bytes of everything else are passed in.
///
/// A download reserves the bytes of its file as soon as the length is known. A download of unknown length reserves the
/// bytes that it has, and more as it grows. Kept and reserved bytes together stay within the quota, with one exception:
/// the last download may exceed it. No other reservation is granted while it does, or while the others fill the quota.
package struct QuotaLedger: Sendable, Equatable {
    /// The maximum number of bytes in a reservation: a pebibyte. No file is larger.
    package static let largestReservation: Int64 = 1 << 50

    /// The quota in bytes; 0 is no limit.
    package let quota: Int64
    /// The reserved bytes of each download.
    package private(set) var reservations: [RecordID: Int64] = [:]
    /// The download that may exceed the quota.
    package private(set) var exception: RecordID?

    package init(quota: Int64) {
        self.quota = max(0, quota)
    }

    /// The sum of all reservations, in bytes.
    package var reserved: Int128 { reservations.values.reduce(0) { $0 + Int128($1) } }

    /// Whether no download without bytes may begin.
    /// - Parameter kept: The bytes of everything without a reservation.
    package func isFull(beside kept: Int128) -> Bool { quota > 0 && kept + reserved >= quota }

    /// Reserves bytes for a download, in place of its former reservation.
    /// - Parameters:
    ///   - bytes: All bytes that the download takes, including those that it has.
    ///   - own: The bytes that it takes now, if it has no reservation yet.
    ///   - kept: The bytes of everything else without a reservation.
    /// - Returns: `false` if there is no room. The former reservation then stays.
    package mutating func reserve(_ bytes: Int64, for id: RecordID, having own: Int64 = 0, beside kept: Int128) -> Bool {
        guard quota > 0 else { return true }
        let wanted = min(max(0, bytes), Self.largestReservation)
        let former = reservations[id] ?? own
        let others = kept + reserved - Int128(reservations[id] ?? 0)
        // Since room has been made, no download exceeds the quota any more.
        if others + Int128(former) <= quota { exception = nil }
        if others + Int128(wanted) > quota {
            guard others < quota, exception == nil || exception == id else { return false }
            exception = id
        } else if exception == id {
            exception = nil
        }
        reservations[id] = wanted
        return true
    }

    /// Ends the reservation of a download that no longer transfers. Its bytes count as kept from then on.
    package mutating func release(_ id: RecordID) {
        reservations[id] = nil
        if exception == id { exception = nil }
    }
}
