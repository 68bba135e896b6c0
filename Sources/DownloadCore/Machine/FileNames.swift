/// The paths under `files`: those reserved for downloads that have not ended, and the owners of finished files.
///
/// A download holds at most one reservation, of its file's path and of the folders that lead to it. A new reservation replaces
/// the former one. ``release(_:)`` removes the reservation whatever its path is, so no reservation outlives its download.
///
/// Paths that differ only in case count as one path, because some file systems do not distinguish them.
package struct FileNames: Sendable {
    private struct Reservation: Sendable {
        package let folder: String
        /// The file's name; `nil`: it is not known yet, and only the folder is reserved.
        package var name: String?

        package var path: FilePath? { name.map { FilePath($0, in: folder) } }
    }

    private var reservations: [DownloadID: Reservation] = [:]
    /// The downloads that reserved a path, by the path's key.
    private var owners: [String: DownloadID] = [:]
    /// The number of reservations in and below each folder, by the folder's key.
    private var folders: [String: Int] = [:]
    /// The owners of finished files.
    package private(set) var finished = FinishedNames()
    /// Whether a path is in use; `nil`: files of several downloads may have the same path, and nothing is reserved.
    private let isTaken: (@Sendable (FilePath) -> Bool)?
    /// The reason why a folder cannot be made on the disk, as the end of a sentence; `nil` if it can.
    private let obstacle: @Sendable (String) -> String?

    package init(
        isTaken: (@Sendable (FilePath) -> Bool)?, obstacle: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        self.isTaken = isTaken
        self.obstacle = obstacle
    }

    // MARK: - Reservations

    /// Reserves a path in the wanted folder, in place of the download's former reservation. The path is not in use or
    /// reserved, and no reservation needs it as a folder.
    /// - Returns: The path with the wanted name or a numbered one.
    package mutating func reserve(_ wanted: FilePath, for id: DownloadID) -> FilePath {
        guard let isTaken else { return wanted }
        release(id)
        let folder = wanted.folder
        let name = FileNaming.free(wanted.name) { name in
            let path = FilePath(name, in: folder)
            let key = Self.key(path.description)
            return owners[key] != nil || folders[key] != nil || isTaken(path)
        }
        add(Reservation(folder: folder, name: name), for: id)
        return FilePath(name, in: folder)
    }

    /// Reserves the folder of a file whose name is not known yet, in place of the download's former reservation.
    package mutating func reserve(folder: String, for id: DownloadID) {
        guard isTaken != nil else { return }
        release(id)
        if !folder.isEmpty { add(Reservation(folder: folder), for: id) }
    }

    /// Reserves what an earlier instance had reserved, except a path that another download has reserved.
    package mutating func restore(_ name: String?, in folder: String, for id: DownloadID) {
        guard isTaken != nil else { return }
        release(id)
        var reservation = Reservation(folder: folder, name: name)
        if let path = reservation.path, owners[Self.key(path.description)] != nil { reservation.name = nil }
        if reservation.name != nil || !folder.isEmpty { add(reservation, for: id) }
    }

    /// Removes a download's reservation, if there is one.
    package mutating func release(_ id: DownloadID) {
        guard let reservation = reservations.removeValue(forKey: id) else { return }
        if let path = reservation.path { owners[Self.key(path.description)] = nil }
        for folder in Self.folders(leadingTo: reservation.folder) {
            let count = folders[folder, default: 1] - 1
            folders[folder] = count == 0 ? nil : count
        }
    }

    private mutating func add(_ reservation: Reservation, for id: DownloadID) {
        reservations[id] = reservation
        if let path = reservation.path { owners[Self.key(path.description)] = id }
        for folder in Self.folders(leadingTo: reservation.folder) { folders[folder, default: 0] += 1 }
    }

    /// The path reserved for a download.
    package func path(of id: DownloadID) -> FilePath? { reservations[id]?.path }

    var reservationCount: Int { reservations.count }

    /// The reason why a file cannot be put into a folder, as one sentence; `nil` if it can. A part of the folder's path
    /// is a file, or is reserved for one.
    package func objection(toFolder folder: String, for id: DownloadID?) -> String? {
        guard isTaken != nil, !folder.isEmpty else { return nil }
        for key in Self.folders(leadingTo: folder) {
            guard let owner = owners[key], owner != id, let path = path(of: owner) else { continue }
            return "folder '\(folder)' cannot be used: the file of download \(owner) is to be named '\(path)'"
        }
        return obstacle(folder).map { "folder '\(folder)' cannot be used: \($0)" }
    }

    // MARK: - Finished files

    package mutating func restore(_ finished: FinishedNames) { self.finished = finished }

    /// Notes the path of a download's published file.
    /// - Returns: The download whose file had the path before and is gone; `nil` if there is none.
    package mutating func publish(_ path: FilePath, by id: DownloadID) -> DownloadID? {
        isTaken == nil ? nil : finished.publish(path, by: id)
    }

    /// Whether another download has published a file under this path since.
    package func isClaimed(_ path: FilePath, byOtherThan id: DownloadID) -> Bool {
        finished.owner(of: path).map { $0 != id } ?? false
    }

    /// Notes that a finished file or its record has been removed.
    package mutating func forget(_ path: FilePath, of id: DownloadID) { finished.release(path, by: id) }

    // MARK: - Keys

    private static func key(_ path: String) -> String { path.lowercased() }

    /// The keys of a folder and of all folders that contain it, outermost first.
    private static func folders(leadingTo folder: String) -> [String] {
        if folder.isEmpty { return [] }
        let key = key(folder)
        var keys: [String] = []
        for index in key.utf8.indices where key.utf8[index] == UInt8(ascii: "/") { keys.append(String(key[..<index])) }
        keys.append(key)
        return keys
    }
}
