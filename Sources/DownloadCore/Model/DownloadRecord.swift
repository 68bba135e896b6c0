package import HTTPCore

/// All values that the store keeps of one download: those that clients see, and the service's own.
package struct DownloadRecord: Sendable {
    /// The values that clients see.
    package var download: Download

    private var particulars: Box<Particulars>?

    package init(_ download: Download) {
        self.download = download
    }

    package var id: RecordID { download.id }
}

extension DownloadRecord {
    /// Creates the record of a download that has just been accepted.
    /// - Parameter now: The time of the request. The time in the id may be later.
    package init(_ new: NewDownload, id: RecordID, at now: Timestamp) {
        self.init(Download(new, id: id, at: now))
        var values = Particulars()
        values.requestedFilename = new.options.filename
        values.lacksExtension = new.lacksExtension && new.options.filename != nil
        values.headers = new.options.headers.fields
        values.apply(new.options)
        keep(values)
    }

    /// Takes chosen values that only the service needs. The caller sets name and header fields.
    package mutating func apply(_ options: DownloadOptions) {
        change { $0.apply(options) }
    }

    /// The representation that the partial bytes belong to; `nil` before the first response.
    package var entity: SavedEntity? {
        get { particulars?.value.entity }
        set { if newValue != entity { change { $0.entity = newValue } } }
    }

    /// The byte ranges of the part file that are on disk, in order of position.
    package var segments: [SyncedSegment] {
        get { particulars?.value.segments ?? [] }
        set { if newValue != segments { change { $0.segments = newValue } } }
    }

    /// The file's name that the user chose. It stays when the download starts over. `nil` if the
    /// name comes from the origin.
    package var requestedFilename: String? {
        get { particulars?.value.requestedFilename }
        set { change { $0.requestedFilename = newValue } }
    }

    /// Whether ``requestedFilename`` is to get an extension, which the origin's response determines.
    package var lacksExtension: Bool {
        get { particulars?.value.lacksExtension ?? false }
        set { change { $0.lacksExtension = newValue } }
    }

    /// The media type that the file must have. Patterns such as `audio/*` are allowed.
    package var requestedMediaType: String? {
        get { particulars?.value.requestedMediaType }
        set { change { $0.requestedMediaType = newValue } }
    }

    /// The maximum number of connections for this download; `nil` for the service's setting.
    package var requestedSegments: Int? {
        get { particulars?.value.requestedSegments }
        set { change { $0.requestedSegments = newValue } }
    }

    /// Header fields of the download's requests. Their values may be secrets.
    package var headers: [RequestHeader] {
        get { particulars?.value.headers ?? [] }
        set { change { $0.headers = newValue } }
    }

    /// Other URLs of the same bytes.
    package var mirrors: [String] {
        get { particulars?.value.mirrors ?? [] }
        set { change { $0.mirrors = newValue } }
    }

    /// The mirrors that the origin has announced with the digest in ``entity``. See ``AnnouncedMirrors``.
    package var announcedMirrors: [String] {
        get { particulars?.value.announcedMirrors ?? [] }
        set { if newValue != announcedMirrors { change { $0.announcedMirrors = newValue } } }
    }

    /// The URL of the webhook that receives the ended download; `nil` for none.
    package var webhook: String? {
        get { particulars?.value.webhook }
        set { change { $0.webhook = newValue } }
    }

    /// The wait that the origin has asked for; `nil` for none.
    package var retryHold: RetryHold? {
        get { particulars?.value.retryHold }
        set { if newValue != retryHold { change { $0.retryHold = newValue } } }
    }

    /// The generation in the part file's name, which is random; `nil` if there is no part file.
    package var partGeneration: UInt64? {
        get { particulars?.value.partGeneration }
        set { if newValue != partGeneration { change { $0.partGeneration = newValue } } }
    }

    /// The number of consecutive crashes of the service during which this download was in transfer.
    package var transferCrashes: Int {
        get { particulars?.value.transferCrashes ?? 0 }
        set { if newValue != transferCrashes { change { $0.transferCrashes = newValue } } }
    }

    /// Whether mirrors are no longer used, since a file with bytes of a mirror did not match its checksum.
    package var distrustsMirrors: Bool {
        get { particulars?.value.distrustsMirrors ?? false }
        set { if newValue != distrustsMirrors { change { $0.distrustsMirrors = newValue } } }
    }

    /// The number of bytes on disk in all segments.
    package var syncedBytes: Int64 {
        segments.reduce(0) { $0.addingReportingOverflow($1.length).partialValue }
    }

    /// Values that a finished download no longer needs. Without a box, they take no memory.
    private struct Particulars: Sendable, Equatable {
        var entity: SavedEntity?
        var segments: [SyncedSegment] = []
        var requestedFilename: String?
        var lacksExtension = false
        var requestedMediaType: String?
        var requestedSegments: Int?
        var headers: [RequestHeader] = []
        var mirrors: [String] = []
        var announcedMirrors: [String] = []
        var webhook: String?
        var retryHold: RetryHold?
        var partGeneration: UInt64?
        var transferCrashes = 0
        var distrustsMirrors = false

        mutating func apply(_ options: DownloadOptions) {
            requestedMediaType = options.mediaType ?? requestedMediaType
            requestedSegments = options.segments ?? requestedSegments
            webhook = options.webhook?.string ?? webhook
            guard let urls = options.mirrors else { return }
            (mirrors, distrustsMirrors) = (urls.map(\.string), false)
        }
    }

    private mutating func change(_ body: (inout Particulars) -> Void) {
        var values = particulars?.value ?? Particulars()
        body(&values)
        keep(values)
    }

    private mutating func keep(_ values: Particulars) {
        particulars = values == Particulars() ? nil : Box(values)
    }

    /// Removes the values that only a transfer needs: header fields with their secrets, segments and mirrors. The version of
    /// the file stays, as the download's own origin names it.
    package mutating func forgetTransfer() {
        guard let before = particulars?.value else { return }
        var values = Particulars()
        values.requestedFilename = before.requestedFilename
        values.lacksExtension = before.lacksExtension
        values.webhook = before.webhook
        if let entity = before.entity, entity.source == nil, entity.etag != nil || entity.lastModified != nil {
            values.entity = SavedEntity(etag: entity.etag, lastModified: entity.lastModified, total: entity.total)
        }
        keep(values)
    }
}
