internal import HTTPCore

/// Checks the operands of a command, and the options that depend on them.
enum OperandCheck {
    /// Throws an error with one line of text if an operand is missing or invalid.
    static func check(_ invocation: Invocation) throws(UsageError) {
        let name = invocation.command.rawValue
        let operands = invocation.operands
        switch CommandTable.command(invocation.command).operands {
        case .none:
            guard invocation.client.labels.count <= 1 else {
                throw UsageError("pawl: --label is given more than once: pawl \(name) takes one label")
            }
        case .anyDownloads, .command: break
        case .urls:
            guard !operands.isEmpty || invocation.listFile != nil else {
                throw UsageError("pawl: nothing to download: pawl get takes one or more http or https URLs, or --input LIST")
            }
            for url in operands where HTTPURL(url) == nil { throw badURL(url, of: name) }
            try checkSingle(invocation, isNamed: invocation.output != nil, elsewhere: "; --directory takes any number")
        case .urlsOrResults:
            guard !operands.isEmpty || invocation.listFile != nil else {
                throw UsageError(
                    "pawl: nothing to add: pawl add takes http or https URLs, numbers of results, ids of items, or --input LIST")
            }
            for operand in operands where DownloadOperand(operand) == nil {
                throw badURL(
                    operand, of: name,
                    besides: ", numbers of results such as 3 or 2-4, and ids of items such as itunes:263301273")
            }
            try checkSingle(invocation, isNamed: invocation.client.filename != nil, elsewhere: "")
        case .result:
            switch operands.count == 1 ? operands.first.flatMap(DownloadOperand.init) : nil {
            case .results(let numbers) where numbers.count == 1: break
            case .item: break
            default:
                throw UsageError(
                    "pawl: pawl \(name) takes the number of one result of the last search, such as 3, or the id of one item, such"
                        + " as itunes:collection:1038991417")
            }
        case .work: try checkWork(invocation)
        case .subscriptions:
            guard !operands.isEmpty else {
                throw UsageError("pawl: nothing to \(name): pawl \(name) takes one or more IDs, which pawl subscriptions lists")
            }
        case .downloadAndPosition:
            guard operands.count == 2, !operands[0].isEmpty, operands[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                Int64(operands[1]).map({ $0 >= 1 }) ?? false
            else {
                throw UsageError("pawl: pawl \(name) takes an ID and a position in the queue, from 1, which starts next")
            }
        case .downloads: try checkChoice(invocation)
        case .assignments:
            for operand in operands where operand.utf8.first == UInt8(ascii: "=") || !operand.utf8.contains(UInt8(ascii: "=")) {
                throw UsageError("pawl: pawl \(name) takes NAME=VALUE, such as maxConcurrent=3, not '\(operand)'")
            }
        case .path:
            guard operands.count == 1, operands[0].last.map({ $0 != "/" }) ?? false, OptionTable.isPath(operands[0]) else {
                throw UsageError("pawl: pawl \(name) takes the path of one file")
            }
        case .words:
            guard operands.contains(where: { !$0.isEmpty }) else {
                throw UsageError("pawl: nothing to search for: pawl search takes one or more words")
            }
        case .oneOf(let words):
            guard operands.count == 1, let word = operands.first, words.contains(word) else {
                let given = operands.isEmpty ? "" : ", not '\(operands.joined(separator: " "))'"
                throw UsageError("pawl: pawl \(name) takes one of \(words.joined(separator: ", "))\(given)")
            }
        }
    }

    /// Checks the operand of `subscribe`.
    private static func checkWork(_ invocation: Invocation) throws(UsageError) {
        let name = invocation.command.rawValue
        let accepted = "the number of one result of the last search, or the id of one work such as itunes:5000910100"
        guard invocation.operands.count == 1, let operand = invocation.operands.first else {
            throw UsageError("pawl: pawl \(name) takes one http or https URL, \(accepted)")
        }
        switch DownloadOperand(operand) {
        case .url, .item: break
        case .results(let numbers) where numbers.count == 1: break
        default: throw badURL(operand, of: name, besides: ", \(accepted)")
        }
    }

    /// Checks commands such as `pause`, which take ids or `--all`.
    private static func checkChoice(_ invocation: Invocation) throws(UsageError) {
        let name = invocation.command.rawValue
        let hasAll = invocation.command != .retry && invocation.command != .rm
        if invocation.client.labels.count > 1 {
            throw UsageError("pawl: --label is given more than once: pawl \(name) takes one label")
        } else if invocation.client.meansAll {
            guard invocation.operands.isEmpty else {
                throw UsageError("pawl: --all selects all downloads: pawl \(name) takes --all or IDs, not both")
            }
        } else if !invocation.client.labels.isEmpty {
            throw UsageError("pawl: --label selects among all downloads: pawl \(name) takes it with --all, not with IDs")
        } else if invocation.client.folder != nil {
            throw UsageError("pawl: --folder selects among all downloads: pawl \(name) takes it with --all, not with IDs")
        } else if invocation.operands.isEmpty {
            throw UsageError("pawl: nothing to \(name): pawl \(name) takes one or more IDs\(hasAll ? ", or --all" : "")")
        }
    }

    /// Checks that options for a single file are given with exactly one operand.
    private static func checkSingle(_ invocation: Invocation, isNamed: Bool, elsewhere: String) throws(UsageError) {
        guard invocation.operands.count != 1 || invocation.listFile != nil else { return }
        if isNamed { throw UsageError("pawl: --output takes exactly one URL\(elsewhere)") }
        if invocation.checksum != nil {
            throw UsageError("pawl: --checksum is for one file, so it takes exactly one URL")
        }
    }

    /// The error for an invalid URL.
    static func badURL(_ text: String, of command: String, besides: String = "", at location: String = "") -> UsageError {
        if let end = text.firstRange(of: "://")?.lowerBound {
            let scheme = text[..<end].lowercased()
            if !scheme.isEmpty, scheme != "http", scheme != "https" {
                return UsageError(
                    "pawl: \(location)'\(text)' is a URL of '\(scheme)': pawl \(command) takes only http and https\(besides)")
            }
            return UsageError("pawl: \(location)'\(text)' \(HTTPURL.fault(of: text))")
        }
        return UsageError("pawl: \(location)'\(text)' is not a URL: pawl \(command) takes absolute http or https URLs\(besides)")
    }
}
