/// Shell completion scripts, generated from the tables of commands and options.
public enum Completions {
    /// The script for a shell of ``CommandTable/shells``; `nil` for others.
    public static func script(for shell: String) -> String? {
        switch shell {
        case "bash": bash
        case "zsh": zsh
        case "fish": fish
        default: nil
        }
    }

    /// The arguments that list the ids of a service's downloads; without a service they print nothing.
    static let identifiers = "list --ids --count 200 2>/dev/null"
    /// The arguments that list the ids of a service's subscriptions.
    static let subscriptions = "subscriptions --ids 2>/dev/null"

    /// The text in single quotes, as all three shells read it.
    static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    static var commandNames: [String] { CommandTable.all.map(\.name.rawValue) }
}
