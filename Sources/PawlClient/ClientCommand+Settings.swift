internal import CommandLine
internal import DownloadCore
internal import JSON
internal import Terminal

/// `pawl settings`.
extension ClientCommand {
    /// Changes the service's settings as the operands say, and lists them all.
    func settings() async throws(RemoteError) -> ExitStatus {
        var settings = try await service.send("GET", "settings")
        if !invocation.operands.isEmpty {
            let changes = try Self.changes(invocation.operands, of: settings)
            settings = try await service.send("PATCH", "settings", body: changes)
        }
        if invocation.writesJSON { write(settings) } else { write(Self.table(ofSettings: settings)) }
        return .done
    }

    /// The table of all settings. Each entry of a list has a row.
    static func table(ofSettings settings: JSONValue) -> TextTable {
        var table = TextTable([TextTable.Column("NAME"), TextTable.Column("VALUE")])
        for member in settings.members ?? [] {
            let entries = member.value.array ?? [member.value]
            for entry in entries.isEmpty ? [.null] : entries {
                let text = entry.string ?? entry.integer.map(String.init) ?? "none"
                table.append([TextTable.Cell(TerminalText(member.name)), TextTable.Cell(TerminalText(text))])
            }
        }
        return table
    }

    /// Returns the body of a request for these changes. The present settings tell which of them are lists.
    /// - Throws: An error with one line of text if there is no such setting, or if it takes no such value.
    static func changes(_ assignments: [String], of settings: JSONValue) throws(RemoteError) -> JSONValue {
        var changes: [JSONMember] = []
        for assignment in assignments {
            let mark = assignment.utf8.firstIndex(of: UInt8(ascii: "=")) ?? assignment.endIndex
            let (name, value) = (String(assignment[..<mark]), String(assignment[mark...].dropFirst()))
            guard let present = settings[name] else {
                let names = (settings.members ?? []).map(\.name).joined(separator: ", ")
                throw .usage("there is no setting '\(name)'; the settings are: \(names)")
            }
            let index = changes.firstIndex { $0.name == name }
            if present.array != nil {
                let entries = (index.flatMap { changes[$0].value.array } ?? []) + (value.isEmpty ? [] : [.string(value)])
                changes.removeAll { $0.name == name }
                changes.append(JSONMember(name: name, value: .array(entries)))
            } else if index != nil {
                throw .usage("the setting '\(name)' is given more than once")
            } else if let number = ByteCount(parsing: value)?.bytes {
                changes.append(JSONMember(name: name, value: .integer(number)))
            } else {
                throw .usage("the setting '\(name)' takes a number such as 3, or of bytes such as 2M (2 MiB), not '\(value)'")
            }
        }
        return .object(changes)
    }
}
