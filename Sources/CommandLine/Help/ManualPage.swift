/// The manual page `pawl(1)`, generated from the tables of commands and options, in the `man` macros of roff
/// (groff_man(7)).
public enum ManualPage {
    /// The source of the page.
    public static var text: String {
        var lines = [
            #".\" Made by "pawl man"; docs/pawl.1 is a copy of it."#,
            #".TH PAWL 1 "" "\#(escaped(Help.versionLine))" "User Commands""#,
            ".SH NAME", #"pawl \- download files, as a service with a REST API or from the terminal"#, ".SH SYNOPSIS",
        ]
        for command in CommandTable.all { lines += [".B pawl \(escaped(command.name.rawValue))", synopsis(command), ".br"] }
        lines.removeLast()
        lines += [".SH DESCRIPTION", escaped(Help.purpose), ".SH COMMANDS"]
        for command in CommandTable.all { lines += describe(command) }
        for section in Help.sections {
            lines.append(".SH OPTIONS OF \(escaped(section.title.uppercased()))")
            for option in section.options { lines += describe(option) }
            if !section.shared.isEmpty {
                lines += [
                    ".PP", "Also, as above: " + section.shared.map { #"\fB\#(escaped($0))\fR"# }.joined(separator: ", ") + ".",
                ]
            }
        }
        lines += [".SH ENVIRONMENT", escaped(Help.aboutVariables), ".PP", escaped(Help.aboutSettings)]
        lines += [
            ".TP", ".B NO_COLOR", "If this is not empty, output has no colours.", ".TP", ".B XDG_STATE_HOME",
            #"Directory in which pawl search and pawl parts keep their results; \(ti/.local/state by default."#,
            ".SH EXIT STATUS",
        ]
        for status in ExitStatus.allCases { lines += [".TP", ".B \(status.rawValue)", escaped(status.meaning)] }
        lines += [".TP", ".B \(escaped(ExitStatus.signals.status))", escaped(ExitStatus.signals.meaning), ".SH FILES"]
        for file in files { lines += [".TP", ".I \(escaped(file.path))", escaped(file.meaning)] }
        lines.append(".SH EXAMPLES")
        for example in CommandTable.all.flatMap(\.examples) {
            lines += [
                ".TP", ".B \(escaped(example.line))", escaped(example.does.isEmpty ? "the same for that shell" : example.does),
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let files = [
        (path: "./pawl-data", meaning: "data of pawl serve, unless --data-dir names another directory"),
        (path: ".pawl-get", meaning: "unfinished downloads of pawl get, in their target directory"),
        (path: "$XDG_STATE_HOME/pawl/search.json", meaning: "results of the last pawl search, and the parts listed since"),
        (path: "$XDG_STATE_HOME/pawl/list.json", meaning: "ids of the downloads in the last pawl list"),
    ]

    private static func synopsis(_ command: Command) -> String {
        let options = command.options.isEmpty ? "" : #"[\fIoption\fR]...\&"#
        let operands = escaped(command.synopsis)
        return options.isEmpty && operands.isEmpty
            ? #"\&"# : options + (options.isEmpty || operands.isEmpty ? "" : " ") + operands
    }

    private static func describe(_ command: Command) -> [String] {
        var lines = [".TP", ".B \(escaped(command.name.rawValue))", escaped(command.meaning) + "."]
        for paragraph in command.description { lines += [".IP", escaped(paragraph)] }
        return lines
    }

    private static func describe(_ option: Option) -> [String] {
        let value = option.placeholder.map { #" \fI\#(escaped($0))\fR"# } ?? ""
        let flags = option.flags.map { #"\fB\#(escaped($0))\fR\#(value)"# }.joined(separator: ", ")
        let commands = CommandName.allCases.filter(option.commands.contains).map(\.rawValue).joined(separator: ", ")
        let variable = option.variable.map { " Variable: \($0)." } ?? ""
        let repeats = option.isRepeatable ? " May be repeated." : ""
        let takes = option.placeholder == nil ? "" : " Takes \(option.accepts)."
        return [
            ".TP", flags,
            escaped("\(sentence(option.meaning))\(takes)\(repeats) Default: \(option.defaultText).\(variable) Of \(commands)."),
        ]
    }

    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + "."
    }

    /// The text escaped for roff: backslashes, hyphens and quotes are literal, and no line begins with a request.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += #"\e"#
            case "-": result += #"\-"#
            case "~": result += #"\(ti"#
            case "^": result += #"\(ha"#
            case "`": result += #"\(ga"#
            case "'": result += #"\(aq"#
            case "\"": result += #"\(dq"#
            case "…": result += #"\&..."#
            default: result.append(character)
            }
        }
        if let first = result.first, first == "." { result = #"\&"# + result }
        return result
    }
}
