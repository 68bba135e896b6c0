internal import DownloadCore
internal import JSON
internal import PawlConfiguration
internal import Terminal

/// Displays the progress of one `pawl get`: redrawn in place on a terminal, otherwise as lines of text or JSON.
struct ProgressDisplay {
    /// The form of the display.
    enum Mode: Sendable {
        /// Lines that are redrawn.
        case terminal
        /// Lines that stay.
        case lines
        /// An object on each line.
        case json
    }

    /// The interval between lines about a download's progress.
    static let plainInterval: Duration = .seconds(5)
    /// The interval between JSON lines, which programs read.
    static let jsonInterval: Duration = .seconds(1)

    private let mode: Mode
    /// The name of the only download, if the user has given one.
    private let name: String?
    /// Whether failures appear in the display.
    let showsFailures: Bool
    private let appearance: Appearance
    private let size: () -> TerminalDevice.Size
    private let write: (String) -> Void
    private var area = LiveArea()
    /// The last written progress of each download, for lines and JSON.
    private var written: [RecordID: (state: DownloadState, bytes: Int64, at: ContinuousClock.Instant)] = [:]
    /// The ended downloads.
    private(set) var ended: [TransferStatus] = []

    init(
        mode: Mode, name: String? = nil, showsFailures: Bool = true, appearance: Appearance = Appearance(),
        size: @escaping () -> TerminalDevice.Size, write: @escaping (String) -> Void
    ) {
        self.showsFailures = showsFailures
        self.mode = mode
        self.name = name
        self.appearance = appearance
        self.size = size
        self.write = write
    }

    /// Displays the downloads that have not ended.
    mutating func show(_ downloads: [Download], now: ContinuousClock.Instant) {
        switch mode {
        case .terminal: draw(downloads, staying: [])
        case .lines:
            writeLines(downloads, every: Self.plainInterval, now) { "\($0.status(of: $1).name): \($0.status(of: $1).facts)" }
        case .json: writeLines(downloads, every: Self.jsonInterval, now) { Self.json("progress", $1) }
        }
    }

    /// Reports that a file has been moved to its place.
    mutating func saved(_ download: Download, at path: String) {
        ended.append(status(of: download))
        if mode == .json {
            write(
                Self.object("saved") { writer in
                    writer.member("url", download.url)
                    writer.member("path", path)
                    writer.member("bytes", download.bytesReceived)
                    writer.member("sha256", download.sha256)
                } + "\n")
        } else {
            stay("saved \(path) (\(HumanReadable.bytes(download.bytesReceived)))", .good)
        }
    }

    /// Counts a URL that could not be downloaded, and reports it unless failures appear elsewhere.
    mutating func failed(_ url: String, name: String?, code: String, reason: String, httpStatus: Int? = nil) {
        ended.append(TransferStatus(name: TerminalText(name ?? url), state: .failed))
        if mode == .json {
            write(
                Self.object("failed") { writer in
                    writer.member("url", url)
                    writer.member("filename", name)
                    writer.name("error")
                    writer.beginObject()
                    writer.member("code", code)
                    writer.member("message", reason)
                    writer.member("httpStatus", httpStatus)
                    writer.endObject()
                } + "\n")
        } else if showsFailures {
            stay("\(name ?? Log.withoutSecrets(url)): failed: \(reason)", .bad)
        }
    }

    /// Erases the display, and writes a summary if there was more than one download.
    mutating func end(isInterrupted: Bool, after time: Duration) {
        let completed = ended.filter { $0.state == .completed }
        let bytes = TransferStatus.total(of: completed, name: "").bytesReceived
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        switch mode {
        case .json:
            write(
                Self.object("done") { writer in
                    writer.member("completed", completed.count)
                    writer.member("failed", ended.count - completed.count)
                    writer.member("bytes", bytes)
                    writer.member("seconds", (seconds * 1000).rounded() / 1000)
                    writer.member("interrupted", isInterrupted)
                } + "\n")
        case .terminal, .lines:
            guard ended.count > 1 else { return draw([], staying: []) }
            let speed = seconds > 0.1 ? ", \(HumanReadable.bytes(Int64(min(Double(bytes) / seconds, 1e18))))/s" : ""
            stay(
                "total: \(completed.count) of \(ended.count) downloads, \(HumanReadable.bytes(bytes)) in"
                    + " \(HumanReadable.time(seconds: seconds))\(speed)", .bold)
        }
    }

