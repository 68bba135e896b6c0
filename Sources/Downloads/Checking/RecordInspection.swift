internal import HTTPCore

/// Judges one record by what the file system has of it. Pure.
struct RecordInspection {
    /// What the file system has.
    struct Evidence {
        /// The finished file of the record's name; `nil` without one.
        var file: FileStatus?
        /// Its SHA-256, once that was computed.
        var sha256: String?
        /// The part file; `nil` without one.
        var part: FileStatus?
    }

    let record: DownloadRecord
    let evidence: Evidence

    /// Whether the finished file has to be hashed for a judgement.
    var needsHash: Bool {
        let download = record.download
        return download.state == .completed && evidence.sha256 == nil && download.sha256 != nil && evidence.file?.size == length
    }

    private var length: Int64 { record.download.bytesTotal ?? record.download.bytesReceived }

    /// What is wrong; `nil` if nothing is.
    var fault: DirectoryFault? {
        record.download.state == .completed ? faultOfFile : faultOfPart
    }

    private var faultOfFile: DirectoryFault? {
        let download = record.download
        let name = "files/\(download.filename ?? "(without a name)")"
        guard let file = evidence.file else {
            return download.fileMissing ? nil : DirectoryFault(.missingFile, record.id, "\(name) is not there")
        }
        if file.size != length {
            return DirectoryFault(.wrongFile, record.id, "\(name) has \(file.size) bytes, and should have \(length)")
        }
        if let actual = evidence.sha256, let expected = download.sha256, actual != expected {
            return DirectoryFault(.wrongFile, record.id, "\(name) has the SHA-256 \(actual), and should have \(expected)")
        }
        return download.fileMissing ? DirectoryFault(.returnedFile, record.id, "\(name) is there again") : nil
    }

    private var faultOfPart: DirectoryFault? {
        let counted = Coverage(record.segments)
        // With a second name it has been published already: the next start completes the record.
        guard counted.byteCount > 0, (evidence.part?.links ?? 1) == 1 else { return nil }
        let there = counted.clipped(to: evidence.part?.size ?? 0)
        guard there != counted else { return nil }
        return DirectoryFault(
            .missingBytes, record.id,
            "incomplete/\(record.id).part has \(there.byteCount) bytes of the \(counted.byteCount) that are counted on")
    }

    /// The record once its fault has been mended.
    func mended(at now: Timestamp) -> DownloadRecord {
        var record = record
        switch fault?.kind {
        case .missingFile: record.download.fileMissing = true
        case .returnedFile: record.download.fileMissing = false
        case .wrongFile:
            record.download.state = .failed
            record.download.error = DownloadFailure(.checksumMismatch, "the finished file was found damaged")
            record.download.sha256 = nil
            record.download.completedAt = nil
            record.download.fileMissing = false
            record.download.bytesReceived = 0
        case .missingBytes:
            let there = Coverage(record.segments).clipped(to: evidence.part?.size ?? 0)
            record.segments = there.segments(total: record.download.bytesTotal)
            record.download.bytesReceived = there.byteCount
        case .orphan, .damagedRecords, nil: return record
        }
        record.download.updatedAt = now
        record.download.revision += 1
        return record
    }
}
