internal import CommandLine
internal import DownloadCore
internal import HTTPCore
internal import JSON
internal import Terminal

/// `pawl list`, and the commands on downloads.
extension ClientCommand {
    /// The default numbers of rows and of ids in a list. Ids are read by programs, which expect all of them.
    private static let defaultCount = (rows: 50, ids: 100_000)

    /// Lists downloads.
    func list() async throws(RemoteError) -> ExitStatus {
        let options = invocation.client
        var filters = options.states.map { QueryItem(name: "state", value: $0.rawValue) }
        filters += selection
        if let text = options.text { filters.append(QueryItem(name: "q", value: text)) }
        let defaultCount = options.writesIDsOnly ? Self.defaultCount.ids : Self.defaultCount.rows
        let listing = try await service.list(filters, limit: options.count ?? defaultCount)
        if options.writesIDsOnly {
            let ids = listing.items.compactMap { $0["id"]?.string }
            write(ids.map { TerminalLine(TerminalText($0)) })
        } else if invocation.writesJSON {
            for item in listing.items { write(item) }
        } else {
            let downloads = listing.items.compactMap(RemoteDownload.init)
            if downloads.isEmpty {
                Self.writeError("no downloads")
            } else {
                write(Self.table(of: downloads, isShort: isTerminal))
            }
            ListMemory(server: service.name, ids: downloads.map(\.id)).keep(listPath)
        }
        if listing.total > listing.items.count {
            Self.writeError("\(listing.items.count) of \(listing.total) downloads are listed; --count \(listing.total) lists all")
        }
        return .done
    }

    /// The label and the folder to select downloads by.
    private var selection: [QueryItem] {
        [("label", invocation.client.labels.last), ("folder", invocation.client.folder)].compactMap { name, value in
            value.map { QueryItem(name: name, value: $0) }
        }
    }

    /// - Parameter isShort: Whether ids are shown by their shortest unique end.
    static func table(of downloads: [RemoteDownload], isShort: Bool) -> TextTable {
        var table = TextTable([
            TextTable.Column("#", isRight: true), TextTable.Column("ID"), TextTable.Column("STATE"),
            TextTable.Column("DONE", isRight: true),
            TextTable.Column("SIZE", isRight: true, dispensability: 1),
            TextTable.Column("SPEED", isRight: true, dispensability: 2),
            TextTable.Column("LEFT", isRight: true, dispensability: 3), TextTable.Column("NAME", least: 10),
        ])
        let length = isShort ? IDMatch.distinctLength(of: downloads.map(\.id)) : IDMatch.length
        for (index, download) in downloads.enumerated() {
            let status = download.status
            let isMoving = status.state == .downloading
            let left = isMoving ? status.secondsLeft.map { HumanReadable.time(seconds: $0) } : nil
            let reason = status.state == .failed ? status.reason.map { ": " + $0.string } : nil
            table.append([
                number(index), TextTable.Cell(TerminalText(download.id.suffix(length)), .dim),
                TextTable.Cell(TerminalText(download.stateText), status.state.style),
                TextTable.Cell(TerminalText(status.percentage)), TextTable.Cell(TerminalText(status.size)),
                TextTable.Cell(TerminalText(isMoving ? status.speed : "")),
                TextTable.Cell(TerminalText(left ?? "")),
                TextTable.Cell(TerminalText(status.name.string + (reason ?? ""))),
            ])
        }
        return table
    }

    /// Moves a download to another position in the queue.
    func move() async throws(RemoteError) -> ExitStatus {
        let operands = invocation.operands
        guard operands.count == 2, let position = Int64(operands[1]) else { throw .usage("pawl move takes an ID and a position") }
        for match in try await service.resolve([operands[0]], ListMemory.read(listPath)) {
            let resource = try await service.move(try match.id(), to: position - 1)
            guard let download = RemoteDownload(resource) else { continue }
            write([line(download.id, download.stateText, download.status.state.style, download.status.name)])
        }
        return .done
    }

    /// Sends a command for each named download. If one fails, the others are still sent.
    func perform() async throws(RemoteError) -> ExitStatus {
        var status = ExitStatus.done
        for match in try await service.resolve(invocation.operands, ListMemory.read(listPath)) {
            do throws(RemoteError) {
                let id = try match.id()
                if invocation.command == .rm {
                    let removed = RemoteDownload(try await service.show(id))
                    try await service.remove(id, deletingFile: invocation.client.deletesFile)
                    write([line(id, "removed", .good, removed?.status.name ?? "")])
                } else if let download = RemoteDownload(try await service.perform(invocation.command.rawValue, on: id)) {
                    write([line(id, download.status.state.rawValue, download.status.state.style, download.status.name)])
                }
            } catch {
                // Without a service, the other requests would fail as well.
                guard error.status == .failed else { throw error }
                let subject = if case (.problem, .one(let id)) = (error, match) { "\(id): " } else { "" }
                Self.writeError(subject + error.message)
                status = .failed
            }
        }
        return status
    }

    /// Sends a command for all matching downloads.
    func performOnAll() async throws(RemoteError) -> ExitStatus {
        let response = try await service.send("POST", "downloads/\(invocation.command.rawValue)", query: selection)
        let word =
            switch invocation.command {
            case .pause: "paused"
            case .resume: "resumed"
            default: "cancelled"
            }
        write([TerminalLine(TerminalText("\(word) \(response["changed"]?.integer ?? 0)"))])
        return .done
    }
}
