public import Downloads
public import Terminal

/// How a download stands, as far as a terminal shows it.
public struct TransferStatus: Sendable, Equatable {
    /// What it is called: its file's name, or else its URL.
    public var name: TerminalText
    /// Its state.
    public var state: DownloadState
    /// Bytes that are there.
    public var bytesReceived: Int64 = 0
    /// Bytes it will have; `nil` while unknown.
    public var bytesTotal: Int64?
    /// Bytes per second, now.
    public var bytesPerSecond: Int64 = 0
    /// Seconds left at that speed; `nil` while unknown.
    public var secondsLeft: Double?
    /// Whether nothing has come for a while.
    public var isStalled = false
    /// What went wrong last.
    public var reason: TerminalText?

    /// A download of which nothing more is known.
    public init(name: TerminalText, state: DownloadState) {
        self.name = name
        self.state = state
    }

    /// How much of it is there, 0…1; `nil` while unknown.
    public var fraction: Double? {
        guard let total = bytesTotal else { return nil }
        return total > 0 ? min(1, Double(max(0, bytesReceived)) / Double(total)) : 1
    }

    /// `45%`, or nothing while it is unknown.
    public var percentage: String {
        fraction.map { "\(Int(($0 * 100).rounded(.down)))%" } ?? ""
    }

    /// The size, or what is there of it: `12.1 of 27.0 MiB` would not line up, so one number at a time.
    public var size: String {
        bytesTotal == nil && bytesReceived == 0 ? "" : HumanReadable.bytes(bytesTotal ?? bytesReceived)
    }

    /// What there is to say besides its name: `45% of 27.0 MiB, 3.4 MiB/s, 4s left`.
    public var facts: TerminalText {
        var parts: [String] = []
        if bytesTotal != nil {
            parts.append("\(percentage) of \(size)")
        } else {
            parts.append(HumanReadable.bytes(bytesReceived))
        }
        switch state {
        case .downloading where isStalled: parts.append("stalled")
        case .downloading:
            parts.append(HumanReadable.bytes(bytesPerSecond) + "/s")
            if let secondsLeft { parts.append(HumanReadable.time(seconds: secondsLeft) + " left") }
        case .retrying: parts.append("trying again: " + (reason?.string ?? "the transfer broke"))
        case .failed: parts.append("failed" + (reason.map { ": " + $0.string } ?? ""))
        default: parts.append(state.rawValue)
        }
        return TerminalText(parts.joined(separator: ", "))
    }
}

extension TransferStatus {
    /// Several as one: their bytes, speeds and the time that all of them take.
    public static func total(of transfers: [TransferStatus], name: TerminalText) -> TransferStatus {
        var total = TransferStatus(name: name, state: .downloading)
        var expected: Int64? = 0
        for transfer in transfers {
            total.bytesReceived = sum(total.bytesReceived, transfer.bytesReceived)
            total.bytesPerSecond = sum(total.bytesPerSecond, transfer.bytesPerSecond)
            // One whose size is unknown leaves the total unknown.
            expected = expected.flatMap { known in transfer.bytesTotal.map { sum(known, $0) } }
        }
        total.bytesTotal = expected
        if let expected, total.bytesPerSecond > 0 {
            total.secondsLeft = Double(max(0, expected - total.bytesReceived)) / Double(total.bytesPerSecond)
        }
        return total
    }

    private static func sum(_ first: Int64, _ second: Int64) -> Int64 {
        let (sum, overflow) = max(0, first).addingReportingOverflow(max(0, second))
        return overflow ? Int64.max : sum
    }
}
