/// Scripts that complete command lines, made from the tables of commands and options.
public enum Completions {
    /// The script for a shell, one of ``CommandTable/shells``; `nil` for another.
    public static func script(for shell: String) -> String? {
        switch shell {
        case "bash": bash
        case "zsh": zsh
        case "fish": fish
        default: nil
        }
    }

    /// Writes the identifiers of a service's downloads; nothing where there is no service.
    static let identifiers = "list --ids --count 200 2>/dev/null"

    /// A text between apostrophes, as all three shells read it.
    static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    static var commandNames: [String] { CommandTable.all.map(\.name.rawValue) }
}
