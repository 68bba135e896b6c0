/// An error that prevents the delivery of a finished file to a client.
public enum FinishedFileError: Error, Sendable, Equatable {
    /// The file is no longer in the files directory, or another file has its name.
    case gone
    /// The disk or the system refuses at the moment. The text is the reason, for users.
    case unavailable(String)
}
