/// Why the service refuses a request.
public enum DownloadError: Error, Sendable, Equatable {
    /// There is no such download.
    case notFound
    /// The command is not possible in that state.
    case illegalTransition(from: DownloadState, command: String)
    /// The URL is already being, or has been, downloaded as this one.
    case duplicate(DownloadID)
    /// Another download has this name already.
    case gidInUse(DownloadGID)
    /// The destination guard refuses the URL; the reason in one sentence.
    case destinationForbidden(String)
    /// A value is not acceptable; names it and what is accepted.
    case invalid(String)
    /// There is not enough free disk; says how much is needed.
    case insufficientStorage(String)
    /// The file is not finished; tells the state.
    case notComplete(DownloadState)
    /// The download is not the one that the request was made for: it has changed since.
    case preconditionFailed
    /// The client used the same key for another request.
    case keyMismatch
    /// Records take longer to be written than a client should wait for; nothing was done.
    case overloaded
    /// The downloads directory is away, and with it the finished files; nothing was done.
    case directoryAway
    /// It took longer than a client should wait for: it may be done by now, or be done later.
    case unconfirmed
    /// The service is stopping.
    case shuttingDown
    /// The record could not be made durable; says why.
    case storeFailed(String)
}

extension DownloadError {
    /// What a client is told when the store cannot keep a promise.
    init(_ error: StoreError) {
        switch error {
        case .full: self = .insufficientStorage(error.description)
        case .closed: self = .shuttingDown
        // Others go on with what this replica had.
        case .fenced, .interrupted: self = .unconfirmed
        default: self = .storeFailed(error.description)
        }
    }
}

extension Addition.Refusal {
    /// What the service refuses, under the code that the table of error codes has for it.
    public init(_ error: DownloadError) {
        var (state, id): (DownloadState?, DownloadID?)
        let code: String
        switch error {
        case .notFound: code = "not-found"
        case .illegalTransition(let from, _): (code, state) = ("illegal-transition", from)
        case .duplicate(let known): (code, id) = ("duplicate", known)
        case .destinationForbidden: code = "destination-forbidden"
        case .invalid, .gidInUse: code = "invalid-request"
        case .insufficientStorage: code = "insufficient-storage"
        case .notComplete(let known): (code, state) = ("not-complete", known)
        case .preconditionFailed: code = "precondition-failed"
        case .keyMismatch: code = "idempotency-mismatch"
        case .overloaded, .directoryAway, .unconfirmed, .shuttingDown: code = "unavailable"
        case .storeFailed: code = "internal-error"
        }
        self.init(code: code, detail: error.description, state: state, id: id)
    }
}
