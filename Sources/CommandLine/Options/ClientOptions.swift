public import DownloadCore
public import HTTPCore

/// The options of the commands that talk to a running service.
public struct ClientOptions: Sendable {
    /// The items to take of those that a work has when it is subscribed to.
    public enum Backlog: Sendable, Equatable {
        case new, all
        /// The newest ones, this many.
        case latest(Int)
    }

    /// The URL of the service.
    public var server: HTTPURL
    /// The name of the finished file; `nil` for the origin's.
    public var filename: String?
    /// The maximum number of connections for each file, 1…16; `nil` for the service's setting.
    public var segments: Int?
    /// The speed limit of each download in bytes per second; 0 means unlimited.
    public var speedLimit: Int64 = 0
    /// The priority, −10…10: downloads with greater ones begin first.
    public var priority: Int?
    /// Formats of the parts of a work; empty for the service's choice.
    public var formats: [String] = []
    /// Labels to add, or the label to select downloads by.
    public var labels: [String] = []
    /// The folder of the finished file, or to select downloads by; empty for the top folder.
    public var folder: String?
    /// Whether the finished file gets the origin's modification time; `nil` for the service's choice.
    public var remoteTime: Bool?
    /// Whether a download is added as paused.
    public var startsPaused = false
    /// The states to list; empty for all.
    public var states: [DownloadState] = []
    /// Text to search for in URLs, file names and track names.
    public var text: String?
    /// The maximum number of rows to list.
    public var count: Int?
    /// Whether only ids are listed.
    public var writesIDsOnly = false
    /// Whether the command applies to all downloads instead of named ones.
    public var meansAll = false
    /// Whether the finished file is deleted as well.
    public var deletesFile = false
    /// The items of a new subscription's work to take at first; `nil` for the service's choice.
    public var take: Backlog?
    /// The number of newest finished downloads that a subscription keeps; `nil` for all.
    public var keep: Int?
    /// The interval of a subscription's checks; `nil` for the service's choice.
    public var every: Duration?
    /// Patterns of the names of items to take; empty for all.
    public var include: [String] = []
    /// Patterns of the names of items to leave out.
    public var exclude: [String] = []
    /// The source to search in.
    public var source: String?
    /// The kind of media to search for.
    public var media: String?
    /// The kind of result to search for.
    public var entity: String?
    /// The country of the store to search in.
    public var country: String?

    init() {
        server = HTTPURL(.http, host: "127.0.0.1", port: 8080)
    }
}
