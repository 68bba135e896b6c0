/// A command as its users see it. The parser, help, the manual page and the shell completions use this table and
/// ``OptionTable``, so that they agree.
struct Command: Sendable {
    /// The operands of a command.
    enum Operands: Sendable, Equatable {
        /// No operands.
        case none
        /// URLs, at least one unless a list is given.
        case urls
        /// URLs, numbers of listed results, and ids of items; at least one unless a list of URLs is given.
        case urlsOrResults
        /// The number of a result of the last search, or the id of an item.
        case result
        /// A URL, the number of a result of the last search, or the id of a work.
        case work
        /// Ids of subscriptions, at least one.
        case subscriptions
        /// Ids of downloads, at least one unless all are selected.
        case downloads
        /// Ids of downloads; none for all.
        case anyDownloads
        /// The id of a download, and a position in the queue.
        case downloadAndPosition
        /// Names of settings with their new values, or nothing.
        case assignments
        /// Words to search for.
        case words
        /// One of these words.
        case oneOf([String])
        /// The path of one file.
        case path
        /// A command, or nothing.
        case command
    }

    /// The name of the command.
    let name: CommandName
    /// The summary in one line.
    let meaning: String
    /// The operands in the usage line; empty for none.
    let synopsis: String
    /// The accepted operands.
    let operands: Operands
    /// Further paragraphs of explanation.
    let description: [String]
    /// Example command lines with explanations.
    let examples: [(line: String, does: String)]

    init(
        _ name: CommandName, _ meaning: String, _ synopsis: String = "", _ operands: Operands = .none, description: [String] = [],
        examples: [(line: String, does: String)] = []
    ) {
        self.name = name
        self.meaning = meaning
        self.synopsis = synopsis
        self.operands = operands
        self.description = description
        self.examples = examples
    }

    /// The options of the command.
    var options: [Option] { OptionTable.options(of: name) }

    /// The usage line.
    var usage: String {
        let options = self.options.isEmpty ? "" : " [option]..."
        return "pawl \(name.rawValue)\(options)\(synopsis.isEmpty ? "" : " " + synopsis)"
    }
}

/// All commands, in the order of the help.
enum CommandTable {
    /// The shells with completion scripts.
    static let shells = ["bash", "zsh", "fish"]

    /// A command by its name.
    static func command(_ name: CommandName) -> Command {
        all.first { $0.name == name } ?? Command(name, name.rawValue)
    }

