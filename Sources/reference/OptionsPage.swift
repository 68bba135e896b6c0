internal import CommandLine

/// The page of options, `docs/options.md`, whose table is made from the options of services.
enum OptionsPage {
    private static let head = "| option | takes | default | meaning |"

    /// The page with the current table; `nil` if the page has no table of options.
    static func updated(_ page: String) -> String? {
        var lines = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let begin = lines.firstIndex(of: head) else { return nil }
        lines.replaceSubrange(begin..<(lines[begin...].firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex), with: table)
        return lines.joined(separator: "\n")
    }

    private static var table: [String] {
        [head, "| --- | --- | --- | --- |"]
            + OptionTable.options(ofAny: CommandName.services).map { option in
                let takes = option.placeholder == nil ? "" : option.accepts
                let cells = [takes, option.defaultText, option.meaning + (option.isRepeatable ? "; repeatable" : "")]
                return "| `\(option.flag)` | " + cells.map(marked).joined(separator: " | ") + " |"
            }
    }

    /// The text with Markdown's marks: flags, paths, patterns and variables are code.
    private static func marked(_ text: String) -> String {
        text.split(separator: " ").map { word in
            let start = word.first == "(" ? word.index(after: word.startIndex) : word.startIndex
            let end = word.lastIndex { !",;:.)'".contains($0) }.map(word.index(after:)) ?? start
            let code = word[start..<max(start, end)]
            guard code.hasPrefix("--") || code.contains(where: { "/_*~[".contains($0) }) else {
                return word.reduce(into: "") { $0 += "<>|".contains($1) ? "\\\($1)" : String($1) }
            }
            return "\(word[..<start])`\(code)`\(word[end...])"
        }
        .joined(separator: " ")
    }
}
