public import HTTPCore
internal import System

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
    /// Only downloads whose file is in this folder; empty: in none.
    public var folder: String?
    /// Only downloads whose URL, file name or track name contains this, without regard to case.
    public var text: String? {
        didSet { foldedText = text.map(SearchTexts.fold) }
    }
    /// Whether that is not looked for in what may be secret (``Download/withoutSecrets``).
    public var hidesSecrets = false
    /// Only downloads that ended before this.
    public var endedBefore: Timestamp?
    /// At most so many items, 1 or more.
    public var limit: Int
    /// The last item of the page before.
    public var after: DownloadID?
    /// By creation.
    public var order: Order

    private(set) var foldedText: [UInt8]?

    /// Whether a download in its present state is meant, whatever its text is.
    func includes(_ download: Download) -> Bool {
        (states.isEmpty || states.contains(download.state)) && (label.map(download.labels.containsExactly) ?? true)
            && (folder.map { $0 == download.folder } ?? true) && isEnded(download)
    }

    /// Whether it ended early enough.
    func isEnded(_ download: Download) -> Bool {
        guard let endedBefore else { return true }
        return download.endedAt.map { $0 < endedBefore } ?? false
    }

    /// Everything, newest first, in pages of `limit`.
    public init(
        states: Set<DownloadState> = [], label: String? = nil, folder: String? = nil, text: String? = nil,
        endedBefore: Timestamp? = nil, limit: Int = 50,
        after: DownloadID? = nil, order: Order = .newest
    ) {
        self.states = states
        self.label = label
        self.folder = folder.map(FileNaming.normalised)
        self.text = text
        self.endedBefore = endedBefore
        self.limit = max(1, limit)
        self.after = after
        self.order = order
        foldedText = text.map(SearchTexts.fold)
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
