/// A refusal of a request by the service.
public enum DownloadError: Error, Sendable, Equatable {
    /// The download does not exist.
    case notFound
    /// The state does not allow the command.
    case illegalTransition(from: DownloadState, command: String)
    /// The URL has a live or completed download already, which is this one.
    case duplicate(RecordID)
    /// Another download has this gid already.
    case gidInUse(DownloadGID)
    /// The destination guard refuses the URL. The reason is one sentence.
    case destinationForbidden(String)
    /// A value is not acceptable. The text names the value and the accepted ones.
    case invalid(String)
    /// The free disk space is too small. The text has the details.
    case insufficientStorage(String)
    /// The file is not finished. The state is the download's.
    case notComplete(DownloadState)
    /// The download has changed, so that it does not meet the request's precondition.
    case preconditionFailed
    /// The client used the same idempotency key for another request.
    case keyMismatch
    /// Writing the record takes longer than a client should wait; nothing was done.
    case overloaded
    /// The downloads directory is unavailable, and the finished files with it; nothing was done.
    case directoryAway
    /// The request took longer than a client should wait. It may have taken effect, or take effect later.
    case unconfirmed
    /// The service is stopping.
    case shuttingDown
    /// The record could not be made durable. The text is the reason.
    case storeFailed(String)
    /// The records cannot be written at present. The text is the reason.
    case storeAway(String)
}

extension DownloadError {
    /// Creates the error that a client receives for a failure of the store.
    package init(_ error: StoreError) {
        switch error {
        case .full: self = .insufficientStorage(error.description)
        case .closed: self = .shuttingDown
        case .unclaimed: self = .preconditionFailed
        // The change may have been made, or other replicas have taken over this replica's downloads.
        case .fenced, .interrupted: self = .unconfirmed
        case .inputOutput: self = .storeAway(error.description)
        default: self = .storeFailed(error.description)
        }
    }
}
