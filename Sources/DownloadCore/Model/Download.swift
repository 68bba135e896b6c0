public import HTTPCore
public import System

/// A download as clients see it.
///
/// A service keeps a million ended downloads in memory. Values that few downloads have, and a finished file's, are
/// therefore in boxes on the heap. This keeps the struct at 192 bytes, and a copy costs a handful of retains. Optional
/// numbers are stored without a byte for `nil`, which alignment would make eight.
public struct Download: Sendable {
    /// The identity, which sorts by creation.
    public let id: RecordID
    /// The URL of the file, in the normalised spelling of ``HTTPURL``.
    public var url: String
    /// The file's name; `nil` until it is known. From then on the name is reserved, so the finished file has it too.
    public var filename: String?
    /// The media type that the origin states, without parameters.
    public var mediaType: String?
    /// The state.
    public var state: DownloadState
    /// Whether the download can continue from its bytes after a break; `nil` until the origin has responded.
    public var resumable: Bool?
    /// Whether the download transfers, but has received no byte for a while.
    public var stalled = false
    /// Whether the finished file was found missing from the files directory.
    public var fileMissing = false
    /// The waiting reason; `nil` if the download waits for nothing.
    public var waitingFor: WaitingReason?
    private var segmentCount: Int16 = 0
    /// The value of `position`, or −1 for `nil`.
    private var place: Int32 = -1
    private var attemptCount: Int32 = 0
    /// The received bytes of the file.
    public var bytesReceived: Int64 = 0
    private var length = OptionalNumber()
    /// The current speed in bytes per second; 0 without a transfer.
    public var bytesPerSecond: Int64 = 0
    /// The time of the request.
    public var createdAt: Timestamp
    private var start = OptionalNumber()
    /// The time of the last change, byte counters apart. It rises with each change, even if the clock is set back.
    public package(set) var updatedAt: Timestamp
    private var end = OptionalNumber()
    private var expiry = OptionalNumber()
    /// The number of changes so far.
    public package(set) var revision: UInt64 = 0
    /// The event id of the last change. It is saved with the change.
    package var changeID = EventID.none
    /// The number of the publication in the index that made this version; 0 for none.
    package var publication: UInt64 = 0

    private var finished: Box<Finished>?
    @usableFromInline var rare: Box<Rare>?

    /// Creates a download that has just been accepted.
    public init(id: RecordID, url: String, state: DownloadState = .queued, createdAt: Timestamp) {
        self.id = id
        self.url = url
        self.state = state
        self.createdAt = createdAt
        self.updatedAt = createdAt
    }

    /// Increments the revision and advances `updatedAt`.
    ///
    /// Of two versions of a download, the later one has the greater values.
    package mutating func noteChange(at now: Timestamp) {
        updatedAt = max(now, Timestamp(millisecondsSinceEpoch: updatedAt.millisecondsSinceEpoch + 1))
        revision += 1
    }
}

extension Download {
    /// The number of connections that the download uses or used last; 0 before the first.
    public var segments: Int {
        get { Int(segmentCount) }
        set { segmentCount = Int16(clamping: newValue) }
    }

    /// The number of attempts.
    public var attempts: Int {
        get { Int(attemptCount) }
        set { attemptCount = Int32(clamping: newValue) }
    }

    /// The length of the file in bytes; `nil` while it is unknown.
    public var bytesTotal: Int64? {
        get { length.value }
        set { length.value = newValue }
    }

    /// The time at which the first attempt began; `nil` before.
    public var startedAt: Timestamp? {
        get { start.time }
        set { start.time = newValue }
    }

    /// The time at which the download completed, failed or was cancelled; `nil` while it is live.
    public var endedAt: Timestamp? {
        get { end.time }
        set { end.time = newValue }
    }

    /// The time at which the record is removed; `nil` if no removal is planned.
    public var expiresAt: Timestamp? {
        get { expiry.time }
        set { expiry.time = newValue }
    }

    /// The time at which the finished file was published; `nil` if the download is not completed.
    public var completedAt: Timestamp? { state == .completed ? endedAt : nil }

