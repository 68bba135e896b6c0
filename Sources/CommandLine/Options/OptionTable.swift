internal import Downloads
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

    static let all: [Option] = services + get + client + check

    private static let check: [Option] = [
        Option(
            "repair", nil, accepts: "true or false", default: "off", "repair what is wrong, as far as that is possible",
            isInEnvironment: false, commands: [.check]
        ) { invocation, value in
            guard ["true", "false"].contains(value) else { return false }
            invocation.repairs = value == "true"
            return true
        }
    ]

    /// The options of services, some of which `get` has as well.
    private static let services: [Option] = [
        Option(
            "host", "ADDRESS", accepts: "an IP address or localhost", default: "127.0.0.1",
            "address to bind; anything but loopback needs --token, --token-file, --tokens-file or --no-auth",
            commands: [.serve, .demo, .health]
        ) { invocation, value in
            guard let host = bindableHost(value) else { return false }
            invocation.configuration.host = host
            return true
        },
        .number(
            "port", 0...65535, default: "8080", "port to bind; 0 picks a free one", commands: [.serve, .demo, .health], \.port),
        Option(
            "replicas", "N", accepts: "a whole number from 1 to 9", default: "1",
            "run that many replicas behind a balancer on this machine, with a private PostgreSQL and S3-compatible storage, which"
                + " have to be installed",
            commands: [.demo]
        ) { invocation, value in
            guard let number = Int(value), (1...9).contains(number), value.utf8.count == 1 else { return false }
            invocation.replicas = number
            return true
        },
        Option(
            "data-dir", "PATH", accepts: "a path", default: "./pawl-data, or ./pawl-demo of pawl demo",
            "directory that holds everything the service keeps", commands: [.serve, .demo, .check, .backup]
        ) { invocation, value in
            guard isPath(value) else { return false }
            invocation.configuration.dataDirectory = value
            return true
        }
        .completed(from: .directory),
        .path(
            "downloads-dir", default: "that of --data-dir",
            "directory that holds the files instead, partial and finished: it may be on another volume",
            commands: [.serve, .demo, .check], \.downloadsDirectory
        )
        .completed(from: .directory),
        Option(
            "store", "URL", accepts: "a postgres:// URL, as libpq takes it", default: "none: SQLite in --data-dir",
            "database that replicas share; with --files", isSecret: true, commands: [.serve, .check]
        ) { invocation, value in
            guard Configuration.isStore(value) else { return false }
            invocation.configuration.store = value
            invocation.configuration.storeFile = nil
            return true
        },
        .path("store-file", "file whose first line is that URL", commands: [.serve, .check], \.storeFile) { $0.store = nil },
        Option(
            "files", "URL", accepts: ObjectLocation.form, default: "none: --downloads-dir",
            "object storage that replicas keep finished files in, with the keys of AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and"
                + " AWS_SESSION_TOKEN; with --store",
            commands: [.serve, .check]
        ) { invocation, value in
            guard let location = try? ObjectLocation(parsing: value) else { return false }
            invocation.configuration.objects = location
            return true
        },
        Option(
            "lease", "TIME", accepts: "\(TimeSpan.accepted), from 3s to 1h", default: "15s",
            "for how long a replica that is not heard of keeps its downloads; longer than a restart takes", commands: [.serve]
        ) { invocation, value in
            guard let lease = TimeSpan.parse(value), (.seconds(3) ... .seconds(3600)).contains(lease) else { return false }
            invocation.configuration.lease = lease
            return true
        },
        .toggle(
            "leave", "at the end, leave all downloads to other replicas at once: for one that does not come back",
            commands: [.serve], \.leavesFleet),
        .permissions(
            "file-mode", accepts: "three or four octal digits from 0600 to 0666, without a right to execute", default: "0600",
            "mode of finished files, whatever the umask is", needing: 0o600, within: 0o666, \.filePermissions.file),
        .permissions(
            "directory-mode", accepts: "three or four octal digits from 0700 to 0777, or from 2700 to 2777", default: "0700",
            "mode of directories that are made for them, and of files/ itself", needing: 0o700, within: 0o2777,
            \.filePermissions.directory),
        Option(
            "token", "TOKEN", accepts: "1 to 4096 visible ASCII characters without spaces", default: "none",
            "bearer token that every API request must carry; of 16 characters or more where other machines are served",
            isSecret: true,
            commands: CommandName.services.union(CommandName.clients)
        ) { invocation, value in
            guard let token = AccessToken(value) else { return false }
            invocation.configuration.token = token
            invocation.configuration.tokenFile = nil
            return true
        },
        .path(
            "token-file", "file whose first line is that token", commands: CommandName.services.union(CommandName.clients),
            \.tokenFile
        ) { $0.token = nil },
        .path(
            "tokens-file",
            "file of more tokens, a line each: name, scope (full, read or metrics), and the token or sha256:<64 hex>",
            \.tokensFile),
        .toggle("no-auth", "serve other machines without a token", \.allowsAnonymous),
        .toggle("no-aria2", "do not serve clients of aria2 at /jsonrpc", \.leavesOutAria2),
        Option(
            "webhook-secret", "SECRET", accepts: "a text that is not empty", default: "none",
            "key of the HMAC-SHA256 signature on webhooks", isSecret: true
        ) { invocation, value in
            guard !value.isEmpty else { return false }
            invocation.configuration.webhookSecret = value
            invocation.configuration.webhookSecretFile = nil
            return true
        },
        .path("webhook-secret-file", "file whose first line is that key", \.webhookSecretFile) { $0.webhookSecret = nil },
        .number(
            "max-concurrent", 1...1000, default: "8", "downloads transferring at once", commands: [.serve, .demo, .get],
            \.maxConcurrent),
        .number(
            "max-per-host", 1...1000, default: "4", "of those, downloads per origin host and port",
            commands: [.serve, .demo, .get], \.maxPerHost),
        .number(
            "segments", 1...16, default: "4", "most connections for one large file; files under 8 MiB use one",
            commands: [.serve, .demo, .get], \.segments
        )
        .short("x"),
        .rate("speed-limit", "bytes per second over all downloads; 0 is none", \.configuration.speedLimit),
        .size(
            "min-free", "while fewer bytes are free on the disk, no download starts; 0: that does not matter",
            \.minFree),
        .size("quota", "bytes of all files together; the last download may go beyond, others wait; 0 is no limit", \.quota),
        .span("keep-completed", "for how long the records of completed downloads are kept", \.retention.completed),
        .span("keep-ended", "for how long those of failed and cancelled ones are kept", \.retention.ended),
        .toggle(
            "delete-expired-files", "remove finished files with records that --keep-completed removes", \.retention.deletesFiles),
        Option(
            "speed-schedule", "ENTRY", accepts: SpeedSchedule.Entry.accepted, default: "none",
            "speed limit at certain local times, before --speed-limit; the first entry that covers the moment counts",
            isRepeatable: true
        ) { invocation, value in
            let entries = invocation.configuration.speedSchedule?.entries ?? []
            guard value.utf8.count <= SpeedSchedule.longestEntry, entries.count < SpeedSchedule.mostEntries,
                let entry = try? SpeedSchedule.Entry(parsing: value)
            else { return false }
            invocation.configuration.speedSchedule = SpeedSchedule(entries + [entry])
            return true
        }
        .separated(by: ";"),
        .toggle(
            "allow-private",
            "allow destinations on loopback, private, link-local and other special-use addresses, this machine's own and its neighbours'",
            commands: [.serve, .demo, .get], \.allowsPrivate),
        .destinations("allow-destination", "destination that is always allowed", \.allowedDestinations),
        .destinations("deny-destination", "destination that is never allowed, whatever allows it", \.deniedDestinations),
        Option(
            "proxy", "URL", accepts: "an http, https or socks5h URL of a proxy, optionally with user and password",
            default: "none",
            "proxy for downloads, searches and webhooks; no other variable of the environment names one", isSecret: true,
            commands: [.serve, .demo, .get]
        ) { invocation, value in
            guard let proxy = Proxy(parsing: value) else { return false }
            invocation.configuration.proxy = proxy
            return true
        },
        .destinations("no-proxy", "destination that is asked without the proxy", \.directDestinations),
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
            default: "loopback names and the bound address", "Host value that is accepted as well (guards against DNS rebinding)",
            isRepeatable: true
        ) { invocation, value in
            guard let host = AllowedHost(parsing: value) else { return false }
            invocation.configuration.allowedHosts.append(host)
            return true
        },
        .number(
            "rate-limit", 0...1_000_000, default: "0",
            "requests per second that one client's address may send, twice as many at once; 0 is no limit", \.rateLimit),
        .number(
            "max-connections-per-address", 0...1_000_000,
            default: "half of all that there may be, but no limit for this machine and"
                + " for trusted proxies",
            "connections that one client's address may have open; 0 is no limit"
        ) { $0.maxConnectionsPerAddress = $1 },
        Option(
            "trusted-proxy", "CIDR", accepts: "an address or a block such as 10.0.0.0/8", default: "none",
            "proxy that is believed what it says of the client, in Forwarded or X-Forwarded-For, -Proto, -Host and -Prefix",
            isRepeatable: true
        ) { invocation, value in
            guard let block = AddressBlock(parsing: value) else { return false }
            invocation.configuration.trustedProxies.append(block)
            return true
        },
        Option(
            "base-path", "PATH", accepts: "/ or a path such as /pawl, of letters, digits, -, ., _ and ~", default: "/",
            "what stands before every path, and in links; /healthz and /readyz are at the root as well"
        ) { invocation, value in
            guard let prefix = PathPrefix(parsing: value) else { return false }
            invocation.configuration.basePath = prefix
            return true
        },
        Option(
            "unix-socket", "PATH", accepts: "a path of at most 107 bytes", default: "none",
            "Unix socket to listen on besides, for a proxy on this machine, which is trusted"
        ) { invocation, value in
            guard isPath(value), value.utf8.count <= 107 else { return false }
            invocation.configuration.unixSocket = value
            return true
        }
        .completed(from: .file),
        .number(
            "drain-delay", 0...60, default: "0",
            "seconds for which requests are still taken after the signal to end, while /readyz says no", \.drainDelay),
        .base("itunes-url", default: "https://itunes.apple.com", "base of the iTunes Search API", \.itunesURL),
        .base("posts-url", default: "https://jsonplaceholder.typicode.com", "base of the JSONPlaceholder API", \.postsURL),
        .base("archive-url", default: "https://archive.org", "base of the Internet Archive", \.archiveURL),
        .path(
            "ca-file", default: "the system's store", "PEM bundle for TLS verification",
            commands: CommandName.services.union(CommandName.clients).union([.get]), \.caFile),
        .choice(
            "log-level", default: "info, or warning of pawl get", "least severe lines that are logged, to standard error",
            commands: [.serve, .demo, .get], \.logLevel),
        .toggle("access-log", "log each request at info, with its status, duration and the name of its token", \.logsRequests),
        .choice("log-format", default: "text", "how a line of the log is written", \.logFormat),
    ]

    /// The address to bind, without brackets; `nil` if the text is neither an IP address nor `localhost`.
    private static func bindableHost(_ text: String) -> String? {
        if text.lowercased() == "localhost" { return "127.0.0.1" }
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
    ///   - most: The allowed bits.
    fileprivate static func permissions(
        _ name: String, accepts: String, default defaultText: String, _ meaning: String, needing needed: UInt32,
        within most: UInt32, _ property: any WritableKeyPath<Configuration, UInt32?> & Sendable
    ) -> Option {
        Option(name, "MODE", accepts: accepts, default: defaultText, meaning) { invocation, value in
            guard (3...4).contains(value.utf8.count), value.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
                let bits = UInt32(value, radix: 8), bits & needed == needed, bits & ~most == 0
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
