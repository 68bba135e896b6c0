public import HTTPCore

/// An error that prevents the delivery of a finished file to a client.
public enum FinishedFileError: ProblemCause, Equatable {
    /// The file is no longer in the files directory, or another file has its name.
    case gone
    /// The disk or the system refuses at the moment. The text is the reason, for users.
    case unavailable(String)

    /// The problem that a client sees.
    public var problem: Problem {
        switch self {
        case .gone: Problem(.notFound, "the file is gone")
        // A lack of descriptors or memory, or a failing disk, does not mean that the file is gone.
        case .unavailable(let reason): Problem(.unavailable, "the file cannot be opened now: \(reason)", retryAfter: 1)
        }
    }
}
