internal import Downloads
internal import DownloadCore
internal import HTTPCore
internal import PawlConfiguration

/// The options of `get`. `add` has some of them as well.
extension OptionTable {
    static let get: [Option] = [
        Option(
            "output", .path("FILE", accepts: "a path, for one URL"), default: "the origin's name for it",
            "file to write, or directory for it if it is one or ends with /; a missing directory is made", commands: [.get],
            \.output
        )
        .with(\.short, "o"),
        Option(
            "directory", .directory, default: "the current one", "directory for the files; it is made if it is missing",
            commands: [.get], \.directory
        )
        .with(\.short, "d"),
        Option(
            "limit", .rate, default: "0", "bytes per second for all downloads together; 0 is unlimited", commands: [.get],
            \.configuration.downloads.speedLimit
        )
        .with(\.aliases, ["speed-limit"]).with(\.variable, "PAWL_SPEED_LIMIT"),
        Option(
            "checksum",
            ValueForm(
                placeholder: "ALGORITHM:HEX",
                accepts: Checksum.Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
                    + ", a colon and the digest in hexadecimal digits, such as sha-256:9f86d0…"
            ) { (try? Checksum(parsing: $0))?.description },
            "checksum that the file must have; for one URL", commands: [.get, .add], \.checksum),
        Option(
            "header",
            ValueForm(
                placeholder: "FIELD",
                accepts:
                    "a field such as 'X-Api-Key: abc', each name once, without those that belong to the connection or to resuming"
            ) { text -> (name: FieldName, value: String)? in
                let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                return parts.count == 2 ? FieldName(String(parts[0])).map { ($0, parts[1].trimmed) } : nil
            },
            "header field for the origin of each URL; redirects to other hosts get only User-Agent, Accept, Accept-Language"
                + " and Referer",
            commands: [.get, .add]
        ) { invocation, field in (try? invocation.headers.append(field.name, field.value)) != nil }
        .with(\.isSecret, true).with(\.isRepeatable, true).with(\.short, "H"),
        Option(
            "user",
            .text(
                "NAME:PASSWORD", accepts: "a user name, a colon and a password, and no --header with Authorization besides"
            ) { text in text.utf8.contains(UInt8(ascii: ":")) && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } },
            "user and password for the origin of each URL, by Basic, or by Digest where the origin asks for it; other users"
                + " of the machine can see a command line: prefer --netrc-file",
            commands: [.get, .add]
        ) { invocation, text in (try? invocation.headers.authorize("Basic " + Base64.encode(Array(text.utf8)))) != nil }
        .with(\.isSecret, true).with(\.short, "u"),
        Option(
            "input", .path("LIST", accepts: "a path, or - for standard input"),
            "file of further URLs, one on a line; empty lines and lines that begin with # are skipped", commands: [.get, .add],
            \.listFile
        )
        .with(\.short, "i"),
        Option(
            "json", .toggle, "write JSON, one object on a line",
            commands: [.get, .add, .list, .watch, .search, .parts, .subscriptions, .settings, .aria2], \.writesJSON),
    ]
}
