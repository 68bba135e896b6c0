internal import HTTPCore
internal import System

/// A file that names URLs, one on a line.
public enum URLList {
    /// The most bytes of a list: more URLs than anybody waits for.
    private static let limit = 16 << 20

    /// The URLs in a list's text. Empty lines and those that begin with `#` are skipped, white space around a URL is dropped.
    /// - Parameters:
    ///   - name: the name of the list in an error.
    ///   - command: the command that an error names.
    /// - Throws: one line that names the first line that is no URL.
    static func urls(in text: String, name: String, for command: CommandName) throws(UsageError) -> [HTTPURL] {
        var urls: [HTTPURL] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let word = line.trimmed
            guard !word.isEmpty, !word.hasPrefix("#") else { continue }
            guard let url = HTTPURL(word) else {
                throw OperandCheck.badURL(word, of: command.rawValue, at: "\(name), line \(index + 1): ")
            }
            urls.append(url)
        }
        return urls
    }

    /// What an invocation's operands and its list name, in that order. Reads the list.
    /// - Throws: one line that says why the list is not to be had, or what is wrong in it.
    public static func operands(of invocation: Invocation) throws(UsageError) -> [DownloadOperand] {
        var operands = invocation.operands.compactMap(DownloadOperand.init)
        guard let path = invocation.listFile else { return operands }
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile.read(path == "-" ? "/dev/stdin" : path, limit: limit + 1)
        } catch {
            throw UsageError("pawl: \(error)")
        }
        let name = path == "-" ? "standard input" : path
        guard bytes.count <= limit else {
            throw UsageError("pawl: \(name) has more than \(limit >> 20) MiB: a list takes no more")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        operands += try urls(in: text, name: name, for: invocation.command).map { .url($0) }
        guard !operands.isEmpty else { throw UsageError("pawl: \(name) names no URL") }
        return operands
    }
}
