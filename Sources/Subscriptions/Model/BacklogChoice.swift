/// The choice among the items that are there when a subscription begins.
public enum BacklogChoice: Sendable, Equatable {
    /// No item of the first listing.
    case new
    /// The newest of the first listing that pass the filter, 1 or more.
    case latest(Int)
    /// All items of the first listing that pass the filter.
    case all
}
