internal import HTTPCore
internal import System

/// What readers see of the downloads without asking the actor: snapshots published on each transition, with live byte
/// counters read at the moment of asking. Any thread may read; only the service writes.
public final class DownloadBoard: Sendable {
    private struct State {
        var entries = BoardTable()
        /// The newest download of each URL, and the earlier ones where there are any, oldest first.
        var newest: [String: DownloadID] = [:]
        var earlier: [String: [DownloadID]] = [:]
        var live: Set<DownloadID> = []
        /// Snapshots published so far.
        var publications: UInt64 = 0
        var transferring: Set<DownloadID> = []

        mutating func note(_ id: DownloadID, ofURL url: String) {
            guard let known = newest.updateValue(id, forKey: url) else { return }
            if known > id { newest[url] = known }
            earlier[url, default: []].append(min(known, id))
            earlier[url]?.sort()
        }

        mutating func forget(_ id: DownloadID, ofURL url: String) {
            if newest[url] == id {
                newest[url] = earlier[url]?.popLast()
            } else {
                earlier[url]?.removeAll { $0 == id }
            }
            if earlier[url]?.isEmpty == true { earlier[url] = nil }
        }
    }

    private let state = Locked(State())

    init() {}

    /// One download as it stands now, or `nil` if there is none with this id.
    public func download(_ id: DownloadID) -> Download? {
        state.withLock { $0.entries[id]?.current }
    }

    /// Which version of a download there is now, or `nil` if there is none with this id.
    public func version(of id: DownloadID) -> DownloadVersion? {
        state.withLock { $0.entries[id]?.version }
    }

    /// All downloads that have not ended, by creation.
    public func live() -> [Download] {
        state.withLock { state in state.live.sorted().compactMap { state.entries[$0]?.current } }
    }

    /// The newest download of a URL, in the normalised spelling of ``Download/url``.
    public func reference(toURL url: String) -> (id: DownloadID, state: DownloadState)? {
        state.withLock { state in
            guard let id = state.newest[url], let entry = state.entries[id] else { return nil }
            return (id, entry.download.state)
        }
    }

    /// All downloads of a URL, newest first.
    func downloads(ofURL url: String) -> [Download] {
        state.withLock { state in
            guard let newest = state.newest[url] else { return [] }
            return ([newest] + (state.earlier[url] ?? []).reversed()).compactMap { state.entries[$0]?.current }
        }
    }

    /// How many downloads there are in each state, and how fast bytes arrive in all.
    public func statistics() -> DownloadStatistics {
        state.withLock { state in
            let speed = state.transferring.reduce(Int64(0)) { $0 &+ (state.entries[$1]?.counters?.bytesPerSecond ?? 0) }
            return DownloadStatistics(counts: state.entries.counts, bytesPerSecond: speed)
        }
    }

    /// One page of the list.
    public func page(_ query: ListQuery) -> DownloadPage {
        state.withLock { $0.entries.page(query) }
    }

    // MARK: - For the events

    func isTransferring(scope: DownloadID?) -> Bool {
        state.withLock { state in
            guard let scope else { return !state.transferring.isEmpty }
            return state.transferring.contains(scope)
        }
    }

    func transferring(scope: DownloadID?) -> [Download] {
        state.withLock { state in
            if let scope {
                return state.transferring.contains(scope) ? state.entries[scope].map { [$0.current] } ?? [] : []
            }
            return state.transferring.sorted().compactMap { state.entries[$0]?.current }
        }
    }

    /// Downloads that ended after an event, newest transition first.
    func ended(sinceSequence sequence: UInt64, scope: DownloadID?) -> [DownloadID] {
        state.withLock { state in
            state.entries.all
                .filter { $0.sequence > sequence && !$0.download.state.isLive && (scope == nil || $0.download.id == scope) }
                .sorted { $0.sequence > $1.sequence }
                .map(\.download.id)
        }
    }

    /// Downloads that ended after a run of the service began, newest end first.
    /// - Parameters:
    ///   - epoch: when it began, in Unix milliseconds.
    ///   - limit: the most that are told; the newest.
    func ended(inRunsFrom epoch: UInt64, atMost limit: Int, scope: DownloadID?) -> [DownloadID] {
        let begun = Int64(clamping: epoch)
        return state.withLock { state in
            state.entries.all
                .filter { entry in
                    !entry.download.state.isLive && entry.download.updatedAt.millisecondsSinceEpoch >= begun
                        && (scope == nil || entry.download.id == scope)
                }
                .sorted { $0.download.updatedAt > $1.download.updatedAt }
                .prefix(limit).map(\.download.id)
        }
    }

    // MARK: - For the service

    /// Makes room for so many downloads at once, which takes less than growing with each.
    func reserveCapacity(_ count: Int) {
        state.withLock { state in
            state.entries.reserveCapacity(count)
            state.newest.reserveCapacity(count)
        }
    }

    /// Publishes a download's new snapshot. Its counters are read for as long as it is given any.
    func publish(_ download: Download, counters: TransferCounters?, sequence: UInt64) {
        state.withLock { state in
            if let old = state.entries[download.id] {
                if old.download.url != download.url {
                    state.forget(download.id, ofURL: old.download.url)
                    state.note(download.id, ofURL: download.url)
                }
            } else {
                state.note(download.id, ofURL: download.url)
            }
            state.publications += 1
            var published = download
            published.publication = state.publications
            state.entries[download.id] = BoardEntry(download: published, counters: counters, sequence: sequence)
            if download.state.isLive { state.live.insert(download.id) } else { state.live.remove(download.id) }
            if counters != nil { state.transferring.insert(download.id) } else { state.transferring.remove(download.id) }
        }
    }

    /// Takes a download off the board; false if it is not there any more.
    func remove(_ id: DownloadID) -> Bool {
        state.withLock { state in
            guard let entry = state.entries[id] else { return false }
            state.entries[id] = nil
            state.forget(id, ofURL: entry.download.url)
            state.live.remove(id)
            state.transferring.remove(id)
            return true
        }
    }
}
