/// Something in a data directory that is not as it should be.
public struct DirectoryFault: Sendable, Equatable {
    /// What is wrong.
    public enum Kind: Sendable, Equatable {
        /// A finished file is not there, and its record does not say so.
        case missingFile
        /// A finished file is there again, and its record says that it is gone.
        case returnedFile
        /// A finished file is not what its record says: another length, or another SHA-256.
        case wrongFile
        /// Another file bears the name of a finished one.
        case otherFile
        /// A record counts on bytes that its part file does not have.
        case missingBytes
        /// A file in `incomplete` that no record counts on.
        case orphan
        /// The record file itself is damaged.
        case damagedRecords
        /// A row of the records holds what was never written there.
        case refusedRecord
    }

    /// What is wrong.
    public let kind: Kind
    /// Whose; `nil` if it is no download's.
    public let id: DownloadID?
    /// One line for people that names the file.
    public let detail: String
    /// What repairing it does, as the end of a sentence; `nil` if it cannot be repaired here.
    public let remedy: String?

    init(_ kind: Kind, _ id: DownloadID?, _ detail: String, ofObject isObject: Bool = false, isRepairable: Bool = true) {
        self.kind = kind
        self.id = id
        self.detail = detail
        remedy =
            switch kind {
            case .missingFile: "the record says so from now on"
            case .returnedFile: "the record says so from now on"
            case .otherFile: "the record says from now on that its file is gone; this one stays"
            case .wrongFile where isObject: "the object is removed, and the download has failed: it can be tried again"
            case .wrongFile: "the file is kept under damaged/, and the download has failed: it can be tried again"
            case .missingBytes: "the record counts on what is there only; the rest is fetched again"
            case .orphan: "it is removed"
            case .damagedRecords: nil
            case .refusedRecord where !isRepairable: nil
            case .refusedRecord:
                "impossible values give way to safe ones, or the row is removed if nothing is left of it"
            }
    }
}

/// What a check of a data directory has come to.
public struct DirectoryReport: Sendable {
    /// Records that were looked at.
    public var records = 0
    /// Finished files that were looked at.
    public var files = 0
    /// Bytes of them that were hashed.
    public var bytes: Int64 = 0
    /// Finished files that are gone, as their records say already.
    public var missing = 0
    /// What is wrong, records' faults by age of the record.
    public var faults: [DirectoryFault] = []
    /// How many of the faults have been repaired.
    public var repaired = 0
    /// The name of the copy of the records as they were, if rows of them have been changed.
    public var backup: String?
}
