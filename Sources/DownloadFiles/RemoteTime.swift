package import HTTPCore

/// The modification time of a finished file that its origin determines. Pure.
package enum RemoteTime {
    /// Returns the time of an origin's Last-Modified in seconds since 1970; `nil` if there is none, or if it is invalid,
    /// before 1970 or in the future. The file then keeps the time of its last write.
    package static func seconds(of lastModified: FieldValue?, now: Timestamp) -> Int64? {
        guard let lastModified, let date = HTTPDate(parsing: lastModified.bytes[...]), date.secondsSinceEpoch >= 0,
            date.secondsSinceEpoch * 1000 <= now.millisecondsSinceEpoch
        else { return nil }
        return date.secondsSinceEpoch
    }
}
