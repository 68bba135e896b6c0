internal import DownloadCore
internal import HTTPCore

/// The options of the commands that talk to a running service.
extension OptionTable {
    static let client: [Option] = [
        Option(
            "server", "URL", accepts: "an http or https URL without user, query or fragment", default: "http://127.0.0.1:8080",
            "URL of the service", commands: CommandName.clients
        ) { invocation, value in
            guard let url = HTTPURL(value), url.query == nil, !url.hasUserInfo else { return false }
            invocation.client.server = url
            return true
        }
        .short("s"),
        text(
            "output", "NAME", accepts: "a file name without slashes, for one download", default: "the origin's name for it",
            "name of the finished file", commands: [.add], isAcceptable: { !$0.isEmpty && !$0.contains("/") }, \.filename
        )
        .short("o"),
        integer(
            "segments", DownloadLimits.segments, default: "the service's choice", "maximum number of connections for each file",
            commands: [.add], \.segments
        )
        .short("x"),
        .rate(
            "limit", "bytes per second for each download; 0 is unlimited", isInEnvironment: false, commands: [.add],
            \.client.speedLimit
        )
        .alias("speed-limit"),
        integer(
            "priority", DownloadLimits.priorities, default: "0", "priority; downloads with greater ones start first",
            commands: [.add], \.priority),
        Option(
            "label", "LABEL", accepts: "a text of 1 to \(DownloadLimits.label) characters", default: "none",
            "label to add, or to select downloads by", isRepeatable: true, isInEnvironment: false,
            commands: [.add, .list, .pause, .resume, .cancel, .subscribe]
        ) { invocation, value in
            guard DownloadLimits.isLabel(value) else { return false }
            invocation.client.labels.append(value)
            return true
        }
        .short("l"),
        text(
            "folder", "FOLDER", accepts: "a relative path such as music/live, or an empty text", default: "none",
            "folder for the finished file, or to select downloads by",
            commands: [.add, .list, .pause, .resume, .cancel, .subscribe], isAcceptable: { !$0.hasPrefix("/") }, \.folder
        ),
        Option(
            "format", "FORMAT", accepts: "a format that the work has, or original or all", default: "the service's choice",
            "format of the parts to list or to add", isRepeatable: true, isInEnvironment: false, commands: [.parts, .add]
        ) { invocation, value in
            guard !value.isEmpty else { return false }
            invocation.client.formats.append(value)
            return true
        },
        Option(
            "remote-time", nil, accepts: "true or false", default: "the service's choice",
            "give the finished file the modification time of its origin", isInEnvironment: false, commands: [.add]
        ) { invocation, value in
            guard ["true", "false"].contains(value.lowercased()) else { return false }
            invocation.client.remoteTime = value.lowercased() == "true"
            return true
        },
        toggle("paused", "add downloads as paused", commands: [.add], \.startsPaused),
        Option(
            "state", "STATE", accepts: "one of " + states.joined(separator: ", "), default: "all",
            "state of the downloads to list", isRepeatable: true, isInEnvironment: false, commands: [.list]
        ) { invocation, value in
            guard states.contains(value.lowercased()) else { return false }
            invocation.client.states.append(value.lowercased())
            return true
        }
        .completed(from: .oneOf(states)),
        text(
            "query", "TEXT", accepts: "a text", default: "none", "text that the URL, file name or track name must contain",
            commands: [.list], isAcceptable: { !$0.isEmpty }, \.text
        )
        .short("q"),
        integer(
            "count", 1...100_000, default: "50 of list, all with --ids; 20 of search, at most 200", "maximum number of rows",
            commands: [.list, .search],
            \.count
        )
        .short("n"),
        toggle("ids", "write only the IDs", commands: [.list, .subscriptions], \.writesIDsOnly),
        toggle(
            "all", "apply the command to all downloads, instead of given IDs", commands: [.pause, .resume, .cancel],
            \.meansAll
        ),
        toggle("delete-file", "delete the finished file as well", commands: [.rm], \.deletesFile),
        text(
            "source", "SOURCE", accepts: "a source, such as itunes or archive", default: "the service's", "catalogue to search",
            commands: [.search], isAcceptable: { !$0.isEmpty }, \.source
        )
        .completed(from: .oneOf(["itunes", "posts", "archive", "feed"])),
        text(
            "media", "MEDIA", accepts: "a kind of media, such as music or podcast", default: "the source's",
            "kind of media to search for", commands: [.search], isAcceptable: { !$0.isEmpty }, \.media),
        text(
            "entity", "ENTITY", accepts: "a kind of result of the media, such as album or podcastEpisode",
            default: "the source's",
            "kind of result to search for", commands: [.search], isAcceptable: { !$0.isEmpty }, \.entity),
        text(
            "country", "CODE", accepts: "a country code of two letters", default: "the source's",
            "country of the store to search",
            commands: [.search], isAcceptable: { $0.utf8.count == 2 }, \.country),
    ]

