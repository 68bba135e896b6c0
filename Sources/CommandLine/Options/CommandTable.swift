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
        /// Ids of downloads, at least one unless all are selected.
        case downloads
        /// Ids of downloads; none for all.
        case anyDownloads
        /// The id of a download, and a position in the queue.
        case downloadAndPlace
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
        Command(
            .demo, "run the service with an embedded upstream, so that everything can be tried without a network",
            examples: [("pawl demo --replicas 3", "a fleet on this machine, with replicas to be killed and watched")]),
        Command(
            .get, "download URLs into the current directory; run it again to resume what was interrupted", "URL...", .urls,
            description: [
                "At a terminal, each download has a line with its progress, and several have one for all of them. In a pipe, plain"
                    + " lines tell of beginnings, ends and, now and then, progress. With --json, each line is an object whose"
                    + " member event is progress, saved, failed or done, once at the end.",
                "What is interrupted, even by a crash, stays in the directory .pawl-get beside its file, and the same command goes"
                    + " on from there. One pawl get works in a directory at a time.",
            ],
            examples: [
                ("pawl get -x 8 --limit 2M https://example.org/large.iso", "over up to 8 connections, 2 MiB/s at most"),
                ("pawl get -d music -i list.txt", "every URL of a list into a directory"),
            ]),
        Command(
            .search, "search by way of the service; number the results for pawl add", "WORD...", .words,
            description: [
                "The results are kept in $XDG_STATE_HOME/pawl/search.json, or ~/.local/state, until the next search."
            ],
            examples: [("pawl search -n 5 prelude", "five results at most"), ("pawl add 3", "download the third of them")]),
        Command(
            .parts, "list what an album, a season, a podcast or an item of an archive consists of; number the parts for pawl add",
            "NUMBER|ID", .result,
            description: [
                "NUMBER is that of a result of the last search. Below the parts are the formats there are, and which of them are"
                    + " listed. To pawl add, numbers then mean these parts, until the next search."
            ],
            examples: [
                ("pawl parts 3", "what the third result consists of"), ("pawl add 2-5 7", "download some of that"),
                ("pawl parts archive:tidewater-soundings-2023 --format Flac", "the parts in one format"),
            ]),
        Command(
            .add, "give the service something to download: URLs, items by their ids, or by number what was listed last",
            "URL|NUMBER|ID...", .urlsOrResults,
            description: [
                "Numbers may be ranges, such as 2-4. What the service already has, it does not download again.",
                "Of a work, which has parts and no file of its own, all parts are downloaded, or those in the formats that are named,"
                    + " into one folder. Its id is a label of each, to list and command them by. The same command again fetches what"
                    + " failed or is missing.",
            ],
            examples: [
                ("pawl add --paused -l books https://example.org/a.epub", "to be resumed later, with a label"),
                ("pawl add archive:tidewater-soundings-2023 --format Flac", "a whole work in one format"),
                ("pawl pause --all -l archive:tidewater-soundings-2023", "a work as a whole"),
            ]),
        Command(
            .list, "list the service's downloads, newest first",
            description: ["What waits for its turn has its place in the queue behind its state: queued #1 is the next to begin."],
            examples: [("pawl list --state failed --state retrying", "what did not go well")]),
        Command(
            .watch, "show the service's downloads as they go on, like top; with IDs, until those have ended", "[ID...]",
            .anyDownloads,
            description: [
                "Shows all that is under way or waiting, and what has ended of the newest 200 downloads.",
                "Keys: arrows choose a download; p pauses it or lets it go on; c cancels it, after a question; q ends. In a pipe,"
                    + " each change of state is a line; with --json, each event is one.",
                "With IDs, the exit status is 1 if one of them fails, or is cancelled or removed.",
            ]),
        Command(
            .move, "give a queued or paused download another place in the queue; 1 is the next to begin", "ID PLACE",
            .downloadAndPlace,
            description: [
                "A place beyond the end is the end. Between downloads of other priorities it takes the nearest priority that fits."
            ],
            examples: [("pawl move 01M7YW 1", "this one next")]),
        Command(
            .pause, "stop downloads; their bytes are kept", "ID...|--all", .downloads,
            description: ["IDs may be shortened to what no other download's begins with, here and wherever they are taken."]),
        Command(.resume, "let paused and failed downloads go on from the bytes they have", "ID...|--all", .downloads),
        Command(.cancel, "stop downloads for good; their bytes are deleted", "ID...|--all", .downloads),
        Command(.retry, "begin failed and cancelled downloads again, from nothing", "ID...", .downloads),
        Command(
            .rm, "forget downloads; live ones are cancelled, finished files stay unless --delete-file", "ID...", .downloads),
        Command(
            .check, "compare the records of a data directory, or of a fleet, with its files, and repair what is wrong",
            description: [
                "No service may have the directory meanwhile. Finished files are compared by length and SHA-256. Each fault is a line"
                    + " on standard output, and makes the exit status 1 unless it is repaired; it is 5 if none was found, but not"
                    + " everything could be looked at. With --repair, a damaged file is kept under damaged/ and its download has"
                    + " failed, so that it can be tried again.",
                "With --store and --files, records are compared with objects by length, while replicas run. Objects and unfinished uploads"
                    + " that no record names and that are older than a day are faults, and --repair removes them.",
            ]),
        Command(
            .backup, "copy the records of a data directory, also while its service runs", "FILE", .path,
            description: [
                "The copy is of one moment, and complete or not there. It takes the place of what FILE was before. To restore it,"
                    + " stop the service, remove pawl.sqlite-wal and pawl.sqlite-shm, and copy it over pawl.sqlite."
            ],
            examples: [("pawl backup --data-dir /var/lib/pawl /backup/pawl.sqlite", "every night, by cron")]),
        Command(.health, "exit with 0 if the service on this machine responds, with 1 otherwise"),
        Command(
            .completions, "write a script that completes command lines", shells.joined(separator: "|"), .oneOf(shells),
            examples: [
                ("source <(pawl completions bash)", "in ~/.bashrc"),
                ("pawl completions zsh > ~/.zfunc/_pawl", "in a directory of $fpath"),
                ("pawl completions fish > ~/.config/fish/completions/pawl.fish", ""),
            ]),
        Command(.man, "write the manual page", examples: [("pawl man | man -l -", "read it")]),
        Command(.help, "explain the program, or one command", "[command]", .command),
        Command(.version, "print the version"),
    ]
}
