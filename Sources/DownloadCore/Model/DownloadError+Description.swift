extension DownloadError: CustomStringConvertible {
    /// One sentence for the client about the refusal and its reason.
    public var description: String {
        switch self {
        case .notFound: "there is no such download"
        case .illegalTransition(let state, let command): Self.refusal(of: command, in: state)
        case .duplicate(let id): "there is a download of this URL already: \(id)"
        case .gidInUse(let gid): "the gid \(gid) belongs to another download"
        case .destinationForbidden(let reason):
            "the destination guard refuses \(reason); --allow-destination permits a destination unless --deny-destination names it"
        case .invalid(let reason), .insufficientStorage(let reason): reason
        case .notComplete(let state): "the download is \(state.rawValue); its file can be read once it is completed"
        case .preconditionFailed:
            "the version of the download does not meet If-Match or If-None-Match"
        case .keyMismatch: "the Idempotency-Key was used for a request with another body"
        case .overloaded: "too many changes wait for the store; nothing was done"
        case .directoryAway: "the downloads directory with the finished files is unavailable; nothing was done"
        case .unconfirmed:
            "the result is unknown: the change may be done now or later; repeat an addition with its Idempotency-Key"
        case .shuttingDown: "the service is stopping"
        case .storeFailed(let reason), .storeAway(let reason): "the record could not be saved: \(reason)"
        }
    }

    /// Returns the sentence about a command that a state does not allow.
    private static func refusal(of command: String, in state: DownloadState) -> String {
        let results = ["pause": "paused", "resume": "resumed", "cancel": "cancelled", "retry": "retried"]
        let result = results[command] ?? "given a \(command)"
        let remedy =
            switch (command, state) {
            case ("resume", .cancelled), ("resume", .failed): "; retry starts it again"
            case ("retry", .paused): "; resume continues it"
            default: ""
            }
        return "a download that is \(state.rawValue) cannot be \(result)\(remedy)"
    }
}
