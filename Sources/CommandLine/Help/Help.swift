internal import PawlConfiguration

/// The text of `pawl help`, generated from the tables of commands and options.
public enum Help {
    /// The output of `pawl --version`.
    public static var versionLine: String { "pawl \(Program.version)" }

    /// The description of the program in one sentence.
    static let purpose = "pawl downloads files: as a service with a REST API, or from the terminal."

    /// The maximum length of a line in columns.
    private static let width = 110

    /// The text of one command, the whole text for `help`, or the list of commands, with a line break at its end.
    public static func text(for topic: CommandName? = nil) -> String {
        let lines =
            switch topic {
            case nil: introduction
            case .help, .version: overview
            case let topic?: page(of: CommandTable.command(topic))
            }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A group of options.
    struct Section {
        let title: String
        let commands: Set<CommandName>
        /// The options explained in this section.
        let options: [Option]
        /// The options explained in an earlier section.
        let shared: [String]
    }

    /// All options, each explained once.
    static var sections: [Section] {
        var explained: [Option] = []
        return [
            ("serve and demo", CommandName.services), ("get", [.get]),
            ("the commands that talk to a service", CommandName.clients),
            ("check", [.check]), ("health", [.health]),
        ].map { title, commands in
            let options = OptionTable.options(ofAny: commands)
            let isExplained = { (option: Option) in
                explained.contains { $0.name == option.name && $0.commands == option.commands }
            }
            let new = options.filter { !isExplained($0) }
            let shared = options.filter(isExplained).map(\.flag)
            explained += new
            return Section(title: title, commands: commands, options: new, shared: shared)
        }
    }

    /// The commands, on one screen.
    private static var introduction: [String] {
        [purpose, "", "Usage: pawl COMMAND [OPTIONS]", ""] + commands
            + ["", "pawl help COMMAND explains a command; pawl help explains all commands and options."]
    }

    private static var commands: [String] {
        ["Commands:"] + CommandTable.all.flatMap { entry("  " + padded($0.name.rawValue, 13), $0.meaning) }
    }

    private static var overview: [String] {
        var lines = [purpose, "", "Usage:"]
        lines += CommandTable.all.map { "  " + $0.usage }
        lines += ["  pawl --version", ""] + commands
        for section in sections {
            lines += ["", "Options of \(section.title):"]
            for option in section.options { lines += describe(option, within: section.commands) }
            if !section.shared.isEmpty { lines += entry("  and, as above: ", section.shared.joined(separator: ", ")) }
        }
        lines += [""] + wrapped(aboutVariables) + [""] + wrapped(aboutSettings)
        return lines + ["", "Exit status:"] + statuses(of: CommandName.allCases)
    }

    private static func page(of command: Command) -> [String] {
        var lines = wrapped("pawl \(command.name.rawValue): \(command.meaning).") + ["", "Usage:", "  " + command.usage]
        for paragraph in command.description { lines += [""] + wrapped(paragraph) }
        if !command.options.isEmpty {
            lines += ["", "Options:"]
            for option in command.options { lines += describe(option, within: [command.name]) }
        }
        if !command.examples.isEmpty {
            lines += ["", "Examples:"]
            for example in command.examples {
                lines += ["  " + example.line] + (example.does.isEmpty ? [] : ["      " + example.does])
            }
        }
        if command.options.contains(where: { $0.variable != nil }) { lines += [""] + wrapped(aboutVariables) }
        return lines + ["", "Exit status:"] + statuses(of: [command.name])
    }

    static let aboutVariables =
        "Options of services are also environment variables: --max-concurrent is PAWL_MAX_CONCURRENT. So are --server, --token,"
        + " --token-file, --ca-file and --limit of get (PAWL_SPEED_LIMIT). A flag overrides its variable. In a variable, the values of"
        + " a repeatable option are separated by commas, the entries of PAWL_SPEED_SCHEDULE by semicolons, and the URLs of"
        + " PAWL_WEBHOOK by spaces."

    static let aboutSettings =
        "--max-concurrent, --max-per-host, --segments, --speed-limit, --speed-schedule and --webhook can be changed at run time (PATCH /settings);"
        + " the last values are stored with the data. A value given at the start overrides and replaces the stored one; without"
        + " both, the default applies."

    /// The exit statuses of these commands.
    static func statuses(of commands: [CommandName]) -> [String] {
        var lines: [String] = []
        for status in ExitStatus.allCases where status.isOf(commands) {
            lines += entry("  \(padded(String(status.rawValue), 9))", status.meaning)
        }
        return lines + entry("  " + padded(ExitStatus.signals.status, 9), ExitStatus.signals.meaning)
    }

    private static func describe(_ option: Option, within commands: Set<CommandName>) -> [String] {
        let value = option.placeholder.map { " " + $0 } ?? ""
        let others = option.flags.filter { $0 != option.flag }
        let head = "  " + option.flag + value + (others.isEmpty ? "" : ", " + others.joined(separator: ", "))
        let owners = option.commands.count < commands.count ? commands.intersection(option.commands) : []
        let names = CommandName.allCases.filter(owners.contains).map(\.rawValue)
        let limits = (names.isEmpty ? [] : ["of " + names.joined(separator: ", ")]) + (option.isRepeatable ? ["repeatable"] : [])
        let note = (limits + ["default: \(option.defaultText)"]).joined(separator: "; ")
        return [head] + entry("      ", option.meaning) + ["      (\(note))"]
    }

    /// A text after a heading, with wrapped lines.
    private static func entry(_ heading: String, _ text: String) -> [String] {
        let lines = wrapped(text, width - heading.count)
        let indentation = String(repeating: " ", count: heading.count)
        return lines.enumerated().map { ($0 == 0 ? heading : indentation) + $1 }
    }

    private static func wrapped(_ text: String, _ width: Int = width) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return lines + [line]
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
