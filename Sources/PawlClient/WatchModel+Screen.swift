internal import CommandLine
internal import DownloadCore
internal import Terminal

extension WatchModel {
    /// The number of lines above and below the downloads.
    private static let frame = 4

    /// The lines of the whole screen.
    mutating func screen(_ size: TerminalDevice.Size, now: ContinuousClock.Instant, _ appearance: Appearance) -> [TerminalLine] {
        let width = size.columns
        var lines = [heading(width, now, appearance), summary(width, appearance)]
        let room = size.rows - Self.frame
        guard room > 0 else { return Array(lines.prefix(size.rows)) }
        lines.append(TerminalLine())
        let shown = show(room)
        if shown.isEmpty { lines.append(TerminalLine(connection == .connecting ? "" : "no downloads", .dim)) }
        for download in shown { lines.append(row(download, width, appearance)) }
        while lines.count < size.rows - 1 { lines.append(TerminalLine()) }
        lines.append(footer(width, appearance))
        return lines
    }

    private func row(_ download: RemoteDownload, _ width: Int, _ appearance: Appearance) -> TerminalLine {
        let isSelected = download.id == selected
        var line = TerminalLine(isSelected ? "> " : "  ")
        line.append(download.status.line(width: max(1, width - 3), appearance))
        return (isSelected ? line.styled(.selected) : line).clipped(to: width, appearance)
    }

    private func heading(_ width: Int, _ now: ContinuousClock.Instant, _ appearance: Appearance) -> TerminalLine {
        var line = TerminalLine(TerminalText("pawl \(server)"), .bold)
        switch connection {
        case .connecting: line.append("  connecting", .waiting)
        case .live: break
        case .offline(let reason, let until):
            let seconds = HumanReadable.time(seconds: Double(max(.zero, until - now).components.seconds) + 0.5)
            line.append(TerminalText("  offline: \(reason); again in \(seconds)"), .bad)
        }
        return line.clipped(to: width, appearance)
    }

    private func summary(_ width: Int, _ appearance: Appearance) -> TerminalLine {
        var counts: [DownloadState: Int] = [:]
        var speed: Int64 = 0
        for download in downloads.values {
            counts[download.status.state, default: 0] += 1
            if download.status.state == .downloading { speed &+= max(0, download.status.bytesPerSecond) }
        }
        let parts = DownloadState.allCases.compactMap { state in counts[state].map { "\($0) \(state.rawValue)" } }
        var line = TerminalLine(TerminalText(HumanReadable.bytes(speed) + "/s"), .active)
        line.append(TerminalText("  " + (parts.isEmpty ? "nothing to do" : parts.joined(separator: ", "))))
        return line.clipped(to: width, appearance)
    }

    private func footer(_ width: Int, _ appearance: Appearance) -> TerminalLine {
        if let question {
            return TerminalLine(TerminalText("\(question.command) \(question.name)? y or n"), .waiting).clipped(
                to: width, appearance)
        }
        if let notice { return TerminalLine(notice, .waiting).clipped(to: width, appearance) }
        let arrows = appearance.isUnicode ? "↑↓" : "arrows"
        let keys = TerminalText("\(arrows) select  p pause or resume  c cancel  q quit")
        var line = TerminalLine(keys, .dim)
        if hiddenBelow > 0 { line.append(TerminalText("  \(hiddenBelow) more below"), .dim) }
        return line.clipped(to: width, appearance)
    }
}
