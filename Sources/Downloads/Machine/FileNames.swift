/// The names under `files`: which are promised to downloads that have not ended, and which record has which finished file.
///
/// Names that differ in case only count as one: some file systems take them for one.
struct FileNames: Sendable {
    private var reserved: [String: DownloadID] = [:]
    /// Who has the finished files.
    private(set) var finished = FinishedNames()
    /// Whether anything has this name already.
    private let isTaken: @Sendable (String) -> Bool

    init(isTaken: @escaping @Sendable (String) -> Bool) {
        self.isTaken = isTaken
    }

    /// Chooses a name that no other download has been promised and no file has, and reserves it.
    mutating func reserve(_ wanted: String, for id: DownloadID) -> String {
        let name = FileNaming.free(wanted) { name in
            reserved[name.lowercased()].map { $0 != id } ?? isTaken(name)
        }
        reserved[name.lowercased()] = id
        return name
    }

    /// Reserves a name that was chosen in an earlier run, unless another download has it.
    mutating func restore(_ name: String, for id: DownloadID) {
        if reserved[name.lowercased()] == nil { reserved[name.lowercased()] = id }
    }

    /// Lets others have a name.
    mutating func release(_ name: String, of id: DownloadID) {
        if reserved[name.lowercased()] == id { reserved[name.lowercased()] = nil }
    }

    /// Takes over the names of finished files.
    mutating func restore(_ finished: FinishedNames) { self.finished = finished }

    /// A download's file has got this name. Returns whose file had it before: that is gone.
    mutating func publish(_ name: String, by id: DownloadID) -> DownloadID? { finished.publish(name, by: id) }

    /// Whether another record has published this name since.
    func isClaimed(_ name: String, byOtherThan id: DownloadID) -> Bool {
        finished.owner(of: name).map { $0 != id } ?? false
    }

    /// A record has the name no more.
    mutating func forget(_ name: String, of id: DownloadID) { finished.release(name, by: id) }

    static func areSame(_ left: String, _ right: String) -> Bool { left.lowercased() == right.lowercased() }
}
