/// The owner of a location, according to the mark in it.
public enum ObjectOwnership: Sendable, Equatable {
    /// The location has no mark.
    case unowned
    /// The location belongs to this owner.
    case own
    /// The mark has this owner's name and another note.
    case copy
    /// The location belongs to the owner with this name.
    case other(String)
}
