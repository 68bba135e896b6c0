/// The text of `pawl help`, made from the table of options.
public enum Help {
    /// The program's version.
    public static let version = "0.1.0"

    /// What `pawl --version` prints.
    public static var versionLine: String { "pawl \(version)" }

    /// The whole text, with a line break at its end.
    public static var text: String {
        var lines = [
            "pawl downloads files: as a service with a REST API, or from the terminal.",
            "",
            "Usage:",
            "  pawl serve [option]...",
            "  pawl demo [option]...",
            "  pawl get [option]... URL...",
            "",
            "Commands:",
        ]
        for command in CommandName.allCases {
            lines.append("  " + padded(command.rawValue, 10) + command.meaning)
        }
        lines += ["", "Options of serve and demo:"]
        for option in OptionTable.all where !option.commands.isDisjoint(with: CommandName.services) {
            lines += describe(option)
        }
        lines += ["", "Options of get:"]
        for option in OptionTable.options(of: .get) where option.commands == [.get] { lines += describe(option) }
        let shared = OptionTable.options(of: .get).filter { $0.commands != [.get] }.map(\.flag)
        lines.append("  and, as above: " + shared.joined(separator: ", "))
        lines += [
            "",
            "Each option is also an environment variable, but for those of get alone: --max-concurrent is PAWL_MAX_CONCURRENT.",
            "A flag wins. What is repeatable is separated by commas there.",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func describe(_ option: Option) -> [String] {
        let head = "  " + option.flag + (option.placeholder.map { " " + $0 } ?? "")
        let note = option.isRepeatable ? "repeatable; default: \(option.defaultText)" : "default: \(option.defaultText)"
        return [head, "      \(option.meaning)", "      (\(note))"]
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
