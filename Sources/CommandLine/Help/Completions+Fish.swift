extension Completions {
    /// The script for fish 3 or newer.
    static var fish: String {
        var lines = [
            #"# Completes the command lines of pawl in fish. Made by "pawl completions fish"."#, "complete -c pawl -f",
        ]
        for command in CommandTable.all {
            lines.append(
                "complete -c pawl -n __fish_use_subcommand -a \(command.name.rawValue) -d \(quoted(command.meaning))")
        }
        for command in CommandTable.all {
            let prefix = "complete -c pawl -n '__fish_seen_subcommand_from \(command.name.rawValue)'"
            for option in command.options {
                let names = option.flags.map { $0.hasPrefix("--") ? "-l \($0.dropFirst(2))" : "-s \($0.dropFirst())" }
                lines.append("\(prefix) \(names.joined(separator: " "))\(value(option)) -d \(quoted(option.meaning))")
            }
            lines.append("\(prefix) -l help -d 'explain the command'")
            if let operands = operands(command.operands) { lines.append("\(prefix) -a \(operands)") }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func value(_ option: Option) -> String {
        guard option.placeholder != nil else { return "" }
        return switch option.completion {
        case .text: " -x"
        case .file: " -r -F"
        case .directory: " -x -a '(__fish_complete_directories)'"
        case .oneOf(let choices): " -x -a \(quoted(choices.joined(separator: " ")))"
        }
    }

    private static func operands(_ operands: Command.Operands) -> String? {
        switch operands {
        case .none, .urls, .urlsOrResults, .result, .work, .words, .assignments: nil
        case .downloads, .anyDownloads, .downloadAndPosition: quoted("(pawl \(identifiers))")
        case .subscriptions: quoted("(pawl \(subscriptions))")
        case .path: quoted("(__fish_complete_path)")
        case .oneOf(let choices): quoted(choices.joined(separator: " "))
        case .command: quoted(commandNames.joined(separator: " "))
        }
    }
}
