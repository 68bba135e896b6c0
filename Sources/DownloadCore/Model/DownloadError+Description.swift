extension DownloadError: CustomStringConvertible {
    /// One sentence for the client about the refusal and its reason.
    public var description: String {
        switch self {
        case .notFound: "there is no such download"
        case .illegalTransition(let state, let command): "a download that is \(state.rawValue) takes no \(command)"
        case .duplicate(let id): "the URL is being, or has been, downloaded as \(id)"
        case .gidInUse(let gid): "the gid \(gid) is another download's"
        case .destinationForbidden(let reason):
            "the destination guard refuses \(reason); --allow-destination lets a destination through that --deny-destination does not name"
        case .invalid(let reason), .insufficientStorage(let reason): reason
        case .notComplete(let state): "the download is \(state.rawValue); its file can be read once it is completed"
        case .preconditionFailed:
            "the download has changed since: it is not the one that If-Match or If-None-Match means"
        case .keyMismatch: "the Idempotency-Key was used for a request with another body"
        case .overloaded: "the store does not keep up; nothing was done"
        case .directoryAway: "the downloads directory is away, and with it the finished files; nothing was done"
        case .unconfirmed:
            "it is not known whether that is done: it may be by now, or be done later; repeat an addition with its Idempotency-Key"
        case .shuttingDown: "the service is stopping"
        case .storeFailed(let reason): "the record could not be kept: \(reason)"
        }
    }
}
