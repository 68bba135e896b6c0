internal import Downloads
internal import DownloadCore
internal import HTTPClient
internal import HTTPCore
internal import HTTPServer
internal import ObjectStorage
internal import PawlConfiguration

/// All options, in the order of the help.
package enum OptionTable {
    /// The options of a command.
    static func options(of command: CommandName) -> [Option] { options(ofAny: [command]) }

    /// The options of at least one of these commands.
    package static func options(ofAny commands: Set<CommandName>) -> [Option] {
        all.filter { !$0.commands.isDisjoint(with: commands) }
    }

    static let all: [Option] = services + get + client + subscribing + check

    private static let check: [Option] = [
        Option("repair", .toggle, "repair faults, as far as possible", commands: [.check], \.repairs),
        Option(
            "deep", .toggle, "read the objects of a fleet, to compare their SHA-256 with the records", commands: [.check],
            \.isDeep),
    ]

    /// The commands that transfer files.
    private static let transferring = CommandName.services.union([.get])
    private static let listening = CommandName.services.union([.health])
    private static let clients = CommandName.services.union(CommandName.clients)

    /// The options of services. Other commands have some of them as well.
    private static let services: [Option] = [
        Option(
            "host", ValueForm(placeholder: "ADDRESS", accepts: "an IP address or localhost", read: bindableHost),
            default: "localhost",
            "address to bind, with localhost for 127.0.0.1 and ::1; any address but loopback needs --token, --token-file, --tokens-file or --no-auth",
            commands: listening, \.configuration.server.host),
        Option(
            "port", .number(0...65535), default: "8080", "port to bind; 0 picks a free one", commands: listening,
            \.configuration.server.port),
        Option(
            "data-dir", .directory, default: "./pawl-data, or ./pawl-demo of pawl demo",
            "directory for all data of the service", commands: [.serve, .demo, .check, .backup],
            \.configuration.downloads.dataDirectory),
        Option(
            "downloads-dir", .directory, default: "the directory of --data-dir",
            "directory for part files and finished files, such as one on another volume", commands: [.serve, .demo, .check],
            \.configuration.downloads.downloadsDirectory),
        Option(
            "store",
            ValueForm(placeholder: "URL", accepts: "a postgres:// URL in libpq's form") { Configuration.isStore($0) ? $0 : nil },
            default: "none: SQLite in --data-dir", "database that replicas share; needs --files", commands: [.serve, .check],
            \.configuration.downloads.database
        )
        .with(\.isSecret, true).replacing { $0.configuration.storeFile = nil },
        Option(
            "store-file", .path, "file whose first line is the URL of the database", commands: [.serve, .check],
            \.configuration.storeFile
        )
        .replacing { $0.configuration.downloads.database = nil },
        Option(
            "files", ValueForm(placeholder: "URL", accepts: ObjectLocation.form) { try? ObjectLocation(parsing: $0) },
            default: "none: --downloads-dir",
            "object storage for the finished files of all replicas, with the keys in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY"
                + " and AWS_SESSION_TOKEN; needs --store",
            commands: [.serve, .check], \.configuration.downloads.objects),
        Option(
            "lease", .span(3...3600, "3s to 1h"), default: "15s",
            "time after which other replicas take over the downloads of a silent replica; choose more than a restart takes",
            commands: [.serve], \.configuration.downloads.lease),
        Option(
            "leave", .toggle, "release all downloads to other replicas at the end; for a replica that is not started again",
            commands: [.serve], \.configuration.downloads.leavesFleet),
        Option(
            "file-mode", .mode("from 0600 to 0666, without a right to execute", needing: 0o600, within: 0o666), default: "0600",
            "mode of finished files, regardless of the umask", \.configuration.downloads.filePermissions.file),
        Option(
            "directory-mode", .mode("from 0700 to 0777, or from 2700 to 2777", needing: 0o700, within: 0o2777), default: "0700",
            "mode of files/ and of the directories in it", \.configuration.downloads.filePermissions.directory),
        Option(
            "token",
            ValueForm(placeholder: "TOKEN", accepts: "1 to 4096 visible ASCII characters without spaces") { AccessToken($0) },
            "bearer token that every API request must carry; at least 16 characters if other machines are served",
            commands: clients, \.configuration.token
        )
        .with(\.isSecret, true).replacing { $0.configuration.tokenFile = nil },
        Option("token-file", .path, "file whose first line is the token", commands: clients, \.configuration.tokenFile)
            .replacing { $0.configuration.token = nil },
        Option(
            "tokens-file", .path,
            "file of further tokens, one on a line: name, scope (full, read or metrics), and the token or sha256:<64 hex>",
            \.configuration.tokensFile),
        Option("no-auth", .toggle, "serve other machines without a token", \.configuration.allowsAnonymous),
        Option("no-aria2", .toggle, "disable aria2's RPC at /jsonrpc and /rpc", \.configuration.leavesOutAria2),
        Option(
            "webhook",
            ValueForm(placeholder: "URL", accepts: "an http or https URL, at most \(DefaultWebhooks.limit) times") {
                HTTPURL($0)
            },
            "URL that receives a message when any download ends, a subscription fails, or the service is degraded"
        ) { invocation, url in
            let urls = (invocation.configuration.downloads.webhooks ?? []) + [url]
            invocation.configuration.downloads.webhooks = urls
            return urls.count <= DefaultWebhooks.limit
        }
        .with(\.isSecret, true).with(\.isRepeatable, true).with(\.separator, " "),
        Option(
            "webhook-events",
            ValueForm(
                placeholder: "TYPES",
                accepts: "types with commas between them, of "
                    + WebhookMessageType.selectable.map(\.rawValue).joined(separator: ", ")
            ) { text in
                let names = Set(text.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
                let types = WebhookMessageType.selectable.filter { names.contains($0.rawValue) }
                return types.count == names.count ? types : nil
            },
            default: "all", "types of the messages that --webhook receives, with commas between them",
            \.configuration.downloads.webhookTypes),
        Option(
            "webhook-secret", ValueForm(placeholder: "SECRET", accepts: WebhookSecret.accepted) { WebhookSecret.list($0) },
            "secret that signs messages to webhooks (Standard Webhooks)", \.configuration.webhookSecrets
        )
        .with(\.isSecret, true).replacing { $0.configuration.webhookSecretFile = nil },
        Option(
            "webhook-secret-file", .path, "file whose first line is the secret that signs messages to webhooks",
            \.configuration.webhookSecretFile
        )
        .replacing { $0.configuration.webhookSecrets = [] },
        Option(
            "max-concurrent", .number(1...1000), default: "8", "maximum number of downloads that transfer at once",
            commands: transferring, \.configuration.downloads.maxConcurrent
        )
        .with(\.setting, .maxConcurrent),
        Option(
            "max-per-host", .number(1...1000), default: "4",
            "maximum number of downloads that transfer from one origin (host and port) at once", commands: transferring,
            \.configuration.downloads.maxPerHost
        )
        .with(\.setting, .maxPerHost),
        Option(
            "segments", .number(1...16), default: "4",
            "maximum number of connections for one large file; files under 8 MiB use one", commands: transferring,
            \.configuration.downloads.segments
        )
        .with(\.setting, .segments).with(\.short, "x"),
        Option(
            "speed-limit", .rate, default: "0", "bytes per second for all downloads together; 0 is unlimited",
            \.configuration.downloads.speedLimit
        )
        .with(\.setting, .speedLimit),
        Option(
            "connect-timeout", .limit, default: "15s", "longest wait for a connection to an origin; 0 is no limit",
            commands: transferring, \.configuration.downloads.connectTimeout),
        Option(
            "response-timeout", .limit, default: "60s",
            "longest wait for the head of a response; at least 5 minutes if the download cannot resume; 0 is no limit",
            commands: transferring, \.configuration.downloads.headTimeout),
        Option(
            "stall-timeout", .limit, default: "30s",
            "longest time without a byte; at least 5 minutes if the download cannot resume; 0 is no limit",
            commands: transferring, \.configuration.downloads.stallTimeout),
        Option(
            "retry",
            ValueForm(
                placeholder: "N",
                accepts: "a whole number from 0 to \(RetryChoice.attemptLimits.upperBound), or forever"
            ) { $0 == "forever" ? RetryChoice.forEver : ValueForm.number(RetryChoice.attemptLimits).read($0) },
            default: "8",
            "attempts in a row without new bytes after which a download fails; 0 for no retries; pawl get, which otherwise fails at"
                + " once if an origin cannot be reached at first, takes it without a number as well",
            commands: transferring, \.configuration.downloads.retry.attempts
        )
        .with(\.valueAlone, "8"),
        Option(
            "retry-wait",
            ValueForm(placeholder: "TIME", accepts: TimeSpan.acceptedLimit + ", and not 0") { RetryChoice.seconds($0) },
            default: "60s",
            "longest delay between two attempts; delays begin at a second, double, and are never shorter than an origin asks",
            commands: transferring, \.configuration.downloads.retry.longestDelay),
        Option(
            "retry-status",
            ValueForm(placeholder: "STATUS", accepts: "a status from 400 to 599, at most \(RetryChoice.maximumStatuses) times") {
                Int($0)
            },
            "status of an origin after which a download is retried, such as 404, besides the statuses that are retried anyway",
            commands: transferring
        ) { invocation, status in
            let statuses = (invocation.configuration.downloads.retry.statuses ?? []) + [status]
            invocation.configuration.downloads.retry.statuses = statuses
            return RetryChoice.failures.contains(status) && statuses.count <= RetryChoice.maximumStatuses
        }
        .with(\.isRepeatable, true),
        Option(
            "remote-time", .toggle, "give finished files the modification times of their origins (Last-Modified)",
            commands: transferring, \.configuration.downloads.remoteTime),
        Option(
            "no-announced-mirrors", .toggle, "do not use mirrors that origins announce together with a digest (RFC 6249)",
            commands: transferring, \.configuration.downloads.ignoresAnnouncedMirrors),
        Option(
            "min-free", .size, default: "0", "free bytes on the disk below which no download starts; 0 is no minimum",
            \.configuration.downloads.minFree),
        Option(
            "quota", .size, default: "0",
            "bytes of all files beyond which no download starts; started downloads may exceed it; 0 is unlimited",
            \.configuration.downloads.quota),
        Option(
            "keep-completed", .span, default: "for ever", "time for which the records of completed downloads are kept",
            \.configuration.downloads.retention.completed),
        Option(
            "keep-ended", .span, default: "for ever", "time for which the records of failed and cancelled downloads are kept",
            \.configuration.downloads.retention.ended),
        Option(
            "delete-expired-files", .toggle, "delete finished files together with the records that --keep-completed removes",
            \.configuration.downloads.retention.deletesFiles),
        Option(
            "speed-schedule",
            ValueForm(placeholder: "ENTRY", accepts: SpeedSchedule.Entry.accepted) { text in
                text.utf8.count > SpeedSchedule.longestEntry ? nil : try? SpeedSchedule.Entry(parsing: text)
            },
            "speed limit at certain local times, in place of --speed-limit; the first matching entry applies"
        ) { invocation, entry in
            let entries = (invocation.configuration.downloads.speedSchedule?.entries ?? []) + [entry]
            invocation.configuration.downloads.speedSchedule = SpeedSchedule(entries)
            return entries.count <= SpeedSchedule.maximumEntries
        }
        .with(\.isRepeatable, true).with(\.separator, ";"),
        Option(
            "allow-private", .toggle,
            "allow destinations on loopback, private, link-local and other special-use addresses, and in this machine's own networks",
            commands: transferring, \.configuration.downloads.destinationGuard.allowsPrivate),
        Option(
            "allow-destination", .destination, "destination that is always allowed", commands: transferring,
            adding: \.configuration.downloads.destinationGuard.allowed),
        Option(
            "deny-destination", .destination, "destination that is refused, even if another option allows it",
            commands: transferring, adding: \.configuration.downloads.destinationGuard.denied),
        Option(
            "proxy",
            ValueForm(
                placeholder: "URL", accepts: "an http, https or socks5h URL of a proxy, optionally with user and password"
            ) { Proxy(parsing: $0) },
            "proxy for downloads, searches and webhooks; variables such as http_proxy are ignored", commands: transferring,
            \.configuration.client.proxy
        )
        .with(\.isSecret, true),
        Option(
            "no-proxy", .destination, "destination that is reached without the proxy", commands: transferring,
            adding: \.configuration.client.directDestinations),
        Option(
            "netrc-file", .path,
            "file with user names and passwords of origins in netrc's format, with mode 0600, for Basic and Digest",
            commands: transferring, \.configuration.netrcFile),
        Option(
            "cookie-file", .path,
            "file with cookies for origins in the Netscape format, with mode 0600; it is never written", commands: transferring,
            \.configuration.cookieFile),
        Option(
            "header-file", .path,
            "file with lines HOST-PATTERN Name: value, with mode 0600, such as keys of APIs; the pattern is a host, host:port or"
                + " *.suffix",
            commands: transferring, \.configuration.headerFile),
        Option(
            "user-agent",
            .text("TEXT", accepts: "a text without control characters, of 1 to 1000 bytes") { text in
                (1...1000).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            },
            default: Program.userAgent, "User-Agent of downloads, searches and feeds", commands: transferring,
            \.configuration.userAgent),
        Option(
            "cors-origin",
            ValueForm(placeholder: "ORIGIN", accepts: "an origin such as https://example.org:8443, or * for all") {
                AllowedOrigin(parsing: $0)
            },
            "browser origin that may call the API", adding: \.configuration.corsOrigins),
        Option(
            "allowed-host",
            ValueForm(placeholder: "HOST", accepts: "a host name, *.suffix, an address, or * for all") {
                AllowedHost(parsing: $0)
            },
            default: "loopback names and the bound address", "further accepted value of Host (protects against DNS rebinding)",
            adding: \.configuration.allowedHosts),
        Option(
            "rate-limit", .number(0...1_000_000), default: "0",
            "requests per second from one client address, with bursts of twice as many; 0 is unlimited",
            \.configuration.rateLimit),
        Option(
            "max-connections-per-address", .number(0...1_000_000),
            default: "half of all connections; unlimited for this machine and trusted proxies",
            "maximum number of open connections from one client address; 0 is unlimited",
            \.configuration.server.limits.connectionsPerAddress),
        Option(
            "trusted-proxy",
            ValueForm(placeholder: "CIDR", accepts: "an address or a block such as 10.0.0.0/8") { AddressBlock(parsing: $0) },
            "proxy whose Forwarded or X-Forwarded-For, -Proto, -Host and -Prefix fields are trusted",
            adding: \.configuration.server.ingress.trustedProxies),
        Option(
            "base-path",
            ValueForm(placeholder: "PATH", accepts: "/ or a path such as /pawl, of letters, digits, -, ., _ and ~") {
                PathPrefix(parsing: $0)
            },
            default: "/", "prefix of every path and link; /healthz and /readyz are also at the root",
            \.configuration.server.ingress.basePath),
        Option(
            "unix-socket", .path("PATH", accepts: "a path of at most 107 bytes", limit: 107),
            "additional Unix socket to listen on, for a proxy on this machine, which is trusted",
            \.configuration.server.unixSocket),
        Option(
            "drain-delay", .number(0...60), default: "0",
            "seconds for which requests are still accepted after the signal to end, while /readyz responds with 503",
            \.configuration.drainDelay),
        Option(
            "itunes-url", .base("a query"), default: "https://itunes.apple.com", "base URL of the iTunes Search API",
            \.configuration.itunesURL),
        Option(
            "posts-url", .base("a query"), default: "https://jsonplaceholder.typicode.com", "base URL of the JSONPlaceholder API",
            \.configuration.postsURL),
        Option(
            "archive-url", .base("a query"), default: "https://archive.org", "base URL of the Internet Archive",
            \.configuration.archiveURL),
        Option(
            "ca-file", .path, default: "the system's certificates", "PEM bundle of certificates for TLS verification",
            commands: clients.union([.get]), \.configuration.client.caFile),
        Option(
            "log-level", .choice, default: "info, or warning of pawl get",
            "minimum severity of the log lines on standard error", commands: transferring, \.configuration.logLevel),
        Option(
            "access-log", .toggle, "log each request at level info, with its status, its duration and the name of its token",
            \.configuration.logsRequests),
        Option("log-format", .choice, default: "text", "format of log lines", \.configuration.logFormat),
    ]

    /// The address to bind, without brackets, or `localhost`; `nil` if the text is neither an IP address nor `localhost`.
    @Sendable private static func bindableHost(_ text: String) -> String? {
        if text.lowercased() == "localhost" { return "localhost" }
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        return IPAddress(parsing: bare)?.description
    }

    static func isPath(_ text: String) -> Bool {
        !text.isEmpty && !text.utf8.contains(0)
    }
}