    private func status(of download: Download) -> TransferStatus {
        var status = TransferStatus(download)
        if let name { status.name = TerminalText(name) }
        return status
    }

    // MARK: - On a terminal

    private mutating func draw(_ downloads: [Download], staying: [TerminalLine]) {
        guard mode == .terminal else {
            for line in staying { write(line.plain + "\n") }
            return
        }
        let size = size()
        write(area.draw(lines(downloads, size), staying: staying, columns: size.columns, rows: size.rows, appearance))
    }

    private mutating func stay(_ text: String, _ style: Style) {
        draw([], staying: [TerminalLine(TerminalText(text), style)])
    }

    /// A line for each download, transferring ones first, as far as there is room; then a total if there are several.
    private func lines(_ downloads: [Download], _ size: TerminalDevice.Size) -> [TerminalLine] {
        let width = size.columns - 1
        let transfers = downloads.map { status(of: $0) }
        let isAlone = transfers.count + ended.count == 1
        let room = max(1, size.rows - 2 - (isAlone ? 0 : 2))
        let ordered = transfers.filter { $0.state == .downloading } + transfers.filter { $0.state != .downloading }
        var lines = ordered.prefix(room).map { $0.line(width: width, appearance) }
        guard !isAlone, !transfers.isEmpty else { return lines }
        if ordered.count > room { lines.append(TerminalLine(TerminalText("and \(ordered.count - room) more"), .dim)) }
        let count = transfers.count + ended.count
        let name = TerminalText("total: \(ended.count) of \(count) done")
        lines.append(TransferStatus.total(of: transfers + ended, name: name).line(width: width, appearance).styled(.bold))
        return lines
    }

    // MARK: - Lines and JSON

    /// Writes a line for each download: once its name is known, when its state changes, and at each interval.
    private mutating func writeLines(
        _ downloads: [Download], every interval: Duration, _ now: ContinuousClock.Instant,
        _ line: (ProgressDisplay, Download) -> String
    ) {
        for download in downloads {
            guard let last = written[download.id] else {
                guard download.filename != nil || download.state == .retrying else { continue }
                written[download.id] = (download.state, download.bytesReceived, now)
                write(line(self, download) + "\n")
                continue
            }
            let isDue = now >= last.at + interval && (mode == .lines || last.bytes != download.bytesReceived)
            guard isDue || last.state != download.state else { continue }
            written[download.id] = (download.state, download.bytesReceived, now)
            write(line(self, download) + "\n")
        }
    }

    /// The members have the names and meanings that they have in the API.
    private static func json(_ event: String, _ download: Download) -> String {
        object(event) { writer in
            writer.member("url", download.url)
            writer.member("filename", download.filename)
            writer.member("state", download.state.rawValue)
            writer.member("bytesReceived", download.bytesReceived)
            writer.member("bytesTotal", download.bytesTotal)
            writer.member("progress", download.progress)
            writer.member("bytesPerSecond", download.bytesPerSecond)
            writer.member("etaSeconds", download.etaSeconds)
            writer.member("stalled", download.stalled)
            writer.name("error")
            guard let error = download.error else { return writer.null() }
            writer.beginObject()
            writer.member("code", error.code.rawValue)
            writer.member("message", error.message)
            writer.member("retryable", error.retryable)
            writer.member("httpStatus", error.httpStatus)
            writer.endObject()
        }
    }

    private static func object(_ event: String, _ members: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("event", event)
        members(&writer)
        writer.endObject()
        return TerminalJSON.escaped(String(decoding: writer.bytes, as: UTF8.self))
    }
}
