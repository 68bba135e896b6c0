internal import DownloadCore

/// The paths under `files`: those reserved for downloads that have not ended, and the owners of finished files.
///
/// A download holds at most one reservation, of its file's path and of the folders that lead to it. A new reservation replaces
/// the former one. ``release(_:)`` removes the reservation of any path, so no reservation outlives its download.
///
/// Paths that differ only in case count as one path, because some file systems do not distinguish them.
struct FileNames: Sendable {
    private struct Reservation: Sendable {
        enum Place {
            case path(FilePath)
            /// The name of the file is not known yet, and only its folder is reserved.
            case folder(String)
        }

        let id: RecordID
        let place: Place

        var path: FilePath? { if case .path(let path) = place { path } else { nil } }

        var folder: String {
            switch place {
            case .path(let path): path.folder
            case .folder(let folder): folder
            }
        }
    }

    private var reservations: [Reservation] = []
    /// The numbers of the reservations, by download.
    private var downloads = HashSlots()
    /// The numbers of the reservations of paths, by the path's key.
    private var paths = HashSlots()
    /// The number of reservations in and below each folder, by the folder's key.
    private var folders: [String: Int] = [:]
    /// The owners of finished files.
    private(set) var finished = FinishedNames()
    /// Whether a path is in use; `nil`: files of several downloads may have the same path, and nothing is reserved.
    private let isTaken: (@Sendable (FilePath) -> Bool)?
    /// The reason why a folder cannot be made or used on the disk; `nil` if it can.
    private let obstacle: @Sendable (String) -> FileError?

    init(
        isTaken: (@Sendable (FilePath) -> Bool)?, obstacle: @escaping @Sendable (String) -> FileError? = { _ in nil }
    ) {
        self.isTaken = isTaken
        self.obstacle = obstacle
    }

    // MARK: - Reservations

    /// Reserves a path in the wanted folder, in place of the download's former reservation. The path is not in use or
    /// reserved, and no reservation needs it as a folder.
    /// - Returns: The path with the wanted name or a numbered one.
    mutating func reserve(_ wanted: FilePath, for id: RecordID) -> FilePath {
        guard let isTaken else { return wanted }
        release(id)
        let folder = wanted.folder
        let name = FileNaming.free(wanted.name) { name in
            let path = FilePath(name, in: folder)
            let key = Self.key(path.description)
            return owner(ofKey: key) != nil || folders[key] != nil || isTaken(path)
        }
        let path = FilePath(name, in: folder)
        add(Reservation(id: id, place: .path(path)), key: Self.key(path.description))
        return path
    }

    /// Reserves the folder of a file whose name is not known yet, in place of the download's former reservation.
    mutating func reserve(folder: String, for id: RecordID) {
        guard isTaken != nil else { return }
        release(id)
        if !folder.isEmpty { add(Reservation(id: id, place: .folder(folder))) }
    }

    /// Reserves what an earlier instance had reserved, except a path that another download has reserved.
    mutating func restore(_ name: String?, in folder: String, for id: RecordID) {
        guard isTaken != nil else { return }
        release(id)
        let path = name.map { FilePath($0, in: folder) }
        let key = path.map { Self.key($0.description) }
        if let path, let key, owner(ofKey: key) == nil {
            add(Reservation(id: id, place: .path(path)), key: key)
        } else if !folder.isEmpty {
            add(Reservation(id: id, place: .folder(folder)))
        }
    }

    /// Removes a download's reservation, if there is one.
    mutating func release(_ id: RecordID) {
        guard let number = number(of: id), let last = reservations.popLast() else { return }
        let reservation = number == reservations.count ? last : reservations[number]
        downloads.remove(number, id.hashValue)
        if let path = reservation.path { paths.remove(number, Self.hash(path)) }
        if number < reservations.count {
            downloads.change(reservations.count, to: number, last.id.hashValue)
            if let path = last.path { paths.change(reservations.count, to: number, Self.hash(path)) }
            reservations[number] = last
        }
        for folder in Self.folders(leadingTo: reservation.folder) {
            let count = folders[folder, default: 1] - 1
            folders[folder] = count == 0 ? nil : count
        }
    }

    /// Adds a reservation.
    /// - Parameter key: The key of its path; `nil` if only a folder is reserved.
    private mutating func add(_ reservation: Reservation, key: String? = nil) {
        downloads.insert(reservations.count, reservation.id.hashValue)
        if let key { paths.insert(reservations.count, key.hashValue) }
        reservations.appendSparingly(reservation)
        for folder in Self.folders(leadingTo: reservation.folder) { folders[folder, default: 0] += 1 }
    }

    /// The path reserved for a download.
    func path(of id: RecordID) -> FilePath? { number(of: id).flatMap { reservations[$0].path } }

    private func number(of id: RecordID) -> Int? { downloads.number(id.hashValue) { reservations[$0].id == id } }

    /// Returns the download that reserved a path; `nil` if there is none.
    private func owner(ofKey key: String) -> RecordID? {
        let number = paths.number(key.hashValue) { number in
            reservations[number].path.map { Self.key($0.description) == key } ?? false
        }
        return number.map { reservations[$0].id }
    }

    var reservationCount: Int { reservations.count }

    /// The reason why a file cannot be put into a folder; `nil` if it can. A part of the folder's path is a file, or is
    /// reserved for one, or the folder's file system is away or full.
    func objection(toFolder folder: String, for id: RecordID?) -> FileError? {
        guard isTaken != nil, !folder.isEmpty else { return nil }
        for key in Self.folders(leadingTo: folder) {
            guard let owner = owner(ofKey: key), owner != id, let path = path(of: owner) else { continue }
            return FileError(.other, "folder '\(folder)' cannot be used: the file of download \(owner) is to be named '\(path)'")
        }
        return obstacle(folder)
    }

    // MARK: - Finished files

    mutating func restore(_ finished: FinishedNames) { self.finished = finished }

    /// Notes the path of a download's published file.
    /// - Returns: The download whose file had the path before and is gone; `nil` if there is none.
    mutating func publish(_ path: FilePath, by id: RecordID) -> RecordID? {
        isTaken == nil ? nil : finished.publish(path, by: id)
    }

    /// Whether another download has published a file under this path since.
    func isAssigned(_ path: FilePath, byOtherThan id: RecordID) -> Bool {
        finished.owner(of: path).map { $0 != id } ?? false
    }

    /// Notes that a finished file or its record has been removed.
    mutating func forget(_ path: FilePath, of id: RecordID) { finished.release(path, by: id) }

    // MARK: - Keys

    private static func key(_ path: String) -> String { path.lowercased() }

    private static func hash(_ path: FilePath) -> Int { key(path.description).hashValue }

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
