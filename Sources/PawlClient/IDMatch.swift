/// The result of resolving the beginning of an id.
enum IDMatch: Sendable, Equatable {
    /// Exactly one id.
    case one(String)
    /// No id.
    case none(String)
    /// Several ids: the beginning is too short.
    case several(String, [String])

    /// The length of a whole id (a ULID).
    static let length = 26

    /// Searches for ids that begin with a text in upper case.
    init(_ beginning: String, among ids: [String]) {
        let found = ids.filter { $0.hasPrefix(beginning) }
        if found.contains(beginning) {
            self = .one(beginning)
        } else if found.count == 1, let id = found.first, !beginning.isEmpty {
            self = .one(id)
        } else {
            self = found.isEmpty ? .none(beginning) : .several(beginning, found)
        }
    }

    /// The smallest length, at least `least`, at which all ids differ.
    static func distinctLength(of ids: [String], least: Int = 8) -> Int {
        let sorted = ids.sorted()
        var longest = 0
        for (first, second) in zip(sorted, sorted.dropFirst()) where first != second {
            longest = max(longest, first.utf8.elementsEqual(second.utf8) ? 0 : Self.commonLength(first, second))
        }
        return min(length, max(least, longest + 1))
    }

    private static func commonLength(_ first: String, _ second: String) -> Int {
        zip(first.utf8, second.utf8).prefix { $0 == $1 }.count
    }

    /// The id. Throws an error with one line of text if there is not exactly one.
    /// - Parameter kind: The word for what has the id.
    func id(of kind: String = "download") throws(RemoteError) -> String {
        switch self {
        case .one(let id): return id
        case .none(let beginning): throw .local("there is no \(kind) '\(beginning)'")
        case .several(let beginning, let ids):
            let examples = ids.prefix(2).joined(separator: " and ")
            throw .local("'\(beginning)' is the beginning of \(ids.count) IDs, such as \(examples): give more characters")
        }
    }
}
