internal import CommandLine
internal import DownloadCore
internal import JSON
internal import Terminal

/// The state of `pawl watch`. A pure value: it receives events, keys and the time, and returns a screen and actions.
struct WatchModel: Sendable {
    /// An action for the user.
    enum Action: Sendable, Equatable {
        /// Ends the command.
        case quit
        /// Sends a command to the service.
        case perform(String, id: String)
    }

    /// The state of the connection to the service.
    enum Connection: Sendable, Equatable {
        case connecting
        case live
        /// Disconnected for this reason; the next attempt is made at this time.
        case offline(String, until: ContinuousClock.Instant)
    }

    /// A command that the user has to confirm.
    struct Question: Sendable, Equatable {
        var command: String
        var id: String
        var name: TerminalText
    }

    /// The URL of the service in messages.
    let server: String
    /// The watched downloads; empty for all.
    let chosen: Set<String>
    private(set) var downloads: [String: RemoteDownload] = [:]
    /// The chosen downloads that were removed.
    private(set) var removed: Set<String> = []
    var connection = Connection.connecting
    /// The last message, displayed until the next key.
    var notice: TerminalText?
    private(set) var question: Question?
    private(set) var selected: String?
    /// The index of the first displayed row.
    private(set) var top = 0
    /// The number of rows in the last drawing.
    private var page = 10
    /// The downloads with an event on the current connection: a list may have an older version of them.
    private var updated: Set<String> = []

    init(server: String, chosen: Set<String> = []) {
        self.server = server
        self.chosen = chosen
    }

    // MARK: - Events and lists

    /// Applies an event. Returns the download whose state it changed, if any.
    @discardableResult
    mutating func take(_ event: ServiceEvent) -> RemoteDownload? {
        switch event {
        case .snapshot(let items):
            updated = []
            for item in items { take(item) }
            connection = .live
            return nil
        case .download(let item): return take(item)
        case .removed(let id):
            updated.insert(id)
            downloads[id] = nil
            if chosen.contains(id) { removed.insert(id) }
            return nil
        }
    }

    @discardableResult
    private mutating func take(_ item: JSONValue) -> RemoteDownload? {
        guard let download = RemoteDownload(item), isWatched(download.id) else { return nil }
        updated.insert(download.id)
        let before = downloads.updateValue(download, forKey: download.id)
        return before?.status.state == download.status.state ? nil : download
    }

    /// Applies a list of the newest downloads. Downloads that are neither listed nor had an event on this connection
    /// are removed.
    mutating func take(list items: [JSONValue]) {
        var listed: [String: RemoteDownload] = [:]
        for download in items.compactMap(RemoteDownload.init) where isWatched(download.id) { listed[download.id] = download }
        for id in Array(downloads.keys) where listed[id] == nil && !updated.contains(id) {
            downloads[id] = nil
            if chosen.contains(id) { removed.insert(id) }
        }
        for (id, download) in listed where !updated.contains(id) { downloads[id] = download }
    }

    private func isWatched(_ id: String) -> Bool { chosen.isEmpty || chosen.contains(id) }

    /// Whether all chosen downloads have ended; `false` if none are chosen.
    var isOver: Bool {
        !chosen.isEmpty
            && chosen.allSatisfy { id in removed.contains(id) || downloads[id].map { !$0.status.state.isLive } ?? false }
    }

    /// Whether all chosen downloads are completed.
    var isComplete: Bool { chosen.allSatisfy { downloads[$0]?.status.state == .completed } }

    // MARK: - Rows

    /// The downloads in displayed order: transferring, waiting, then ended ones, the latest first.
    var rows: [RemoteDownload] {
        downloads.values.sorted { first, second in
            let (firstRank, secondRank) = (Self.rank(first.status.state), Self.rank(second.status.state))
            if firstRank != secondRank { return firstRank < secondRank }
            if firstRank < 4 { return first.id < second.id }
            return (first.updatedAt, first.id) > (second.updatedAt, second.id)
        }
    }

    private static func rank(_ state: DownloadState) -> Int {
        switch state {
        case .downloading: 0
        case .retrying: 1
        case .queued: 2
        case .paused: 3
        case .completed, .failed, .cancelled: 4
        }
    }

    /// The rows to display, at most `count`. Scrolls so that the selected row is among them.
    mutating func show(_ count: Int) -> [RemoteDownload] {
        let rows = rows
        page = max(1, count)
        let last = max(0, rows.count - page)
        if let index = rows.firstIndex(where: { $0.id == selected }) {
            top = min(max(top, index - page + 1), index)
        }
        top = min(max(0, top), last)
        return Array(rows[top..<min(rows.count, top + page)])
    }

    /// The number of rows below the displayed ones.
    var hiddenBelow: Int { max(0, downloads.count - top - page) }

    // MARK: - Keys

    /// Applies a key, and returns the resulting action, if any.
    mutating func take(_ key: Key) -> Action? {
        notice = nil
        if let pending = question {
            question = nil
            return key == .character("y") ? .perform(pending.command, id: pending.id) : nil
        }
        switch key {
        case .character("q"), .interrupt: return .quit
        case .down, .character("j"): move(by: 1)
        case .up, .character("k"): move(by: -1)
        case .pageDown: move(by: page)
        case .pageUp: move(by: -page)
        case .home: move(by: -downloads.count)
        case .end: move(by: downloads.count)
        case .character("p"), .character(" "): return pauseOrResume()
        case .character("c"): confirmCancel()
        case .escape: selected = nil
        default: break
        }
        return nil
    }

    private mutating func move(by count: Int) {
        let rows = rows
        guard !rows.isEmpty else { return }
        guard let index = rows.firstIndex(where: { $0.id == selected }) else {
            selected = rows[count > 0 ? min(top, rows.count - 1) : rows.count - 1].id
            return
        }
        selected = rows[min(max(0, index + count), rows.count - 1)].id
    }

    private mutating func pauseOrResume() -> Action? {
        guard let download = chosenRow() else { return nil }
        switch download.status.state {
        case .queued, .downloading, .retrying: return .perform("pause", id: download.id)
        case .paused, .failed: return .perform("resume", id: download.id)
        case .completed, .cancelled:
            notice = TerminalText("the download is \(download.status.state.rawValue)")
            return nil
        }
    }

    private mutating func confirmCancel() {
        guard let download = chosenRow() else { return }
        guard download.status.state.isLive || download.status.state == .failed else {
            notice = TerminalText("the download is \(download.status.state.rawValue)")
            return
        }
        question = Question(command: "cancel", id: download.id, name: download.status.name)
    }

    private mutating func chosenRow() -> RemoteDownload? {
        let download = selected.flatMap { downloads[$0] }
        if download == nil { notice = "select a download with the arrows first" }
        return download
    }
}
