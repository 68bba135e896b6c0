/// An event for the log or the metrics. It contains no secrets.
public enum DownloadLogEvent: Sendable {
    /// A download changed its state.
    case transition(Download)
    /// A record was removed.
    case removed(RecordID)
    /// A failed attempt is tried again after a delay.
    case retry(Download, after: Duration)
    /// The partial bytes of a download were discarded, for this reason.
    case startedOver(RecordID, String)
    /// A queued download got a slot, after this wait.
    case started(RecordID, waited: Duration)
    /// The store made a group of changes durable.
    case committed(took: Duration, changes: Int)
    /// An attempt to deliver this message to a webhook has ended with this outcome. `about`: the download or subscription;
    /// `nil`: the message is about the service.
    case webhook(RecordID, about: RecordID?, WebhookOutcome)
    /// One or all of a download's mirrors are no longer used, for this reason.
    case mirrorDropped(RecordID, String)
    /// The condition of the store has changed to this one.
    case storage(StoreCondition)
    /// Finished files cannot be stored at the moment and wait, for this reason; `nil`: they can be stored again.
    case objectStorage(String?)
    /// The downloads directory is away, for this reason; `nil`: it is back.
    case volume(String?)
    /// The open records will never work again, for this reason. The process must end.
    case recordsGone(String)
    /// No download starts, for this reason; `nil`: downloads start again.
    case gate(WaitingReason?)
    /// Records were removed after their retention time. `withFiles`: together with their finished files.
    case expired(count: Int, withFiles: Bool)
    /// This replica has joined its fleet as this instance.
    case joined(run: Int64)
    /// Changes of the fleet were published here, with these delays since they were made.
    case followed(lags: [Duration])
    /// A finished file was stored.
    case stored(took: Duration, bytes: Int64)
    /// The leases of replicas have ended, and any replica may acquire their downloads.
    case adopted(replicas: Int, downloads: Int)
    /// This replica has lost its lease. Other replicas have taken over its downloads, and its changes are refused.
    case fenced
    /// The finished file of this download is removed: the database has refused its record, because the lease is lost.
    case discarded(RecordID)
    /// A problem that no download shows.
    case warning(String)

    /// Whether the event reports a change of a record, which the database of a fleet may refuse.
    package var tellsOfRecord: Bool {
        switch self {
        case .transition, .removed, .retry: true
        default: false
        }
    }
}

/// The outcome of an attempt to deliver a message to a webhook.
public enum WebhookOutcome: Sendable {
    /// The receiver has accepted the message.
    case delivered
    /// The attempt has failed for this reason, and another one follows. `isFirst`: it was the message's first attempt.
    case retried(String, isFirst: Bool)
    /// The message is abandoned, for this reason.
    case abandoned(String)
}

/// The reason why a data directory cannot be used, in one clear line.
public struct DownloadsStartError: Error, Sendable, CustomStringConvertible {
    /// The reason, with the path.
    public let description: String

    package init(_ description: String) {
        self.description = description
    }
}
