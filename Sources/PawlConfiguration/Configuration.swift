public import DownloadCore
public import HTTPClient
public import HTTPCore
public import ObjectStorage
public import System

/// The user's configuration of a service. The command line documents each option.
public struct Configuration: Sendable {
    /// The IP address to bind, or `localhost` for both loopback addresses.
    public var host = "localhost"
    /// The port to bind, 0…65535; 0 picks a free one.
    public var port = 8080
    /// The data directory.
    public var dataDirectory = "./pawl-data"
    /// The opened data directory, if it was claimed; `nil` otherwise.
    public var claimedDirectory: Directory?
    /// The directory for part files and finished files; `nil` for the data directory.
    public var downloadsDirectory: String?
    /// The URL of the fleet's database; `nil` if records are kept in the data directory.
    public var store: String?
    /// A file whose first line is the database's URL; ``readStore()`` reads it.
    public var storeFile: String?
    /// The bucket for a fleet's finished files; `nil` if there is none.
    public var objects: ObjectLocation?
    /// The credentials for the bucket.
    public var objectCredentials: ObjectCredentials?
    /// The time for which a replica keeps its downloads without renewing its lease.
    public var lease: Duration = .seconds(15)
    /// Whether a replica that ends releases all of its downloads to the others, since it will not return.
    public var leavesFleet = false
    /// The permissions of finished files.
    public var filePermissions = FilePermissions()
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
    /// The default webhooks that the user gave; `nil` for those stored by `PATCH /settings`.
    public var webhooks: [HTTPURL]?
    /// The types of messages that default webhooks receive.
    public var webhookTypes = WebhookMessageType.selectable
    /// The secrets that sign messages to webhooks, side by side; none if messages are not signed.
    public var webhookSecrets: [WebhookSecret] = []
    /// A file whose first line has the secrets that sign messages to webhooks; ``readWebhookSecrets()`` reads it.
    public var webhookSecretFile: String?
    /// The maximum number of downloads that transfer at once.
    public var maxConcurrent = 8
    /// The maximum number of downloads that transfer from one origin at once.
    public var maxPerHost = 4
    /// The maximum number of connections for one large file.
    public var segments = 4
    /// The limit of all downloads together, in bytes per second; 0 means unlimited.
    public var speedLimit: Int64 = 0
    /// Limits of all downloads together for certain times of the week; `nil` to keep the schedule set by `PATCH
    /// /settings`.
    public var speedSchedule: SpeedSchedule?
    /// The settings among the four above that the user gave. Only these override values stored by `PATCH /settings`.
    public var explicitSettings: Set<ServiceSettings.Name> = []
    /// The longest wait for a connection of a download; `nil` means no limit.
    public var connectTimeout: Duration? = .seconds(15)
    /// The longest wait for the head of an origin's response; `nil` means no limit.
    public var responseTimeout: Duration? = .seconds(60)
    /// The longest time without a byte of a download; `nil` means no limit.
    public var stallTimeout: Duration? = .seconds(30)
    /// The choice of when failed attempts of downloads are repeated.
    public var retry = RetryChoice()
    /// Whether finished files get the modification times of their origins.
    public var remoteTime = false
    /// Whether mirrors that origins announce are not used.
    public var ignoresAnnouncedMirrors = false
    /// The bytes that must stay free on the disk for a download to start; 0 means no minimum.
    public var minFree: Int64 = 0
    /// The total bytes of all files beyond which no download starts; 0 means unlimited.
    public var quota: Int64 = 0
    /// The time for which ended downloads are kept.
    public var retention = Retention()
    /// Whether downloads may connect to special-use addresses, such as addresses of private networks.
    public var allowsPrivate = false
    /// Destinations that are always allowed.
    public var allowedDestinations: [DestinationRule] = []
    /// Destinations that are refused even if another rule allows them.
    public var deniedDestinations: [DestinationRule] = []
    /// The proxy for downloads, searches and webhooks; `nil` if there is none.
    public var proxy: Proxy?
    /// Destinations that are reached without the proxy.
    public var directDestinations: [DestinationRule] = []
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
    /// The maximum number of connections from one client address; 0 means unlimited. `nil`: half of all connections,
    /// but unlimited for this machine and for trusted proxies.
    public var maxConnectionsPerAddress: Int?
    /// The addresses of proxies whose statements about the client are trusted.
    public var trustedProxies: [AddressBlock] = []
    /// The prefix of every path.
    public var basePath = PathPrefix.none
    /// The path of an additional Unix socket to listen on; `nil` for none.
    public var unixSocket: String?
    /// Seconds for which requests are still accepted after the signal to end, while `/readyz` responds 503.
    public var drainDelay = 0
    /// Base of the iTunes Search API.
    public var itunesURL: HTTPURL
    /// Base of the JSONPlaceholder API.
    public var postsURL: HTTPURL
    /// Base of the Internet Archive.
    public var archiveURL: HTTPURL
    /// A PEM bundle for TLS verification; `nil` for the system's.
    public var caFile: String?
    /// The minimum severity of logged lines.
    public var logLevel = LogLevel.info
    /// Whether the log has a line for each request at `info`, rather than at `debug`.
    public var logsRequests = false
    /// The format of log lines.
    public var logFormat = LogFormat.text

    /// Creates the default configuration.
    public init() {
        itunesURL = HTTPURL(.https, host: "itunes.apple.com")
        postsURL = HTTPURL(.https, host: "jsonplaceholder.typicode.com")
        archiveURL = HTTPURL(.https, host: "archive.org")
    }

    /// Whether the service is a replica of a fleet.
    public var isReplica: Bool { store != nil || storeFile != nil }

    /// Whether requests must carry a token.
    public var needsToken: Bool { token != nil || tokenFile != nil || tokensFile != nil }

    /// Whether other machines can reach the address to bind: any but 127.0.0.0/8 and ::1.
    public var servesOtherMachines: Bool {
        switch IPAddress(parsing: host) {
        case .v4(let bits): bits >> 24 != 127
        case .v6(let bits): bits != 1
        case nil: host != "localhost"
        }
    }

    /// Whether a proxy may let other machines in without a token, and the user has not allowed that explicitly.
    public var isOpenBehindProxy: Bool {
        !needsToken && !allowsAnonymous && (unixSocket != nil || !trustedProxies.isEmpty)
    }

    /// The guard of the destinations of downloads, searches and webhooks.
    public var destinationGuard: DestinationGuard {
        DestinationGuard(allowsPrivate: allowsPrivate, allowed: allowedDestinations, denied: deniedDestinations)
    }
}
