public import Downloads
public import HTTPClient
public import HTTPCore
public import ObjectStorage
public import System

/// Everything about a service that its user can choose. The command line documents what each option means.
public struct Configuration: Sendable {
    /// The address to bind: an IP address.
    public var host = "127.0.0.1"
    /// The port to bind, 0…65535; 0 picks a free one.
    public var port = 8080
    /// The directory that holds everything the service keeps.
    public var dataDirectory = "./pawl-data"
    /// The same, open, if it was claimed.
    public var claimedDirectory: Directory?
    /// Where part files and finished files are kept instead.
    public var downloadsDirectory: String?
    /// The database of the fleet that this service is a replica of, as libpq takes it; `nil`: records are kept in the data directory.
    public var store: String?
    /// A file whose first line is that; ``readStore()`` reads it.
    public var storeFile: String?
    /// Where a fleet keeps finished files.
    public var objects: ObjectLocation?
    /// Who asks for them.
    public var objectCredentials: ObjectCredentials?
    /// For how long a replica that is not heard of keeps its downloads.
    public var lease: Duration = .seconds(15)
    /// Whether a replica that ends leaves all of its downloads to the others, since it will not come back.
    public var leavesFleet = false
    /// Who else may read finished files.
    public var filePermissions = FilePermissions()
    /// What every API request must carry; `nil`: nothing.
    public var token: AccessToken?
    /// A file whose first line is the token; ``readToken()`` reads it.
    public var tokenFile: String?
    /// A file of more tokens, with names and scopes; ``readTokensFile()`` reads it.
    public var tokensFile: String?
    /// Whether clients of aria2 find nothing at `/jsonrpc`.
    public var leavesOutAria2 = false
    /// Whether other machines may be served without a token.
    public var allowsAnonymous = false
    /// The key of the signature on webhooks.
    public var webhookSecret: String?
    /// A file whose first line is that key; ``readWebhookSecret()`` reads it.
    public var webhookSecretFile: String?
    /// Downloads that transfer at once.
    public var maxConcurrent = 8
    /// Of those, downloads from one origin.
    public var maxPerHost = 4
    /// Most connections for one large file.
    public var segments = 4
    /// Bytes per second over all downloads; 0 is no limit.
    public var speedLimit: Int64 = 0
    /// Limits over all downloads for certain times of the week; `nil` if none was given, rather than what `PATCH /settings` kept.
    public var speedSchedule: SpeedSchedule?
    /// Which of the four numbers above were given, rather than left at their defaults: only those win over what `PATCH /settings` kept.
    public var explicitSettings: Set<ServiceSettings.Name> = []
    /// Bytes that have to stay free on the disk for anything new to start; 0: that does not matter.
    public var minFree: Int64 = 0
    /// Bytes that all files may take for anything new to start; 0 is no limit.
    public var quota: Int64 = 0
    /// For how long what has ended is kept.
    public var retention = Retention()
    /// Whether special-use addresses may be downloaded from.
    public var allowsPrivate = false
    /// Destinations that may always be downloaded from.
    public var allowedDestinations: [DestinationRule] = []
    /// Destinations that must not be reached, whatever else allows them.
    public var deniedDestinations: [DestinationRule] = []
    /// What downloads, searches and webhooks are sent through.
    public var proxy: Proxy?
    /// Destinations that are asked directly, although there is a proxy.
    public var directDestinations: [DestinationRule] = []
    /// Browser origins that may call the API.
    public var corsOrigins: [AllowedOrigin] = []
    /// `Host` values that are accepted besides the loopback names and the bound address.
    public var allowedHosts: [AllowedHost] = []
    /// Requests per second that one client's address may send; 0 is no limit.
    public var rateLimit = 0
    /// Connections that one client's address may have open; 0 is no limit. `nil`: half of all, but no limit for this machine and for
    /// trusted proxies.
    public var maxConnectionsPerAddress: Int?
    /// Where proxies connect from that are believed what they say of the client.
    public var trustedProxies: [AddressBlock] = []
    /// What stands before every path.
    public var basePath = PathPrefix.none
    /// The path of a Unix socket to listen on besides; `nil` for none.
    public var unixSocket: String?
    /// Seconds for which requests are still taken after the signal to end, while `/readyz` says no.
    public var drainDelay = 0
    /// Base of the iTunes Search API.
    public var itunesURL: HTTPURL
    /// Base of the JSONPlaceholder API.
    public var postsURL: HTTPURL
    /// Base of the Internet Archive.
    public var archiveURL: HTTPURL
    /// A PEM bundle for TLS verification; `nil` takes the system's.
    public var caFile: String?
    /// The least severe lines that are logged.
    public var logLevel = LogLevel.info
    /// Whether the log has a line for each request at `info`, rather than at `debug`.
    public var logsRequests = false
    /// How a line of the log is written.
    public var logFormat = LogFormat.text

    /// The defaults.
    public init() {
        itunesURL = HTTPURL(.https, host: "itunes.apple.com")
        postsURL = HTTPURL(.https, host: "jsonplaceholder.typicode.com")
        archiveURL = HTTPURL(.https, host: "archive.org")
    }

    /// Whether it is one of the replicas of a fleet.
    public var isReplica: Bool { store != nil || storeFile != nil }

    /// Whether requests must carry a token.
    public var needsToken: Bool { token != nil || tokenFile != nil || tokensFile != nil }

    /// Whether other machines reach the address to bind: any but 127.0.0.0/8 and ::1.
    public var servesOtherMachines: Bool {
        switch IPAddress(parsing: host) {
        case .v4(let bits): bits >> 24 != 127
        case .v6(let bits): bits != 1
        case nil: host != "localhost"
        }
    }

    /// Whether a proxy may let other machines in, although nobody has said that they need no token.
    public var isOpenBehindProxy: Bool {
        !needsToken && !allowsAnonymous && (unixSocket != nil || !trustedProxies.isEmpty)
    }

    /// Decides where downloads and searches may connect to.
    public var destinationGuard: DestinationGuard {
        DestinationGuard(allowsPrivate: allowsPrivate, allowed: allowedDestinations, denied: deniedDestinations)
    }
}
