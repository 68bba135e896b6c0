public import CommandLine
internal import JSON
internal import System
internal import Terminal

/// The commands that talk to a running service.
public struct ClientCommand: Sendable {
    let invocation: Invocation
    let service: RemoteService
    let appearance: Appearance
    let isTerminal: Bool

    /// Runs a command, and returns the process's exit status. `SignalWatcher.prepare()` must have been called.
    public static func run(_ invocation: Invocation) async -> Int32 {
        do throws(RemoteError) {
            let service = try RemoteService(invocation)
            defer { service.close() }
            let isTerminal = TerminalDevice.isOutput
            let command = ClientCommand(
                invocation: invocation, service: service,
                appearance: Appearance(environment: ProcessEnvironment.variable, isTerminal: isTerminal), isTerminal: isTerminal)
            return try await command.run()
        } catch {
            writeError(error.message)
            return error.status.rawValue
        }
    }

    private func run() async throws(RemoteError) -> Int32 {
        switch invocation.command {
        case .search: try await search().rawValue
        case .parts: try await parts().rawValue
        case .add: try await add().rawValue
        case .list: try await list().rawValue
        case .watch: try await WatchCommand(self).run()
        case .move: try await move().rawValue
        case .pause, .resume, .cancel: try await invocation.client.meansAll ? performOnAll().rawValue : perform().rawValue
        case .retry, .rm: try await perform().rawValue
        case .subscribe: try await subscribe().rawValue
        case .subscriptions: try await subscriptions().rawValue
        case .refresh, .unsubscribe: try await performOnSubscriptions().rawValue
        case .settings: try await settings().rawValue
        case .aria2: try await aria2().rawValue
        default: throw .local("pawl \(invocation.command.rawValue) does not use a service")
        }
    }

    // MARK: - Writing

    /// Writes the faults of a listing despite which it was read.
    static func warn(_ response: JSONValue, of name: String) {
        for warning in (response["warnings"]?.array ?? []).compactMap(\.string) { writeError("\(name): \(warning)") }
    }

    /// Writes one line to standard error.
    static func writeError(_ message: String) {
        StandardStreams.writeError("pawl: \(TerminalText(message))\n")
    }

    /// Writes a table to standard output, fitted to the terminal if it is one.
    func write(_ table: TextTable) {
        let width = isTerminal ? TerminalDevice.size.columns : nil
        write(table.lines(width: width, appearance))
    }

    @discardableResult
    func write(_ lines: [TerminalLine]) -> Bool {
        StandardStreams.writeOutput(lines.map { $0.rendered(appearance) + "\n" }.joined())
    }

    /// Writes a line of JSON to standard output.
    func write(_ json: JSONValue) {
        StandardStreams.writeOutput(TerminalJSON.escaped(String(decoding: json.serialized(), as: UTF8.self)) + "\n")
    }

    /// A download in one line: its id, its new state and its name.
    func line(_ id: String, _ word: String, _ style: Style, _ name: TerminalText) -> TerminalLine {
        var line = TerminalLine(TerminalText(id))
        line.append("  ")
        line.append(TerminalText(word).padded(to: 11), style)
        line.append("  ")
        line.append(name)
        return line
    }
}
