extension Completions {
    /// The script for zsh's completion system (zshcompsys(1)): either a file `_pawl` in `$fpath`, or read after
    /// `compinit`.
    static var zsh: String {
        var lines = [
            "#compdef pawl", #"# Completes the command lines of pawl in zsh. Made by "pawl completions zsh"."#, "_pawl() {",
            "    if (( CURRENT == 2 )); then", "        local -a commands=(",
        ]
        for command in CommandTable.all {
            lines.append("            " + quoted("\(command.name.rawValue):\(escaped(command.meaning, ":"))"))
        }
        lines += [
            "        )", "        _describe -t commands command commands", "        return", "    fi",
            "    local program=$words[1] command=$words[2]", "    shift words", "    (( CURRENT -= 1 ))", "    case $command in",
        ]
        for command in CommandTable.all {
            lines += ["    \(command.name.rawValue))", "        _arguments -s : \\"]
            for option in command.options {
                lines += option.flags.map { "            \(quoted(specification(option, $0))) \\" }
            }
            lines.append(#"            '(- *)--help[explain the command]' \"#)
            lines += ["            \(operands(command.operands))", "        ;;"]
        }
        lines += ["    esac", "}"]
        for (name, arguments) in [("downloads", identifiers), ("subscriptions", subscriptions)] {
            lines += [
                "_pawl_\(name)() {", "    local -a identifiers", #"    identifiers=(${(f)"$($program \#(arguments))"})"#,
                "    compadd -a identifiers", "}",
            ]
        }
        lines += [
            #"if [ "$funcstack[1]" = "_pawl" ]; then"#, #"    _pawl "$@""#, "else", "    compdef _pawl pawl", "fi",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func specification(_ option: Option, _ flag: String) -> String {
        let excluded = option.isRepeatable ? "*" : "(\(option.flags.joined(separator: " ")))"
        let meaning = "[\(escaped(option.meaning, "[]:"))]"
        guard let placeholder = option.placeholder else { return excluded + flag + meaning }
        let action =
            switch option.completion {
            case .text: ""
            case .file: "_files"
            case .directory: "_files -/"
            case .oneOf(let choices): "(\(choices.joined(separator: " ")))"
            }
        return "\(excluded)\(flag)\(flag.hasPrefix("--") ? "=" : "+")\(meaning):\(escaped(placeholder, ":|")):\(action)"
    }

    private static func operands(_ operands: Command.Operands) -> String {
        switch operands {
        case .none: "&& return"
        case .urls: "'*:URL:_urls'"
        case .urlsOrResults: "'*:URL, number or id:_urls'"
        case .result: "'1:number or id:'"
        case .work: "'1:URL, number or id:_urls'"
        case .words: "'*:word:'"
        case .assignments: "'*:setting:'"
        case .downloads, .anyDownloads: "'*:download:_pawl_downloads'"
        case .subscriptions: "'*:subscription:_pawl_subscriptions'"
        case .downloadAndPosition: "'1:download:_pawl_downloads' '2:position:'"
        case .path: "'1:file:_files'"
        case .oneOf(let choices): quoted("1:word:(\(choices.joined(separator: " ")))")
        case .command: quoted("1:command:(\(commandNames.joined(separator: " ")))")
        }
    }

    /// The text with a backslash before each special character.
    private static func escaped(_ text: String, _ special: String) -> String {
        text.reduce(into: "") { $0 += special.contains($1) ? "\\\($1)" : String($1) }
    }
}
