public import DownloadCore

/// A fault in a data directory.
public struct DirectoryFault: Sendable, Equatable {
    /// The kind of a fault.
    public enum Kind: Sendable, Equatable {
        /// A finished file is missing, and its record does not say so.
        case missingFile
        /// A finished file is present again, and its record says that it is missing.
        case returnedFile
        /// A finished file has another length or SHA-256 than its record.
        case wrongFile
        /// Another file has the name of a finished one.
        case otherFile
        /// A part file lacks bytes that its record counts on.
        case missingBytes
        /// A file in `incomplete` that no record counts on.
        case orphan
        /// The record file is damaged.
        case damagedRecords
        /// The record file is missing beside part files, or has no bytes.
        case lostRecords
        /// A row of the records has values that the service never writes.
        case refusedRecord
    }

    /// The kind of the fault.
    public let kind: Kind
    /// The download; `nil` if the fault concerns none.
    public let id: RecordID?
    /// One line for users, with the name of the file.
    public let detail: String
    /// The effect of the repair, as the end of a sentence; `nil` if the fault cannot be repaired here.
    public let remedy: String?

    init(_ kind: Kind, _ id: RecordID?, _ detail: String, ofObject isObject: Bool = false, isRepairable: Bool = true) {
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
            case .missingBytes: "the download starts over"
            case .orphan: "it is removed"
            case .damagedRecords: nil
            case .lostRecords: "new records begin, and finished files stay without records"
            case .refusedRecord where !isRepairable: nil
            case .refusedRecord:
                "impossible values give way to safe ones, or the row is removed if nothing is left of it"
            }
    }
}

/// The result of checking a data directory.
public struct DirectoryReport: Sendable {
    /// The number of checked records.
    public var records = 0
    /// The number of checked finished files.
    public var files = 0
    /// The number of hashed bytes of finished files.
    public var bytes: Int64 = 0
    /// The number of finished files that are missing, as their records say.
    public var missing = 0
    /// The entries of `incomplete` that are not Pawl's, and stay.
    public var foreign: [String] = []
    /// The faults. Faults of records are ordered by the age of the record.
    public var faults: [DirectoryFault] = []
    /// The number of repaired faults.
    public var repaired = 0
    /// The name of the copy of the record file from before the repair; `nil`: no rows were changed.
    public var backup: String?
}
