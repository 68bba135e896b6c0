internal import HTTPCore
internal import System

/// A file with one URL on each line.
public enum URLList {
    /// The maximum size of a list in bytes.
    private static let limit = 16 << 20

    /// Parses the text of a list. Empty lines and those that begin with `#` are skipped, and white space around a URL
    /// is ignored.
    /// - Parameters:
    ///   - name: The name of the list in an error.
    ///   - command: The command in an error.
    /// - Throws: An error with one line of text that names the first invalid line.
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

    /// The operands of an invocation, followed by the lines of its list, which this function reads.
    /// - Throws: An error with one line of text if the list cannot be read or is invalid.
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
