internal import Downloads

/// Shows how downloads stand: redrawn in place on a terminal, as plain lines anywhere else.
struct ProgressDisplay {
    /// How often a line is written where lines cannot be redrawn.
    static let plainInterval: Duration = .seconds(5)

    private let isTerminal: Bool
    private let columns: Int
    private var drawnLines = 0
    private var lastPlain: ContinuousClock.Instant?
    /// Those that have been told of, where lines stay.
    private var begun: Set<DownloadID> = []
    private let write: (String) -> Void

    init(isTerminal: Bool, columns: Int, write: @escaping (String) -> Void) {
        self.isTerminal = isTerminal
        self.columns = columns
        self.write = write
    }

    /// Shows those that have not ended.
    mutating func show(_ downloads: [Download], now: ContinuousClock.Instant) {
        guard isTerminal else {
            showPlainly(downloads, now: now)
            return
        }
        var text = erasure
        for download in downloads { text += ProgressLine.text(download, width: columns - 1) + "\n" }
        drawnLines = downloads.count
        write(text)
    }

    /// A line for each as soon as there is something to tell of it, and then one every few seconds.
    private mutating func showPlainly(_ downloads: [Download], now: ContinuousClock.Instant) {
        let isDue = now >= (lastPlain ?? now) + Self.plainInterval
        for download in downloads {
            let isNew = download.filename != nil && begun.insert(download.id).inserted
            guard isDue || isNew else { continue }
            write("\(Self.name(download)): \(ProgressLine.facts(download))\n")
        }
        if isDue || lastPlain == nil { lastPlain = now }
    }

    /// Writes a line that stays, above what is redrawn.
    mutating func tell(_ line: String) {
        write(erasure + line + "\n")
        drawnLines = 0
    }

    /// Takes away what was drawn last: one line up and cleared, for each line (ECMA-48 CUU and EL).
    private var erasure: String {
        String(repeating: "\u{1B}[1A\u{1B}[2K", count: drawnLines)
    }

    static func name(_ download: Download) -> String {
        download.filename ?? download.url
    }
}
