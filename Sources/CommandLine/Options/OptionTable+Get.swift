internal import DownloadCore
internal import HTTPCore
internal import PawlConfiguration

/// The options of `get`. `add` has some of them as well.
extension OptionTable {
    static let get: [Option] = [
        Option(
            "output", "FILE", accepts: "a path, for one URL", default: "the origin's name for it",
            "file to write, or directory for it if it is one or ends with /; a missing directory is made", isInEnvironment: false,
            commands: [.get]
        ) { invocation, value in
            guard isPath(value) else { return false }
            invocation.output = value
            return true
        }
        .short("o").completed(from: .file),
        Option(
            "directory", "PATH", accepts: "a path", default: "the current one",
            "directory for the files; it is made if it is missing", isInEnvironment: false, commands: [.get]
        ) { invocation, value in
            guard isPath(value) else { return false }
            invocation.directory = value
            return true
        }
        .short("d").completed(from: .directory),
        .rate(
            "limit", "bytes per second for all downloads together; 0 is unlimited", commands: [.get], \.configuration.speedLimit
        )
        .alias("speed-limit").variable("PAWL_SPEED_LIMIT"),
        Option(
            "checksum", "ALGORITHM:HEX",
            accepts: Checksum.Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
                + ", a colon and the digest in hexadecimal digits, such as sha-256:9f86d0…",
            default: "none", "checksum that the file must have; for one URL", isInEnvironment: false, commands: [.get, .add]
        ) { invocation, value in
            guard let checksum = try? Checksum(parsing: value) else { return false }
            invocation.checksum = checksum.description
            return true
        },
        Option(
            "header", "FIELD",
            accepts:
                "a field such as 'X-Api-Key: abc', each name once, without those that belong to the connection or to resuming",
            default: "none",
            "header field for the origin of each URL; redirects to other hosts get only User-Agent, Accept, Accept-Language"
                + " and Referer",
            isSecret: true, isRepeatable: true, isInEnvironment: false, commands: [.get, .add]
        ) { invocation, value in
            let parts = value.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = FieldName(String(parts[0])) else { return false }
            return (try? invocation.headers.append(name, parts[1].trimmed)) != nil
        }
        .short("H"),
        Option(
            "user", "NAME:PASSWORD", accepts: "a user name, a colon and a password, and no --header with Authorization besides",
            default: "none",
            "user and password for the origin of each URL, by Basic, or by Digest where the origin asks for it; other users"
                + " of the machine can see a command line: prefer --netrc-file",
            isSecret: true, isInEnvironment: false, commands: [.get, .add]
        ) { invocation, value in
            guard value.utf8.contains(UInt8(ascii: ":")), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                return false
            }
            return (try? invocation.headers.authorize("Basic " + Base64.encode(Array(value.utf8)))) != nil
        }
        .short("u"),
        Option(
            "input", "LIST", accepts: "a path, or - for standard input", default: "none",
            "file of further URLs, one on a line; empty lines and lines that begin with # are skipped", isInEnvironment: false,
            commands: [.get, .add]
        ) { invocation, value in
            guard isPath(value) else { return false }
            invocation.listFile = value
            return true
        }
        .short("i").completed(from: .file),
        Option(
            "json", nil, accepts: "true or false", default: "off", "write JSON, one object on a line",
            isInEnvironment: false, commands: [.get, .add, .list, .watch, .search, .parts, .subscriptions, .settings, .aria2]
        ) { invocation, value in
            switch value.lowercased() {
            case "true": invocation.writesJSON = true
            case "false": invocation.writesJSON = false
            default: return false
            }
            return true
        },
    ]
}
