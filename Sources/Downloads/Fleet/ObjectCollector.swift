internal import HTTPCore
internal import ObjectStorage
internal import System

/// Removes objects that no record names: at once those that the database has noted when a record gave them up, and now and then those
/// that nobody knows of, as a crash between an upload and its record leaves them.
///
/// Every replica does so, and none relies on another: what fails, or is left by one that dies, is done again.
struct ObjectCollector: Sendable {
    /// How many objects are removed before the database is asked again.
    static let batch = 100
    /// How many at once.
    static let atOnce = 8
    /// How often the database is asked for what was given up.
    static let interval: Duration = .seconds(1)
    /// How often one replica of the fleet looks for what nobody knows of.
    static let sweepInterval: Duration = .seconds(3600)
    /// How old that has to be: nothing that takes less time is under way any more.
    static let sweepAge: Duration = .seconds(24 * 3600)

    let fleet: FleetStore
    let storage: ObjectStorage
    /// Whether what is there is this fleet's to remove.
    let isOwn: @Sendable () -> Bool
    /// The time by which may be deleted.
    var now: @Sendable () -> Timestamp = { .now() }
    let log: @Sendable (DownloadLogEvent) -> Void

    /// Removes what was given up, until the task is cancelled.
    func collect() async {
        while true {
            // More than a batch does not wait.
            if await collectOnce() == Self.batch { continue }
            do { try await Task.sleep(for: Self.interval) } catch { return }
        }
    }

    /// Removes what was given up, a batch at most.
    /// - Returns: how many objects have gone.
    @discardableResult
    func collectOnce() async -> Int {
        guard isOwn(), let keys = try? await fleet.takeGarbage(atMost: Self.batch), !keys.isEmpty else { return 0 }
        let gone = await remove(keys)
        // If the database does not hear of it, they are removed again.
        try? await fleet.dropGarbage(gone)
        return gone.count
    }

    /// Sweeps every hour, and for the first time within one, until the task is cancelled.
    func sweep() async {
        var pause = Self.sweepInterval * Double.random(in: 0...1)
        while true {
            do { try await Task.sleep(for: pause) } catch { return }
            pause = Self.sweepInterval
            guard isOwn(), (try? await fleet.claimSweep(every: Self.sweepInterval)) == true else { continue }
            do throws(Failure) {
                _ = try await sweepOnce(olderThan: Self.sweepAge)
            } catch {
                log(.warning("cannot look for objects that no record names: \(error.description)"))
            }
        }
    }

    /// Why a sweep ended early.
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

    /// Removes objects and unfinished uploads that are so old and that no record names. What does not look like a file of a download is
    /// somebody else's.
    /// - Returns: how many have gone.
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

    /// - Returns: those that have gone.
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
