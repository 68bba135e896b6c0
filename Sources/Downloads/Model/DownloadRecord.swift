import HTTPCore
import System

/// All that is kept of one download: what everybody sees, and what only the service knows.
struct DownloadRecord: Sendable {
    /// What everybody sees.
    var download: Download

    private var particulars: Box<Particulars>?

    init(_ download: Download) {
        self.download = download
    }

    var id: DownloadID { download.id }
}

extension DownloadRecord {
    /// The record of a download that has just been accepted.
    /// - Parameter now: the time of the request. The identity sorts and is no clock.
    init(_ new: NewDownload, id: DownloadID, at now: Timestamp) {
        self.init(Download(new, id: id, at: now))
        change {
            $0.requestedFilename = new.filename
            $0.lacksExtension = new.lacksExtension && new.filename != nil
            $0.requestedMediaType = new.mediaType
            $0.requestedSegments = new.segments
            $0.headers = new.headers.map(RequestHeader.init)
            $0.mirrors = new.mirrors.map(\.string)
            $0.webhook = new.webhook?.string
        }
    }

    /// The representation that the partial bytes belong to; `nil` before the first response.
    var entity: SavedEntity? {
        get { particulars?.value.entity }
        set { change { $0.entity = newValue } }
    }

    /// What of the part file is on disk, in order of position.
    var segments: [SyncedSegment] {
        get { particulars?.value.segments ?? [] }
        set { change { $0.segments = newValue } }
    }

    /// The name the user chose, which stays when the download starts over; `nil`: taken from the origin.
    var requestedFilename: String? {
        get { particulars?.value.requestedFilename }
        set { change { $0.requestedFilename = newValue } }
    }

    /// Whether ``requestedFilename`` is to get an extension, which the origin's response tells.
    var lacksExtension: Bool {
        get { particulars?.value.lacksExtension ?? false }
        set { change { $0.lacksExtension = newValue } }
    }

    /// The media type the file must have; `audio/*` is understood.
    var requestedMediaType: String? {
        get { particulars?.value.requestedMediaType }
        set { change { $0.requestedMediaType = newValue } }
    }

    /// Most connections for this download; `nil` takes the service's setting.
    var requestedSegments: Int? {
        get { particulars?.value.requestedSegments }
        set { change { $0.requestedSegments = newValue } }
    }

    /// Fields to send along. They may carry secrets.
    var headers: [RequestHeader] {
        get { particulars?.value.headers ?? [] }
        set { change { $0.headers = newValue } }
    }

    /// More URLs of the same bytes.
    var mirrors: [String] {
        get { particulars?.value.mirrors ?? [] }
        set { change { $0.mirrors = newValue } }
    }

    /// Where the resource is posted to when it ends.
    var webhook: String? {
        get { particulars?.value.webhook }
        set { change { $0.webhook = newValue } }
    }

    /// The wait that the origin has asked for; `nil`: none.
    var retryHold: RetryHold? {
        get { particulars?.value.retryHold }
        set { change { $0.retryHold = newValue } }
    }

    /// The number in the part file's name: a random one for each beginning of the download. `nil`: the name has no number, as in records of
    /// earlier releases.
    var partGeneration: UInt64? {
        get { particulars?.value.partGeneration }
        set { change { $0.partGeneration = newValue } }
    }

    /// Crashes of the service in a row during which this download was in transfer.
    var transferCrashes: Int {
        get { particulars?.value.transferCrashes ?? 0 }
        set { change { $0.transferCrashes = newValue } }
    }

    /// Whether a file with bytes of a mirror has failed its checksum, so that mirrors are not asked any more.
    var distrustsMirrors: Bool {
        get { particulars?.value.distrustsMirrors ?? false }
        set { change { $0.distrustsMirrors = newValue } }
    }

    /// Bytes that the segments hold on disk.
    var syncedBytes: Int64 {
        segments.reduce(0) { $0.addingReportingOverflow($1.length).partialValue }
    }

    /// What a finished download has no use for any more, so that it costs nothing once it is cleared.
    private struct Particulars: Sendable, Equatable {
        var entity: SavedEntity?
        var segments: [SyncedSegment] = []
        var requestedFilename: String?
        var lacksExtension = false
        var requestedMediaType: String?
        var requestedSegments: Int?
        var headers: [RequestHeader] = []
        var mirrors: [String] = []
        var webhook: String?
        var retryHold: RetryHold?
        var partGeneration: UInt64?
        var transferCrashes = 0
        var distrustsMirrors = false
    }

    private mutating func change(_ body: (inout Particulars) -> Void) {
        let before = particulars?.value ?? Particulars()
        var after = before
        body(&after)
        if after == before { return }
        particulars = after == Particulars() ? nil : Box(after)
    }

    /// Forgets what only a transfer needs: headers with their secrets, validators, segments and mirrors.
    mutating func forgetTransfer() {
        change {
            $0.entity = nil
            $0.segments = []
            $0.headers = []
            $0.mirrors = []
            $0.requestedSegments = nil
            $0.requestedMediaType = nil
            $0.retryHold = nil
            $0.partGeneration = nil
            $0.transferCrashes = 0
            $0.distrustsMirrors = false
        }
    }
}

/// One field to send with a download's requests. Its value may be a secret, so it never describes itself.
struct RequestHeader: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    var name: String
    var value: String

    init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    var description: String { "\(name): (hidden)" }
    var debugDescription: String { description }
}

extension RequestHeader: Equatable {
    /// Whether both have the same bytes.
    static func == (left: RequestHeader, right: RequestHeader) -> Bool {
        left.name.isExactly(right.name) && left.value.isExactly(right.value)
    }
}
