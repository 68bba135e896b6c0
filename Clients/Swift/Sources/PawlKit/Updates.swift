internal import Foundation

/// The current list of downloads, again after each change: live and ended ones, the newest first.
///
/// ```swift
/// for try await downloads in pawl.updates() { show(downloads) }
/// ```
///
/// - The list has all live downloads, and the newest others up to ``maximumCount`` in all.
/// - A reader that is slower than the changes gets the newest list.
/// - The sequence throws if the first connection fails. Later it connects again, after at most 15 seconds, and continues where
///   it was, over restarts of the service too. It throws if the service refuses it, for instance because the token has become void.
/// - It ends when its task is cancelled or the loop is left, and the request with it.
public struct Updates: AsyncSequence, Sendable {
    /// The number of downloads beyond which the oldest ended ones are left out.
    public static let maximumCount = 1000

    let pawl: Pawl

    /// Connects to the service.
    public func makeAsyncIterator() -> AsyncThrowingStream<[Download], any Error>.AsyncIterator {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { [pawl] lists in
            let task = Task {
                do {
                    var follower = Follower(pawl: pawl)
                    try await follower.run(isPatient: false) { if case .success(let list?) = $0 { lists.yield(list) } }
                } catch {
                    lists.finish(throwing: error)
                }
            }
            lists.onTermination = { _ in task.cancel() }
        }.makeAsyncIterator()
    }
}

/// Keeps a list of downloads current over connections.
struct Follower {
    /// A new list, the error that has ended a connection, or `nil` for a new connection.
    typealias News = Result<[Download]?, PawlError>

    let pawl: Pawl
    var downloads: [Download] = []
    /// The id of the last event; `nil` as long as there is no list.
    var lastEvent: String?
    var failures = 0

    /// The seconds until the next connection.
    static func wait(after failures: Int) -> Double { min(0.5 * Double(1 << min(failures, 10)), 15) }

    /// Reports news, until an error after which it does not connect again. If it `isPatient`, it does so even before the first list.
    mutating func run(isPatient: Bool, _ report: @Sendable (News) async -> Void) async throws {
        while true {
            do {
                try await connect(report)
            } catch let error as PawlError where error.isTransient && (lastEvent != nil || isPatient) {
                await report(.failure(error))
            }
            // The clients of a service that restarts do not connect all at once.
            try await Task.sleep(nanoseconds: UInt64(Self.wait(after: failures) * .random(in: 0.5e9...1e9)))
            failures += 1
        }
    }

    private mutating func connect(_ report: @Sendable (News) async -> Void) async throws {
        try await pawl.events(after: lastEvent) { event in
            guard let event else { return await report(.success(nil)) }
            let old = downloads
            try await apply(event)
            if downloads != old || lastEvent == nil { await report(.success(downloads)) }
            (lastEvent, failures) = (event.id, 0)
        }
    }

    private mutating func apply(_ event: ServerEvent) async throws {
        let data = Data(event.data.utf8)
        switch event.name {
        case "snapshot":
            // It lacks ended downloads. No event reports the downloads that were removed during the gap.
            let live: [Download] = try PawlError.decode(data)
            var page = try await pawl.downloads(limit: 200)
            downloads = page.items
            while let cursor = page.nextCursor, downloads.count < Updates.maximumCount {
                page = try await pawl.downloads(limit: 200, cursor: cursor)
                downloads += page.items
            }
            let oldest = page.nextCursor == nil ? nil : downloads.last?.id
            for download in live where oldest.map({ download.id < $0 }) ?? false { downloads.put(download) }
        case "download": downloads.put(try PawlError.decode(data))
        case "removed":
            let removed: [String: String] = try PawlError.decode(data)
            downloads.removeAll { $0.id == removed["id"] }
        default: break
        }
    }
}

extension [Download] {
    /// Puts a download into a list, the newest first, unless the list has a later state of it: events of the time before a listing
    /// follow the listing. Ids sort by creation.
    mutating func put(_ download: Download) {
        let index = firstIndex { $0.id <= download.id } ?? count
        if index < count, self[index].id == download.id {
            if download.updatedAt >= self[index].updatedAt { self[index] = download }
            return
        }
        insert(download, at: index)
        if count > Updates.maximumCount, let oldest = lastIndex(where: { $0.state.hasEnded }) { remove(at: oldest) }
    }
}
