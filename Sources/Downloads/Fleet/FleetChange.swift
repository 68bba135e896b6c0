/// A change to a download, which all replicas of a fleet receive in the same order.
struct FleetChange: Sendable {
    /// The sequence number of the change: 1 for the first of a fleet, without gaps.
    let sequence: UInt64
    let id: DownloadID
    /// The download after the change; `nil` if it was removed.
    let download: Download?

    /// Encodes a download for `pawl.changes`.
    static func encode(_ download: Download) -> String {
        var row = JSONRowEncoder()
        DownloadRow.encode(DownloadRecord(download), to: &row)
        return row.text
    }

    /// Returns the download as ``decode(_:)`` returns it: without the values that only its owner has.
    static func told(_ download: Download) -> Download {
        var told = download
        (told.bytesPerSecond, told.stalled, told.receivedRanges) = (0, false, [])
        (told.waitingFor, told.position, told.expiresAt, told.publication) = (nil, nil, nil, 0)
        return told
    }

    /// Decodes a download from `pawl.changes`.
    /// - Throws: `StoreError.damaged` if no release writes such a text.
    static func decode(_ body: String) throws(StoreError) -> Download {
        guard let row = JSONRowDecoder(body) else { throw .damaged("a change cannot be read") }
        var reader = DownloadRow.Reader()
        return try reader.record(from: row).download
    }
}

/// The condition of a fleet, as seen by one of its replicas.
public struct FleetCondition: Sendable {
    /// The number of replicas that held a lease at the database's last response.
    public let replicas: Int
    /// The time since that response.
    public let silence: Duration
}

/// The contents of the database that only a replica needs, at its start.
struct FleetContents: Sendable {
    /// The fleet's epoch in event ids.
    var epoch: UInt64 = 0
    /// The identity of the database. A copy of the database has another one.
    var database = ""
    /// The owner of the fleet's objects.
    var owner: ObjectPlace.Owner { ObjectPlace.Owner(name: String(epoch >> 16, radix: 36), database: database) }
    /// A secret that only the fleet's replicas know.
    var secret: [UInt8] = []
    /// The latest changes that the records include, in order. Earlier changes are not known individually.
    var recent: [FleetChange] = []
    /// The sequence number before the first of `recent`, or of the last change if `recent` is empty.
    var base: UInt64 = 0
    /// The downloads that this replica owns: those of an earlier instance on the same data directory.
    var owned: Set<DownloadID> = []
    /// The owned downloads that have slots.
    var turns: Set<DownloadID> = []

    /// The sequence number of the last change that the records include.
    var newest: UInt64 { base + UInt64(recent.count) }
}

/// The result of an attempt to acquire downloads.
struct FleetTaking: Sendable {
    /// The records of the downloads that this replica now owns.
    var records: [DownloadRecord] = []
    /// The instances that own the other downloads.
    var owners: [DownloadID: Int64] = [:]
}
