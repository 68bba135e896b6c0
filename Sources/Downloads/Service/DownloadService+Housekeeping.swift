internal import HTTPCore
internal import System

/// The periodic work of the service.
extension DownloadService {
    /// The interval between checks of the free disk space.
    private static let roomInterval: Duration = .seconds(1)

    /// Starts the tasks that watch the disk space and remove expired records, as far as they are configured.
    func startHousekeeping() -> [Task<Void, Never>] {
        var tasks: [Task<Void, Never>] = []
        if configuration.minFree > 0 {
            tasks.append(
                Task { [weak self, depot, minFree = configuration.minFree] in
                    while !Task.isCancelled {
                        let isLow = await BlockingExecutor.disk.run { Self.isDiskLow(depot, minFree) }
                        await self?.room(isLow: isLow)
                        do { try await Task.sleep(for: Self.roomInterval) } catch { return }
                    }
                })
        }
        if configuration.quota > 0 {
            tasks.append(
                Task { [weak self, depot] in
                    var pause = Self.roomInterval
                    while true {
                        do { try await Task.sleep(for: pause) } catch { return }
                        let begun = ContinuousClock.now
                        let found = await BlockingExecutor.disk.run { try? depot.finishedBytes() }
                        if let found { await self?.noteFinished(found) }
                        // With many files, counting takes at most a fiftieth of the time.
                        pause = max(Self.roomInterval, begun.duration(to: .now) * 50)
                    }
                })
        }
        if volume.isApart { tasks.append(watchVolume()) }
        if let interval = configuration.retention.interval {
            tasks.append(
                Task { [weak self] in
                    while !Task.isCancelled {
                        await self?.removeExpired()
                        do { try await Task.sleep(for: interval) } catch { return }
                    }
                })
        }
        if let fleet, let objects = depot.objects {
            let collector = ObjectCollector(
                fleet: fleet, storage: objects.storage, isOwn: { objects.place.isOwn }, now: { [clock] in clock.trusted.time },
                log: log)
            tasks += [Task { await collector.collect() }, Task { await collector.sweep() }, Task { await objects.watch() }]
        }
        return tasks
    }

    /// Whether less disk space is free than must stay free. An unknown free space counts as sufficient.
    static func isDiskLow(_ depot: any FileDepot, _ minFree: Int64) -> Bool {
        guard minFree > 0, let free = try? depot.freeBytes() else { return false }
        return free < minFree
    }

    /// Notes the bytes in the files directory for the quota. Files without a record count as well.
    func noteFinished(_ bytes: Int128) {
        strayBytes =
            if fleet == nil {
                max(bytes - index.finishedBytes, 0)
            } else {
                entries.values.reduce(0) { $0 + ($1.hasClaim ? 0 : Int128($1.machine.written.byteCount)) }
            }
        schedule()
    }

    private func room(isLow: Bool) {
        guard isLow != isDiskLow else { return }
        isDiskLow = isLow
        schedule()
    }

    /// Returns the time by which records, files and keys are deleted for their age.
    ///
    /// While the wall clock is ahead of it, the store keeps this time. Otherwise a service that restarts with the wrong
    /// clock would trust that clock, because records have been saved with its times.
    @discardableResult
    func trustedTime() -> Timestamp {
        let (time, isOnProbation) = clock.trusted
        guard fleet == nil, !isShuttingDown else { return time }
        if isOnProbation { timeAhead = max(timeAhead, clock.now) }
        if isOnProbation != isKeepingTrustedTime {
            isKeepingTrustedTime = isOnProbation
            if isOnProbation { log(.warning("the clock is ahead of the time known so far: nothing expires by it for now")) }
            // Removed only if the clock has reached the times of all records. A clock that was set back has not.
            let isReached = !isOnProbation && time >= timeAhead
            _ = store.submit([isReached ? .set(name: StoredContents.trustedTimeName, value: nil) : Self.keep(trustedTime: time)])
        }
        return time
    }

    static func keep(trustedTime time: Timestamp) -> StoreChange {
        .set(name: StoredContents.trustedTimeName, value: String(time.millisecondsSinceEpoch))
    }

    /// Removes records whose retention time is over.
    func removeExpired() async {
        for query in configuration.retention.expired(now: trustedTime()) {
            do throws(DownloadError) {
                let withFiles = configuration.retention.deletesFiles
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
