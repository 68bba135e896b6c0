internal import DownloadCore
internal import DownloadFiles
internal import DownloadStore
internal import HTTPCore
internal import ObjectStorage

/// Removes objects that no record names. The database notes objects that records have discarded; they are removed soon.
/// A crash between an upload and its record leaves other objects, which a sweep finds.
///
/// Every replica does this, independently of the others. Work that fails or is left by an ended replica is done again.
struct ObjectCollector: Sendable {
    /// The maximum number of objects that are removed between two requests to the database.
    static let batch = 100
    /// The maximum number of concurrent removals.
    static let atOnce = 8
    /// The interval at which the database is asked for discarded objects.
    static let interval: Duration = .seconds(1)
    /// The interval at which one replica of the fleet sweeps.
    static let sweepInterval: Duration = .seconds(3600)
    /// The minimum age of objects that a sweep removes. No upload takes that long.
    static let sweepAge: Duration = .seconds(24 * 3600)

    let fleet: FleetStore
    let storage: ObjectStorage
    /// Whether the location belongs to this fleet, so that objects may be removed.
    let isOwn: @Sendable () -> Bool
    /// The clock by which the age of objects is measured. Their times are the storage's.
    var now: @Sendable () -> Timestamp = { .now() }
    let log: @Sendable (DownloadLogEvent) -> Void

    /// Removes discarded objects until the task is cancelled.
    func collect() async {
        while true {
            // A full batch means that there may be more.
            if await collectOnce() == Self.batch { continue }
            do { try await Task.sleep(for: Self.interval) } catch { return }
        }
    }

    /// Removes discarded objects, at most one batch.
    /// - Returns: The number of removed objects.
    @discardableResult
    func collectOnce() async -> Int {
        guard isOwn(), let keys = try? await fleet.takeGarbage(atMost: Self.batch), !keys.isEmpty else { return 0 }
        let gone = await remove(keys)
        // If this fails, the objects are removed again.
        try? await fleet.dropGarbage(gone)
        return gone.count
    }

    /// Sweeps every hour until the task is cancelled. The first sweep is after a random part of an hour.
    func sweep() async {
        var pause = Self.sweepInterval * Double.random(in: 0...1)
        while true {
            do { try await Task.sleep(for: pause) } catch { return }
            pause = Self.sweepInterval
            guard isOwn(), (try? await fleet.acquireSweep(every: Self.sweepInterval)) == true else { continue }
            do throws(Failure) {
                _ = try await sweepOnce(olderThan: Self.sweepAge)
            } catch {
                log(.warning("cannot look for objects that no record names: \(error.description)"))
            }
        }
    }

    /// The reason that a sweep ended early.
    enum Failure: Error, CustomStringConvertible {
        case storage(ObjectStorageError)
        case store(StoreError)

        var description: String {
            switch self {
            case .storage(let error): error.message
            case .store(let error): error.description
            }
        }
    }

    /// Removes objects and unfinished uploads of that age that no record names. Objects whose keys do not belong to
    /// downloads are left alone.
    /// - Returns: The number of removed objects and uploads.
    @discardableResult
    func sweepOnce(olderThan age: Duration) async throws(Failure) -> Int {
        let limit = Timestamp(millisecondsSinceEpoch: now().millisecondsSinceEpoch - Int64(age / .milliseconds(1)))
        return try await sweepObjects(before: limit) + sweepUploads(before: limit)
    }

    private func sweepObjects(before limit: Timestamp) async throws(Failure) -> Int {
        var count = 0
        var last: String?
        repeat {
            let page: ObjectPage
            do throws(ObjectStorageError) { page = try await storage.list(after: last) } catch { throw .storage(error) }
            let old = page.items.filter { $0.lastModified <= limit }.compactMap { ObjectKey($0.key)?.description }
            let unnamed: [String]
            do throws(StoreError) { unnamed = try await fleet.unnamed(old) } catch { throw .store(error) }
            count += await remove(unnamed).count
            last = page.next
        } while last != nil && !Task.isCancelled
        return count
    }

    private func sweepUploads(before limit: Timestamp) async throws(Failure) -> Int {
        var count = 0
        var last: UploadPage.Position?
        repeat {
            do throws(ObjectStorageError) {
                let page = try await storage.unfinishedUploads(after: last)
                for item in page.items where item.initiated <= limit && ObjectKey(item.key) != nil {
                    try await storage.abort(item.key, uploadID: item.uploadID)
                    count += 1
                }
                last = page.next
            } catch {
                throw .storage(error)
            }
        } while last != nil && !Task.isCancelled
        return count
    }

    /// Removes objects concurrently.
    /// - Returns: The keys of the removed objects.
    private func remove(_ keys: [String]) async -> [String] {
        await withTaskGroup(of: String?.self) { group in
            var gone: [String] = []
            for (number, key) in keys.enumerated() {
                if number >= Self.atOnce, let key = await group.next() ?? nil { gone.append(key) }
                group.addTask { await removed(key) ? key : nil }
            }
            for await case let key? in group { gone.append(key) }
            return gone
        }
    }

    private func removed(_ key: String) async -> Bool {
        (try? await storage.remove(key)) != nil
    }
}
