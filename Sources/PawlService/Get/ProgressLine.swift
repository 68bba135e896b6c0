internal import Downloads

/// How a download stands, in one line of a terminal.
enum ProgressLine {
    /// The line, at most `width` columns wide as far as its characters are one column each.
    static func text(_ download: Download, width: Int) -> String {
        let name = download.filename ?? download.url
        let facts = facts(download)
        guard width >= 60 else { return fit(name, max(8, width - facts.count - 2)) + "  " + facts }
        let nameWidth = width / 3
        let barWidth = width - nameWidth - facts.count - 6
        let bar = barWidth >= 8 ? "[" + bar(download.progress, width: barWidth) + "]  " : ""
        return padded(fit(name, nameWidth), nameWidth) + "  " + bar + facts
    }

    /// What there is to say besides its name: `45% of 27.0 MiB, 3.4 MiB/s, 4s left`.
    static func facts(_ download: Download) -> String {
        var parts: [String] = []
        switch (download.bytesTotal, download.progress) {
        case (let total?, let progress?):
            parts.append("\(Int((progress * 100).rounded(.down)))% of \(HumanReadable.bytes(total))")
        default: parts.append(HumanReadable.bytes(download.bytesReceived))
        }
        switch download.state {
        case .downloading where download.stalled: parts.append("stalled")
        case .downloading:
            parts.append(HumanReadable.bytes(download.bytesPerSecond) + "/s")
            if let eta = download.etaSeconds { parts.append(HumanReadable.time(seconds: eta) + " left") }
        case .retrying: parts.append("trying again: " + (download.error?.message ?? "the transfer broke"))
        default: parts.append(download.state.rawValue)
        }
        return parts.joined(separator: ", ")
    }

    private static func bar(_ progress: Double?, width: Int) -> String {
        let filled = Int((Double(width) * min(max(progress ?? 0, 0), 1)).rounded(.down))
        return String(repeating: "=", count: filled) + String(repeating: " ", count: width - filled)
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// The text, with its middle left out where it is too long: beginning and extension are what tells files apart.
    private static func fit(_ text: String, _ width: Int) -> String {
        guard text.count > width, width > 4 else { return String(text.prefix(width)) }
        let tail = (width - 3) / 2
        return text.prefix(width - 3 - tail) + "..." + text.suffix(tail)
    }
}
