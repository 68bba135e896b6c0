/// The result of resolving the end of an id.
enum IDMatch: Sendable, Equatable {
    /// Exactly one id.
    case one(String)
    /// No id.
    case none(String)
    /// Several ids: the end is too short.
    case several(String, [String])

    /// The length of a whole id (a ULID).
    static let length = 26

    /// Searches for ids that end with a text in upper or lower case.
    init(_ end: String, among ids: [String]) {
        let upper = end.uppercased()
        let found = ids.filter { $0.hasSuffix(upper) }
        if found.contains(upper) {
            self = .one(upper)
        } else if found.count == 1, let id = found.first, !end.isEmpty {
            self = .one(id)
        } else {
            self = found.isEmpty ? .none(end) : .several(end, found)
        }
    }

    /// The smallest length, at least `least`, at which the ends of all ids differ. Shorter ones could be numbers of rows.
    static func distinctLength(of ids: [String], least: Int = 6) -> Int {
        let sorted = Set(ids).map { Array($0.utf8.reversed()) }.sorted { $0.lexicographicallyPrecedes($1) }
        let longest = zip(sorted, sorted.dropFirst()).map { zip($0, $1).prefix { $0 == $1 }.count }.max() ?? 0
        return min(length, max(least, longest + 1))
    }

    /// The id. Throws an error with one line of text if there is not exactly one.
    /// - Parameter kind: The word for what has the id.
    func id(of kind: String = "download") throws(RemoteError) -> String {
        switch self {
        case .one(let id): return id
        case .none(let end): throw .local("there is no \(kind) '\(end)'")
        case .several(let end, let ids):
            let examples = ids.prefix(2).joined(separator: " and ")
            throw .local("'\(end)' is the end of \(ids.count) IDs, such as \(examples): give more characters")
        }
    }
}
