/// The file of `--tokens-file`.
///
/// Each line has the form `name scope token`. The token is plain, or `sha256:` and 64 hexadecimal digits. Empty lines
/// and comments, which begin with `#`, are ignored.
public enum TokensFile {
    /// The maximum size of a file in bytes: room for far more than ``maximumTokens``.
    static let longest = 256 * 1024
    /// The maximum number of tokens in a file: each request is compared with all of them.
    public static let maximumTokens = 1000
    /// The maximum length of a name in characters.
    public static let longestName = 64

    /// An error in a file. It never repeats words of the line, since any of them may be the token.
    public struct Fault: Error, Sendable, CustomStringConvertible {
        /// The number of the line, from 1.
        public let line: Int
        /// The expected contents of the line.
        public let reason: String

        /// The line and its expected contents.
        public var description: String { "line \(line): \(reason)" }
    }

    /// Parses the tokens of a file.
    /// - Parameter shortest: The minimum length of a plain token in characters.
    public static func parse(_ bytes: [UInt8], shortest: Int) throws(Fault) -> [NamedToken] {
        var tokens: [NamedToken] = []
        var lines: [TokenDigest: Int] = [:]
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let words = words(of: line)
            if words.isEmpty { continue }
            let number = index + 1
            let token: NamedToken
            do throws(Reason) {
                token = try self.token(words, shortest: shortest)
            } catch {
                throw Fault(line: number, reason: error.text)
            }
            if let earlier = lines.updateValue(number, forKey: token.digest) {
                throw Fault(line: number, reason: "it has the token of line \(earlier)")
            }
            tokens.append(token)
            guard tokens.count <= maximumTokens else {
                throw Fault(line: number, reason: "a file has at most \(maximumTokens) tokens")
            }
        }
        return tokens
    }

    private struct Reason: Error {
        let text: String
    }

    /// The words of a line, up to a word that begins with `#`.
    private static func words(of line: ArraySlice<UInt8>) -> [String] {
        let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
        return words.prefix { $0.first != UInt8(ascii: "#") }.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func token(_ words: [String], shortest: Int) throws(Reason) -> NamedToken {
        guard words.count == 3 else { throw Reason(text: "it must be a name, a scope and a token, separated by spaces") }
        let (name, text) = (words[0], words[2])
        guard name.utf8.count <= longestName, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Reason(text: "a name has 1 to \(longestName) visible ASCII characters")
        }
        guard let scope = TokenScope(rawValue: words[1]) else {
            throw Reason(text: "the scope must be one of " + TokenScope.allCases.map(\.rawValue).joined(separator: ", "))
        }
        let lowercase = text.lowercased()
        for prefix in ["sha256:", "sha-256:"] where lowercase.hasPrefix(prefix) {
            guard let digest = TokenDigest(hexadecimal: text.dropFirst(prefix.count)) else {
                throw Reason(text: "\(prefix) must be followed by 64 hexadecimal digits")
            }
            return NamedToken(name: name, scope: scope, digest: digest)
        }
        guard !isMisspeltDigest(lowercase) else {
            throw Reason(text: "a SHA-256 is written sha256: and 64 hexadecimal digits")
        }
        guard let token = AccessToken(text) else { throw Reason(text: "a token has 1 to 4096 visible ASCII characters") }
        guard token.count >= shortest else {
            throw Reason(
                text:
                    "the token has \(token.count) characters, and other machines could guess it: \(shortest) or more are needed;"
                    + " make one with `openssl rand -hex 32`")
        }
        return NamedToken(name: name, scope: scope, digest: token.digest)
    }

    /// Whether a word in lower case is probably a misspelt digest. As a plain token, it would let in every reader of
    /// the file.
    private static func isMisspeltDigest(_ word: String) -> Bool {
        guard word.hasPrefix("sha") else { return false }
        var rest = word.utf8.dropFirst("sha".utf8.count)
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        // Digests of other algorithms are covered as well: sha512:, sha3-256:.
        let unnumbered = rest.drop { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        if unnumbered.count < rest.count, let separator = unnumbered.first, "-:=".utf8.contains(separator) { return true }
        guard rest.starts(with: "256".utf8) else { return false }
        let digest = rest.dropFirst("256".utf8.count)
        guard let first = digest.first else { return false }
        let isWord =
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first)
        return !isWord || digest.contains { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "=") }
            || TokenDigest(hexadecimal: Substring(digest)) != nil
    }
}
