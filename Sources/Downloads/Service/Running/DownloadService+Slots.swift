internal import DownloadCore
internal import DownloadIndex
internal import DownloadFiles
internal import DownloadTransfer
internal import System

/// The assignment of slots, and of disk space under a quota.
extension DownloadService {
    /// The maximum number of files that are verified and published without a slot. With more, a slow disk delays new
    /// transfers. Each has an open part file.
    static let maximumFinishing = min(256, ProcessEnvironment.descriptorLimit / 16)

    /// Adds a download to the queue of those that this service gives slots to.
    func enterQueue(_ entry: LiveDownload) {
        queue.enqueue(entry.id, host: entry.machine.url.hostAndPort, rank: entry.machine.record.download.rank)
    }

    /// Gives downloads in the queue other arrivals. The records of those without a machine are read first.
    func reassign(_ others: [QueuePlacement.Other]) {
        for other in others { send(.reassigned(other.arrival), to: other.id) }
        let missing = others.filter { entries[$0.id] == nil }
        if missing.isEmpty { return }
        Task {
            guard let pins = try? await self.pin(missing.map(\.id)) else { return }
            for other in missing { self.send(.reassigned(other.arrival), to: other.id) }
            self.unpin(pins)
        }
    }

    /// The maximum number of transfers, even if the settings permit more. Each has a connection and a part file at least.
    private static let maximumTransfers = max(1, ProcessEnvironment.descriptorLimit / 8)

    /// Whether downloads with slots may start.
    var mayStart: Bool {
        gate.reason == nil && busyCounts.finishing < Self.maximumFinishing && queue.runningCount < Self.maximumTransfers
    }

    /// Gives slots to all downloads that may start.
    func schedule() {
        // A transfer that has ended leaves its line in the journal to one that begins here.
        defer { journal?.settle() }
        guard isStarted, !isShuttingDown, runner.isIdle else { return }
        updateGate()
        // A download that has all its bytes releases its slot at once.
        while mayStart, let id = queue.next() {
            guard let entry = entries[id] else {
                queue.remove(id)
                continue
            }
            gate.roomWaits.lacksDescriptors = ProcessEnvironment.lacksDescriptors
            guard !gate.roomWaits.lacksDescriptors, reserveRoom(for: entry) else {
                // A running transfer has reserved the space first.
                queue.remove(id)
                enterQueue(entry)
                updateGate()
                if gate.roomWaits.lacksDescriptors { watchRoom() }
                break
            }
            send(.slotAcquired(obstacle: nil), to: entry.id)
            if quota.isLimited { updateGate() }
        }
        if gate.reason == .quota { startBegun() }
        index.queue.set(
            QueueStatus.State(
                gate: gate.reason, isFull: queue.isFull, fullHosts: queue.fullHosts, lackingRoom: gate.roomWaits.ids,
                isStorageAway: finishedFiles.isStorageAway))
        coordination.requestSlots(in: self)
    }

    func updateGate() {
        if gate.update(isAway: volume.isAway, isQuotaFull: quota.isFull) { log(.gate(gate.reason)) }
    }

    /// Changes the bytes without a record.
    func noteStrayBytes(_ change: (inout StorageGate) -> Void) {
        change(&gate)
        quota.note(unrecorded: gate.strayBytes)
    }

    // MARK: - The quota

    /// Reserves disk space for a download that is about to start: its length if that is known, otherwise the bytes that
    /// it has. The transfer reserves the length when it knows it from the response's head.
    /// - Returns: Whether the quota has room.
    private func reserveRoom(for entry: LiveDownload) -> Bool {
        guard quota.isLimited else { return true }
        let download = entry.machine.record.download
        let own = entry.machine.bytes.written.byteCount
        // The length from a catalogue is not used before the origin has responded.
        let total = entry.wantedBytes ?? (download.resumable == nil ? nil : download.bytesTotal)
        entry.hasReservation = quota.reserve(max(total ?? 0, own), for: entry.id, having: own)
        return entry.hasReservation
    }

    /// Ends the reservation of a download whose record contains all its bytes.
    func releaseRoom(of entry: LiveDownload) {
        entry.hasReservation = false
        quota.release(entry.id)
        noteStrayBytes { $0.noteEndedReservation(entry.machine.bytes.written.byteCount) }
    }

    /// Starts queued downloads that already have bytes, in queue order, if the quota is not full without these bytes.
    /// They were admitted before.
    private func startBegun() {
        guard !gate.begun.isEmpty, quota.exception == nil, busyCounts.finishing < Self.maximumFinishing else { return }
        let waiting = gate.begun.compactMap { entries[$0] }.filter { queue.canStart($0.id) }
            .sorted { $0.machine.record.download.rank < $1.machine.record.download.rank }
        for entry in waiting {
            guard quota.exception == nil else { return }
            guard reserveRoom(for: entry) else { continue }
            if queue.start(entry.id) { send(.slotAcquired(obstacle: nil), to: entry.id) } else { releaseRoom(of: entry) }
        }
    }

}
