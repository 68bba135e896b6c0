public import HTTPCore
public import System

/// One download as the service shows it.
///
/// Services keep a hundred thousand finished ones in memory: what few downloads have is boxed together, which keeps the
/// value itself to about 250 bytes and a copy to a handful of retains.
public struct Download: Sendable {
    /// Its identity, which sorts by creation.
    public let id: DownloadID
    /// What is downloaded, as given.
    public var url: String
    /// The file's name, once it is known; then reserved, so it is also the name of the finished file.
    public var filename: String?
    /// The media type the origin states, without parameters.
    public var mediaType: String?
    /// Where it is in its life.
    public var state: DownloadState
    /// Whether it can go on from the bytes it has after a break; `nil` until the origin has responded.
    public var resumable: Bool?
    /// Whether it transfers, but nothing has come for a while.
    public var stalled = false
    /// Whether the finished file was found to be gone from the files directory.
    public var fileMissing = false
    /// Which file it is, once it is finished; `nil` before, and in records of releases that did not keep it.
    public var file: FileIdentity?
    /// How many connections it uses, or used last; 0 before the first.
    public var segments = 0
    /// How many attempts have been made.
    public var attempts = 0
    /// Bytes of the file that have arrived.
    public var bytesReceived: Int64 = 0
    /// Bytes the file will have; `nil` while unknown.
    public var bytesTotal: Int64?
    /// The current speed in bytes per second; 0 when not transferring.
    public var bytesPerSecond: Int64 = 0
    /// When it was asked for.
    public var createdAt: Timestamp
    /// When its first attempt began.
    public var startedAt: Timestamp?
    /// When anything but its byte counters changed last. It rises with each change, also while the clock is set back.
    public internal(set) var updatedAt: Timestamp
    /// When it completed, failed or was cancelled; `nil` while it is live.
    public var endedAt: Timestamp?
    /// When its record is removed; `nil`: never, as things stand.
    public var expiresAt: Timestamp?
    /// What it waits for, if it is queued.
    public var waitingFor: WaitingReason?
    /// `position`, or −1: here, it costs no room.
    private var place: Int32 = -1
    /// Grows with every change.
    public internal(set) var revision: UInt64 = 0
    /// The stamp of its last change, saved with it: its place in the order of events.
    var stamp = EventID.none
    /// Which of all published changes this is, as the index counts them; 0 for none.
    var publication: UInt64 = 0

    private var digest: Digest?
    private var rare: Box<Rare>?

    /// A download that has just been accepted.
    public init(id: DownloadID, url: String, state: DownloadState = .queued, createdAt: Timestamp) {
        self.id = id
        self.url = url
        self.state = state
        self.createdAt = createdAt
        self.updatedAt = createdAt
    }

    /// Has this be a later version than the one before: whoever has got both can tell which that is.
    mutating func noteChange(at now: Timestamp) {
        updatedAt = max(now, Timestamp(millisecondsSinceEpoch: updatedAt.millisecondsSinceEpoch + 1))
        revision += 1
    }
}

extension Download {
    /// When its file was published.
    public var completedAt: Timestamp? { state == .completed ? endedAt : nil }

    /// The part that has arrived, 0…1; `nil` while the total is unknown.
    public var progress: Double? {
        if state == .completed { return 1 }
        guard let bytesTotal, bytesTotal >= 0 else { return nil }
        guard bytesTotal > 0 else { return 0 }
        return min(max(Double(bytesReceived) / Double(bytesTotal), 0), 1)
    }

    /// How many precede it in the queue, if it is queued or paused; read, like `waitingFor`, when it is shown, and part of no version.
    public var position: Int? {
        get { place < 0 ? nil : Int(place) }
        set { place = newValue.map { Int32(clamping: max($0, 0)) } ?? -1 }
    }

    /// Seconds until it is done at the current speed; `nil` while that cannot be told or it does not transfer.
    public var etaSeconds: Double? {
        guard state == .downloading, let bytesTotal, bytesPerSecond > 0 else { return nil }
        let (remaining, overflow) = bytesTotal.subtractingReportingOverflow(bytesReceived)
        guard !overflow else { return nil }
        return Double(max(remaining, 0)) / Double(bytesPerSecond)
    }
}

// MARK: - What few downloads have

extension Download {
    /// A download as it was requested.
    init(_ new: NewDownload, id: DownloadID, at now: Timestamp) {
        self.init(id: id, url: new.url.string, state: new.startsPaused ? .paused : .queued, createdAt: now)
        filename = new.filename
        bytesTotal = new.bytesTotal
        change {
            $0.checksum = new.checksum
            $0.priority = new.priority
            $0.labels = new.labels
            $0.folder = new.folder
            $0.speedLimit = new.speedLimit
            $0.track = new.track
            $0.trackName = new.trackName
            $0.chosenGID = new.gid
        }
    }

    /// Why it is retrying or failed; `nil` otherwise.
    public var error: DownloadFailure? {
        get { rare?.value.error }
        set { change { $0.error = newValue } }
    }

