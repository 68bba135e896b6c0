internal import System

/// Secrets in files, which can change while the service runs.
extension Configuration {
    /// The maximum wait for the contents of a named pipe.
    private static let pipePatience: Duration = .seconds(5)

    /// Reads the token's file, if there is one.
    /// - Throws: An error with one line of text if the file has no valid token.
    public mutating func readToken() throws(StartError) {
        guard let tokenFile else { return }
        guard let token = AccessToken(try Self.firstLine(of: tokenFile, "token file")) else {
            throw StartError(
                "token file \(tokenFile): its first line must be 1 to 4096 visible ASCII characters without spaces")
        }
        self.token = token
    }

    /// Whether a text is the URL of a PostgreSQL database. libpq checks the rest of it.
    public static func isStore(_ text: String) -> Bool {
        ["postgres://", "postgresql://"].contains { text.hasPrefix($0) } && !text.utf8.contains(0)
    }

    /// Reads the file with the database's URL, if there is one.
    /// - Throws: An error with one line of text if the file has no valid URL.
    public mutating func readStore() throws(StartError) {
        guard let storeFile else { return }
        let store = try Self.firstLine(of: storeFile, "store file")
        guard Self.isStore(store) else {
            throw StartError("store file \(storeFile): its first line must be a postgres:// URL")
        }
        self.store = store
    }

    /// Reads the file of named tokens, if there is one.
    /// - Throws: An error with one line of text, without any token, if the file is invalid.
    public func readTokensFile() throws(StartError) -> [NamedToken] {
        guard let tokensFile else { return [] }
        let bytes = try Self.read(tokensFile, "tokens file", limit: TokensFile.longest + 1)
        guard bytes.count <= TokensFile.longest else {
            throw StartError("tokens file \(tokensFile): it has more than \(TokensFile.longest) bytes")
        }
        do throws(TokensFile.Fault) {
            return try TokensFile.parse(bytes, shortest: servesOtherMachines ? AccessToken.shortestBeyondLoopback : 1)
        } catch {
            throw StartError("tokens file \(tokensFile), \(error)")
        }
    }

    /// Reads the file with the secrets that sign messages to webhooks, if there is one.
    /// - Throws: An error with one line of text, without any secret, if the file has none or a malformed one.
    public mutating func readWebhookSecrets() throws(StartError) {
        guard let webhookSecretFile else { return }
        guard let secrets = WebhookSecret.list(try Self.firstLine(of: webhookSecretFile, "webhook secret file")) else {
            throw StartError("webhook secret file \(webhookSecretFile): its first line must be \(WebhookSecret.accepted)")
        }
        webhookSecrets = secrets
    }

    /// Refuses a token that is too short for the address that the service binds.
    /// - Throws: An error with one line of text that recommends a longer token.
    public func checkToken() throws(StartError) {
        let least = AccessToken.shortestBeyondLoopback
        guard let token, servesOtherMachines, token.count < least else { return }
        throw StartError(
            "the token has \(token.count) characters, and other machines could guess it: --host \(host) needs \(least) or more; make"
                + " one with `openssl rand -hex 32`")
    }

    /// The contents of a file, without the byte order mark that some editors add.
    private static func read(_ path: String, _ what: String, limit: Int) throws(StartError) -> [UInt8] {
        do throws(SmallFile.Failure) {
            var bytes = try SmallFile.read(path, limit: limit, within: pipePatience)
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
            return bytes
        } catch {
            throw StartError("\(what): \(error)")
        }
    }

    private static func firstLine(of path: String, _ what: String) throws(StartError) -> String {
        let bytes = try read(path, what, limit: 8192)
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    }
}