    static let all: [Command] = [
        Command(.serve, "run the service"),
        Command(.demo, "run the service with an embedded upstream, to try everything without a network"),
        Command(
            .get, "download URLs into the current directory; run it again to resume interrupted downloads", "URL...", .urls,
            description: [
                "On a terminal, each download has a line with its progress, and several downloads also have a line with their total."
                    + " In a pipe, lines report the start, the progress and the end of each download. With --json, each line is an"
                    + " object; its member event is progress, saved, failed or, on the last line, done.",
                "Unfinished downloads are kept in the directory .pawl-get beside the file, even after a crash; the same command"
                    + " resumes them. Several commands can work in a directory at a time: the second one has .pawl-get-2.",
            ],
            examples: [
                ("pawl get -x 8 --limit 2M https://example.org/large.iso", "download over up to 8 connections, at most 2 MiB/s"),
                ("pawl get -d music -i list.txt", "download all URLs of a list into a directory"),
            ]),
        Command(
            .search, "search a catalogue through the service; pawl add takes the numbers of the results", "WORD...", .words,
            description: [
                "The results are kept in $XDG_STATE_HOME/pawl/search.json, by default in ~/.local/state, until the next search."
            ],
            examples: [("pawl search -n 5 prelude", "list at most five results"), ("pawl add 3", "download the third result")]),
        Command(
            .parts, "list the parts of an album, season, podcast or archive item; pawl add takes their numbers",
            "NUMBER|ID", .result,
            description: [
                "NUMBER is the number of a result of the last search. The formats of the work follow the list of parts; LISTED marks"
                    + " the formats of the listed parts. Until the next search, pawl add takes the numbers of these parts."
            ],
            examples: [
                ("pawl parts 3", "list the parts of the third result"), ("pawl add 2-5 7", "download some of these parts"),
                ("pawl parts archive:tidewater-soundings-2023 --format Flac", "list the parts in one format"),
            ]),
        Command(
            .add, "add downloads to the service: URLs, ids of items, or numbers from the last list",
            "URL|NUMBER|ID...", .urlsOrResults,
            description: [
                "Numbers may be ranges, such as 2-4. The service does not download a file again that it already has.",
                "A work has parts and no file of its own: all its parts, or those in the given formats, are downloaded into one"
                    + " folder. Each part has the work's id as a label, by which commands can select the parts. The same command again"
                    + " downloads parts that failed or are missing.",
            ],
            examples: [
                ("pawl add --paused -l books https://example.org/a.epub", "add a paused download with a label"),
                ("pawl add archive:tidewater-soundings-2023 --format Flac", "download a whole work in one format"),
                ("pawl pause --all -l archive:tidewater-soundings-2023", "pause all parts of a work"),
            ]),
        Command(
            .list, "list the service's downloads, newest first",
            description: ["A queued download shows its position in the queue: queued #1 starts next."],
            examples: [("pawl list --state failed --state retrying", "list downloads with errors")]),
        Command(
            .watch, "show the service's downloads live, like top; with IDs, until these downloads have ended", "[ID...]",
            .anyDownloads,
            description: [
                "Shows all live downloads, and the ended ones among the newest 200 downloads.",
                "Keys: arrows select a download; p pauses or resumes it; c cancels it after a confirmation; q quits. In a pipe, each"
                    + " change of state is a line; with --json, each event is a line.",
                "With IDs, the exit status is 1 if one of the downloads fails or is cancelled or removed.",
            ]),
        Command(
            .move, "move a queued or paused download to another position in the queue; position 1 starts next", "ID POSITION",
            .downloadAndPosition,
            description: [
                "A position beyond the end is the end. Between downloads of other priorities, the download gets the nearest priority that"
                    + " fits there."
            ],
            examples: [("pawl move 3 1", "start the third download of the last list next")]),
        Command(
            .pause, "stop downloads and keep their bytes", "ID...|--all", .downloads,
            description: [
                "All commands accept numbers of the last pawl list, and shortened IDs: an end that only one download's ID has."
            ]),
        Command(.resume, "continue paused and failed downloads from their bytes", "ID...|--all", .downloads),
        Command(.cancel, "stop downloads and delete their bytes", "ID...|--all", .downloads),
        Command(.retry, "start failed and cancelled downloads again from the first byte", "ID...", .downloads),
        Command(
            .rm, "remove downloads; live ones are cancelled, and finished files stay unless --delete-file is given", "ID...",
            .downloads),
        Command(
            .subscribe, "follow a feed or a work: what appears in it is downloaded", "URL|NUMBER|ID", .work,
            description: [
                "URL is the address of a feed, or of a page that names one. NUMBER is the number of a result of the last search. ID is"
                    + " the id of a podcast, of a feed or of an item of the Internet Archive. The command waits for the first check.",
                "There is one subscription for each source. If it exists already, its settings stay.",
                "In patterns, * stands for any characters and ? for one; they are compared with the whole name, regardless of case.",
            ],
            examples: [
                (
                    "pawl subscribe --take latest:5 --keep 20 https://example.org/show.xml",
                    "download the newest five episodes and all later ones; keep twenty"
                ),
                ("pawl subscribe --include '*interview*' 3", "follow the third result; take only episodes with such a name"),
            ]),
        Command(
            .subscriptions, "list the service's subscriptions, newest first",
            description: [
                "TAKEN counts the items that became downloads, and NEW those that wait since the subscription is paused."
                    + " pawl list -l subscription:ID lists the downloads of a subscription."
            ]),
        Command(
            .refresh, "check subscriptions now, and download what has appeared", "ID...", .subscriptions,
            description: ["IDs may be shortened to their ends. The exit status is 1 if a check fails."],
            examples: [("pawl refresh $(pawl subscriptions --ids)", "check all subscriptions")]),
        Command(
            .unsubscribe, "end subscriptions; their downloads and files stay", "ID...", .subscriptions,
            description: ["IDs may be shortened to their ends."]),
        Command(
            .settings, "show the service's settings, or change them until they are changed again", "[NAME=VALUE...]",
            .assignments,
            description: [
                "Changes take effect at once, and hold after a restart. A list has one NAME=VALUE for each entry; NAME= alone empties it."
            ],
            examples: [
                ("pawl settings maxConcurrent=3 speedLimit=2M", "transfer three at once, together at most 2 MiB/s"),
                ("pawl settings speedSchedule='mon-fri 08:00-18:00 1M'", "limit the speed during the day"),
            ]),
        Command(
            .aria2, "show the service's addresses for clients of aria2",
            description: [
                "The secret of the clients is the token. The address of notifications has a key that is derived from the token given"
                    + " to this command. With it, programs that only listen receive notifications; it allows nothing else."
            ]),
        Command(
            .check, "compare the records of a data directory or a fleet with its files; --repair repairs faults",
            description: [
                "No service may use the directory at the same time. Finished files are compared by length and SHA-256. Each fault is"
                    + " a line on standard output. The exit status is 1 if a fault is not repaired, and 5 if no fault was found but not"
                    + " everything could be checked. With --repair, a damaged file is moved to damaged/, and its download becomes"
                    + " failed, so that it can be tried again.",
                "With --store and --files, records are compared with objects by length, and with --deep by SHA-256, while replicas run. An object or unfinished"
                    + " upload is a fault if no record names it and it is older than a day; --repair removes it.",
            ]),
        Command(
            .backup, "copy the records of a data directory, even while its service runs", "FILE", .path,
            description: [
                "The copy has the records of one moment. It replaces FILE once it is complete. To restore it, stop the service, remove"
                    + " pawl.sqlite-wal and pawl.sqlite-shm, and copy FILE to pawl.sqlite."
            ],
            examples: [("pawl backup --data-dir /var/lib/pawl /backup/pawl.sqlite", "make a backup, such as every night by cron")]
        ),
        Command(.health, "check that the service on this machine responds; exit with 0 if it does, with 1 otherwise"),
        Command(
            .completions, "write a completion script for a shell", shells.joined(separator: "|"), .oneOf(shells),
            examples: [
                ("source <(pawl completions bash)", "in ~/.bashrc"),
                ("pawl completions zsh > ~/.zfunc/_pawl", "in a directory of $fpath"),
                ("pawl completions fish > ~/.config/fish/completions/pawl.fish", ""),
            ]),
        Command(.man, "write the manual page", examples: [("pawl man | man -l -", "read the manual page")]),
        Command(.help, "explain the program or one command", "[command]", .command),
        Command(.version, "print the version"),
    ]
}
