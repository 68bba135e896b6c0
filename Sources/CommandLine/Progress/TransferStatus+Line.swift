public import DownloadCore
public import Terminal

extension TransferStatus {
    /// The widths in columns of the fields after the bar: percentage, size, speed and time left.
    private enum Field {
        static let percentage = 4
        static let size = 9
        static let speed = 11
        static let time = 11
        static let gap = 2
    }

    /// The status in one line of at most `width` columns. In narrow terminals, fields are left out in this order: bar,
    /// size, time left, speed, end of the name.
    public func line(width: Int, _ appearance: Appearance) -> TerminalLine {
        let tail = tail(width: width)
        let room = width - tail.width - Field.gap
        guard room >= 4 else { return tail.clipped(to: width, appearance) }
        var line = TerminalLine()
        // A fixed width of the name aligns the bars of all lines.
        let nameWidth = width >= 60 ? min(40, width / 3) : room
        line.append(name.shortened(to: min(nameWidth, room), appearance).padded(to: min(nameWidth, room)))
        let barWidth = room - nameWidth - Field.gap
        if width >= 60, barWidth >= 8 {
            line.append("  ")
            line.append(ProgressBar.line(fraction, width: barWidth, appearance, style: state.style))
        }
        line.pad(to: width - tail.width)
        line.append(tail)
        return line
    }

    /// The fields at the right edge.
    private func tail(width: Int) -> TerminalLine {
        var line = TerminalLine()
        func add(_ text: String, _ columns: Int, _ style: Style = .plain) {
            if line.width > 0 { line.append("  ") }
            line.append(TerminalText(text).padded(to: columns, isRight: true), style)
        }
        let isWide = width >= 60
        add(bytesTotal == nil && !isWide ? HumanReadable.bytes(bytesReceived) : percentage, Field.percentage)
        if isWide { add(size, Field.size) }
        if width < 24 { return line }
        let space = isWide ? Field.speed + Field.gap + Field.time : 0
        switch state {
        case .downloading where !isStalled:
            add(speed, isWide ? Field.speed : 0)
            let left = secondsLeft.map { HumanReadable.time(seconds: $0) } ?? ""
            if isWide {
                add(left.isEmpty ? "" : left + " left", Field.time)
            } else if width >= 40, !left.isEmpty {
                add(left, 0)
            }
        case .downloading: add("stalled", space, .waiting)
        case .retrying: add("trying again", space, state.style)
        default: add(state.rawValue, space, state.style)
        }
        return line
    }
}

extension DownloadState {
    /// The style of the state on a terminal.
    public var style: Style {
        switch self {
        case .queued, .paused, .retrying: .waiting
        case .downloading: .active
        case .completed: .good
        case .failed: .bad
        case .cancelled: .dim
        }
    }
}
