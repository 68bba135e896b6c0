internal import DownloadCore
internal import HTTPClient
internal import HTTPCore
internal import ObjectStorage
internal import PawlConfiguration

/// All options, in the order of the help.
enum OptionTable {
    /// The options of a command.
    static func options(of command: CommandName) -> [Option] {
        all.filter { $0.commands.contains(command) }
    }

    static let all: [Option] = services + get + client + subscribing + check

    private static let check: [Option] = [
        flag("repair", "repair faults, as far as possible", \.repairs),
        flag("deep", "read the objects of a fleet, to compare their SHA-256 with the records", \.isDeep),
    ]

    /// An option of `check` without a value.
    private static func flag(
        _ name: String, _ help: String, _ property: any WritableKeyPath<Invocation, Bool> & Sendable
    ) -> Option {
        Option(
            name, nil, accepts: "true or false", default: "off", help, isInEnvironment: false, commands: [.check]
        ) { invocation, value in
            guard ["true", "false"].contains(value) else { return false }
            invocation[keyPath: property] = value == "true"
            return true
        }
    }

    /// The options of services. `get` has some of them as well.
    private static let services: [Option] = [
        Option(
            "host", "ADDRESS", accepts: "an IP address or localhost", default: "localhost",
            "address to bind, with localhost for 127.0.0.1 and ::1; any address but loopback needs --token, --token-file, --tokens-file or --no-auth",
            commands: [.serve, .demo, .health]
        ) { invocation, value in
            guard let host = bindableHost(value) else { return false }
            invocation.configuration.host = host
            return true
        },
        .number(
            "port", 0...65535, default: "8080", "port to bind; 0 picks a free one", commands: [.serve, .demo, .health], \.port),
        Option(
            "data-dir", "PATH", accepts: "a path", default: "./pawl-data, or ./pawl-demo of pawl demo",
            "directory for all data of the service", commands: [.serve, .demo, .check, .backup]
        ) { invocation, value in
            guard isPath(value) else { return false }
            invocation.configuration.dataDirectory = value
            return true
        }
        .completed(from: .directory),
        .path(
            "downloads-dir", default: "the directory of --data-dir",
            "directory for part files and finished files, such as one on another volume",
            commands: [.serve, .demo, .check], \.downloadsDirectory
        )
        .completed(from: .directory),
        Option(
            "store", "URL", accepts: "a postgres:// URL in libpq's form", default: "none: SQLite in --data-dir",
            "database that replicas share; needs --files", isSecret: true, commands: [.serve, .check]
        ) { invocation, value in
            guard Configuration.isStore(value) else { return false }
            invocation.configuration.store = value
            invocation.configuration.storeFile = nil
            return true
        },
        .path("store-file", "file whose first line is the URL of the database", commands: [.serve, .check], \.storeFile) {
            $0.store = nil
        },
        Option(
            "files", "URL", accepts: ObjectLocation.form, default: "none: --downloads-dir",
            "object storage for the finished files of all replicas, with the keys in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY"
                + " and AWS_SESSION_TOKEN; needs --store",
            commands: [.serve, .check]
        ) { invocation, value in
            guard let location = try? ObjectLocation(parsing: value) else { return false }
            invocation.configuration.objects = location
            return true
        },
        Option(
            "lease", "TIME", accepts: "\(TimeSpan.accepted), from 3s to 1h", default: "15s",
            "time after which other replicas take over the downloads of a silent replica; choose more than a restart takes",
            commands: [.serve]
        ) { invocation, value in
            guard let lease = TimeSpan.parse(value), (.seconds(3) ... .seconds(3600)).contains(lease) else { return false }
            invocation.configuration.lease = lease
            return true
        },
        .toggle(
            "leave", "release all downloads to other replicas at the end; for a replica that is not started again",
            commands: [.serve], \.leavesFleet),
        .permissions(
            "file-mode", accepts: "three or four octal digits from 0600 to 0666, without a right to execute", default: "0600",
            "mode of finished files, regardless of the umask", needing: 0o600, within: 0o666, \.filePermissions.file),
        .permissions(
            "directory-mode", accepts: "three or four octal digits from 0700 to 0777, or from 2700 to 2777", default: "0700",
            "mode of files/ and of the directories in it", needing: 0o700, within: 0o2777,
            \.filePermissions.directory),
        Option(
            "token", "TOKEN", accepts: "1 to 4096 visible ASCII characters without spaces", default: "none",
            "bearer token that every API request must carry; at least 16 characters if other machines are served",
            isSecret: true,
            commands: CommandName.services.union(CommandName.clients)
        ) { invocation, value in
            guard let token = AccessToken(value) else { return false }
            invocation.configuration.token = token
            invocation.configuration.tokenFile = nil
            return true
        },
        .path(
            "token-file", "file whose first line is the token", commands: CommandName.services.union(CommandName.clients),
            \.tokenFile
        ) { $0.token = nil },
        .path(
            "tokens-file",
            "file of further tokens, one on a line: name, scope (full, read or metrics), and the token or sha256:<64 hex>",
            \.tokensFile),
        .toggle("no-auth", "serve other machines without a token", \.allowsAnonymous),
        .toggle("no-aria2", "disable aria2's RPC at /jsonrpc and /rpc", \.leavesOutAria2),
        Option(
            "webhook", "URL", accepts: "an http or https URL, at most \(DefaultWebhooks.limit) times", default: "none",
            "URL that receives a message when any download ends, a subscription fails, or the service is degraded",
            isSecret: true, isRepeatable: true
        ) { invocation, value in
            let urls = invocation.configuration.webhooks ?? []
            guard urls.count < DefaultWebhooks.limit, let url = HTTPURL(value) else { return false }
            invocation.configuration.webhooks = urls + [url]
            return true
        }
        .separated(by: " "),
        Option(
            "webhook-events", "TYPES",
            accepts: "types with commas between them, of "
                + WebhookMessageType.selectable.map(\.rawValue).joined(separator: ", "), default: "all",
            "types of the messages that --webhook receives, with commas between them"
        ) { invocation, value in
            let names = Set(value.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
            let types = WebhookMessageType.selectable.filter { names.contains($0.rawValue) }
            guard types.count == names.count else { return false }
            invocation.configuration.webhookTypes = types
            return true
        },
        Option(
            "webhook-secret", "SECRET", accepts: WebhookSecret.accepted, default: "none",
            "secret that signs messages to webhooks (Standard Webhooks)", isSecret: true
        ) { invocation, value in
            guard let secrets = WebhookSecret.list(value) else { return false }
            invocation.configuration.webhookSecrets = secrets
            invocation.configuration.webhookSecretFile = nil
            return true
        },
        .path("webhook-secret-file", "file whose first line is the secret that signs messages to webhooks", \.webhookSecretFile) {
            $0.webhookSecrets = []
        },
        .number(
            "max-concurrent", 1...1000, default: "8", "maximum number of downloads that transfer at once",
            commands: [.serve, .demo, .get],
            \.maxConcurrent),
        .number(
            "max-per-host", 1...1000, default: "4",
            "maximum number of downloads that transfer from one origin (host and port) at once",
            commands: [.serve, .demo, .get], \.maxPerHost),
        .number(
            "segments", 1...16, default: "4", "maximum number of connections for one large file; files under 8 MiB use one",
            commands: [.serve, .demo, .get], \.segments
        )
        .short("x"),
        .rate("speed-limit", "bytes per second for all downloads together; 0 is unlimited", \.configuration.speedLimit),
        .limit("connect-timeout", default: "15s", "longest wait for a connection to an origin", \.connectTimeout),
        .limit(
            "response-timeout", default: "60s",
            "longest wait for the head of a response; at least 5 minutes if the download cannot resume", \.responseTimeout),
        .limit(
            "stall-timeout", default: "30s",
            "longest time without a byte; at least 5 minutes if the download cannot resume", \.stallTimeout),
        Option(
            "retry", "N", accepts: "a whole number from 0 to \(RetryChoice.attemptLimits.upperBound), or forever", default: "8",
            "attempts in a row without new bytes after which a download fails; 0 for no retries; pawl get, which otherwise fails at"
                + " once if an origin cannot be reached at first, takes it without a number as well",
            commands: [.serve, .demo, .get]
        ) { invocation, value in
            let isNumber = !value.isEmpty && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
            guard let attempts = value == "forever" ? RetryChoice.forEver : isNumber ? Int(value) : nil,
                attempts == RetryChoice.forEver || RetryChoice.attemptLimits.contains(attempts)
            else { return false }
            invocation.configuration.retry.attempts = attempts
            return true
        }
        .alone("8"),
        Option(
            "retry-wait", "TIME", accepts: TimeSpan.acceptedLimit + ", and not 0", default: "60s",
            "longest delay between two attempts; delays begin at a second, double, and are never shorter than an origin asks",
            commands: [.serve, .demo, .get]
        ) { invocation, value in
            guard let seconds = RetryChoice.seconds(value) else { return false }
            invocation.configuration.retry.longestDelay = seconds
            return true
        },
        Option(
            "retry-status", "STATUS", accepts: "a status from 400 to 599, at most \(RetryChoice.maximumStatuses) times",
            default: "none",
            "status of an origin after which a download is retried, such as 404, besides those that may pass by"
                + " themselves", isRepeatable: true, commands: [.serve, .demo, .get]
        ) { invocation, value in
            let statuses = invocation.configuration.retry.statuses ?? []
            guard let status = Int(value), RetryChoice.failures.contains(status), statuses.count < RetryChoice.maximumStatuses
            else { return false }
            invocation.configuration.retry.statuses = statuses + [status]
            return true
        },
        .toggle(
            "remote-time", "give finished files the modification times of their origins (Last-Modified)",
            commands: [.serve, .demo, .get], \.remoteTime),
        .toggle(
            "no-announced-mirrors", "do not use mirrors that origins announce together with a digest (RFC 6249)",
            commands: [.serve, .demo, .get], \.ignoresAnnouncedMirrors),
        .size(
            "min-free", "free bytes on the disk below which no download starts; 0 is no minimum",
            \.minFree),
        .size(
            "quota", "bytes of all files beyond which no download starts; started downloads may exceed it; 0 is unlimited",
            \.quota),
        .span("keep-completed", "time for which the records of completed downloads are kept", \.retention.completed),
        .span("keep-ended", "time for which the records of failed and cancelled downloads are kept", \.retention.ended),
        .toggle(
            "delete-expired-files", "delete finished files together with the records that --keep-completed removes",
            \.retention.deletesFiles),
        Option(
            "speed-schedule", "ENTRY", accepts: SpeedSchedule.Entry.accepted, default: "none",
            "speed limit at certain local times, in place of --speed-limit; the first matching entry applies",
            isRepeatable: true
        ) { invocation, value in
            let entries = invocation.configuration.speedSchedule?.entries ?? []
            guard value.utf8.count <= SpeedSchedule.longestEntry, entries.count < SpeedSchedule.maximumEntries,
                let entry = try? SpeedSchedule.Entry(parsing: value)
            else { return false }
            invocation.configuration.speedSchedule = SpeedSchedule(entries + [entry])
            return true
        }
        .separated(by: ";"),
        .toggle(
            "allow-private",
            "allow destinations on loopback, private, link-local and other special-use addresses, and in this machine's own networks",
            commands: [.serve, .demo, .get], \.allowsPrivate),
        .destinations("allow-destination", "destination that is always allowed", \.allowedDestinations),
        .destinations("deny-destination", "destination that is refused, even if another option allows it", \.deniedDestinations),
        Option(
            "proxy", "URL", accepts: "an http, https or socks5h URL of a proxy, optionally with user and password",
            default: "none",
            "proxy for downloads, searches and webhooks; variables such as http_proxy are ignored", isSecret: true,
            commands: [.serve, .demo, .get]
        ) { invocation, value in
            guard let proxy = Proxy(parsing: value) else { return false }
            invocation.configuration.proxy = proxy
            return true
        },
        .destinations("no-proxy", "destination that is reached without the proxy", \.directDestinations),
        .path(
            "netrc-file",
            "file with user names and passwords of origins in netrc's format, with mode 0600, for Basic and Digest",
            commands: [.serve, .demo, .get], \.netrcFile),
        .path(
            "cookie-file", "file with cookies for origins in the Netscape format, with mode 0600; it is never written",
            commands: [.serve, .demo, .get], \.cookieFile),
        .path(
            "header-file",
            "file with lines HOST-PATTERN Name: value, with mode 0600, such as keys of APIs; the pattern is a host, host:port or"
                + " *.suffix",
            commands: [.serve, .demo, .get], \.headerFile),
        Option(
            "user-agent", "TEXT", accepts: "a text without control characters, of 1 to 1000 bytes",
            default: Program.userAgent, "User-Agent of downloads, searches and feeds", commands: [.serve, .demo, .get]
        ) { invocation, value in
            guard (1...1000).contains(value.utf8.count), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return false }
            invocation.configuration.userAgent = value
            return true
        },
        Option(
            "cors-origin", "ORIGIN", accepts: "an origin such as https://example.org:8443, or * for all", default: "none",
            "browser origin that may call the API", isRepeatable: true
        ) { invocation, value in
            guard let origin = AllowedOrigin(parsing: value) else { return false }
            invocation.configuration.corsOrigins.append(origin)
            return true
        },
        Option(
            "allowed-host", "HOST", accepts: "a host name, *.suffix, an address, or * for all",
            default: "loopback names and the bound address", "further accepted value of Host (protects against DNS rebinding)",
            isRepeatable: true
        ) { invocation, value in
            guard let host = AllowedHost(parsing: value) else { return false }
            invocation.configuration.allowedHosts.append(host)
            return true
        },
        .number(
            "rate-limit", 0...1_000_000, default: "0",
            "requests per second from one client address, with bursts of twice as many; 0 is unlimited", \.rateLimit),
        .number(
            "max-connections-per-address", 0...1_000_000,
            default: "half of all connections; unlimited for this machine and trusted proxies",
            "maximum number of open connections from one client address; 0 is unlimited"
        ) { $0.maxConnectionsPerAddress = $1 },
        Option(
            "trusted-proxy", "CIDR", accepts: "an address or a block such as 10.0.0.0/8", default: "none",
            "proxy whose Forwarded or X-Forwarded-For, -Proto, -Host and -Prefix fields are trusted",
            isRepeatable: true
        ) { invocation, value in
            guard let block = AddressBlock(parsing: value) else { return false }
            invocation.configuration.trustedProxies.append(block)
            return true
        },
        Option(
            "base-path", "PATH", accepts: "/ or a path such as /pawl, of letters, digits, -, ., _ and ~", default: "/",
            "prefix of every path and link; /healthz and /readyz are also at the root"
        ) { invocation, value in
            guard let prefix = PathPrefix(parsing: value) else { return false }
            invocation.configuration.basePath = prefix
            return true
        },
        Option(
            "unix-socket", "PATH", accepts: "a path of at most 107 bytes", default: "none",
            "additional Unix socket to listen on, for a proxy on this machine, which is trusted"
        ) { invocation, value in
            guard isPath(value), value.utf8.count <= 107 else { return false }
            invocation.configuration.unixSocket = value
            return true
        }
        .completed(from: .file),
        .number(
            "drain-delay", 0...60, default: "0",
            "seconds for which requests are still accepted after the signal to end, while /readyz responds with 503", \.drainDelay
        ),
        .base("itunes-url", default: "https://itunes.apple.com", "base URL of the iTunes Search API", \.itunesURL),
        .base("posts-url", default: "https://jsonplaceholder.typicode.com", "base URL of the JSONPlaceholder API", \.postsURL),
        .base("archive-url", default: "https://archive.org", "base URL of the Internet Archive", \.archiveURL),
        .path(
            "ca-file", default: "the system's certificates", "PEM bundle of certificates for TLS verification",
            commands: CommandName.services.union(CommandName.clients).union([.get]), \.caFile),
        .choice(
            "log-level", default: "info, or warning of pawl get", "minimum severity of the log lines on standard error",
            commands: [.serve, .demo, .get], \.logLevel),
        .toggle(
            "access-log", "log each request at level info, with its status, its duration and the name of its token",
            \.logsRequests),
        .choice("log-format", default: "text", "format of log lines", \.logFormat),
    ]

