package import DownloadCore
internal import System

/// The state of the downloads directory: whether the directory at the path is the one that the records were used with,
/// and whether its file system works.
///
/// A downloads directory apart from the data directory may be a mounted volume, which can be missing at the start or
/// later. Nothing is created at its path while it is missing. In the data directory, files are never missing without
/// the records. In both, the file system may fail or become read-only, which ``examine(_:)`` finds after a failed
/// operation. Its files can still be read while it is read-only.
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
        /// The reason that the directory is missing or takes no writes; `nil` if it is there.
        var reason: String?
        /// Whether files can be read all the same.
        var isReadable = false
        /// Whether an inspection has yet to report the reason.
        var isNews = false
        /// Whether a task inspects the directory again and again.
        var isWatched = false
        /// Whether records have been saved since the marker was last advanced.
        var hasSavedRecords = false
        /// The directory that was last open without a marker, by which it could be recognised; `nil` if it has one.
        var unmarked: FileIdentity?
        /// The reason that the marker could not be written; `nil` if it was written.
        var failure: FileError?
    }

    private let directory: DataDirectory
    private let state: Locked<State>
    /// Held during an inspection or examination of the directory.
    private let examination = Locked(())
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

    /// Returns the reason that the open records will never work again. See ``DataDirectory/recordsEnd(isSuspected:)``.
    package func recordsEnd(isSuspected: Bool) -> String? { directory.recordsEnd(isSuspected: isSuspected) }
    /// Whether the directory is missing or takes no writes.
    package var isAway: Bool { state.withLock { $0.reason != nil } }
    /// Whether an examination has found the directory to be away, which no inspection has reported yet.
    package var hasNews: Bool { state.withLock { $0.isNews } }
    /// Whether files in the directory cannot be read.
    package var isUnreadable: Bool { state.withLock { $0.reason != nil && !$0.isReadable } }
    /// The reason that the directory is missing or takes no writes; `nil` if it is there.
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
            state.withLock { $0.reason = nil }
            return false
        }
        switch verdict {
        case .away(let reason):
            // Advice about the directory would be wrong while another service uses it.
            try directory.checkDownloadsAreUnused()
            state.withLock { ($0.reason, $0.isReadable) = (reason, false) }
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
        examination.withLock { _ in
            let (marker, reason, isNews) = state.withLock { state in
                defer { state.isNews = false }
                return (state.marker, state.reason, state.isNews)
            }
            if let reason { return isNews ? .lost(reason) : lookAgain() }
            guard isApart else { return .nothing }
            if directory.isOpen(marker?.id) { return marker == nil ? markLater() : .nothing }
            let lost = "\(directory.downloadsPath) is not the directory any more that it was, or has lost its marker (.pawl)"
            lose(lost, isReadable: false)
            return .lost(lost)
        }
    }

    private func lose(_ reason: String, isReadable: Bool) {
        state.withLock { ($0.reason, $0.isReadable) = (reason, isReadable) }
        directory.closeDownloads(keepingReads: isReadable)
    }

    private func lose(_ failure: SystemError) {
        // What is mounted for reading only, or for other users, can still be read.
        let isReadable = failure.kind != .notFound && (failure.kind != .device || failure.meansReadOnly)
        lose("nothing can be written to \(directory.downloadsPath): \(failure)", isReadable: isReadable)
    }

    /// Looks whether a directory that was away is back and works.
    private func lookAgain() -> Change {
        do throws(StoreError) {
            let isRolledBack = try open()
            if isAway { return .nothing }
            if let failure = directory.writeFailure() {
                lose(failure)
                return .nothing
            }
            return .found(isRolledBack: isRolledBack)
        } catch {
            return .nothing
        }
    }

    /// Decides whether a failed operation on a file means that its volume is away or full. May wait for a disk.
    ///
    /// A failure while the volume is away is a consequence. After other failures that a broken volume may cause, a small
    /// write shows whether it works. A file system with free space refuses a file for another reason. The folder of the
    /// error is examined as well, which may be on another file system.
    package func examine(_ error: FileError) -> FileError {
        examination.withLock { _ in
            if isAway { return error.found(.away).of("") }
            switch error.kind {
            case .device, .missing, .other:
                guard let failure = directory.writeFailure() else {
                    return error.folder.isEmpty || condition(of: error).failure == nil ? error : error.found(.away)
                }
                lose(failure)
                state.withLock { $0.isNews = true }
                return error.found(.away).of("")
            case .full where !error.folder.isEmpty && !condition(of: error).hasRoom: return error.found(.noRoom)
            case .full:
                // A file of known length was compared with the free space before.
                guard error.neededBytes == 0, let space = try? directory.incomplete.space(), !space.hasRoom(for: 0) else {
                    return error
                }
                return error.found(.noRoom)
            case .noRoom, .away, .transient, .short, .altered, .notRegular, .nameTooLong: return error
            }
        }
    }

    private func condition(of error: FileError) -> (failure: SystemError?, hasRoom: Bool) {
        directory.condition(ofFolder: error.folder, for: error.neededBytes)
    }

    /// Whether a folder of finished files can be written and has this number of free bytes; 0: any. May wait for a disk.
    package func isUsable(folder: String, for bytes: Int64) -> Bool {
        let condition = directory.condition(ofFolder: folder, for: bytes)
        return condition.failure == nil && condition.hasRoom
    }

    /// Marks an open directory that had no room for the marker before.
    private func markLater() -> Change {
        guard case .use(let marker, _) = verdict else { return .nothing }
        return mark(marker) ? .marked : .nothing
    }

    /// Begins to watch the directory.
    /// - Returns: Whether it was not watched before.
    package func beginWatch() -> Bool {
        state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
    }

    /// Decides whether the directory is watched further. In the data directory, it is watched while it is away.
    package func goesOnWatching() -> Bool {
        state.withLock { state in
            state.isWatched = isApart || state.reason != nil
            return state.isWatched
        }
    }

    /// Notes that records have been saved, which may count on bytes in the directory.
    package func noteSavedRecords() { state.withLock { $0.hasSavedRecords = true } }

    /// Returns whether records have been saved since the last call while the directory was there.
    package func takeSavedRecords() -> Bool {
        state.withLock { state in
            guard state.reason == nil else { return false }
            defer { state.hasSavedRecords = false }
            return state.hasSavedRecords
        }
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
