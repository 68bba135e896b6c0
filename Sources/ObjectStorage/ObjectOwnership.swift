/// Whose a location is, as the objects tell that mark it.
public enum ObjectOwnership: Sendable, Equatable {
    /// Nobody has marked it.
    case nobody
    /// Whoever asks.
    case own
    /// Somebody's with the same name and another note.
    case copy
    /// Somebody's with this name.
    case other(String)
}