    /// The address to bind, without brackets, or `localhost`; `nil` if the text is neither an IP address nor `localhost`.
    private static func bindableHost(_ text: String) -> String? {
        if text.lowercased() == "localhost" { return "localhost" }
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        return IPAddress(parsing: bare)?.description
    }

    static func isPath(_ text: String) -> Bool {
        !text.isEmpty && !text.utf8.contains(0)
    }
}

extension Option {
    /// A path, which shells complete with files unless `completed(from:)` changes that.
    /// - Parameter replacing: Clears the options that this one replaces.
    fileprivate static func path(
        _ name: String, default defaultText: String = "none", _ meaning: String,
        commands: Set<CommandName> = CommandName.services,
        _ property: any WritableKeyPath<Configuration, String?> & Sendable,
        replacing: @escaping @Sendable (inout Configuration) -> Void = { _ in }
    ) -> Option {
        Option(name, "PATH", accepts: "a path", default: defaultText, meaning, commands: commands) { invocation, value in
            guard OptionTable.isPath(value) else { return false }
            invocation.configuration[keyPath: property] = value
            replacing(&invocation.configuration)
            return true
        }
        .completed(from: .file)
    }

    /// An amount of bytes.
    fileprivate static func size(
        _ name: String, _ meaning: String, _ property: any WritableKeyPath<Configuration, Int64> & Sendable
    ) -> Option {
        Option(name, "SIZE", accepts: "bytes, \(ByteCount.accepted)", default: "0", meaning) { invocation, value in
            guard let size = ByteCount(parsing: value) else { return false }
            invocation.configuration[keyPath: property] = size.bytes
            return true
        }
    }

