internal import DownloadCore
internal import DownloadFeed
internal import DownloadFiles
internal import DownloadStore
internal import System

/// The supervision of the downloads directory, which can be away for a while.
extension DownloadService {
    /// The interval between checks of the downloads directory.
    private static let volumeInterval: Duration = .seconds(1)

    /// Watches the downloads directory until the task is cancelled.
    func watchVolume() -> Task<Void, Never> {
        Task { [weak self, volume] in
            while true {
                do { try await Task.sleep(for: Self.volumeInterval) } catch { return }
                let change = await BlockingExecutor.disk.run { volume.look() }
                switch change {
                case .nothing: await self?.advanceVolume()
                case .marked: await self?.keepVolumes()
                case .lost(let reason): await self?.volumeLost(reason)
                case .found(let isRolledBack): await self?.volumeFound(isRolledBack: isRolledBack)
                }
            }
        }
    }

    /// Advances the directory's marker once records have been saved: an earlier state may lack bytes that they count on.
    private func advanceVolume() async {
        guard hasSavedRecords, !volume.isAway else { return }
        hasSavedRecords = false
        await noteVolume()
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
        // Runs on the executor that publishes files, so that no file is published meanwhile. Downloads that have begun
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
