public import DownloadCore
public import Terminal

/// The status of a download as displayed in a terminal.
public struct TransferStatus: Sendable, Equatable {
    /// The name of its file, or its URL.
    public var name: TerminalText
    /// The state.
    public var state: DownloadState
    /// The number of received bytes.
    public var bytesReceived: Int64 = 0
    /// The size in bytes; `nil` while unknown.
    public var bytesTotal: Int64?
    /// The current speed in bytes per second.
    public var bytesPerSecond: Int64 = 0
    /// The remaining seconds at that speed; `nil` while unknown.
    public var secondsLeft: Double?
    /// Whether the transfer is stalled.
    public var isStalled = false
    /// The last error; `nil` if there was none.
    public var reason: TerminalText?

    /// Creates a status with only a name and a state.
    public init(name: TerminalText, state: DownloadState) {
        self.name = name
        self.state = state
    }

    /// The received fraction of the file, 0…1; `nil` while unknown.
    public var fraction: Double? {
        guard let total = bytesTotal else { return nil }
        return total > 0 ? min(1, Double(max(0, bytesReceived)) / Double(total)) : 1
    }

    /// The percentage, such as `45%`; empty while unknown.
    public var percentage: String {
        fraction.map { "\(Int(($0 * 100).rounded(.down)))%" } ?? ""
    }

    /// The size, or the received bytes while it is unknown. One number, since `12.1 of 27.0 MiB` would not align.
    public var size: String {
        bytesTotal == nil && bytesReceived == 0 ? "" : HumanReadable.bytes(bytesTotal ?? bytesReceived)
    }

    /// The speed; empty while it is unknown.
    public var speed: String { bytesPerSecond > 0 ? HumanReadable.bytes(bytesPerSecond) + "/s" : "" }

    /// The status in words, without the name: `45% of 27.0 MiB, 3.4 MiB/s, 4s left`.
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
            if !speed.isEmpty { parts.append(speed) }
            if let secondsLeft { parts.append(HumanReadable.time(seconds: secondsLeft) + " left") }
        case .retrying: parts.append("trying again: " + (reason?.string ?? "the transfer broke"))
        case .failed: parts.append("failed" + (reason.map { ": " + $0.string } ?? ""))
        default: parts.append(state.rawValue)
        }
        return TerminalText(parts.joined(separator: ", "))
    }
}

extension TransferStatus {
    /// The total of several transfers: their bytes, their speed and the remaining time.
    public static func total(of transfers: [TransferStatus], name: TerminalText) -> TransferStatus {
        var total = TransferStatus(name: name, state: .downloading)
        var expected: Int64? = 0
        for transfer in transfers {
            total.bytesReceived = sum(total.bytesReceived, transfer.bytesReceived)
            total.bytesPerSecond = sum(total.bytesPerSecond, transfer.bytesPerSecond)
            // One unknown size makes the total unknown.
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
