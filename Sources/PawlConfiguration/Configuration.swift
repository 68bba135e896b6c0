public import Downloads
public import HTTPClient
public import HTTPCore
public import HTTPServer

/// The user's configuration of a service. The command line documents each option.
public struct Configuration: Sendable {
    /// The server. By default it listens on both loopback addresses.
    public var server = ServerConfiguration()
    /// The client for downloads, searches and webhooks; ``makeClient()`` adds the credentials for origins.
    public var client = ClientConfiguration()
    /// The downloads.
    public var downloads = DownloadsConfiguration(dataDirectory: "./pawl-data", destinationGuard: DestinationGuard())
    /// A file whose first line is the database's URL; ``readStore()`` reads it.
    public var storeFile: String?
    /// The token that API requests must carry; `nil` if it is in a file or none is required.
    public var token: AccessToken?
    /// A file whose first line is the token; ``readToken()`` reads it.
    public var tokenFile: String?
    /// A file of further tokens with names and scopes; ``readTokensFile()`` reads it.
    public var tokensFile: String?
    /// Whether `/jsonrpc` is disabled.
    public var leavesOutAria2 = false
    /// Whether other machines may be served without a token.
    public var allowsAnonymous = false
    /// The secrets that sign messages to webhooks, side by side; none if messages are not signed.
    public var webhookSecrets: [WebhookSecret] = []
    /// A file whose first line has the secrets that sign messages to webhooks; ``readWebhookSecrets()`` reads it.
    public var webhookSecretFile: String?
    /// A file with user names and passwords of origins in netrc's format; ``readNetrc()`` reads it.
    public var netrcFile: String?
    /// A file with cookies for origins in the Netscape format; ``readCookies()`` reads it.
    public var cookieFile: String?
    /// A file with fields for origins; ``readHeaders()`` reads it.
    public var headerFile: String?
    /// The User-Agent of requests for origins; `nil` for the program's.
    public var userAgent: String?
    /// Browser origins that may call the API.
    public var corsOrigins: [AllowedOrigin] = []
    /// `Host` values that are accepted in addition to the loopback names and the bound address.
    public var allowedHosts: [AllowedHost] = []
    /// The maximum number of requests per second from one client address; 0 means unlimited.
    public var rateLimit = 0
    /// Seconds for which requests are still accepted after the signal to end, while `/readyz` responds 503.
    public var drainDelay = 0
    /// Base of the iTunes Search API.
    public var itunesURL = HTTPURL(.https, host: "itunes.apple.com")
    /// Base of the JSONPlaceholder API.
    public var postsURL = HTTPURL(.https, host: "jsonplaceholder.typicode.com")
    /// Base of the Internet Archive.
    public var archiveURL = HTTPURL(.https, host: "archive.org")
    /// The minimum severity of logged lines.
    public var logLevel = LogLevel.info
    /// Whether the log has a line for each request at `info`, rather than at `debug`.
    public var logsRequests = false
    /// The format of log lines.
    public var logFormat = LogFormat.text

    /// Creates the default configuration.
    public init() {
        server.host = "localhost"
        server.port = 8080
        client.userAgent = Program.userAgent
    }

    /// Whether the service is a replica of a fleet.
    public var isReplica: Bool { downloads.database != nil || storeFile != nil }

    /// Whether requests must carry a token.
    public var needsToken: Bool { token != nil || tokenFile != nil || tokensFile != nil }

    /// Whether other machines can reach the address to bind: any but 127.0.0.0/8 and ::1.
    public var servesOtherMachines: Bool {
        switch IPAddress(parsing: server.host) {
        case .v4(let bits): bits >> 24 != 127
        case .v6(let bits): bits != 1
        case nil: server.host != "localhost"
        }
    }

    /// Whether a proxy may let other machines in without a token, and the user has not allowed that explicitly.
    public var isOpenBehindProxy: Bool {
        !needsToken && !allowsAnonymous && (server.unixSocket != nil || !server.ingress.trustedProxies.isEmpty)
    }

    /// The prefix of every path.
    public var basePath: PathPrefix { server.ingress.basePath }

    /// Creates the client for downloads, searches and webhooks.
    /// - Throws: An error with one line of text if the certificate bundle or a file of credentials is invalid, or the
    ///   system lacks something.
    public func makeClient() throws(StartError) -> HTTPClient {
        var settings = client
        settings.credentials = try readCredentials()
        do throws(ClientError) {
            return try HTTPClient(configuration: settings)
        } catch {
            throw StartError(error.message)
        }
    }
}
