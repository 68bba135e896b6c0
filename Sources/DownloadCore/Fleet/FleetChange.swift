/// A change to a download, which all replicas of a fleet receive in the same order.
package struct FleetChange: Sendable {
    /// The sequence number of the change: 1 for the first of a fleet, without gaps.
    package let sequence: UInt64
    package let id: RecordID
    /// The download after the change; `nil` if it was removed.
    package let download: Download?

    package init(sequence: UInt64, id: RecordID, download: Download?) {
        self.sequence = sequence
        self.id = id
        self.download = download
    }

    /// Returns the download as ``decode(_:)`` returns it: without the values that only its owner has.
    package static func shared(_ download: Download) -> Download {
        var shared = download
        (shared.bytesPerSecond, shared.stalled, shared.receivedRanges) = (0, false, [])
        (shared.waitingFor, shared.position, shared.expiresAt, shared.publication) = (nil, nil, nil, 0)
        return shared
    }
}

/// The condition of a fleet, as seen by one of its replicas.
public struct FleetCondition: Sendable {
    /// The number of replicas that held a lease at the database's last response.
    public let replicas: Int
    /// The time since that response.
    public let silence: Duration

    package init(replicas: Int, silence: Duration) {
        self.replicas = replicas
        self.silence = silence
    }
}

/// The contents of the database that only a replica needs, at its start.
package struct FleetContents: Sendable {
    /// The fleet's epoch in event ids.
    package var epoch: UInt64 = 0
    /// The identity of the database. A copy of the database has another one.
    package var database = ""
    /// The owner of the fleet's objects.
    package var owner: ObjectOwner { ObjectOwner(name: String(epoch >> 16, radix: 36), database: database) }
    /// A secret that only the fleet's replicas know.
    package var secret: [UInt8] = []
    /// The latest changes that the records include, in order. Earlier changes are not known individually.
    package var recent: [FleetChange] = []
    /// The sequence number before the first of `recent`, or of the last change if `recent` is empty.
    package var base: UInt64 = 0
    /// The downloads that this replica owns, from an earlier instance on the same data directory.
    package var owned: Set<RecordID> = []
    /// The owned downloads that have slots.
    package var slots: Set<RecordID> = []

    package init(epoch: UInt64 = 0) {
        self.epoch = epoch
    }

    /// The sequence number of the last change that the records include.
    package var newest: UInt64 { base + UInt64(recent.count) }
}

/// The result of an attempt to acquire downloads.
package struct AcquiredDownloads: Sendable {
    /// The records of the downloads that this replica now owns.
    package var records: [DownloadRecord] = []
    /// The instances that own the other downloads.
    package var owners: [RecordID: Int64] = [:]

    package init(records: [DownloadRecord] = [], owners: [RecordID: Int64] = [:]) {
        self.records = records
        self.owners = owners
    }
}
