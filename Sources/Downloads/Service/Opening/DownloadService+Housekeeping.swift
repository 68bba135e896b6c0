internal import DownloadCore
internal import DownloadIndex
internal import DownloadFiles
internal import DownloadStore
internal import DownloadTransfer
internal import HTTPCore
internal import System

/// The periodic work of the service.
extension DownloadService {
    /// The interval between checks of the free disk space.
    private static let roomInterval: Duration = .seconds(1)

    /// Adds a task that is cancelled when the service stops.
    func keep(_ task: Task<Void, Never>) {
        guard case .started(let tasks) = stage else { return task.cancel() }
        stage = .started(housekeeping: tasks + [task])
    }

    /// Starts the tasks that look for missing files, watch the disk space and remove expired records, as far as they are
    /// configured.
    func startHousekeeping() {
        var tasks = [Task { [weak self] in await self?.noteMissingFiles() ?? () }]
        if parts.configuration.minFree > 0 { watchRoom() }
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
        if volume.isApart || volume.isAway { watchVolume() }
        if let interval = parts.configuration.retention.interval {
            tasks.append(
                Task { [weak self] in
                    while !Task.isCancelled {
                        await self?.removeExpired()
                        do { try await Task.sleep(for: interval) } catch { return }
                    }
                })
        }
        tasks += sharing?.startHousekeeping(clock, log: log) ?? []
        tasks.forEach(keep)
    }

    /// Whether less disk space is free than must stay free. An unknown free space counts as sufficient.
    func isDiskLow(_ space: FileSystemSpace?) -> Bool { space.map { $0.free < parts.configuration.minFree } ?? false }

    /// Watches the free disk space while some must stay free or downloads wait for room.
    func watchRoom() {
        guard isStarted, !isShuttingDown, !gate.roomWaits.isWatched else { return }
        gate.roomWaits.isWatched = true
        keep(
            Task { [weak self, partFiles, volume] in
                var look = RoomWaits.Look()
                while !Task.isCancelled {
                    let (space, usable) = await BlockingExecutor.disk.run { [look] in
                        if look.settles { partFiles.settleSpace() }
                        let usable = look.folders.filter { volume.isUsable(folder: $0.folder, for: $0.bytes) }
                        return (try? partFiles.space(), usable)
                    }
                    guard let next = await self?.noteRoom(space, usable) ?? nil else { return }
                    look = next
                    do { try await Task.sleep(for: Self.roomInterval) } catch { return }
                }
            })
    }

    /// Notes the free disk space and the usable folders, and lets downloads continue for which there is room.
    /// - Returns: The next look; `nil`: there is none.
    private func noteRoom(_ space: FileSystemSpace?, _ usable: Set<RoomWaits.FolderNeed>) -> RoomWaits.Look? {
        let room = space?.usable.map { Int128($0) - parts.reservations.reservedBytes }
        let ready = gate.roomWaits.take(room: room, usable: usable) { first, second in
            guard let ranks = entries[first].flatMap({ a in entries[second].map { (a, $0) } }) else { return first < second }
            return ranks.0.machine.record.download.rank < ranks.1.machine.record.download.rank
        }
        gate.isDiskLow = isDiskLow(space) || (!gate.roomWaits.isEmpty && room.map { $0 < 1 } ?? false)
        for entry in ready.compactMap({ entries[$0] }) { coordination.enqueue(entry, in: self) }
        gate.roomWaits.lacksDescriptors = false
        schedule()
        gate.roomWaits.isWatched = parts.configuration.minFree > 0 || !gate.roomWaits.isEmpty || gate.roomWaits.lacksDescriptors
        return gate.roomWaits.isWatched ? gate.roomWaits.nextLook() : nil
    }

    /// Notes the bytes in the files directory for the quota. Files without a record count as well.
    func noteFinished(_ bytes: Int128) {
        noteStrayBytes { gate in
            gate.noteCount(
                finished: bytes, recorded: index.finishedBytes,
                unreserved: entries.values.reduce(0) { $0 + ($1.hasReservation ? 0 : Int128($1.machine.bytes.written.byteCount)) }
            )
        }
        schedule()
    }

    /// Saves the time by which records, files and keys are deleted for their age, if it has changed, and returns it.
    @discardableResult
    func noteTrustedTime() -> Timestamp {
        let reading = clock.reading
        guard !isShuttingDown else { return reading.trusted }
        if !isShared, let change = trustedTimeKeeper.note(reading) {
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
