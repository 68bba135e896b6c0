internal import CommandLine
internal import Downloads
internal import HTTPCore
internal import JSON
internal import System
internal import Terminal

/// `pawl add` and `pawl search`.
extension ClientCommand {
    private var memoryPath: String? { SearchMemory.path(ProcessEnvironment.variable) }

    /// Adds downloads. Each has a line; for one that is refused it says why, and the others are still added.
    func add() async throws(RemoteError) -> ExitStatus {
        let operands: [DownloadOperand]
        do throws(UsageError) {
            operands = try URLList.operands(of: invocation)
        } catch {
            StandardStreams.writeError("\(error)\n")
            return .usage
        }
        let bodies = try bodies(operands)
        guard bodies.count == 1 || invocation.client.filename == nil && invocation.checksum == nil else {
            throw .usage("--output and --checksum are of one download, and these are \(bodies.count)")
        }
        var status = ExitStatus.done
        for (item, sent) in zip(try await service.add(bodies.map(\.json)), bodies) {
            if invocation.writesJSON { write(item) }
            if let problem = item["problem"] {
                Self.writeError("\(sent.name): \(problem["detail"]?.string ?? "the service refuses it")")
                status = .failed
            } else if !invocation.writesJSON, let download = item["download"].flatMap(RemoteDownload.init) {
                let isNew = item["status"]?.integer == 201
                let state = download.status.state
                let word = isNew ? state == .paused ? "paused" : "added" : "is \(state.rawValue)"
                write([line(download.id, word, isNew ? .good : .waiting, TerminalText(sent.name))])
            }
        }
        return status
    }

    /// What is sent for each, and what it is called here.
    private func bodies(_ operands: [DownloadOperand]) throws(RemoteError) -> [(json: JSONValue, name: String)] {
        var bodies: [(json: JSONValue, name: String)] = []
        var memory: SearchMemory?
        for operand in operands {
            switch operand {
            case .url(let url):
                // A password is sent, and not shown.
                let name = url.hasUserInfo ? "\(url.scheme)://\(url.authority)\(url.path)" : url.string
                bodies.append((Self.body(("url", url.string), invocation), name))
            case .results(let numbers):
                if memory == nil { memory = SearchMemory.read(memoryPath) }
                for result in try SearchMemory.results(numbers, of: memory) {
                    bodies.append((Self.body(("trackId", result.id), invocation), result.name))
                }
            }
        }
        return bodies
    }

    /// The members of a request to download; those that were not chosen are left to the service.
    static func body(_ source: (name: String, value: String), _ invocation: Invocation) -> JSONValue {
        let options = invocation.client
        var members = [JSONMember(name: source.name, value: .string(source.value))]
        func add(_ name: String, _ value: JSONValue?) {
            if let value { members.append(JSONMember(name: name, value: value)) }
        }
        add("filename", options.filename.map { .string($0) })
        add("folder", options.folder.map { .string($0) })
        add("checksum", invocation.checksum.map { .string($0) })
        add("segments", options.segments.map { .integer(Int64($0)) })
        add("speedLimit", options.speedLimit > 0 ? .integer(options.speedLimit) : nil)
        add("priority", options.priority.map { .integer(Int64($0)) })
        add("labels", options.labels.isEmpty ? nil : .array(options.labels.map { .string($0) }))
        add("paused", options.startsPaused ? .bool(true) : nil)
        return .object(members)
    }

    /// Searches, shows the results by number and keeps them for `add`.
    func search() async throws(RemoteError) -> ExitStatus {
        let options = invocation.client
        var query = [
            QueryItem(name: "term", value: invocation.operands.joined(separator: " ")),
            QueryItem(name: "limit", value: String(min(options.count ?? 20, 200))),
        ]
        for (name, value) in [("source", options.source), ("media", options.media), ("country", options.country)] {
            if let value { query.append(QueryItem(name: name, value: value)) }
        }
        let response = try await service.send("GET", "search", query: query)
        guard let results = response["results"]?.array else {
            throw .notPawl(server: service.name, reason: "its response to a search has no results")
        }
        if let warning = SearchMemory.keep(response, memoryPath) { Self.writeError(warning) }
        if invocation.writesJSON {
            for result in results { write(result) }
        } else if results.isEmpty {
            Self.writeError("nothing found for '\(invocation.operands.joined(separator: " "))'")
        } else {
            write(Self.table(ofResults: results))
            if let attribution = response["attribution"]?.string { write([TerminalLine(TerminalText(attribution), .dim)]) }
        }
        return .done
    }

    static func table(ofResults results: [JSONValue]) -> TextTable {
        var table = TextTable([
            TextTable.Column("#", isRight: true), TextTable.Column("NAME", least: 16),
            TextTable.Column("ARTIST", least: 10, dispensability: 2),
            TextTable.Column("COLLECTION", least: 10, dispensability: 4),
            TextTable.Column("TIME", isRight: true, dispensability: 3), TextTable.Column("STATE", dispensability: 1),
        ])
        for (index, result) in results.enumerated() {
            func text(_ name: String) -> TerminalText { TerminalText(result[name]?.string ?? "") }
            let state = result["download"]?["state"]?.string
            let isDownloadable = result["downloadUrl"]?.string != nil
            let style = state.flatMap(DownloadState.init(rawValue:))?.style ?? .dim
            table.append([
                TextTable.Cell(TerminalText(String(index + 1)), .bold),
                TextTable.Cell(text("name"), isDownloadable ? .plain : .dim),
                TextTable.Cell(text("artist")), TextTable.Cell(text("collection")),
                TextTable.Cell(
                    TerminalText(result["durationMs"]?.integer.map { HumanReadable.playingTime(milliseconds: $0) } ?? "")),
                TextTable.Cell(TerminalText(state ?? (isDownloadable ? "" : "no file")), style),
            ])
        }
        return table
    }
}