    /// A list of destinations.
    fileprivate static func destinations(
        _ name: String, _ meaning: String, _ property: any WritableKeyPath<Configuration, [DestinationRule]> & Sendable
    ) -> Option {
        Option(
            name, "DESTINATION",
            accepts: "a host, *.suffix, an address or a block such as 10.0.0.0/8, each optionally with :port", default: "none",
            meaning, isRepeatable: true, commands: [.serve, .demo, .get]
        ) { invocation, value in
            guard let rule = try? DestinationRule(parsing: value) else { return false }
            invocation.configuration[keyPath: property].append(rule)
            return true
        }
    }

    /// A speed.
    static func rate(
        _ name: String, _ meaning: String, isInEnvironment: Bool = true, commands: Set<CommandName> = [.serve, .demo],
        _ property: any WritableKeyPath<Invocation, Int64> & Sendable
    ) -> Option {
        Option(
            name, "RATE", accepts: "bytes per second, \(ByteCount.accepted)", default: "0", meaning,
            isInEnvironment: isInEnvironment, commands: commands
        ) { invocation, value in
            guard let rate = ByteCount(parsing: value) else { return false }
            invocation[keyPath: property] = rate.bytes
            return true
        }
    }

    /// The permission bits of a mode.
    /// - Parameters:
    ///   - needed: The required bits.
    ///   - allowed: The allowed bits.
    fileprivate static func permissions(
        _ name: String, accepts: String, default defaultText: String, _ meaning: String, needing needed: UInt32,
        within allowed: UInt32, _ property: any WritableKeyPath<Configuration, UInt32?> & Sendable
    ) -> Option {
        Option(name, "MODE", accepts: accepts, default: defaultText, meaning) { invocation, value in
            guard (3...4).contains(value.utf8.count), value.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
                let bits = UInt32(value, radix: 8), bits & needed == needed, bits & ~allowed == 0
            else { return false }
            invocation.configuration[keyPath: property] = bits
            return true
        }
    }

