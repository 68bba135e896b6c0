/// The present ability of the store to read and write.
public struct StoreCondition: Sendable, Equatable {
    /// A function that is impaired.
    public enum Degradation: String, Sendable, CaseIterable {
        /// There is no room for more downloads or records. Existing ones can be read and removed.
        case diskFull = "disk-full"
        /// Records cannot be written for another reason, or not in time.
        case notWritable = "not-writable"
        /// Finished files of a fleet wait because object storage accepts none.
        case objectsAway = "objects-away"
        /// The downloads directory is missing. Transfers wait, and finished files cannot be read.
        case volumeAway = "downloads-directory-away"
        /// The process has as many open files and sockets as its limit permits. Downloads and new clients wait.
        case descriptorsUsedUp = "descriptors-used-up"
    }

    /// The reason that records cannot be read; `nil` if they can.
    public var unreadable: String?
    /// The impaired functions; normally none.
    public var degraded: [Degradation] = []
    /// The reason for the impairment, for users.
    public var reason: String?

    /// Creates a condition without impairments.
    public init() {}
}
