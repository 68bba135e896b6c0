/// Why the store cannot do what it was asked.
enum StoreError: Error, Sendable, Equatable {
    /// Another instance works on the directory.
    case inUse(path: String)
    /// The directory or the file cannot be made or opened; `errno` and the call that failed.
    case unavailable(path: String, reason: String)
    /// The file is not one of ours.
    case foreign(path: String)
    /// A newer release wrote the file.
    case newerSchema(path: String, found: Int, supported: Int)
    /// The file is damaged.
    case damaged(String)
    /// There is no room on the disk.
    case full
    /// Reading or writing failed.
    case inputOutput(String)
    /// The database refuses, which is a defect of ours; its code and message.
    case refused(String)
    /// The database went away. Whether the changes were made is not known: they are to be submitted again, exactly as they were, until
    /// it is.
    case interrupted(String)
    /// Another replica was faster: it has added a download of this URL, or carried out the request with this key.
    case conflict
    /// This run has lost its lease: others may have taken over what it had.
    case fenced
    /// The store has been closed.
    case closed
}

extension StoreError {
    /// Whether the outcome is not known, or not yet.
    var isInterruption: Bool { if case .interrupted = self { true } else { false } }
}

extension StoreError: CustomStringConvertible {
    /// One line for people.
    var description: String {
        switch self {
        case .inUse(let path): "directory \(path) is in use by another instance"
        case .unavailable(let path, let reason): "\(path): \(reason)"
        case .foreign(let path): "\(path) is a database of another program"
        case .newerSchema(let path, let found, let supported):
            "\(path) was written by a newer release (schema \(found), this one knows up to \(supported))"
        case .damaged(let message): "the record file is damaged: \(message)"
        case .full: "no space left for records"
        case .inputOutput(let message): "records cannot be written: \(message)"
        case .refused(let message): message
        case .interrupted(let reason): "the database cannot be reached: \(reason)"
        case .conflict: "another replica was faster"
        case .fenced: "this replica has lost its lease: others have taken over"
        case .closed: "the store is closed"
        }
    }
}
