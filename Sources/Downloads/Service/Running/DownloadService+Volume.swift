internal import DownloadCore
internal import DownloadIndex
internal import DownloadFiles
internal import DownloadStore
internal import System

/// The supervision of the downloads directory, which can be away or not writable for a while.
extension DownloadService {
    /// The interval between checks of the downloads directory.
    private static let volumeInterval: Duration = .seconds(1)

    /// Watches the downloads directory. If it is in the data directory, this ends once it can be written again.
    func watchVolume() {
        guard isStarted, !isShuttingDown, volume.beginWatch() else { return }
        keep(
            Task { [weak self, volume] in
                var change = DownloadsVolume.Change.nothing
                while await self?.note(change) == true {
                    do { try await Task.sleep(for: volume.hasNews ? .zero : Self.volumeInterval) } catch { return }
                    change = await BlockingExecutor.disk.run { volume.look() }
                }
            })
    }

    /// Notes the result of an inspection of the directory.
    /// - Returns: Whether to look again.
    private func note(_ change: DownloadsVolume.Change) async -> Bool {
        switch change {
        case .nothing: await advanceVolume()
        case .marked: keepVolumes()
        case .lost(let reason): volumeLost(reason)
        case .found(let isRolledBack): await volumeFound(isRolledBack: isRolledBack)
        }
        return volume.goesOnWatching()
    }

    nonisolated var examination: FileExamination {
        FileExamination(volume: volume, waitsForDisk: parts.configuration.waitsForDisk, inbox: inbox)
    }

    /// Advances the directory's marker once records have been saved: an earlier state may lack bytes that they count on.
    private func advanceVolume() async {
        if volume.takeSavedRecords() { await noteVolume() }
    }

    /// Advances the marker in the directory, and then saves it with the known volumes.
    func noteVolume() async {
        guard volume.isApart, await BlockingExecutor.disk.run({ [volume] in volume.advance() }) else { return }
        keepVolumes()
    }

    /// Saves the known volumes.
    func keepVolumes() {
        if let setting = volume.save() { _ = store.submit([setting]) }
    }

    private func volumeLost(_ reason: String) {
        gate.isVolumeAway = true
        log(.volume(reason))
        schedule()
        for id in Array(entries.keys) { send(.directoryAway, to: id) }
    }

    private func volumeFound(isRolledBack: Bool) async {
        partFiles.forgetParts()
        // Runs on the executor that publishes files, so that it publishes none at the same time. Downloads that have begun
        // since are in the index.
        await BlockingExecutor.publishing.run { [index] in
            self.tidyParts { id, _ in
                index.download(id).map { $0.state != .completed && $0.state != .cancelled } ?? false
            }
        }
        await trial.begin()
        let records = entries.values.map { $0.machine.record }.filter(\.mayHavePart)
        let found = await BlockingExecutor.disk.run {
            records.map { ($0.id, self.recover($0, isRolledBack: isRolledBack)) }
        }
        gate.isVolumeAway = false
        log(.volume(nil))
        if isRolledBack { log(.warning(Self.rollback)) }
        for (id, part) in found { send(.directoryBack(part), to: id) }
        keepVolumes()
        schedule()
    }

    static let rollback =
        "the downloads directory is in an earlier state than the records: unfinished downloads with bytes there start over"
}
