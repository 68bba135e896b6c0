internal import HTTPClient
internal import HTTPCore
internal import System

extension DownloadService {
    /// Restores the records of the store, with the files that the previous instance has left.
    func restore(_ records: [DownloadRecord]) {
        publisher.reserveCapacity(records.count)
        names.restore(FinishedNames(records.compactMap { FinishedNames.Claim($0.download) }))
        var kept: [DownloadID: UInt64?] = [:]
        var lost = 0
        for saved in records {
            // Most records are of completed downloads. They are published without a copy of the record.
            if saved.download.state == .completed {
                var download = saved.download
                download.expiresAt = configuration.retention.expiry(of: download)
                publisher.restore(download)
                continue
            }
            var record = saved
            let id = record.id
            record.download.expiresAt = configuration.retention.expiry(of: record.download)
            let found = record.mayHavePart ? recover(record) : .missing
            let known = (record.entity, record.partGeneration)
            let hadBytes = !record.segments.isEmpty
            let (written, name) = record.restore(finding: found, now: context.now)
            if hadBytes, found == .missing { lost += 1 }
            let wasInTransfer = suspect(&record)
            if record.download.state != .cancelled {
                names.restore(record.download.filename, in: record.download.folder, for: id)
            }
            if !written.ranges.isEmpty { kept[id] = .some(record.partGeneration) }
            publisher.restore(record.download)
            // The URLs of unfinished downloads were validated when the records were read.
            guard record.download.state.isLive, let url = HTTPURL(record.download.url) else { continue }
            if let arrival = record.download.arrival { context.identifiers.pass(arrival) }
            let entry = LiveDownload(
                DownloadMachine(
                    record, url: url, written: written, publishedName: name,
                    isEntitySaved: known == (record.entity, record.partGeneration)))
            entry.wasInTransfer = wasInTransfer
            entries[id] = entry
        }
        if lost > 0, !isVolumeRolledBack { log(.warning(bytesLost(of: lost))) }
        if !volume.isAway { tidyParts { kept[$0] == .some($1) } }
    }

    /// Returns a warning about this number of downloads whose bytes are missing.
    private func bytesLost(of count: Int) -> String {
        let path = configuration.downloadsDirectory ?? configuration.dataDirectory
        let text = "\(path)/incomplete lacks the bytes of unfinished downloads (\(count)): they start over"
        guard let known = volume.known.volumes.first(where: { $0.path != path }) else { return text }
        return "\(text); an earlier run kept files in \(known.path) (--downloads-dir)"
    }

    /// Counts the previous instance's crash against a download that was in transfer, and pauses it after too many.
    /// - Returns: Whether the number of crashes in the record has changed.
    func suspect(_ record: inout DownloadRecord) -> Bool {
        guard let journal, let stage = journal.found[record.id], record.download.state.isLive else { return false }
        let before = record.transferCrashes
        record.transferCrashes = CrashSuspicion.crashes(before: before, stage: stage, isMarked: journal.isMarked)
        if record.transferCrashes == CrashSuspicion.limit, record.download.state != .paused {
            record.download.state = .paused
            record.download.error = DownloadFailure(.transferBroken, CrashSuspicion.message, retryable: false)
            record.download.noteChange(at: context.now)
            log(.warning("\(record.id) is paused: \(CrashSuspicion.message)"))
        }
        return record.transferCrashes != before
    }

    /// Removes part files that no record counts on, and names that interrupted publications have reserved.
    /// - Parameter isKept: Whether a download's part file of this generation is kept.
    nonisolated func tidyParts(keeping isKept: (DownloadID, UInt64?) -> Bool) {
        do throws(FileError) {
            try depot.removeOrphans { refused.contains($0) || isKept($0, $1) }
        } catch {
            log(.warning("cannot tidy the part files: \(error.message)"))
        }
    }

    func recover(_ record: DownloadRecord) -> RecoveredPart {
        // The directory is searched once it is back.
        if volume.isAway { return .part(size: .max) }
        return recover(record, isRolledBack: isVolumeRolledBack)
    }

    /// Finds the bytes of a download.
    /// - Parameter isRolledBack: Whether the directory was put back to an earlier state. Then only complete files are trusted.
    nonisolated func recover(_ record: DownloadRecord, isRolledBack: Bool) -> RecoveredPart {
        do throws(FileError) {
            let found = try depot.recover(record.id, record.partGeneration, likelyPath: record.download.path)
            if isRolledBack, case .part = found { return .missing }
            return found
        } catch {
            log(.warning(error.message))
            return .missing
        }
    }
}

extension DownloadRecord {
    /// Whether an earlier instance may have left a part file of the download.
    var mayHavePart: Bool { download.state != .cancelled }

    /// Prepares the record for a start of the service: interrupted downloads are queued, and only durable bytes are
    /// trusted. Bytes behind those are cut when the transfer continues.
    /// - Parameter found: The bytes that the previous instance has left.
    /// - Returns: The trusted bytes, and the path that the file already has; `nil`: none.
    mutating func restore(finding found: RecoveredPart, now: Timestamp) -> (Coverage, DownloadMachine.PublishedName?) {
        switch download.state {
        case .retrying where (retryHold?.remaining(at: now) ?? .zero) > .zero: break
        case .queued, .downloading, .retrying: download.state = .queued
        case .paused, .completed, .failed, .cancelled: break
        }
        download.bytesPerSecond = 0
        download.stalled = false
        var written = Coverage()
        var published: DownloadMachine.PublishedName?
        switch found {
        case .missing: break
        case .part(let size): written = Coverage(segments).clipped(to: size)
        case .whole(let size, let sha256, let generation):
            written = Coverage(prefix: size)
            partGeneration = generation
            noteWhole(size, sha256)
        case .published(let path, let identity, let sha256, let generation):
            // The file was published before a crash, so it is complete, flushed and verified.
            written = Coverage(prefix: identity.size)
            published = DownloadMachine.PublishedName(path: path, identity: identity, sha256: sha256)
            // The record may be of an earlier generation and describe another version of the file.
            if partGeneration != generation { entity = nil }
            partGeneration = generation
            noteWhole(identity.size, sha256)
            download.filename = path.name
            download.folder = path.folder
        }
        segments = written.segments(total: download.bytesTotal)
        download.bytesReceived = written.byteCount
        download.receivedRanges = written.outline(atMost: Download.rangeLimit)
        return (written, published)
    }

    /// Notes that all bytes are present and verified. The record of a small file may not contain any bytes yet.
    private mutating func noteWhole(_ size: Int64, _ sha256: [UInt8]) {
        var entity = entity ?? SavedEntity()
        entity.total = size
        if entity.digest == nil { entity.digest = Checksum(.sha256, bytes: sha256) }
        self.entity = entity
        download.bytesTotal = size
    }
}
