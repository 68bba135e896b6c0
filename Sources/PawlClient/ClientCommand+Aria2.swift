internal import CommandLine
internal import JSON
internal import Terminal

/// `pawl aria2`.
extension ClientCommand {
    /// Lists the addresses for clients of aria2.
    func aria2() async throws(RemoteError) -> ExitStatus {
        // A wrong token is refused, so that no wrong key is shown.
        _ = try await service.send("GET", "settings")
        let addresses = Self.addresses(ofService: service.name, key: service.notificationKey)
        if invocation.writesJSON {
            write(.object(addresses.map { JSONMember(name: $0, value: .string($1)) }))
        } else {
            var table = TextTable([TextTable.Column("USE"), TextTable.Column("ADDRESS")])
            for (use, address) in addresses {
                table.append([TextTable.Cell(TerminalText(use)), TextTable.Cell(TerminalText(address))])
            }
            write(table)
        }
        return .done
    }

    /// Returns the addresses with their uses.
    /// - Parameter key: The key for notifications; `nil` for a service without a token, where none is needed.
    static func addresses(ofService service: String, key: String?) -> [(use: String, address: String)] {
        let path = key.map { "/jsonrpc/listen/\($0)" } ?? "/jsonrpc"
        let socket = service.hasPrefix("http") ? "ws" + service.dropFirst("http".count) : service
        return [
            ("jsonrpc", service + "/jsonrpc"), ("xmlrpc", service + "/rpc"), ("websocket", socket + "/jsonrpc"),
            ("notifications", socket + path),
        ]
    }
}
