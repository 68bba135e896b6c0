package import DownloadCore

/// Decides which downloads get slots: in the order of their ranks, up to one limit overall and
/// another per host and port.
///
/// A host without a free slot does not delay the others. Every change costs O(log n).
package struct DownloadQueue: Sendable {
    /// The limits of slots. Lowering a limit stops no transfer; it takes effect as transfers end.
    package struct Limits: Sendable, Equatable {
        /// The maximum number of slots over all hosts.
        package var maxConcurrent: Int
        /// The maximum number of slots for one host and port.
        package var maxPerHost: Int

        package init(maxConcurrent: Int = 8, maxPerHost: Int = 4) {
            self.maxConcurrent = maxConcurrent
            self.maxPerHost = maxPerHost
        }
    }

    private struct Host: Sendable {
        var waiting = IndexedHeap<DownloadID, QueueRank>()
        var running = 0
    }

    private var hosts: [String: Host] = [:]
    /// Hosts with a free slot and a waiting download, by the best rank of their waiting downloads.
    private var ready = IndexedHeap<String, QueueRank>()
    /// The host of each waiting download, and of each download with a slot.
    private var waiting: [DownloadID: String] = [:]
    private var running: [DownloadID: String] = [:]

    /// The limits, which may change at any time.
    package var limits: Limits {
        didSet {
            if limits.maxPerHost != oldValue.maxPerHost { hosts.keys.forEach { refresh($0) } }
        }
    }

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Hosts whose slots are all in use.
    package private(set) var fullHosts: Set<String> = []

    /// Whether no slot is free, whatever the host.
    package var isFull: Bool { running.count >= limits.maxConcurrent }
    /// The number of waiting downloads.
    package var waitingCount: Int { waiting.count }
    /// The number of downloads with a slot.
    package var runningCount: Int { running.count }
}

// MARK: - Changes

extension DownloadQueue {
    /// Adds a download to the queue. A download that waits or has a slot already stays as it is.
    ///
    /// - Parameters:
    ///   - host: The host and port of the origin.
    ///   - rank: The rank in the queue.
    package mutating func enqueue(_ id: DownloadID, host: String, rank: QueueRank) {
        guard waiting[id] == nil, running[id] == nil else { return }
        waiting[id] = host
        change(host) { $0.waiting.set(id, to: rank) }
    }

    /// Removes a download that waits or has a slot.
    /// - Returns: Whether it waited or had a slot.
    @discardableResult
    package mutating func remove(_ id: DownloadID) -> Bool {
        if let host = waiting.removeValue(forKey: id) {
            change(host) { $0.waiting.remove(id) }
        } else if let host = running.removeValue(forKey: id) {
            change(host) { $0.running -= 1 }
        } else {
            return false
        }
        return true
    }

    /// Gives a waiting download another rank.
    package mutating func rearrange(_ id: DownloadID, to rank: QueueRank) {
        guard let host = waiting[id] else { return }
        change(host) { $0.waiting.set(id, to: rank) }
    }

    /// Gives a slot to the first download that may start now.
    /// - Returns: This download; `nil` if none may start.
    package mutating func next() -> DownloadID? {
        guard !isFull, let host = ready.first?.key, let id = hosts[host]?.waiting.first?.key else { return nil }
        return start(id) ? id : nil
    }

    /// Whether a download waits and may start now, whatever its rank.
    package func canStart(_ id: DownloadID) -> Bool {
        guard !isFull, let host = waiting[id] else { return false }
        return (hosts[host]?.running ?? 0) < limits.maxPerHost
    }

    /// Gives a slot to a waiting download, whatever its rank.
    /// - Returns: `false` if no slot is free for it.
    package mutating func start(_ id: DownloadID) -> Bool {
        guard canStart(id), let host = waiting.removeValue(forKey: id) else { return false }
        running[id] = host
        change(host) {
            $0.waiting.remove(id)
            $0.running += 1
        }
        return true
    }

    /// Changes a host, and updates its place if it may be another one.
    private mutating func change(_ name: String, _ body: (inout Host) -> Void) {
        let hasMoved = { (host: inout Host) in
            let before = (host.running, host.waiting.first?.rank)
            body(&host)
            return before != (host.running, host.waiting.first?.rank)
        }(&hosts[name, default: Host()])
        if hasMoved { refresh(name) }
    }

    /// Updates a host among the ready ones, and removes a host without downloads.
    private mutating func refresh(_ name: String) {
        guard let host = hosts[name] else { return }
        let isFull = host.running >= limits.maxPerHost
        if isFull { fullHosts.insert(name) } else { fullHosts.remove(name) }
        if !isFull, let best = host.waiting.first {
            ready.set(name, to: best.rank)
        } else {
            ready.remove(name)
        }
        if host.waiting.isEmpty, host.running == 0 { hosts[name] = nil }
    }
}