    /// The received fraction of the file, 0…1; `nil` while the length is unknown.
    public var progress: Double? {
        if state == .completed { return 1 }
        guard let bytesTotal, bytesTotal >= 0 else { return nil }
        guard bytesTotal > 0 else { return 0 }
        return min(max(Double(bytesReceived) / Double(bytesTotal), 0), 1)
    }

    /// The number of downloads that precede this one in the queue; `nil` if it is neither queued nor paused.
    ///
    /// The position is read when the download is shown, like `waitingFor`. It is not part of the version.
    public var position: Int? {
        get { place < 0 ? nil : Int(place) }
        set { place = newValue.map { Int32(clamping: max($0, 0)) } ?? -1 }
    }

    /// The remaining seconds at the current speed; `nil` if they are unknown, or if the download does not transfer.
    public var etaSeconds: Double? {
        guard state == .downloading, let bytesTotal, bytesPerSecond > 0 else { return nil }
        let (remaining, overflow) = bytesTotal.subtractingReportingOverflow(bytesReceived)
        guard !overflow else { return nil }
        return Double(max(remaining, 0)) / Double(bytesPerSecond)
    }
}

// MARK: - Values that few downloads have

extension Download {
    /// Creates a download from a request.
    package init(_ new: NewDownload, id: RecordID, at now: Timestamp) {
        let options = new.options
        self.init(id: id, url: new.url.string, state: options.startsPaused ? .paused : .queued, createdAt: now)
        filename = options.filename
        bytesTotal = new.bytesTotal
        change {
            $0.apply(options)
            $0.folder = options.folder ?? ""
            $0.track = options.track
            $0.trackName = options.trackName
            $0.chosenGID = options.gid
        }
    }

    /// Takes chosen values. The caller sets name and folder, which the service reserves.
    package mutating func apply(_ options: DownloadOptions) {
        change { $0.apply(options) }
    }

    /// The values that clients choose and that ``apply(_:)`` takes.
    package var options: DownloadOptions {
        var options = DownloadOptions()
        guard let rare = rare?.value else { return options }
        options.checksum = rare.checksum
        if rare.priority != 0 { options.priority = rare.priority }
        if !rare.labels.isEmpty { options.labels = rare.labels }
        if rare.speedLimit != 0 { options.speedLimit = rare.speedLimit }
        if !rare.timeouts.isEmpty { options.timeouts = rare.timeouts }
        if !rare.retry.isEmpty { options.retry = rare.retry }
        options.remoteTime = rare.remoteTime
        return options
    }

    /// The failure of a download that retries, failed, or was paused after crashes; `nil` otherwise.
    public var error: DownloadFailure? {
        @inlinable get { rare?.value.error }
        set { if newValue != error { change { $0.error = newValue } } }
    }

    /// The received byte ranges in order of position. No two of them touch.
    ///
    /// There are at most ``rangeLimit`` ranges. If there were more, ranges with the smallest gaps between them are
    /// joined. Fewer ranges than the limit are exact.
    public var receivedRanges: [Range<Int64>] {
        // Nearly all downloads have received the first bytes and no others.
        @inlinable get { rare?.value.scatteredRanges ?? (bytesReceived > 0 ? [0..<bytesReceived] : []) }
        set {
            let isPrefix = newValue.isEmpty || (newValue.count == 1 && newValue[0].lowerBound == 0)
            if isPrefix, rare?.value.scatteredRanges == nil { return }
            change { $0.scatteredRanges = isPrefix ? nil : newValue }
        }
    }

    /// The maximum number of received ranges, which is enough for a progress bar.
    package static let rangeLimit = 64

    /// The checksum that the finished file must match.
    public var checksum: Checksum? {
        @inlinable get { rare?.value.checksum }
        set { change { $0.checksum = newValue } }
    }

    /// The priority, −10…10. Higher priorities start earlier.
    public var priority: Int {
        @inlinable get { rare?.value.priority ?? 0 }
        set { change { $0.priority = newValue } }
    }

    /// The name of the download in aria2's RPC.
    @inlinable public var gid: DownloadGID { chosenGID ?? id.gid }

