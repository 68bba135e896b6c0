/// What the beginning of an identifier means.
enum IDMatch: Sendable, Equatable {
    /// That download.
    case one(String)
    /// None.
    case none(String)
    /// Several: it is too short.
    case several(String, [String])

    /// Characters of a whole identifier (a ULID).
    static let length = 26

    /// Looks for those that begin with a text. Identifiers are upper case.
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

    /// The fewest characters, `least` or more, by which all of these differ.
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

    /// The identifier, or one line that says why there is none.
    func id() throws(RemoteError) -> String {
        switch self {
        case .one(let id): return id
        case .none(let beginning): throw .local("there is no download '\(beginning)'")
        case .several(let beginning, let ids):
            let examples = ids.prefix(2).joined(separator: " and ")
            throw .local("'\(beginning)' begins the IDs of \(ids.count) downloads, such as \(examples): give more of it")
        }
    }
}
