internal import CommandLine
internal import JSON
internal import System

/// The downloads in the rows of the last `pawl list`, to which `pawl pause 3` refers.
struct ListMemory: Sendable, Equatable {
    /// The service whose downloads these are.
    var server = ""
    /// The ids of the downloads in the listed order.
    var ids: [String] = []

    /// The maximum size of the file in bytes: 100,000 ids take about a third of it.
    private static let limit = 8 << 20

    /// Reads the stored list; empty if it cannot be read.
    static func read(_ path: String?) -> ListMemory {
        guard let bytes = path.flatMap({ try? SmallFile.read($0, limit: limit) }), let value = try? JSONValue(parsing: bytes),
            let server = value["server"]?.string, let ids = value["ids"]?.array
        else { return ListMemory() }
        return ListMemory(server: server, ids: ids.compactMap(\.string))
    }

    /// Stores the list. Without a place for it, numbers refer to no list.
    func keep(_ path: String?) {
        guard let path, let slash = path.lastIndex(of: "/") else { return }
        let value = JSONValue.object([
            JSONMember(name: "server", value: .string(server)),
            JSONMember(name: "ids", value: .array(ids.map(JSONValue.string))),
        ])
        try? SmallFile.makeDirectory(String(path[..<slash]))
        try? SmallFile.write(value.serialized(), to: path)
    }

    /// Returns the ids in a row such as `3`, or in rows such as `2-4`; `nil` for anything else. A single
    /// number has at most five digits, since the ends of ids are longer.
    /// - Throws: An error with one line of text if there is no such row.
    func ids(_ operand: String, of server: String) throws(RemoteError) -> [String]? {
        let isRange = operand.utf8.contains(UInt8(ascii: "-"))
        guard isRange || operand.utf8.count <= 5, let (first, last) = DownloadOperand.numbers(operand) else { return nil }
        guard self.server == server else {
            throw .usage("there is no list to take number \(first) from: run pawl list first")
        }
        guard first <= last else { throw .usage("'\(operand)' goes backwards: write \(last)-\(first)") }
        for number in [first, last] where !(0..<ids.count).contains(number - 1) {
            throw .usage("the last list has \(ids.count) downloads: there is no \(number)")
        }
        return Array(ids[first - 1...last - 1])
    }
}