    /// The gid that the client chose; `nil` if it chose none.
    @usableFromInline package var chosenGID: DownloadGID? {
        @inlinable get { rare?.value.chosenGID }
        set { change { $0.chosenGID = newValue } }
    }

    /// The arrival in the queue, if it is not the download's own id; otherwise `nil`. See ``QueueRank``.
    @usableFromInline package var arrival: RecordID? {
        @inlinable get { rare?.value.arrival }
        set { if newValue != arrival { change { $0.arrival = newValue } } }
    }

    /// The user's labels.
    public var labels: [String] {
        @inlinable get { rare?.value.labels ?? [] }
        set { change { $0.labels = newValue } }
    }

    /// The folder of the finished file below the files directory, as names separated by slashes.
    ///
    /// Empty for the files directory itself.
    public var folder: String {
        @inlinable get { rare?.value.folder ?? "" }
        set { change { $0.folder = newValue } }
    }

    /// The path of the finished file; `nil` until its name is known.
    package var path: FilePath? { filename.map { FilePath($0, in: folder) } }

    /// The speed limit of this download in bytes per second; 0 is no limit.
    public var speedLimit: Int64 {
        @inlinable get { rare?.value.speedLimit ?? 0 }
        set { change { $0.speedLimit = newValue } }
    }

    /// The time limits of its requests, as far as they differ from the service's.
    public var timeouts: Timeouts {
        @inlinable get { rare?.value.timeouts ?? Timeouts() }
        set { change { $0.timeouts = newValue } }
    }

    /// The choice of when failed attempts are repeated; empty for the service's options.
    public var retry: RetryChoice {
        @inlinable get { rare?.value.retry ?? RetryChoice() }
        set { change { $0.retry = newValue } }
    }

    /// Whether the finished file gets the origin's modification time; `nil` for the service's option.
    public var remoteTime: Bool? {
        @inlinable get { rare?.value.remoteTime }
        set { change { $0.remoteTime = newValue } }
    }

    /// The search result that the download was started from, as the bytes of a JSON object.
    public var track: [UInt8]? {
        @inlinable get { rare?.value.track }
        set { change { $0.track = newValue } }
    }

    /// The name of that search result. Searches find the download by it.
    public var trackName: String? {
        @inlinable get { rare?.value.trackName }
        set { change { $0.trackName = newValue } }
    }

    /// The finished file as the record describes it; `nil` if the download has none.
    package var published: PublishedFile? {
        guard state == .completed, let path, let sha256Bytes else { return nil }
        return PublishedFile(path: path, length: bytesReceived, sha256: sha256Bytes, identity: file)
    }

    /// The SHA-256 of the finished file as 64 lower-case hexadecimal digits. Setting any other text clears it.
    public var sha256: String? {
        get { finished?.value.digest.map { Hexadecimal.encode($0.bytes) } }
        set { sha256Bytes = newValue.flatMap { Hexadecimal.decode($0.utf8) } }
    }

    /// The SHA-256 of the finished file as 32 bytes. Setting another number of bytes clears it.
    public var sha256Bytes: [UInt8]? {
        get { finished?.value.digest?.bytes }
        set { finished = Finished.box(newValue.flatMap(Digest.init), file) }
    }

    /// The identity of the finished file; `nil` before the file is finished.
    public var file: FileIdentity? {
        get { finished?.value.file }
        set { finished = Finished.box(finished?.value.digest, newValue) }
    }

    /// Whether the download has neither values of a transfer nor values of a request other than its URL.
    package var hasOnlyURL: Bool {
        state != .completed && rare == nil && finished == nil && filename == nil && mediaType == nil && bytesReceived == 0
            && bytesTotal == nil
            && bytesPerSecond == 0 && resumable == nil && !stalled && segments == 0 && attempts == 0
    }

    /// The approximate size in memory in bytes, as if the download shared nothing with its copies.
    var memorySize: Int {
        let texts = [url, filename ?? "", mediaType ?? "", error?.message ?? "", trackName ?? "", folder] + labels
        let rareSize = rare == nil ? 0 : MemoryLayout<Rare>.size + (track?.count ?? 0) + 16 * receivedRanges.count
        let finishedSize = finished == nil ? 0 : MemoryLayout<Finished>.size
        return texts.reduce(MemoryLayout<Download>.stride + rareSize + finishedSize) { $0 + $1.utf8.count + 32 }
    }

