internal import DownloadCore
internal import DownloadIndex
internal import DownloadStore
internal import HTTPCore
internal import System

/// The machines that receive commands. An ended download's machine is made for the command, from its record.
extension DownloadService {
    /// Downloads to which commands are about to be sent.
    struct Pins {
        /// Downloads with machines here, which stay until they are unpinned.
        var entries: [LiveDownload] = []
        /// The instances that own other downloads.
        var owners: [RecordID: Int64] = [:]
    }

    /// Finds or makes the machines of downloads, and keeps them until they are unpinned. The records of ended downloads
    /// are read from the store.
    /// - Returns: The machines, and the owners of downloads without a machine here.
    /// - Throws: `overloaded` if the store does not respond by the deadline.
    func pin(_ ids: [RecordID], by deadline: ContinuousClock.Instant? = nil) async throws(DownloadError) -> Pins {
        let deadline = deadline ?? .now + Self.answerLimit
        var pins = Pins()
        var missing = ids
        do throws(DownloadError) {
            for attempt in 0...Self.maximumReads {
                let wanted = missing
                missing.removeAll()
                for id in wanted {
                    if let entry = entries[id] {
                        entry.pins += 1
                        pins.entries.append(entry)
                    } else {
                        missing.append(id)
                    }
                }
                if missing.isEmpty || attempt == Self.maximumReads { break }
                guard let held = try await read(missing, by: deadline) else { break }
                pins.entries += held.entries
                pins.owners.merge(held.owners) { $1 }
                let known = Set(held.entries.map(\.id)).union(held.owners.keys)
                missing.removeAll(where: known.contains)
            }
        } catch {
            unpin(pins)
            throw error
        }
        return pins
    }

    /// The maximum number of attempts to read downloads without a machine. Concurrent requests may have released them again.
    private static let maximumReads = 4

    /// Unpins machines once their commands have been sent, and removes those that are no longer needed.
    func unpin(_ pins: Pins) {
        for entry in pins.entries {
            entry.pins -= 1
            if entry.pins == 0 { tidy(entry) }
        }
    }

    /// Reads downloads without a machine, and pins them.
    /// - Returns: The pinned downloads; `nil` if there was none to read. Further downloads may have machines by now if
    ///   other requests have read them at the same time.
    private func read(_ ids: [RecordID], by deadline: ContinuousClock.Instant) async throws(DownloadError) -> Pins? {
        var hasWaited = false
        var isBehind = ids.contains { index.version(of: $0) == nil }
        while true {
            if let end = ids.lazy.compactMap({ self.ledger.reads.end(of: $0) }).first {
                try await follow(end, by: deadline)
                hasWaited = true
            } else if isBehind {
                // Another replica may have just added the download.
                try await catchUp(within: deadline - .now)
                isBehind = false
            } else {
                break
            }
        }
        let missing = ids.filter { entries[$0] == nil && index.version(of: $0) != nil }
        if missing.isEmpty { return hasWaited ? Pins() : nil }
        ledger.reads.begin(missing)
        var failure: DownloadError?
        defer { ledger.reads.end(missing, after: failure) }
        do throws(StoreError) {
            let taking =
                if let sharing { try await sharing.fleet.take(missing, within: deadline - .now) } else {
                    AcquiredDownloads(records: try await records(missing, by: deadline))
                }
            return Pins(entries: taking.records.compactMap(hold), owners: taking.owners)
        } catch {
            // Nothing has been changed yet.
            failure = error.isInterruption ? .overloaded : DownloadError(error)
            throw failure ?? .overloaded
        }
    }

    func records(_ ids: [RecordID], by deadline: ContinuousClock.Instant) async throws(StoreError) -> [DownloadRecord] {
        try await read(noting: ids, by: deadline) { try $0.records(ids) }
    }

    /// Reads from the store. The error of a deadline that has passed is an interruption.
    func read<Value: Sendable>(
        noting ids: [RecordID] = [], by deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreReader) throws -> Value
    ) async throws(StoreError) -> Value {
        let result: Result<Value, StoreError>? = await self.result(by: deadline) { [store] end in
            Task {
                do throws(StoreError) { end(.success(try await store.read(noting: ids, body))) } catch { end(.failure(error)) }
            }
        }
        guard let result else { throw .interrupted("it does not answer in time") }
        return try result.get()
    }

    /// Whether a request waits for a download's record.
    func isBeingRead(_ id: RecordID) -> Bool { ledger.reads.isUnderWay(id) }

    /// Makes and pins a machine for a record that was read; `nil` if the download already has one or was removed.
    private func hold(_ record: DownloadRecord) -> LiveDownload? {
        guard entries[record.id] == nil, index.version(of: record.id) != nil, let url = HTTPURL(record.download.url) else {
            return nil
        }
        var record = record
        record.download.expiresAt = parts.configuration.retention.expiry(of: record.download)
        let entry = LiveDownload(DownloadMachine(record, url: url, written: Coverage(record.segments)))
        entry.pins = 1
        entries[record.id] = entry
        send(.admitted, to: entry.id)
        return entry
    }
}
