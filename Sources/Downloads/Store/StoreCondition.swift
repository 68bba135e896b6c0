/// What the store can do at the moment.
public struct StoreCondition: Sendable, Equatable {
    /// What goes on working less well than it should.
    public enum Degradation: String, Sendable, CaseIterable {
        /// There is no room for more downloads or more records; what there is can be read, and removed.
        case diskFull = "disk-full"
        /// Records cannot be written for another reason, or not in time.
        case notWritable = "not-writable"
        /// Finished files of a fleet wait, since object storage takes none.
        case objectsAway = "objects-away"
        /// The downloads directory is not there: transfers wait, and finished files cannot be read.
        case volumeAway = "downloads-directory-away"
    }

    /// Why records cannot be read; `nil` if they can.
    public var unreadable: String?
    /// What is degraded; normally nothing.
    public var degraded: [Degradation] = []
    /// The reason for what is degraded, for people.
    public var reason: String?

    /// Everything is well.
    public init() {}
}
