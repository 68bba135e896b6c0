extension DownloadMachine {
    /// The bytes of a download's part file: those that count, their sources, and the flushes under way.
    ///
    /// An operation that began before bytes were discarded does not concern the present bytes.
    package struct PartialBytes: Sendable {
        /// The bytes that belong to the record's entity, whether durable or not.
        package private(set) var written: Coverage
        /// The path under `files` that an earlier instance gave the file before it crashed; `nil`: none.
        private(set) var publishedName: PublishedName?
        /// Whether mirrors have sent any of the bytes.
        package private(set) var hasMixedSources: Bool
        /// The target of the redirects that led to the last accepted response; `nil` without any, or if it is unknown.
        private(set) var target: String?
        /// The mirrors' digests of the whole file.
        package private(set) var mirrorDigests: [Checksum] = []
        /// Whether the store counts on discarded bytes. Those are not overwritten in place.
        var isCountedOn = false
        /// The first operation that concerns the present bytes.
        private var since: Operation = 0
        private var flushes: [Operation] = []

        /// Creates the bytes that an earlier instance has left.
        init(_ written: Coverage, publishedName: PublishedName?, of record: DownloadRecord) {
            self.written = written
            self.publishedName = publishedName
            // Records do not contain the source of each byte. Distrusted mirrors have sent none of these bytes.
            let hasMirrors = !record.mirrors.isEmpty || !record.announcedMirrors.isEmpty
            hasMixedSources = !written.ranges.isEmpty && hasMirrors && !record.distrustsMirrors
        }

        /// Whether a flush is under way.
        var isFlushing: Bool { !flushes.isEmpty }

        /// Whether an operation began after bytes were last discarded.
        func concerns(_ operation: Operation) -> Bool { operation >= since }

        // MARK: - Losing bytes

        /// Forgets all bytes.
        /// - Parameter operation: The next operation.
        mutating func lose(before operation: Operation) {
            written = Coverage()
            mirrorDigests = []
            hasMixedSources = false
            since = operation
        }

        /// Forgets all bytes and the name that they have.
        mutating func discard(before operation: Operation) {
            lose(before: operation)
            publishedName = nil
        }

        /// Forgets all bytes but those that are known to be on the disk.
        mutating func keepOnly(_ durable: [SyncedSegment], before operation: Operation) {
            written = Coverage(durable)
            since = operation
        }

        /// Notes that the store no longer counts on bytes that were discarded before this commit.
        mutating func release(with commit: Operation) {
            if concerns(commit) { isCountedOn = false }
        }

        // MARK: - Getting bytes

        /// Replaces all bytes by those that a search of the directory has found.
        mutating func find(_ written: Coverage, publishedName: PublishedName?, before operation: Operation) {
            lose(before: operation)
            self.written = written
            self.publishedName = publishedName
        }

        /// Takes the bytes that an accepted response continues.
        mutating func accept(_ accepted: TransferAcceptance, from source: String, before operation: Operation) {
            if let url = accepted.finalURL { target = url.target(of: source) }
            let isNew = accepted.written.byteCount == 0
            if isNew, accepted.isReplacement || written.byteCount > 0 { since = operation }
            written = accepted.written
        }

        /// Takes the bytes of an ended transfer.
        mutating func take(_ ending: TransferEnding) {
            written = ending.written
            if ending.hasMixedSources { hasMixedSources = true }
            mirrorDigests += ending.mirrorDigests.filter { !mirrorDigests.contains($0) }
        }

        // MARK: - Flushing

        mutating func beginFlush(_ operation: Operation) {
            flushes.append(operation)
        }

        /// Ends a flush.
        /// - Returns: Whether it was under way.
        mutating func endFlush(_ operation: Operation) -> Bool {
            guard let index = flushes.firstIndex(of: operation) else { return false }
            flushes.remove(at: index)
            return true
        }
    }
}
