internal import DownloadCore
internal import DownloadFeed
internal import DownloadFiles
internal import DownloadStore
internal import HTTPCore
internal import System

/// The periodic work of the service.
extension DownloadService {
    /// The interval between checks of the free disk space.
    private static let roomInterval: Duration = .seconds(1)

    /// Starts the tasks that watch the disk space and remove expired records, as far as they are configured.
    func startHousekeeping() -> [Task<Void, Never>] {
        var tasks: [Task<Void, Never>] = []
        if parts.configuration.minFree > 0 {
            tasks.append(
                Task { [weak self, partFiles, minFree = parts.configuration.minFree] in
                    while !Task.isCancelled {
                        let isLow = await BlockingExecutor.disk.run { Self.isDiskLow(partFiles, minFree) }
                        await self?.room(isLow: isLow)
                        do { try await Task.sleep(for: Self.roomInterval) } catch { return }
                    }
                })
        }
        if parts.configuration.quota > 0 {
            tasks.append(
                Task { [weak self, finishedFiles] in
                    var pause = Self.roomInterval
                    while true {
                        do { try await Task.sleep(for: pause) } catch { return }
                        let begun = ContinuousClock.now
                        let found = await BlockingExecutor.disk.run { try? finishedFiles.finishedBytes() }
                        if let found { await self?.noteFinished(found) }
                        // With many files, counting takes at most a fiftieth of the time.
                        pause = max(Self.roomInterval, begun.duration(to: .now) * 50)
                    }
                })
        }
        if volume.isApart { tasks.append(watchVolume()) }
        if let interval = parts.configuration.retention.interval {
            tasks.append(
                Task { [weak self] in
                    while !Task.isCancelled {
                        await self?.removeExpired()
                        do { try await Task.sleep(for: interval) } catch { return }
                    }
                })
        }
        tasks += sharing.startHousekeeping(clock, log: log)
        return tasks
    }

    /// Whether less disk space is free than must stay free. An unknown free space counts as sufficient.
    static func isDiskLow(_ partFiles: PartFiles, _ minFree: Int64) -> Bool {
        guard minFree > 0, let free = try? partFiles.freeBytes() else { return false }
        return free < minFree
    }

    /// Notes the bytes in the files directory for the quota. Files without a record count as well.
    func noteFinished(_ bytes: Int128) {
        noteStrayBytes { gate in
            gate.noteCount(
                finished: bytes, recorded: index.finishedBytes,
                unclaimed: entries.values.reduce(0) { $0 + ($1.hasClaim ? 0 : Int128($1.machine.bytes.written.byteCount)) })
        }
        schedule()
    }

    private func room(isLow: Bool) {
        guard isLow != gate.isDiskLow else { return }
        gate.isDiskLow = isLow
        schedule()
    }

    /// Saves the time by which records, files and keys are deleted for their age, if it has changed, and returns it.
    @discardableResult
    func noteTrustedTime() -> Timestamp {
        let reading = clock.reading
        guard !isShuttingDown else { return reading.trusted }
        if let change = trustedTimeKeeper?.note(reading) {
            if reading.isOnProbation {
                log(.warning("the clock is ahead of the time known so far: nothing expires by it for now"))
            }
            _ = store.submit([change])
        }
        return reading.trusted
    }

    /// Removes records whose retention time is over.
    func removeExpired() async {
        for query in parts.configuration.retention.expired(now: noteTrustedTime()) {
            do throws(DownloadError) {
                let withFiles = parts.configuration.retention.deletesFiles
                if withFiles, volume.isAway { return }
                let count = try await removeAll(query, deletingFiles: withFiles)
                if count > 0 { log(.expired(count: count, withFiles: withFiles)) }
            } catch {
                // The remaining records are tried again later.
                if error != .shuttingDown { log(.warning("cannot remove what has been kept for long enough: \(error)")) }
            }
        }
    }
}
