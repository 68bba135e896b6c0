/// What part of the downloads a list shows.
public struct ListQuery: Sendable {
    /// In which direction the list runs.
    public enum Order: String, Sendable, CaseIterable {
        case newest, oldest
    }

    /// Only downloads in one of these states; empty for all.
    public var states: Set<DownloadState>
    /// Only downloads that carry this label.
    public var label: String?
    /// Only downloads whose URL, file name or track name contains this, without regard to case.
    public var text: String? {
        didSet { foldedText = text.map { Array($0.lowercased().utf8) } }
    }
    /// At most so many items, 1 or more.
    public var limit: Int
    /// The last item of the page before.
    public var after: DownloadID?
    /// By creation.
    public var order: Order

    private(set) var foldedText: [UInt8]?

    /// Everything, newest first, in pages of `limit`.
    public init(
        states: Set<DownloadState> = [], label: String? = nil, text: String? = nil, limit: Int = 50, after: DownloadID? = nil,
        order: Order = .newest
    ) {
        self.states = states
        self.label = label
        self.text = text
        self.limit = max(1, limit)
        self.after = after
        self.order = order
        foldedText = text.map { Array($0.lowercased().utf8) }
    }
}

/// One page of a list.
public struct DownloadPage: Sendable {
    /// The downloads of this page, in the order asked for.
    public var items: [Download]
    /// Where the next page starts after; `nil` at the end.
    public var next: DownloadID?
    /// How many match in all.
    public var total: Int
}

/// How the downloads stand, counted.
public struct DownloadStatistics: Sendable {
    /// Downloads by state; a state without any may be missing.
    public var counts: [DownloadState: Int]
    /// Bytes per second over all transfers.
    public var bytesPerSecond: Int64
}

extension String {
    /// Whether the lower-cased text contains `needle`, which is lower-cased UTF-8.
    func contains(folded needle: [UInt8]) -> Bool {
        guard let first = needle.first else { return true }
        // ASCII, which nearly all URLs and names are, is folded byte by byte without building a new string.
        let text = utf8.span
        for index in text.indices where text[index] >= 0x80 {
            return Array(lowercased().utf8).span.contains(needle, first: first)
        }
        return text.contains(needle, first: first)
    }
}

extension Span<UInt8> {
    /// Whether the text, folded as ASCII, contains `needle`, which begins with `first`.
    fileprivate func contains(_ needle: [UInt8], first: UInt8) -> Bool {
        guard count >= needle.count else { return false }
        for start in 0...(count - needle.count) where fold(self[start]) == first {
            if (1..<needle.count).allSatisfy({ fold(self[start + $0]) == needle[$0] }) { return true }
        }
        return false
    }

    private func fold(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