    @usableFromInline struct Rare: Sendable, Equatable {
        @usableFromInline var error: DownloadFailure?
        @usableFromInline var checksum: Checksum?
        @usableFromInline var priority = 0
        @usableFromInline var labels: [String] = []
        @usableFromInline var folder = ""
        @usableFromInline var speedLimit: Int64 = 0
        @usableFromInline var timeouts = Timeouts()
        @usableFromInline var retry = RetryChoice()
        @usableFromInline var remoteTime: Bool?
        @usableFromInline var track: [UInt8]?
        @usableFromInline var trackName: String?
        @usableFromInline var scatteredRanges: [Range<Int64>]?
        @usableFromInline var chosenGID: DownloadGID?
        @usableFromInline var arrival: RecordID?

        mutating func apply(_ options: DownloadOptions) {
            checksum = options.checksum ?? checksum
            priority = options.priority ?? priority
            labels = options.labels ?? labels
            speedLimit = options.speedLimit ?? speedLimit
            timeouts = options.timeouts ?? timeouts
            retry = options.retry ?? retry
            remoteTime = options.remoteTime ?? remoteTime
        }
    }

    /// All values that few downloads have, in one block of memory.
    package struct RareValues: Sendable, Equatable {
        fileprivate let box: Box<Rare>

        package static func == (left: RareValues, right: RareValues) -> Bool {
            if left.box === right.box { return true }
            return left.box.value == right.box.value && left.box.value.labels.isExactly(right.box.value.labels)
        }
    }

    /// All values that few downloads have; `nil` if the download has none of them.
    package var rareValues: RareValues? {
        get { rare.map(RareValues.init) }
        set { rare = newValue?.box }
    }

    private mutating func change(_ body: (inout Rare) -> Void) {
        let before = rare?.value ?? Rare()
        var after = before
        body(&after)
        if after == before, after.labels.isExactly(before.labels) { return }
        rare = after == Rare() ? nil : Box(after)
    }

    /// Values of the finished file. The flags are last, where both fit into one word.
    private struct Finished: Sendable {
        private let words: (Digest, FileIdentity)
        private let hasDigest: Bool
        private let hasFile: Bool

        var digest: Digest? { hasDigest ? words.0 : nil }
        var file: FileIdentity? { hasFile ? words.1 : nil }

        private init(_ digest: Digest?, _ file: FileIdentity?) {
            words = (digest ?? Digest(), file ?? FileIdentity(device: 0, inode: 0, size: 0, modified: 0))
            (hasDigest, hasFile) = (digest != nil, file != nil)
        }

        static func box(_ digest: Digest?, _ file: FileIdentity?) -> Box<Finished>? {
            digest == nil && file == nil ? nil : Box(Finished(digest, file))
        }
    }

    /// A digest of 32 bytes in place. As text it would cost a heap block of 112 bytes for each finished download.
    private struct Digest: Sendable {
        private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

        init() {}

        init?(_ bytes: [UInt8]) {
            guard bytes.count == 32 else { return nil }
            func word(_ start: Int) -> UInt64 {
                bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
            }
            words = (word(0), word(8), word(16), word(24))
        }

        var bytes: [UInt8] {
            [UInt8](capacity: 32) { output in
                for word in [words.0, words.1, words.2, words.3] {
                    for shift in stride(from: 56, through: 0, by: -8) { output.append(UInt8(truncatingIfNeeded: word >> shift)) }
                }
            }
        }
    }

    /// A number that may be absent, in 8 bytes.
    private struct OptionalNumber: Sendable {
        /// The least number stands for `nil`. Neither lengths nor times have this value.
        private var stored = Int64.min

        var value: Int64? {
            get { stored == .min ? nil : stored }
            set { stored = newValue ?? .min }
        }

        var time: Timestamp? {
            get { value.map(Timestamp.init(millisecondsSinceEpoch:)) }
            set { value = newValue?.millisecondsSinceEpoch }
        }
    }
}
