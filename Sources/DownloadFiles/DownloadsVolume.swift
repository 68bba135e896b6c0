package import DownloadCore
internal import System

/// The state of the downloads directory: whether the directory at the path is the one that the records were used with.
///
/// A downloads directory apart from the data directory may be a mounted volume, which can be missing at the start or
/// later. Nothing is created at its path while it is missing. In the data directory, files are never missing without
/// the records.
package final class DownloadsVolume: Sendable {
    /// The result of an inspection of the directory.
    package enum Change: Sendable, Equatable {
        case nothing
        /// The directory has received its marker, so the known volumes must be saved.
        case marked
        /// The directory is missing, for this reason.
        case lost(String)
        /// The directory is there and open. `isRolledBack` is true if it was put back to an earlier state than records
        /// count on.
        case found(isRolledBack: Bool)
    }

    private struct State {
        var known: KnownVolumes
        /// The marker of the open directory; `nil` if it has none.
        var marker: VolumeMarker?
        /// The reason that the directory is missing; `nil` if it is there.
        package var reason: String?
        /// The directory that was last open without a marker, by which it could be recognised; `nil` if it has one.
        var unmarked: FileIdentity?
        /// The reason that the marker could not be written; `nil` if it was written.
        var failure: FileError?
    }

    private let directory: DataDirectory
    private let state: Locked<State>
    /// Whether the directory is apart from the data directory, and can therefore be missing.
    package let isApart: Bool

    /// Whether the service is a replica. Other replicas go on with its downloads, so unknown part files are of no use
    /// to it.
    private let isShared: Bool

    /// Reads the volumes that the records have been used with.
    /// - Parameters:
    ///   - settings: The settings in the store.
    ///   - isShared: Whether the service is a replica.
    package init(_ directory: DataDirectory, settings: [String: String], isShared: Bool) {
        self.directory = directory
        let known =
            if isShared {
                KnownVolumes(String(decoding: (try? directory.top.contents(of: Self.fileName)) ?? [], as: UTF8.self))
            } else {
                KnownVolumes(settings[KnownVolumes.settingName] ?? "")
            }
        self.isShared = isShared
        isApart = directory.downloadsPath != directory.path
        state = Locked(State(known: known))
    }

    /// Whether the directory is missing.
    package var isAway: Bool { state.withLock { $0.reason != nil } }
    /// The reason that the directory is missing; `nil` if it is there.
    package var reason: String? { state.withLock { $0.reason } }
    /// The known volumes, which must be saved after each change.
    package var known: KnownVolumes { state.withLock { $0.known } }

    /// Saves the known volumes in the data directory of a replica, whose volume is its own.
    /// - Returns: The setting that saves them among the records instead; `nil`: there is nothing to save there.
    package func save() -> StoreChange? {
        guard isApart else { return nil }
        let text = known.text
        if !isShared { return .set(name: KnownVolumes.settingName, value: text) }
        try? directory.top.write(Array(text.utf8), to: Self.fileName)
        return nil
    }

    /// The name of the file in a replica's data directory.
    private static let fileName = "volumes"

    private var verdict: KnownVolumes.Verdict {
        let found = directory.downloadsIdentity()
        if let last = state.withLock({ $0.unmarked }), (last.device, last.inode) != (found?.device, found?.inode) {
            return .away("\(directory.downloadsPath) is not the directory any more that it was, which could not be marked")
        }
        return known.verdict(directory.findMarker(), at: directory.downloadsPath, hasParts: !isShared && directory.hasParts())
    }

    /// Opens the directory if it is the one that the records were used with. The known volumes must then be saved.
    /// - Returns: Whether it was put back to an earlier state than records count on.
    package func open() throws(StoreError) -> Bool {
        guard isApart else {
            try directory.openDownloads()
            return false
        }
        switch verdict {
        case .away(let reason):
            // Advice about the directory would be wrong while another service uses it.
            try directory.checkDownloadsAreUnused()
            state.withLock { $0.reason = reason }
            return false
        case .use(let marker, let isRolledBack):
            try directory.openDownloads()
            state.withLock { state in
                state.marker = nil
                state.reason = nil
                state.unmarked = directory.downloadsIdentity()
            }
            mark(marker)
            return isRolledBack
        }
    }

    /// The reason that the marker of the open directory could not be written; `nil` if it was written.
    package var markerFailure: FileError? { state.withLock { $0.failure } }

    /// Writes the marker. A directory without room for it is used nevertheless, and marked later.
    /// - Returns: Whether the marker is written, so that the known volumes must be saved.
    @discardableResult
    private func mark(_ marker: VolumeMarker) -> Bool {
        do throws(FileError) {
            try directory.write(marker)
        } catch {
            state.withLock { $0.failure = error }
            return false
        }
        state.withLock { state in
            state.known.note(marker, at: directory.downloadsPath)
            state.marker = marker
            state.unmarked = nil
            state.failure = nil
        }
        return true
    }

    /// Inspects the directory. May wait for a disk.
    package func look() -> Change {
        guard isApart else { return .nothing }
        let (marker, isAway) = state.withLock { ($0.marker, $0.reason != nil) }
        if !isAway {
            if directory.isOpen(marker?.id) { return marker == nil ? markLater() : .nothing }
            let reason = "\(directory.downloadsPath) is not the directory any more that it was, or has lost its marker (.pawl)"
            state.withLock { $0.reason = reason }
            directory.closeDownloads()
            return .lost(reason)
        }
        do throws(StoreError) {
            let isRolledBack = try open()
            return self.isAway ? .nothing : .found(isRolledBack: isRolledBack)
        } catch {
            return .nothing
        }
    }

    /// Marks an open directory that had no room for the marker before.
    private func markLater() -> Change {
        guard case .use(let marker, _) = verdict else { return .nothing }
        return mark(marker) ? .marked : .nothing
    }

    /// Increments the epoch of the marker, so that an earlier state of the directory can be recognised.
    /// - Returns: Whether the marker is written, so that the known volumes must be saved.
    package func advance() -> Bool {
        guard isApart, var marker = state.withLock({ $0.reason == nil ? $0.marker : nil }), directory.isOpen(marker.id) else {
            return false
        }
        marker.epoch += 1
        return mark(marker)
    }
}
