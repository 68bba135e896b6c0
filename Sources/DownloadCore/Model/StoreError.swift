/// The reason that the store cannot carry out a request.
package enum StoreError: Error, Sendable, Equatable {
    /// Another process uses the directory.
    case inUse(path: String)
    /// The directory or file cannot be created or opened; `reason` has the system's error.
    case unavailable(path: String, reason: String)
    /// The file is a database of another program.
    case foreign(path: String)
    /// A newer release has written the file.
    case newerSchema(path: String, found: Int, supported: Int)
    /// An unreleased build has written the records of this directory or database; `remedy` is what the user can do.
    case unreleased(String, remedy: String)
    /// The file is damaged.
    case damaged(String)
    /// The disk is full.
    case full
    /// Reading or writing failed.
    case inputOutput(String)
    /// The database refused a statement, which is a defect of Pawl. Has the database's code and message.
    case refused(String)
    /// The database cannot store a value of a record. Has the database's code and message.
    case unstorable(String)
    /// The database became unreachable, so it is unknown whether the changes were made. They must be submitted again
    /// unchanged until the outcome is known.
    case interrupted(String)
    /// Another replica has just added a download of the URL, or has carried out the request with the key.
    case conflict
    /// The claim on a subscription has passed to another replica.
    case unclaimed
    /// This instance has lost its lease. Other replicas may have taken over its downloads.
    case fenced
    /// The store has been closed.
    case closed
}

extension StoreError {
    /// Whether the outcome is not yet known.
    package var isInterruption: Bool { if case .interrupted = self { true } else { false } }
}

extension StoreError: CustomStringConvertible {
    /// A message of one line for users.
    package var description: String {
        switch self {
        case .inUse(let path): "directory \(path) is in use by another process of pawl"
        case .unavailable(let path, let reason): "\(path): \(reason)"
        case .foreign(let path): "\(path) is a database of another program"
        case .newerSchema(let path, let found, let supported):
            "\(path) was written by a newer release (schema \(found), this one knows up to \(supported))"
        case .unreleased(let records, let remedy):
            "\(records) has records of an unreleased build of Pawl, which this release cannot read: \(remedy)"
        case .damaged(let message): "the record file is damaged: \(message)"
        case .full: "no space left for records"
        case .inputOutput(let message): "records cannot be read or written now: \(message)"
        case .refused(let message): message
        case .unstorable(let message): "the database cannot store a value: \(message)"
        case .interrupted(let reason): "the database cannot be reached: \(reason)"
        case .conflict: "another replica was faster"
        case .unclaimed: "another replica changes the subscription"
        case .fenced: "this replica has lost its lease: others have taken over"
        case .closed: "the store is closed"
        }
    }
}
