/// One change to a download, as all replicas of a fleet are told of it, in the same order.
struct FleetChange: Sendable {
    /// Its place in the order: 1 for the first of a fleet, without gaps.
    let sequence: UInt64
    let id: DownloadID
    /// How it stands now; `nil`: it was removed.
    let download: Download?

    /// What is kept of a download in `pawl.changes`.
    static func encode(_ download: Download) -> String {
        var row = JSONRowEncoder()
        DownloadRow.encode(DownloadRecord(download), to: &row)
        return row.text
    }

    /// What ``decode(_:)`` makes of what ``encode(_:)`` makes of a download: what only the replica knows that transfers it is left out.
    static func told(_ download: Download) -> Download {
        var told = download
        (told.bytesPerSecond, told.stalled, told.receivedRanges) = (0, false, [])
        (told.waitingFor, told.position, told.expiresAt, told.publication) = (nil, nil, nil, 0)
        return told
    }

    /// - Throws: `StoreError.damaged` if the body is none that was ever written.
    static func decode(_ body: String) throws(StoreError) -> Download {
        guard let row = JSONRowDecoder(body) else { throw .damaged("a change cannot be read") }
        var reader = DownloadRow.Reader()
        return try reader.record(from: row).download
    }
}

/// How a fleet looks from one of its replicas.
public struct FleetCondition: Sendable {
    /// Those that held a lease when the database last answered.
    public let replicas: Int
    /// For how long it has not.
    public let silence: Duration
}

/// What a replica finds when it starts.
struct FleetContents: Sendable {
    /// Names the fleet in event ids.
    var epoch: UInt64 = 0
    /// Names the database, which a copy of it has another of.
    var database = ""
    /// Names the fleet where it keeps its objects.
    var owner: ObjectPlace.Owner { ObjectPlace.Owner(name: String(epoch >> 16, radix: 36), database: database) }
    /// What only the fleet's replicas know.
    var secret: [UInt8] = []
    /// The last changes that the records tell of, in order; what came before is not known one by one.
    var recent: [FleetChange] = []
    /// The change before the first of `recent`; the last of all if there are none.
    var base: UInt64 = 0
    /// Whose records this replica owns: those of an earlier run on the same data directory.
    var owned: Set<DownloadID> = []
    /// Those of them that have turns.
    var turns: Set<DownloadID> = []

    /// The last change that the records tell of.
    var newest: UInt64 { base + UInt64(recent.count) }
}

/// What became of asking for the ownership of downloads.
struct FleetTaking: Sendable {
    /// Those that this replica owns now, as they are.
    var records: [DownloadRecord] = []
    /// The runs that own others.
    var owners: [DownloadID: Int64] = [:]
}
