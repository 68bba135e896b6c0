internal import System

/// The downloads directory comes and goes.
extension DownloadService {
    /// How often the downloads directory is looked at.
    private static let volumeInterval: Duration = .seconds(1)

    /// Looks after the downloads directory until the task is cancelled.
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

    /// Notes that the directory goes on, once records have been saved: an earlier state of it lacks bytes that these may count on.
    private func advanceVolume() async {
        guard hasSavedRecords, !volume.isAway else { return }
        hasSavedRecords = false
        await noteVolume()
    }

    /// Notes the state of the directory, in itself and then among the records.
    func noteVolume() async {
        guard volume.isApart, await BlockingExecutor.disk.run({ [volume] in volume.advance() }) else { return }
        keepVolumes()
    }

    /// Has the records know the directory, and its state. A replica keeps that for itself: its directory is its own.
    func keepVolumes() {
        guard volume.isApart else { return }
        if fleet == nil {
            _ = store.submit([.set(name: KnownVolumes.settingName, value: volume.known.text)])
        } else {
            volume.keep(in: Self.volumesFile)
        }
    }

    /// What the records know of downloads directories.
    static func knownVolumes(_ contents: StoredContents, _ data: Directory) -> KnownVolumes {
        if contents.fleet == nil { return KnownVolumes(contents.settings[KnownVolumes.settingName] ?? "") }
        let text = try? data.contents(of: volumesFile)
        return KnownVolumes(String(decoding: text ?? [], as: UTF8.self))
    }

    /// The name in a replica's data directory.
    private static let volumesFile = "volumes"

    private func volumeLost(_ reason: String) {
        isVolumeAway = true
        log(.volume(reason))
        schedule()
        for id in Array(entries.keys) { send(.directoryAway, to: id) }
    }

    private func volumeFound(isRolledBack: Bool) async {
        depot.forgetParts()
        // Where files get their names, so that none gets one meanwhile. What has begun anew by now is among the downloads.
        await BlockingExecutor.publishing.run { [index] in
            self.tidyParts { id, _ in
                index.download(id).map { $0.state != .completed && $0.state != .cancelled } ?? false
            }
        }
        await trial.begin()
        let records = entries.values.map(\.machine.record).filter(\.mayHavePart)
        let found = await BlockingExecutor.disk.run {
            records.map { ($0.id, self.recover($0, isRolledBack: isRolledBack)) }
        }
        isVolumeAway = false
        log(.volume(nil))
        if isRolledBack { log(.warning(Self.rollback)) }
        for (id, part) in found { send(.directoryBack(part), to: id) }
        keepVolumes()
        schedule()
    }

    static let rollback =
        "the downloads directory is in an earlier state than the records: unfinished downloads with bytes there start over"
}