    /// Which bytes have arrived: ranges in order of position, of which no two touch. At most ``rangeLimit``; where there are more,
    /// the smallest gaps are passed over, so that fewer than that are exact.
    public var receivedRanges: [Range<Int64>] {
        // Nearly all have the first bytes and no others.
        get { rare?.value.scatteredRanges ?? (bytesReceived > 0 ? [0..<bytesReceived] : []) }
        set {
            let isPrefix = newValue.isEmpty || (newValue.count == 1 && newValue[0].lowerBound == 0)
            change { $0.scatteredRanges = isPrefix ? nil : newValue }
        }
    }

    /// The most ranges that are told: enough to draw a bar with.
    static let rangeLimit = 64

    /// What the finished file must match.
    public var checksum: Checksum? {
        get { rare?.value.checksum }
        set { change { $0.checksum = newValue } }
    }

    /// The more, the earlier it starts: −10…10.
    public var priority: Int {
        get { rare?.value.priority ?? 0 }
        set { change { $0.priority = newValue } }
    }

    /// The name that aria2's RPC has for it.
    public var gid: DownloadGID { chosenGID ?? id.gid }

    /// The same, if its client chose it.
    var chosenGID: DownloadGID? {
        get { rare?.value.chosenGID }
        set { change { $0.chosenGID = newValue } }
    }

    /// As what it has arrived in the queue; `nil`: as itself. See ``QueueRank``.
    var arrival: DownloadID? {
        get { rare?.value.arrival }
        set { change { $0.arrival = newValue } }
    }

    /// The user's own labels.
    public var labels: [String] {
        get { rare?.value.labels ?? [] }
        set { change { $0.labels = newValue } }
    }

    /// The directory of the finished file below the files directory: names with slashes between them; empty for that directory itself.
    public var folder: String {
        get { rare?.value.folder ?? "" }
        set { change { $0.folder = newValue } }
    }

    /// Where its finished file is, or will be; `nil` until its name is known.
    var path: FilePath? { filename.map { FilePath($0, in: folder) } }

    /// Its own limit in bytes per second; 0 is none.
    public var speedLimit: Int64 {
        get { rare?.value.speedLimit ?? 0 }
        set { change { $0.speedLimit = newValue } }
    }

    /// The search item it was started from, as the bytes of a JSON object.
    public var track: [UInt8]? {
        get { rare?.value.track }
        set { change { $0.track = newValue } }
    }

    /// The name of that item, for finding it.
    public var trackName: String? {
        get { rare?.value.trackName }
        set { change { $0.trackName = newValue } }
    }

    /// The finished file as the record tells of it; `nil` if the download has none.
    var published: PublishedFile? {
        guard state == .completed, let path, let sha256Bytes else { return nil }
        return PublishedFile(path: path, length: bytesReceived, sha256: sha256Bytes, identity: file)
    }

    /// The SHA-256 of the finished file in 64 lower-case hexadecimal digits. Setting anything else clears it.
    public var sha256: String? {
        get { digest.map { Hexadecimal.encode($0.bytes) } }
        set { sha256Bytes = newValue.flatMap { Hexadecimal.decode($0.utf8) } }
    }

    /// The SHA-256 of the finished file in 32 bytes. Setting another number of them clears it.
    public var sha256Bytes: [UInt8]? {
        get { digest?.bytes }
        set { digest = newValue.flatMap(Digest.init) }
    }

    /// Bytes of memory, about, as if it shared nothing with copies of it.
    var memorySize: Int {
        let texts = [url, filename ?? "", mediaType ?? "", error?.message ?? "", trackName ?? "", folder] + labels
        let rareSize = rare == nil ? 0 : MemoryLayout<Rare>.size + (track?.count ?? 0) + 16 * receivedRanges.count
        return texts.reduce(MemoryLayout<Download>.stride + rareSize) { $0 + $1.utf8.count + 32 }
    }

    private struct Rare: Sendable, Equatable {
        var error: DownloadFailure?
        var checksum: Checksum?
        var priority = 0
        var labels: [String] = []
        var folder = ""
        var speedLimit: Int64 = 0
        var track: [UInt8]?
        var trackName: String?
        var scatteredRanges: [Range<Int64>]?
        var chosenGID: DownloadGID?
        var arrival: DownloadID?
    }

    private mutating func change(_ body: (inout Rare) -> Void) {
        let before = rare?.value ?? Rare()
        var after = before
        body(&after)
        if after == before, after.labels.isExactly(before.labels) { return }
        rare = after == Rare() ? nil : Box(after)
    }

    /// 32 bytes in place: as text they would cost a heap block of 112 bytes for each finished download.
    private struct Digest: Sendable {
        private let words: (UInt64, UInt64, UInt64, UInt64)

        init?(_ bytes: [UInt8]) {
            guard bytes.count == 32 else { return nil }
            func word(_ start: Int) -> UInt64 {
                bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
            }
            words = (word(0), word(8), word(16), word(24))
        }

        var bytes: [UInt8] {
            [words.0, words.1, words.2, words.3].flatMap { word in
                (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
            }
        }
    }
}
