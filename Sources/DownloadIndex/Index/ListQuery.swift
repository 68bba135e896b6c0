public import DownloadCore
public import HTTPCore
internal import System

/// The conditions of a list of downloads, and the page to return.
public struct ListQuery: Sendable {
    /// The direction of the list.
    public enum Order: String, Sendable, CaseIterable {
        case newest, oldest
    }

    /// The states of the downloads; empty for all.
    public var states: Set<DownloadState>
    /// The label that the downloads have; `nil` for any.
    public var label: String?
    /// The folder of the downloads' files, which is empty for the files directory itself; `nil` for any.
    public var folder: String?
    /// A text that the URL, the file name or the track name contains, without regard to case; `nil` for any.
    public var text: String? {
        didSet { foldedText = text.map(SearchTexts.fold) }
    }
    /// Whether the text is not searched for in possible secrets (``Download/withoutSecrets``).
    public var hidesSecrets = false
    /// The time before which the downloads have ended; `nil` for any.
    public var endedBefore: Timestamp?
    /// The maximum number of items, 1 or more.
    public var limit: Int
    /// The last item of the page before; `nil` for the first page.
    public var after: RecordID?
    /// The direction, by creation.
    public var order: Order

    private(set) var foldedText: [UInt8]?

    /// Whether a download meets the conditions, the text apart.
    package func includes(_ download: Download) -> Bool {
        (states.isEmpty || states.contains(download.state)) && (label.map(download.labels.containsExactly) ?? true)
            && (folder.map { $0 == download.folder } ?? true) && isEnded(download)
    }

    /// Whether a download has ended early enough.
    package func isEnded(_ download: Download) -> Bool {
        guard let endedBefore else { return true }
        return download.endedAt.map { $0 < endedBefore } ?? false
    }

    /// Creates a query. Without arguments, it includes all downloads, newest first, in pages of 50.
    public init(
        states: Set<DownloadState> = [], label: String? = nil, folder: String? = nil, text: String? = nil,
        endedBefore: Timestamp? = nil, limit: Int = 50,
        after: RecordID? = nil, order: Order = .newest
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
    /// The downloads of this page, in the requested order.
    public var items: [Download]
    /// The item after which the next page starts; `nil` on the last page.
    public var next: RecordID?
    /// The number of matching downloads on all pages.
    public var total: Int
}

/// The number of downloads in each state, and the speed of all transfers.
public struct DownloadStatistics: Sendable {
    /// The number of downloads by state. A state without downloads may be missing.
    public var counts: [DownloadState: Int]
    /// The sum of all transfers' speeds, in bytes per second.
    public var bytesPerSecond: Int64
}

/// The order in which a command takes many downloads.
package enum CommandOrder: Sendable {
    /// First the newest without a slot, then those with one. No slot becomes free while a download of the command waits for it.
    case slotsLast
    /// The order of the queue. The downloads that come first in the queue start first.
    case queue
}

extension Download {
    /// Whether the download is in a state in which it may have a slot.
    package var mayHaveSlot: Bool { state == .downloading || state == .retrying }
}
