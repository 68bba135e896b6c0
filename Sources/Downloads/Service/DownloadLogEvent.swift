/// Something worth a line in the log, or counting. No secret is in it.
public enum DownloadLogEvent: Sendable {
    /// A download changed its state.
    case transition(Download)
    /// A record was removed.
    case removed(DownloadID)
    /// A failed attempt is tried again after a delay.
    case retry(Download, after: Duration)
    /// The partial bytes of a download were given up, and why.
    case startedOver(DownloadID, String)
    /// A queued download got a slot, after so long.
    case started(DownloadID, waited: Duration)
    /// The store made a group of so many changes durable, which took so long.
    case committed(took: Duration, changes: Int)
    /// An attempt to deliver the message to a download's webhook has ended so.
    case webhook(DownloadID, WebhookOutcome)
    /// One of a download's mirrors, or all of them, are asked no more, and why.
    case mirrorDropped(DownloadID, String)
    /// What the store can do has changed to this.
    case storage(StoreCondition)
    /// Finished files cannot be stored at the moment, for this reason, and wait; or, without one, they can again.
    case objectStorage(String?)
    /// The downloads directory is away, for this reason; or back, if there is none.
    case volume(String?)
    /// Nothing new starts any more, for this reason; or, without one, it does again.
    case gate(WaitingReason?)
    /// Records were removed that had been kept for long enough, and the finished files with them if that was asked for.
    case expired(count: Int, withFiles: Bool)
    /// This replica has joined its fleet, as this run.
    case joined(run: Int64)
    /// Changes of the fleet are shown here, so long after they were made.
    case followed(lags: [Duration])
    /// A finished file was stored, which took so long.
    case stored(took: Duration, bytes: Int64)
    /// Replicas were not heard of for a lease, and what they had is anybody's.
    case adopted(replicas: Int, downloads: Int)
    /// This replica has lost its lease: others have taken over what it had, and nothing that it does counts any more.
    case fenced
    /// The file of this download was fetched and is removed: the database has refused its record, as the lease is lost.
    case discarded(DownloadID)
    /// Something went wrong that no download shows.
    case warning(String)

    /// Whether it tells of a change to a record, which the database of a fleet may refuse.
    var tellsOfRecord: Bool {
        switch self {
        case .transition, .removed, .retry: true
        default: false
        }
    }
}

/// What became of an attempt to deliver a message to a webhook.
public enum WebhookOutcome: Sendable {
    /// It has arrived.
    case delivered
    /// It has not arrived for this reason, and is tried again; `isFirst`: that has not been told of it before.
    case retried(String, isFirst: Bool)
    /// It will not arrive, for this reason.
    case givenUp(String)
}

/// Why a data directory cannot be worked on: one clear line.
public struct DownloadsStartError: Error, Sendable, CustomStringConvertible {
    /// What is wrong, naming the path.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
