internal import DownloadCore
internal import DownloadFiles
internal import HTTPCore
internal import System

/// Compares one record with the evidence of its files. Pure.
struct RecordInspection {
    /// The state of a record's files.
    struct Evidence {
        /// The finished file with the record's name; `nil`: there is none.
        var file: FileIdentity?
        /// Whether the finished file is in object storage.
        var isObject = false
        /// The SHA-256 of the finished file; `nil`: it has not been computed.
        var sha256: [UInt8]?
        /// Whether a file that was finished later has the record's name.
        var isSuperseded = false
        /// The bytes of an unfinished download.
        var part = RecoveredPart.missing
    }

    let record: DownloadRecord
    let evidence: Evidence

    /// Whether the finished file must be hashed for a decision.
    var needsHash: Bool {
        let download = record.download
        return download.state == .completed && !evidence.isSuperseded && download.sha256Bytes != nil
            && evidence.file?.size == length
    }

    private var length: Int64 { record.download.bytesTotal ?? record.download.bytesReceived }

    /// The fault; `nil` if there is none.
    var fault: DirectoryFault? {
        record.download.state == .completed ? faultOfFile : faultOfPart
    }

    private var faultOfFile: DirectoryFault? {
        let download = record.download
        let path = download.path?.description ?? "(without a name)"
        let name = evidence.isObject ? "the object of \(path)" : "files/\(path)"
        func fault(_ kind: DirectoryFault.Kind, _ detail: String) -> DirectoryFault? {
            DirectoryFault(kind, record.id, "\(name) \(detail)", ofObject: evidence.isObject)
        }
        if evidence.isSuperseded { return download.fileMissing ? nil : fault(.otherFile, "is the file of a later download") }
        guard let file = evidence.file else { return download.fileMissing ? nil : fault(.missingFile, "is not there") }
        let mismatch: String? =
            if file.size != length {
                "has \(file.size) bytes, and should have \(length)"
            } else if let actual = evidence.sha256, let expected = download.sha256Bytes, actual != expected {
                "has the SHA-256 \(Hexadecimal.encode(actual)), and should have \(Hexadecimal.encode(expected))"
            } else {
                nil
            }
        guard let mismatch else { return download.fileMissing ? fault(.returnedFile, "is there again") : nil }
        // A file that was written to is still the same file.
        if let known = download.file, (known.device, known.inode) != (file.device, file.inode) {
            return download.fileMissing ? nil : fault(.otherFile, "is another file: it \(mismatch)")
        }
        return fault(.wrongFile, mismatch)
    }

    private var faultOfPart: DirectoryFault? {
        let counted = Coverage(record.segments)
        // A complete part file is finished by the next start of the service.
        guard counted.byteCount > 0, let there = coverage, there != counted else { return nil }
        let name = record.partGeneration.map { PartName(record.id, $0).text } ?? record.id.description
        let state = if case .part(let size) = evidence.part { "has \(size) bytes" } else { "is not there" }
        return DirectoryFault(
            .missingBytes, record.id, "incomplete/\(name) \(state), and its record counts on bytes up to \(counted.end)")
    }

    /// The bytes that are present of those that the record counts on; `nil` if all bytes are present.
    private var coverage: Coverage? {
        let counted = Coverage(record.segments)
        return switch evidence.part {
        case .missing: Coverage()
        case .part(let size): counted.held(by: size)
        case .whole, .published: nil
        }
    }

    /// Returns the record after the repair of its fault. Without a fault, it gets the present identity of its file.
    func repaired(at now: Timestamp) -> DownloadRecord {
        var record = record
        switch fault?.kind {
        case nil:
            // The file was restored or moved with its file system, or its record was repaired.
            if evidence.sha256 != nil { record.download.file = evidence.file }
            return record
        case .missingFile, .otherFile:
            record.download.fileMissing = true
            if evidence.isSuperseded { record.download.file = nil }
        case .returnedFile:
            record.download.fileMissing = false
            record.download.file = evidence.file
        case .wrongFile:
            record.download.state = .failed
            record.download.error = DownloadFailure(.checksumMismatch, "the finished file was found damaged")
            record.download.sha256 = nil
            record.download.file = nil
            record.download.endedAt = now
            record.download.fileMissing = false
            record.download.bytesReceived = 0
        case .missingBytes:
            let there = coverage ?? Coverage()
            record.segments = there.segments(total: record.download.bytesTotal)
            record.download.bytesReceived = there.byteCount
        case .orphan, .damagedRecords, .lostRecords, .refusedRecord: return record
        }
        record.download.noteChange(at: now)
        return record
    }
}
