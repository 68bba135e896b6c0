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

    /// Returns the id in a row; `nil` if the operand is no number of at most five digits. Ids are told by longer ends.
    /// - Throws: An error with one line of text if there is no such row.
    func id(_ operand: String, of server: String) throws(RemoteError) -> String? {
        guard operand.utf8.count <= 5, operand.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let number = Int(operand) else { return nil }
        guard self.server == server, !ids.isEmpty else {
            throw .usage("there is no list to take number \(number) from: run pawl list first")
        }
        guard (1...ids.count).contains(number) else {
            throw .usage("the last list has \(ids.count) downloads: there is no \(number)")
        }
        return ids[number - 1]
    }
}
