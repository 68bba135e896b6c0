/// The text of `pawl help`, made from the table of options.
public enum Help {
    /// The program's version.
    public static let version = "0.1.0"

    /// What `pawl --version` prints.
    public static var versionLine: String { "pawl \(version)" }

    /// The whole text, or that of one command, with a line break at its end.
    public static func text(for topic: CommandName? = nil) -> String {
        let lines =
            switch topic {
            case nil, .help, .version: overview
            case let command?: page(of: command)
            }
        return lines.joined(separator: "\n") + "\n"
    }

    private static var overview: [String] {
        var lines = ["pawl downloads files: as a service with a REST API, or from the terminal.", "", "Usage:"]
        lines += CommandName.allCases.map { "  " + $0.usage }
        lines += ["  pawl --version", "", "Commands:"]
        for command in CommandName.allCases { lines.append("  " + padded(command.rawValue, 10) + command.meaning) }
        lines += ["", "Options of serve and demo:"]
        for option in OptionTable.all where !option.commands.isDisjoint(with: CommandName.services) {
            lines += describe(option)
        }
        lines += ["", "Options of get:"]
        for option in OptionTable.options(of: .get) where option.commands == [.get] { lines += describe(option) }
        for command in [CommandName.get, .health] {
            let shared = OptionTable.options(of: command).filter { $0.commands != [command] }.map(\.flag)
            lines.append(
                (command == .get ? "  and, as above: " : "Options of health, as above: ") + shared.joined(separator: ", "))
        }
        return lines + [""] + aboutVariables + [""] + aboutSettings
    }

    private static func page(of command: CommandName) -> [String] {
        var lines = ["pawl \(command.rawValue): \(command.meaning).", "", "Usage:", "  " + command.usage, "", "Options:"]
        for option in OptionTable.options(of: command) { lines += describe(option) }
        return lines + [""] + aboutVariables
    }

    private static let aboutVariables = [
        "Each option is also an environment variable, but for those of get alone: --max-concurrent is PAWL_MAX_CONCURRENT.",
        "A flag wins. What is repeatable is separated by commas there.",
    ]

    private static let aboutSettings = [
        "--max-concurrent, --max-per-host, --segments and --speed-limit can be changed at run time (PATCH /settings) and are kept",
        "with the data: a value given at the start wins and is kept, otherwise the kept one holds, otherwise the default.",
    ]

    private static func describe(_ option: Option) -> [String] {
        let head = "  " + option.flag + (option.placeholder.map { " " + $0 } ?? "")
        let note = option.isRepeatable ? "repeatable; default: \(option.defaultText)" : "default: \(option.defaultText)"
        return [head, "      \(option.meaning)", "      (\(note))"]
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

extension CommandName {
    /// How it is written, in one line.
    fileprivate var usage: String {
        switch self {
        case .serve, .demo, .health: "pawl \(rawValue) [option]..."
        case .get: "pawl get [option]... URL..."
        case .help: "pawl help [command]"
        case .version: "pawl version"
        }
    }
}
