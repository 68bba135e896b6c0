extension Completions {
    /// The script for bash 4 or newer. It needs no other scripts.
    static var bash: String {
        var lines = [
            #"# Completes the command lines of pawl in bash. Made by "pawl completions bash"."#,
            "_pawl() {",
            #"    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}"#,
            "    COMPREPLY=()",
            "    if ((COMP_CWORD == 1)); then",
            "        \(words(commandNames + ["--help", "--version"]))",
            "        return",
            "    fi",
            "    case ${COMP_WORDS[1]} in",
        ]
        for command in CommandTable.all { lines += branch(command).map { "    " + $0 } }
        lines += ["    esac", "}", "complete -F _pawl pawl"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func branch(_ command: Command) -> [String] {
        var lines = ["\(command.name.rawValue))"]
        let valued = command.options.filter { $0.placeholder != nil }
        if !valued.isEmpty {
            lines.append("    case $previous in")
            for option in valued {
                lines.append("    \(option.flags.joined(separator: " | "))) \(values(option.completion)) return ;;")
            }
            lines.append("    esac")
        }
        let flags = command.options.flatMap(\.flags).filter { $0.hasPrefix("--") } + ["--help"]
        lines += ["    if [[ $current == -* ]]; then", "        \(words(flags))", "        return", "    fi"]
        if let operands = operands(command.operands) { lines.append("    " + operands) }
        return lines + ["    ;;"]
    }

    private static func values(_ completion: Option.Completion) -> String {
        switch completion {
        case .text: ""
        case .file: #"compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current");"#
        case .directory: #"compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$current");"#
        case .oneOf(let choices): words(choices) + ";"
        }
    }

    private static func operands(_ operands: Command.Operands) -> String? {
        switch operands {
        case .none, .urls, .urlsOrResults, .result, .work, .words, .assignments: nil
        case .downloads, .anyDownloads, .downloadAndPosition: output(of: identifiers)
        case .subscriptions: output(of: subscriptions)
        case .path: #"compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current")"#
        case .oneOf(let choices): words(choices)
        case .command: words(commandNames)
        }
    }

    /// Completes with the ids that these arguments print.
    private static func output(of arguments: String) -> String {
        #"mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" \#(arguments))" -- "${current^^}")"#
    }

    private static func words(_ words: [String]) -> String {
        "mapfile -t COMPREPLY < <(compgen -W \(quoted(words.joined(separator: " "))) -- \"$current\")"
    }
}
