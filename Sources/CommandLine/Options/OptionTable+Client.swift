internal import DownloadCore
internal import Downloads
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
            "label", "LABEL", accepts: "a text of 1 to 200 bytes", default: "none",
            "label to add, or to select downloads by", isRepeatable: true, isInEnvironment: false,
            commands: [.add, .list, .pause, .resume, .cancel]
        ) { invocation, value in
            guard (1...200).contains(value.utf8.count) else { return false }
            invocation.client.labels.append(value)
            return true
        }
        .short("l"),
        text(
            "folder", "FOLDER", accepts: "a relative path such as music/live, or an empty text", default: "none",
            "folder for the finished file, or to select downloads by",
            commands: [.add, .list, .pause, .resume, .cancel], isAcceptable: { !$0.hasPrefix("/") }, \.folder
        ),
        Option(
            "format", "FORMAT", accepts: "a format that the work has, or original or all", default: "the service's choice",
            "format of the parts to list or to add", isRepeatable: true, isInEnvironment: false, commands: [.parts, .add]
        ) { invocation, value in
            guard !value.isEmpty else { return false }
            invocation.client.formats.append(value)
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
        toggle("ids", "write only the IDs", commands: [.list], \.writesIDsOnly),
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
