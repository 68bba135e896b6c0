internal import HTTPCore
internal import System

/// What the service does now and then by itself.
extension DownloadService {
    /// How often the free room is looked at.
    private static let roomInterval: Duration = .seconds(1)

    /// Begins to look at the free room, and at what has been kept for long enough, if that is asked for.
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
                        // Where there are many files, a fiftieth of the time at most.
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

    /// Whether there is less free room than has to stay free. What cannot be found out is no reason to stop.
    static func isDiskLow(_ depot: any FileDepot, _ minFree: Int64) -> Bool {
        guard minFree > 0, let free = try? depot.freeBytes() else { return false }
        return free < minFree
    }

    /// Notes the bytes in the files directory, for the quota: files that no record tells of count as well.
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

    /// The time by which records, files and keys are deleted for their age.
    ///
    /// While the clock on the wall is ahead of it, the store keeps it: a service that restarts with a wrong clock has saved times by that
    /// clock, and would believe it.
    @discardableResult
    func trustedTime() -> Timestamp {
        let (time, isOnProbation) = clock.trusted
        guard fleet == nil, !isShuttingDown else { return time }
        if isOnProbation { timeAhead = max(timeAhead, clock.now) }
        if isOnProbation != isKeepingTrustedTime {
            isKeepingTrustedTime = isOnProbation
            if isOnProbation { log(.warning("the clock is ahead of the time known so far: nothing expires by it for now")) }
            // If the clock was set back instead, records have times in the future.
            let isReached = !isOnProbation && time >= timeAhead
            _ = store.submit([isReached ? .set(name: StoredContents.trustedTimeName, value: nil) : Self.keep(trustedTime: time)])
        }
        return time
    }

    static func keep(trustedTime time: Timestamp) -> StoreChange {
        .set(name: StoredContents.trustedTimeName, value: String(time.millisecondsSinceEpoch))
    }

    /// Removes what has been kept for long enough.
    func removeExpired() async {
        for query in configuration.retention.expired(now: trustedTime()) {
            do throws(DownloadError) {
                let withFiles = configuration.retention.deletesFiles
                if withFiles, volume.isAway { return }
                let count = try await removeAll(query, deletingFiles: withFiles)
                if count > 0 { log(.expired(count: count, withFiles: withFiles)) }
            } catch {
                // What is left is tried again.
                if error != .shuttingDown { log(.warning("cannot remove what has been kept for long enough: \(error)")) }
            }
        }
    }
}
