public import DownloadCore
public import HTTPCore

/// The state of an item that a check has found.
public enum ItemState: String, Sendable, CaseIterable {
    /// A check found it while the subscription was paused. It is taken on resumption.
    case new
    /// It became a download.
    case taken
    /// It is left out, and can be taken by hand.
    case skipped
    /// It was taken, and its file has made room for newer ones. It is never fetched again.
    case expired
}

/// The reason why an item is skipped, or why a taken one has no file.
public enum SkipReason: String, Sendable, CaseIterable {
    /// It was there before the subscription.
    case backlog
    /// The subscription's filter leaves it out.
    case filtered
    /// The user has skipped it.
    case byHand = "by-hand"
    /// The guard of destinations forbids its address.
    case destinationForbidden = "destination-forbidden"
    /// It has nothing to download.
    case empty
    /// It was taken, and its origin does not have the file yet. No record has this reason.
    case fileNotThereYet = "file-not-there-yet"
}

/// An item of a listing.
public struct ListedItem: Sendable, Equatable {
    /// The identity in its listing, which does not change with links, dates and positions.
    public var key: String
    /// The name.
    public var name: String
    /// The time of publication; `nil` if it is unknown.
    public var date: Timestamp?
    /// The duration in milliseconds; `nil` if it is unknown.
    public var durationMs: Int64?
    /// The normalised address of the file; `nil` for a work, whose files are listed when it is taken.
    public var url: String?
    /// Whether the key is made from `url`, since the listing has no identity for the item.
    public var isNamedByAddress = false
}

/// The record of an item, as far as decisions need it.
public struct KnownItem: Sendable, Equatable {
    /// The identity in its listing.
    public var key: String
    /// The time of publication, at most the time at which a check first found it. That one stands for a missing time, too.
    public var date: Timestamp
    /// The state.
    public var state: ItemState
    /// The reason for which it is skipped; `nil` in other states.
    public var reason: SkipReason?
    /// The normalised address of the file at the last check; `nil` for a work.
    public var url: String?
    /// The download; `nil` if it was not taken, or is a work.
    public var download: RecordID?
    /// Whether the subscription made the download, which did not exist before.
    public var isMade = false
    /// Whether the user has taken it by hand. Such an item does not expire.
    public var isByHand = false
    /// Whether the subscription's choice among the backlog has taken it.
    var isChosen: Bool { state != .skipped && !isByHand }
}
