/// The paths under `files`: which are promised to downloads that have not ended, and which record has which finished file.
///
/// Paths that differ in case only count as one: some file systems take them for one.
struct FileNames: Sendable {
    private var reserved: [String: DownloadID] = [:]
    /// Who has the finished files.
    private(set) var finished = FinishedNames()
    /// Whether anything has this path already; `nil`: a name is its download's alone, and others may have it, too.
    private let isTaken: (@Sendable (FilePath) -> Bool)?

    init(isTaken: (@Sendable (FilePath) -> Bool)?) {
        self.isTaken = isTaken
    }

    /// Chooses a name in the wanted path's folder that no other download has been promised and no file has, and reserves it.
    mutating func reserve(_ wanted: FilePath, for id: DownloadID) -> FilePath {
        guard let isTaken else { return wanted }
        let folder = wanted.folder
        let name = FileNaming.free(wanted.name) { name in
            let path = FilePath(name, in: folder)
            return reserved[Self.key(path)].map { $0 != id } ?? isTaken(path)
        }
        let path = FilePath(name, in: folder)
        reserved[Self.key(path)] = id
        return path
    }

    /// Reserves a path that was chosen in an earlier run, unless another download has it.
    mutating func restore(_ path: FilePath, for id: DownloadID) {
        if reserved[Self.key(path)] == nil { reserved[Self.key(path)] = id }
    }

    /// Lets others have a path.
    mutating func release(_ path: FilePath, of id: DownloadID) {
        if reserved[Self.key(path)] == id { reserved[Self.key(path)] = nil }
    }

    /// Takes over the paths of finished files.
    mutating func restore(_ finished: FinishedNames) { self.finished = finished }

    /// A download's file has got this path. Returns whose file had it before: that is gone.
    mutating func publish(_ path: FilePath, by id: DownloadID) -> DownloadID? {
        isTaken == nil ? nil : finished.publish(path, by: id)
    }

    /// Whether another record has published this path since.
    func isClaimed(_ path: FilePath, byOtherThan id: DownloadID) -> Bool {
        finished.owner(of: path).map { $0 != id } ?? false
    }

    /// A record has the path no more.
    mutating func forget(_ path: FilePath, of id: DownloadID) { finished.release(path, by: id) }

    static func areSame(_ left: FilePath, _ right: FilePath) -> Bool { key(left) == key(right) }

    private static func key(_ path: FilePath) -> String { path.description.lowercased() }
}
