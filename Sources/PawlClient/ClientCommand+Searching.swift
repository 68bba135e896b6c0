internal import CommandLine
internal import DownloadCore
internal import HTTPCore
internal import JSON
internal import System
internal import Terminal

/// `pawl search` and `pawl parts`.
extension ClientCommand {
    /// The path of the file that keeps the listed results for `add`; `nil` if the environment names no directory.
    var memoryPath: String? { SearchMemory.path(ProcessEnvironment.variable) }

    /// The path of the file with the last list of downloads.
    var listPath: String? { SearchMemory.path(ProcessEnvironment.variable, file: "list.json") }

    /// Searches, writes the numbered results and keeps them for `add`.
    func search() async throws(RemoteError) -> ExitStatus {
        let options = invocation.client
        var query = [
            QueryItem(name: "term", value: invocation.operands.joined(separator: " ")),
            QueryItem(name: "limit", value: String(min(options.count ?? 20, 200))),
        ]
        for (name, value) in [
            ("source", options.source), ("media", options.media), ("entity", options.entity), ("country", options.country),
        ] {
            if let value { query.append(QueryItem(name: name, value: value)) }
        }
        try show(try await service.send("GET", "search", query: query)) { results, _ in
            if results.isEmpty {
                Self.writeError("nothing found for '\(invocation.operands.joined(separator: " "))'")
            } else {
                write(Self.table(ofResults: results))
            }
        }
        return .done
    }

    /// Writes the numbered parts of a work and its formats, and keeps the parts for `add`.
    func parts() async throws(RemoteError) -> ExitStatus {
        let id: String
        switch invocation.operands.first.flatMap(DownloadOperand.init) {
        case .item(let given): id = given
        case .results(let numbers):
            let result = try SearchMemory.results(numbers, of: SearchMemory.read(memoryPath).search).first
            guard let result, result.hasParts else { throw .usage("'\(result?.name ?? "")' has no parts") }
            id = result.id
        case .url, nil: throw .usage("pawl parts takes the number of a result, or an id")
        }
        try show(try await service.parts(of: id, formats: invocation.client.formats)) { parts, response in
            write(Self.table(ofParts: parts))
            write([TerminalLine(TerminalText(Self.total(of: parts)), .bold)])
            let formats = response["formats"]?.array ?? []
            if !formats.isEmpty {
                write([TerminalLine()])
                write(Self.table(ofFormats: formats))
            }
            if let total = response["total"]?.integer, total > parts.count {
                Self.writeError("the first \(parts.count) of \(total) parts are listed; --format selects parts by format")
            }
        }
        return .done
    }

    /// Keeps the results of a response for `add`, and writes them as JSON or with `draw`.
    private func show(
        _ response: JSONValue, draw: (_ results: [JSONValue], _ response: JSONValue) -> Void
    ) throws(RemoteError) {
        guard let results = response["results"]?.array else {
            throw .notPawl(server: service.name, reason: "its response to a search has no results")
        }
        if let warning = SearchMemory.keep(response, memoryPath) { Self.writeError(warning) }
        Self.warn(response, of: response["of"]?["name"]?.string ?? "the work")
        if invocation.writesJSON {
            for result in results { write(result) }
            return
        }
        draw(results, response)
        if !results.isEmpty, let attribution = response["attribution"]?.string {
            write([TerminalLine(TerminalText(attribution), .dim)])
        }
    }

    // MARK: - Tables

    static func table(ofResults results: [JSONValue]) -> TextTable {
        var table = TextTable([
            TextTable.Column("#", isRight: true), TextTable.Column("NAME", least: 16),
            TextTable.Column("ARTIST", least: 10, dispensability: 2),
            TextTable.Column("COLLECTION", least: 10, dispensability: 4),
            TextTable.Column("TIME", isRight: true, dispensability: 3), TextTable.Column("STATE", dispensability: 1),
        ])
        for (index, result) in results.enumerated() {
            func text(_ name: String) -> TerminalText { TerminalText(result[name]?.string ?? "") }
            table.append([
                number(index), name(of: result), TextTable.Cell(text("artist")), TextTable.Cell(text("collection")),
                time(of: result), state(of: result),
            ])
        }
        return table
    }