    /// The options of `subscribe`, besides those that other commands have as well.
    static let subscribing: [Option] = [
        Option(
            "take", "WHICH", accepts: "new, all, or latest:N with N from 1 to 20000, such as latest:5", default: "new",
            "items to take at first: none of the present ones, all, or the newest N", isInEnvironment: false,
            commands: [.subscribe]
        ) { invocation, value in
            guard let take = ClientOptions.Backlog(value) else { return false }
            invocation.client.take = take
            return true
        }
        .completed(from: .oneOf(["new", "all"])),
        integer(
            "keep", ClientOptions.Backlog.counts, default: "all",
            "number of newest finished downloads to keep; older files are deleted", commands: [.subscribe], \.keep),
        Option(
            "every", "TIME", accepts: "\(TimeSpan.accepted), from 5m to 366d", default: "1h",
            "interval of checks; the feed may ask for a longer one", isInEnvironment: false, commands: [.subscribe]
        ) { invocation, value in
            guard let span = TimeSpan.parse(value), (.seconds(300) ... .seconds(366 * 86_400)).contains(span) else {
                return false
            }
            invocation.client.every = span
            return true
        },
        patterns("include", "pattern of the names of items to take", default: "*", \.include),
        patterns("exclude", "pattern of the names of items to leave out", default: "none", \.exclude),
    ]

    private static func patterns(
        _ name: String, _ meaning: String, default defaultText: String,
        _ property: any WritableKeyPath<ClientOptions, [String]> & Sendable
    ) -> Option {
        Option(
            name, "PATTERN", accepts: "a text of 1 to 200 characters, with * and ?, at most 64 times", default: defaultText,
            meaning, isRepeatable: true, isInEnvironment: false, commands: [.subscribe]
        ) { invocation, value in
            guard (1...200).contains(value.unicodeScalars.count), invocation.client[keyPath: property].count < 64 else {
                return false
            }
            invocation.client[keyPath: property].append(value)
            return true
        }
    }

    private static let states = DownloadState.allCases.map(\.rawValue)

    private static func text(
        _ name: String, _ placeholder: String, accepts: String, default defaultText: String, _ meaning: String,
        commands: Set<CommandName>, isAcceptable: @escaping @Sendable (String) -> Bool,
        _ property: any WritableKeyPath<ClientOptions, String?> & Sendable
    ) -> Option {
        Option(
            name, placeholder, accepts: accepts, default: defaultText, meaning, isInEnvironment: false, commands: commands
        ) { invocation, value in
            guard isAcceptable(value) else { return false }
            invocation.client[keyPath: property] = value
            return true
        }
    }

    private static func integer(
        _ name: String, _ range: ClosedRange<Int>, default defaultText: String, _ meaning: String, commands: Set<CommandName>,
        _ property: any WritableKeyPath<ClientOptions, Int?> & Sendable
    ) -> Option {
        Option(
            name, "N", accepts: "a whole number from \(range.lowerBound) to \(range.upperBound)", default: defaultText, meaning,
            isInEnvironment: false, commands: commands
        ) { invocation, value in
            let digits = value.hasPrefix("-") ? value.dropFirst() : value[...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(value), range.contains(number)
            else { return false }
            invocation.client[keyPath: property] = number
            return true
        }
    }

    private static func toggle(
        _ name: String, _ meaning: String, commands: Set<CommandName>,
        _ property: any WritableKeyPath<ClientOptions, Bool> & Sendable
    ) -> Option {
        Option(
            name, nil, accepts: "true or false", default: "off", meaning, isInEnvironment: false, commands: commands
        ) { invocation, value in
            switch value.lowercased() {
            case "true": invocation.client[keyPath: property] = true
            case "false": invocation.client[keyPath: property] = false
            default: return false
            }
            return true
        }
    }
}

extension ClientOptions.Backlog {
    /// The accepted numbers of items.
    fileprivate static let counts = 1...20_000

    /// Parses `new`, `all` or `latest:N`; `nil` for anything else.
    fileprivate init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        switch (parts.first, parts.count) {
        case ("new", 1): self = .new
        case ("all", 1): self = .all
        case ("latest", 2):
            guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(parts[1]), Self.counts.contains(count)
            else { return nil }
            self = .latest(count)
        default: return nil
        }
    }
}
