package import HTTPCore
internal import System

extension DownloadMachine {
    /// The decision about a download that an earlier instance of the service has left.
    ///
    /// Interrupted downloads are queued, and only durable bytes count. Bytes behind those are cut when the transfer
    /// continues. A download that was in transfer at too many crashes is paused.
    package struct Recovery: Sendable {
        /// The transfer of the download when the earlier instance ended.
        package struct Interruption: Sendable, Equatable {
            package let stage: CrashSuspicion.Stage
            /// Whether that instance left the mark of a crash.
            package let isMarked: Bool

            package init(stage: CrashSuspicion.Stage, isMarked: Bool) {
                self.stage = stage
                self.isMarked = isMarked
            }
        }

        /// The record from now on.
        package private(set) var record: DownloadRecord
        /// The bytes that count.
        package let written: Coverage
        /// The path that the file already has; `nil`: none.
        let publishedName: PublishedName?
        /// Whether the record's entity and generation are durable.
        private(set) var isEntitySaved: Bool
        /// Whether the record counted on bytes that are missing.
        package let hasLostBytes: Bool
        /// Whether the number of crashes in the record has changed.
        package private(set) var countsCrash = false
        /// Whether the download is paused because of its crashes.
        package private(set) var isPausedAsSuspect = false

        /// Decides from a saved record and the files.
        /// - Parameters:
        ///   - saved: The record.
        ///   - found: The bytes that the earlier instance has left.
        ///   - interruption: The download's transfer in that instance; `nil`: there was none.
        ///   - now: The wall-clock time.
        package init(_ saved: DownloadRecord, finding found: RecoveredPart, after interruption: Interruption?, at now: Timestamp)
        {
            record = saved
            switch saved.download.state {
            case .retrying where (saved.retryHold?.remaining(at: now) ?? .zero) > .zero: break
            case .queued, .downloading, .retrying: record.download.state = .queued
            case .paused, .completed, .failed, .cancelled: break
            }
            (written, publishedName) = Self.adopt(found, in: &record)
            isEntitySaved = saved.entity == record.entity && saved.partGeneration == record.partGeneration
            hasLostBytes = written.ranges.isEmpty && !saved.segments.isEmpty
            if let interruption { suspect(interruption, at: now) }
        }

        /// Counts a crash against a live download that was in transfer, and pauses it after too many.
        private mutating func suspect(_ interruption: Interruption, at now: Timestamp) {
            guard record.download.state.isLive else { return }
            let before = record.transferCrashes
            let crashes = CrashSuspicion.crashes(before: before, stage: interruption.stage, isMarked: interruption.isMarked)
            record.transferCrashes = crashes
            countsCrash = crashes != before
            guard crashes == CrashSuspicion.limit, record.download.state != .paused else { return }
            isPausedAsSuspect = true
            record.download.state = .paused
            record.download.error = DownloadFailure(.transferBroken, CrashSuspicion.message, retryable: false)
            record.download.noteChange(at: now)
        }

        /// Gives the record a revision for a save at once.
        /// - Parameter revision: The last revision that replicas have published; `nil`: unknown.
        package mutating func prepareSave(beyond revision: UInt64?) {
            record.download.revision = max(record.download.revision, revision ?? 0) + 1
            isEntitySaved = true
        }

        /// Adapts a record to the bytes that were found.
        /// - Returns: The bytes that count, and the path that the file already has; `nil`: none.
        package static func adopt(_ found: RecoveredPart, in record: inout DownloadRecord) -> (Coverage, PublishedName?) {
            var written = Coverage()
            var published: PublishedName?
            switch found {
            case .missing: break
            case .part(let size): written = Coverage(record.segments).held(by: size)
            case .whole(let size, let sha256, let generation):
                written = Coverage(prefix: size)
                record.partGeneration = generation
                noteWhole(size, sha256, in: &record)
            case .published(let path, let identity, let sha256, let generation):
                // The file was published before a crash, so it is complete, flushed and verified.
                written = Coverage(prefix: identity.size)
                published = PublishedName(path: path, identity: identity, sha256: sha256)
                // The record may be of an earlier generation and describe another version of the file.
                if record.partGeneration != generation { record.entity = nil }
                record.partGeneration = generation
                noteWhole(identity.size, sha256, in: &record)
                record.download.filename = path.name
                record.download.folder = path.folder
            }
            if written != Coverage(record.segments) { record.segments = written.segments(total: record.download.bytesTotal) }
            record.download.bytesPerSecond = 0
            record.download.stalled = false
            record.download.bytesReceived = written.byteCount
            record.download.receivedRanges = written.outline(atMost: Download.rangeLimit)
            return (written, published)
        }

        /// Notes that all bytes are present, with their digest. The record of a small file may not contain any bytes yet.
        private static func noteWhole(_ size: Int64, _ sha256: [UInt8], in record: inout DownloadRecord) {
            var entity = record.entity ?? SavedEntity()
            entity.total = size
            if entity.digest == nil { entity.digest = Checksum(.sha256, bytes: sha256) }
            record.entity = entity
            record.download.bytesTotal = size
        }
    }

    /// Makes the machine of a download that an earlier instance has left.
    package init(_ recovery: Recovery, url: HTTPURL) {
        self.init(
            recovery.record, url: url, written: recovery.written, publishedName: recovery.publishedName,
            isEntitySaved: recovery.isEntitySaved)
    }
}
