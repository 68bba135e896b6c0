internal import System

/// The downloads directory as the service sees it: whether it is the one that the records know, and what they know of it.
///
/// A directory of its own may be a mounted volume, which can be away at the start and later on. While it is, nothing is made at its
/// path. In the data directory, files are never away without the records.
final class DownloadsVolume: Sendable {
    /// What a look at the directory has found.
    enum Change: Sendable, Equatable {
        case nothing
        /// It has got its marker: what is known is to be kept.
        case marked
        /// It is away, for this reason.
        case lost(String)
        /// It is there, and open. `isRolledBack`: in an earlier state than records count on.
        case found(isRolledBack: Bool)
    }

    private struct State {
        var known: KnownVolumes
        /// The marker of the directory that is open.
        var marker: VolumeMarker?
        /// Why it is away.
        var reason: String?
        /// The directory that was open last, while it has no marker by which to recognise it.
        var unmarked: FileIdentity?
        /// Why the marker could not be written.
        var failure: FileError?
    }

    private let directory: DataDirectory
    private let state: Locked<State>
    /// Whether the directory is apart from the data directory, so that it can be away.
    let isApart: Bool

    /// Whether the service is a replica: other replicas go on with its downloads, so that unknown part files are of no use.
    private let isShared: Bool

    init(_ directory: DataDirectory, known: KnownVolumes, isShared: Bool) {
        self.directory = directory
        self.isShared = isShared
        isApart = directory.downloadsPath != directory.path
        state = Locked(State(known: known))
    }

    /// Whether the directory is away.
    var isAway: Bool { state.withLock { $0.reason != nil } }
    /// Why it is away; `nil` if it is there.
    var reason: String? { state.withLock { $0.reason } }
    /// What is to be kept of it.
    var known: KnownVolumes { state.withLock { $0.known } }

    /// Keeps what is known in a file of the data directory.
    func keep(in name: String) {
        try? directory.top.write(Array(known.text.utf8), to: name)
    }

    private var verdict: KnownVolumes.Verdict {
        let found = directory.downloadsIdentity()
        if let last = state.withLock({ $0.unmarked }), (last.device, last.inode) != (found?.device, found?.inode) {
            return .away("\(directory.downloadsPath) is not the directory any more that it was, which could not be marked")
        }
        return known.verdict(directory.findMarker(), at: directory.downloadsPath, hasParts: !isShared && directory.hasParts())
    }

    /// Opens the directory, if it is the one that is meant. What is known of it is to be kept then.
    /// - Returns: whether it is in an earlier state than records count on.
    func open() throws(StoreError) -> Bool {
        guard isApart else {
            try directory.openDownloads()
            return false
        }
        switch verdict {
        case .away(let reason):
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

    /// Why the marker of the open directory could not be written; `nil` if it was.
    var markerFailure: FileError? { state.withLock { $0.failure } }

    /// Writes the marker. What has no room for it is used all the same, and marked later.
    /// - Returns: whether it is written, so that what is known is to be kept.
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

    /// Looks whether the directory is there. May wait for a disk.
    func look() -> Change {
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

    /// Marks a directory that had no room for the marker before.
    private func markLater() -> Change {
        guard case .use(let marker, _) = verdict else { return .nothing }
        return mark(marker) ? .marked : .nothing
    }

    /// Notes in the marker that the directory goes on. From then on, an earlier state of it shows.
    /// - Returns: whether that is to be kept.
    func advance() -> Bool {
        guard isApart, var marker = state.withLock({ $0.reason == nil ? $0.marker : nil }), directory.isOpen(marker.id) else {
            return false
        }
        marker.epoch += 1
        return mark(marker)
    }
}
