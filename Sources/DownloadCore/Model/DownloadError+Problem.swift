public import HTTPCore

extension DownloadError: ProblemCause, CustomStringConvertible {
    /// One sentence for the client about the refusal and its reason.
    public var description: String { problem.detail }

    /// The problem that a client sees.
    public var problem: Problem {
        switch self {
        case .notFound: Problem(.notFound, "there is no such download")
        case .illegalTransition(let state, let command):
            Problem(.illegalTransition, Self.refusal(of: command, in: state), state: state.rawValue)
        case .duplicate(let id): Problem(.duplicate, "there is a download of this URL already: \(id)", id: id.description)
        case .gidInUse(let gid): Problem(.invalidRequest, "the gid \(gid) belongs to another download")
        case .destinationForbidden(let reason):
            Problem(
                .destinationForbidden,
                "the destination guard refuses \(reason); --allow-destination permits a destination unless --deny-destination names it"
            )
        case .invalid(let reason): Problem(.invalidRequest, reason)
        case .insufficientStorage(let reason): Problem(.insufficientStorage, reason)
        case .notComplete(let state):
            Problem(
                .notComplete, "the download is \(state.rawValue); its file can be read once it is completed",
                state: state.rawValue)
        case .preconditionFailed:
            Problem(.preconditionFailed, "the version of the download does not meet If-Match or If-None-Match")
        case .keyMismatch: Problem(.idempotencyMismatch, "the Idempotency-Key was used for a request with another body")
        case .overloaded: .unavailable("too many changes wait for the store; nothing was done")
        case .directoryAway: .unavailable("the downloads directory with the finished files is unavailable; nothing was done")
        case .unconfirmed:
            .unavailable(
                "the result is unknown: the change may be done now or later; repeat an addition with its Idempotency-Key")
        case .shuttingDown: .unavailable("the service is stopping")
        case .storeFailed(let reason): Problem(.internalError, "the record could not be saved: \(reason)")
        case .storeAway(let reason): .unavailable("the record could not be saved: \(reason)")
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

extension Problem {
    /// Returns the problem of a request that may succeed after some seconds.
    fileprivate static func unavailable(_ detail: String) -> Problem { Problem(.unavailable, detail, retryAfter: 5) }
}