    /// A span of time.
    fileprivate static func span(
        _ name: String, _ meaning: String, _ property: any WritableKeyPath<Configuration, Duration?> & Sendable
    ) -> Option {
        Option(name, "TIME", accepts: TimeSpan.accepted, default: "for ever", meaning) { invocation, value in
            guard let span = TimeSpan.parse(value) else { return false }
            invocation.configuration[keyPath: property] = span
            return true
        }
    }

    /// A time limit of an origin.
    fileprivate static func limit(
        _ name: String, default defaultText: String, _ meaning: String,
        _ property: any WritableKeyPath<Configuration, Duration?> & Sendable
    ) -> Option {
        Option(
            name, "TIME", accepts: TimeSpan.acceptedLimit, default: defaultText, meaning + "; 0 is no limit",
            commands: [.serve, .demo, .get]
        ) { invocation, value in
            guard let limit = TimeSpan.parseLimit(value) else { return false }
            invocation.configuration[keyPath: property] = limit
            return true
        }
    }

    /// The base URL of an upstream.
    fileprivate static func base(
        _ name: String, default defaultText: String, _ meaning: String,
        _ property: any WritableKeyPath<Configuration, HTTPURL> & Sendable
    ) -> Option {
        Option(name, "URL", accepts: "an http or https URL without a query", default: defaultText, meaning) { invocation, value in
            guard let url = HTTPURL(value), url.query == nil, !url.hasUserInfo else { return false }
            invocation.configuration[keyPath: property] = url
            return true
        }
    }
}
