/// Why a finished file can't be given to a client.
public enum FinishedFileError: Error, Sendable, Equatable {
    /// It is not in the files directory any more, or another file has its name.
    case gone
    /// The disk or the system refuses at the moment; why, for people.
    case unavailable(String)
}
