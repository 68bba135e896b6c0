internal import DownloadCore
internal import HTTPCore

/// The options of the commands that talk to a running service.
extension OptionTable {
    /// The commands that act on downloads by label or folder.
    private static let selecting: Set<CommandName> = [.add, .list, .pause, .resume, .cancel, .subscribe]

    static let client: [Option] = [
        Option(
            "server", .base("user, query or fragment"), default: "http://127.0.0.1:8080", "URL of the service",
            commands: CommandName.clients, \.client.server
        )
        .with(\.short, "s").with(\.variable, "PAWL_SERVER"),
        Option(
            "output",
            .text("NAME", accepts: "a file name without slashes, for one download") { !$0.isEmpty && !$0.contains("/") },
            default: "the origin's name for it", "name of the finished file", commands: [.add], \.client.filename
        )
        .with(\.short, "o"),
        Option(
            "segments", .number(DownloadLimits.segments), default: "the service's choice",
            "maximum number of connections for each file", commands: [.add], \.client.segments
        )
        .with(\.short, "x"),
        Option(
            "limit", .rate, default: "0", "bytes per second for each download; 0 is unlimited", commands: [.add],
            \.client.speedLimit
        )
        .with(\.aliases, ["speed-limit"]),
        Option(
            "priority", .number(DownloadLimits.priorities), default: "0", "priority; downloads with greater ones start first",
            commands: [.add], \.client.priority),
        Option(
            "label",
            .text("LABEL", accepts: "a text of 1 to \(DownloadLimits.label) characters") { DownloadLimits.isLabel($0) },
            "label to add, or to select downloads by", commands: selecting, adding: \.client.labels
        )
        .with(\.short, "l"),
        Option(
            "folder",
            .text("FOLDER", accepts: "a relative path such as music/live, or an empty text") { !$0.hasPrefix("/") },
            "folder for the finished file, or to select downloads by", commands: selecting, \.client.folder),
        Option(
            "format", .text("FORMAT", accepts: "a format that the work has, or original or all"),
            default: "the service's choice", "format of the parts to list or to add", commands: [.parts, .add],
            adding: \.client.formats),
        Option(
            "remote-time", .toggle, default: "the service's choice",
            "give the finished file the modification time of its origin", commands: [.add], \.client.remoteTime),
        Option("paused", .toggle, "add downloads as paused", commands: [.add], \.client.startsPaused),
        Option(
            "state", .choice, default: "all", "state of the downloads to list", commands: [.list], adding: \.client.states
        )
        .with(\.placeholder, "STATE"),
        Option(
            "query", .text("TEXT", accepts: "a text"), "text that the URL, file name or track name must contain",
            commands: [.list], \.client.text
        )
        .with(\.short, "q"),
        Option(
            "count", .number(1...100_000), default: "50 of list, all with --ids; 20 of search, at most 200",
            "maximum number of rows", commands: [.list, .search], \.client.count
        )
        .with(\.short, "n"),
        Option("ids", .toggle, "write only the IDs", commands: [.list, .subscriptions], \.client.writesIDsOnly),
        Option(
            "all", .toggle, "apply the command to all downloads, instead of given IDs", commands: [.pause, .resume, .cancel],
            \.client.meansAll),
        Option("delete-file", .toggle, "delete the finished file as well", commands: [.rm], \.client.deletesFile),
        Option(
            "source", .text("SOURCE", accepts: "a source, such as itunes or archive"), default: "the service's",
            "catalogue to search", commands: [.search], \.client.source
        )
        .with(\.completion, .oneOf(["itunes", "posts", "archive", "feed"])),
        Option(
            "media", .text("MEDIA", accepts: "a kind of media, such as music or podcast"), default: "the source's",
            "kind of media to search for", commands: [.search], \.client.media),
        Option(
            "entity", .text("ENTITY", accepts: "a kind of result of the media, such as album or podcastEpisode"),
            default: "the source's", "kind of result to search for", commands: [.search], \.client.entity),
        Option(
            "country", .text("CODE", accepts: "a country code of two letters") { $0.utf8.count == 2 },
            default: "the source's", "country of the store to search", commands: [.search], \.client.country),
    ]

    /// The options of `subscribe`, besides those that other commands have as well.
    static let subscribing: [Option] = [
        Option(
            "take",
            ValueForm(placeholder: "WHICH", accepts: "new, all, or latest:N with N from 1 to 20000, such as latest:5") {
                ClientOptions.Backlog($0)
            },
            default: "new", "items to take at first: none of the present ones, all, or the newest N", commands: [.subscribe],
            \.client.take
        )
        .with(\.completion, .oneOf(["new", "all"])),
        Option(
            "keep", .number(ClientOptions.Backlog.counts), default: "all",
            "number of newest finished downloads to keep; older files are deleted", commands: [.subscribe], \.client.keep),
        Option(
            "every", .span(300...366 * 86_400, "5m to 366d"), default: "1h",
            "interval of checks; the feed may ask for a longer one", commands: [.subscribe], \.client.every),
        Option(
            "include", .pattern, default: "*", "pattern of the names of items to take", commands: [.subscribe], limit: 64,
            adding: \.client.include),
        Option(
            "exclude", .pattern, "pattern of the names of items to leave out", commands: [.subscribe], limit: 64,
            adding: \.client.exclude),
    ]
}

extension ValueForm where Value == String {
    /// A pattern of names.
    fileprivate static var pattern: ValueForm {
        .text("PATTERN", accepts: "a text of 1 to 200 characters, with * and ?, at most 64 times") {
            (1...200).contains($0.unicodeScalars.count)
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
            guard let count = ValueForm.number(Self.counts).read(String(parts[1])) else { return nil }
            self = .latest(count)
        default: return nil
        }
    }
}