    static func table(ofParts parts: [JSONValue]) -> TextTable {
        // Formats and sizes of songs and episodes are unknown.
        let areFiles = parts.contains { $0["format"]?.string != nil || $0["bytes"]?.integer != nil }
        let fileColumns = [
            TextTable.Column("FORMAT", dispensability: 2), TextTable.Column("SIZE", isRight: true, dispensability: 4),
        ]
        var table = TextTable(
            [
                TextTable.Column("#", isRight: true), TextTable.Column("NAME", least: 16),
                TextTable.Column("TIME", isRight: true, dispensability: 3),
            ] + (areFiles ? fileColumns : []) + [TextTable.Column("STATE", dispensability: 1)])
        for (index, part) in parts.enumerated() {
            let fileCells = [TextTable.Cell(TerminalText(part["format"]?.string ?? "")), size(of: part)]
            table.append([number(index), name(of: part), time(of: part)] + (areFiles ? fileCells : []) + [state(of: part)])
        }
        return table
    }

    static func table(ofFormats formats: [JSONValue]) -> TextTable {
        var table = TextTable([
            TextTable.Column("FORMAT"), TextTable.Column("PARTS", isRight: true), TextTable.Column("SIZE", isRight: true),
            TextTable.Column("SOURCE", dispensability: 1), TextTable.Column("LISTED"),
        ])
        for format in formats {
            let isListed = format["selected"]?.bool == true
            table.append([
                TextTable.Cell(TerminalText(format["name"]?.string ?? ""), isListed ? .bold : .plain),
                TextTable.Cell(TerminalText(format["count"]?.integer.map { String($0) } ?? "")), size(of: format),
                TextTable.Cell(TerminalText(format["source"]?.string ?? ""), .dim), TextTable.Cell(isListed ? "yes" : ""),
            ])
        }
        return table
    }

    /// The number of parts, and their total size and duration if these are known for all.
    static func total(of parts: [JSONValue]) -> String {
        func sum(_ name: String) -> Int64? {
            var total: Int64 = 0
            for part in parts {
                guard let value = part[name]?.integer, value >= 0 else { return nil }
                let (next, overflows) = total.addingReportingOverflow(value)
                if overflows { return nil }
                total = next
            }
            return total
        }
        let facts = [
            "\(parts.count) \(parts.count == 1 ? "part" : "parts")", sum("bytes").map(HumanReadable.bytes),
            sum("durationMs").map(HumanReadable.playingTime),
        ]
        return facts.compactMap { $0 }.joined(separator: ", ")
    }

    static func number(_ index: Int) -> TextTable.Cell {
        TextTable.Cell(TerminalText(String(index + 1)), .bold)
    }

    private static func name(of item: JSONValue) -> TextTable.Cell {
        TextTable.Cell(TerminalText(item["name"]?.string ?? ""), canBeAdded(item) ? .plain : .dim)
    }

    private static func time(of item: JSONValue) -> TextTable.Cell {
        TextTable.Cell(TerminalText(item["durationMs"]?.integer.map { HumanReadable.playingTime(milliseconds: $0) } ?? ""))
    }

    private static func size(of item: JSONValue) -> TextTable.Cell {
        TextTable.Cell(TerminalText(item["bytes"]?.integer.map { HumanReadable.bytes($0) } ?? ""))
    }

    /// The state of the item's download; without one, whether the item can be added.
    private static func state(of item: JSONValue) -> TextTable.Cell {
        if let state = item["download"]?["state"]?.string {
            return TextTable.Cell(TerminalText(state), DownloadState(rawValue: state)?.style ?? .dim)
        }
        if item["downloadUrl"]?.string != nil { return TextTable.Cell("") }
        guard canBeAdded(item) else { return TextTable.Cell("no file", .dim) }
        return TextTable.Cell(TerminalText(item["partCount"]?.integer.map { "\($0) parts" } ?? "parts"))
    }

    private static func canBeAdded(_ item: JSONValue) -> Bool {
        item["downloadUrl"]?.string != nil || item["links"]?["parts"]?.string != nil
    }
}
