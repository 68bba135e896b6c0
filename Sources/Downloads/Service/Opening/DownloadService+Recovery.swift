internal import DownloadCore
internal import DownloadIndex
internal import DownloadFiles
internal import HTTPCore
internal import System

extension DownloadService {
    /// Restores the records of the store, with the files that the previous instance has left.
    /// - Parameter saved: The records, in order of creation.
    func restore(_ saved: [[DownloadRecord]]) {
        let finished = SideComputation(name: "pawl names") {
            FinishedNames(saved.flatMap { part in part.indices.compactMap { FinishedNames.Completion(part[$0].download) } })
        }
        var kept: [RecordID: UInt64?] = [:]
        var lost = 0
        publisher.restore {
            for part in saved {
                // A loop over the records would copy each. Most are of completed downloads, which need no recovery.
                for index in part.indices {
                    if part[index].download.state == .completed {
                        restore(completed: part[index].download)
                        continue
                    }
                    let recovery = recovery(of: part[index])
                    let record = recovery.record
                    if recovery.hasLostBytes { lost += 1 }
                    if !recovery.written.ranges.isEmpty { kept[record.id] = .some(record.partGeneration) }
                    publisher.restore(record.download)
                    restore(recovery)
                }
            }
        }
        names.restore(finished.value())
        if lost > 0, !parts.isVolumeRolledBack { log(.warning(bytesLost(of: lost))) }
        if !volume.isAway { tidyParts { kept[$0] == .some($1) } }
    }

    private func restore(completed download: consuming Download) {
        download.expiresAt = parts.configuration.retention.expiry(of: download)
        publisher.restore(download)
    }

    /// Restores the name of an unfinished download, and its machine if it is live.
    private func restore(_ recovery: DownloadMachine.Recovery) {
        let (record, id) = (recovery.record, recovery.record.id)
        if record.download.state != .cancelled {
            names.restore(record.download.filename, in: record.download.folder, for: id)
        }
        // The URLs of unfinished downloads were validated when the records were read.
        guard record.download.state.isLive, let url = HTTPURL(record.download.url) else { return }
        if let arrival = record.download.arrival { context.identifiers.pass(arrival) }
        let entry = LiveDownload(DownloadMachine(recovery, url: url))
        entry.countsCrash = recovery.countsCrash
        entries[id] = entry
    }

    /// Returns a warning about this number of downloads whose bytes are missing.
    private func bytesLost(of count: Int) -> String {
        let path = parts.configuration.downloadsDirectory ?? parts.configuration.dataDirectory
        let text = "\(path)/incomplete lacks the bytes of unfinished downloads (\(count)): they start over"
        guard let known = volume.known.volumes.first(where: { $0.path != path }) else { return text }
        return "\(text); an earlier run kept files in \(known.path) (--downloads-dir)"
    }

    /// Decides what an unfinished download of the previous instance becomes.
    func recovery(of saved: DownloadRecord) -> DownloadMachine.Recovery {
        var record = saved
        record.download.expiresAt = parts.configuration.retention.expiry(of: record.download)
        let interruption = journal.flatMap { journal in
            journal.found[saved.id].map { DownloadMachine.Recovery.Interruption(stage: $0, isMarked: journal.isMarked) }
        }
        let recovery = DownloadMachine.Recovery(
            record, finding: record.mayHavePart ? recover(record) : .missing, after: interruption, at: context.now)
        if recovery.isPausedAsSuspect { log(.warning("\(saved.id) is paused: \(CrashSuspicion.message)")) }
        return recovery
    }

    /// Removes part files that no record counts on, and names that interrupted publications have reserved.
    /// - Parameter isKept: Whether a download's part file of this generation is kept.
    nonisolated func tidyParts(keeping isKept: (RecordID, UInt64?) -> Bool) {
        do throws(FileError) {
            let foreign = try partFiles.removeOrphans { parts.refused.contains($0) || isKept($0, $1) }
            if foreign.isEmpty { return }
            log(.warning("the directory of part files has other things, which stay: \(foreign.sorted().joined(separator: ", "))"))
        } catch {
            log(.warning("cannot tidy the part files: \(error.message)"))
        }
    }

    private func recover(_ record: DownloadRecord) -> RecoveredPart {
        // The directory is searched once it is back.
        if volume.isAway { return .part(size: .max) }
        return recover(record, isRolledBack: parts.isVolumeRolledBack)
    }

    /// Finds the bytes of a download.
    /// - Parameter isRolledBack: Whether the directory was put back to an earlier state. Then only complete files are trusted.
    nonisolated func recover(_ record: DownloadRecord, isRolledBack: Bool) -> RecoveredPart {
        do throws(FileError) {
            let found = try partFiles.recover(
                record.id, record.partGeneration, likelyPath: record.download.path, findsWhole: keepsObjects)
            if isRolledBack, case .part = found { return .missing }
            return found
        } catch {
            log(.warning(error.message))
            return examination.result(of: error).kind == .away ? .part(size: .max) : .missing
        }
    }
}

extension DownloadRecord {
    /// Whether an earlier instance may have left a part file of the download.
    var mayHavePart: Bool { download.state != .cancelled }
}
