internal import Downloads
public import HTTPClient
internal import HTTPServer
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
        downloads.database = store
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

    /// Reads the file with user names and passwords of origins; the result is empty without one.
    /// - Throws: An error with one line of text, without any word of the file, if the file is invalid.
    public func readNetrc() throws(StartError) -> NetrcFile {
        try Self.parse(netrcFile, "netrc file", NetrcFile()) { bytes throws(CredentialFault) in try NetrcFile(parsing: bytes) }
    }

    /// Reads the file with cookies for origins, as ``readNetrc()`` does.
    public func readCookies() throws(StartError) -> CookieFile {
        try Self.parse(cookieFile, "cookie file", CookieFile()) { bytes throws(CredentialFault) in try CookieFile(parsing: bytes)
        }
    }

    /// Reads the file with fields for origins, as ``readNetrc()`` does.
    public func readHeaders() throws(StartError) -> HeaderFile {
        try Self.parse(headerFile, "header file", HeaderFile()) { bytes throws(CredentialFault) in try HeaderFile(parsing: bytes)
        }
    }

    /// Reads the files with credentials for origins.
    /// - Throws: The errors of ``readNetrc()``.
    func readCredentials() throws(StartError) -> OriginCredentials {
        var credentials = OriginCredentials()
        credentials.userAgent = userAgent
        credentials.netrc = try readNetrc()
        credentials.cookies = try readCookies()
        credentials.headers = try readHeaders()
        return credentials
    }

    private static func parse<Contents>(
        _ path: String?, _ what: String, _ none: Contents, _ body: ([UInt8]) throws(CredentialFault) -> Contents
    ) throws(StartError) -> Contents {
        guard let path else { return none }
        let limit = CredentialLimits.fileBytes
        let bytes = try read(path, what, limit: limit + 1, refusingOthers: true)
        guard bytes.count <= limit else { throw StartError("\(what) \(path): it has more than \(limit) bytes") }
        do throws(CredentialFault) {
            return try body(bytes)
        } catch {
            throw StartError("\(what) \(path), \(error)")
        }
    }

    /// Refuses a token that is too short for the address that the service binds.
    /// - Throws: An error with one line of text that recommends a longer token.
    public func checkToken() throws(StartError) {
        let least = AccessToken.shortestBeyondLoopback
        guard let token, servesOtherMachines, token.count < least else { return }
        throw StartError(
            "the token has \(token.count) characters, and other machines could guess it: --host \(server.host) needs \(least) or more; make"
                + " one with `openssl rand -hex 32`")
    }

    /// The contents of a file, without the byte order mark that some editors add.
    /// - Parameter refusesOthers: Whether a file that all users can read is refused.
    private static func read(
        _ path: String, _ what: String, limit: Int, refusingOthers refusesOthers: Bool = false
    ) throws(StartError) -> [UInt8] {
        do throws(SmallFile.Failure) {
            var bytes = try SmallFile.read(
                path, limit: limit, within: pipePatience, refusingOthers: refusesOthers)
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
