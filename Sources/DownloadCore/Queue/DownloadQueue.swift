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
        hosts[host, default: Host()].waiting.set(id, to: rank)
        refresh(host)
    }

    /// Removes a download that waits or has a slot.
    /// - Returns: Whether it waited or had a slot.
    @discardableResult
    package mutating func remove(_ id: DownloadID) -> Bool {
        if let host = waiting.removeValue(forKey: id) {
            hosts[host]?.waiting.remove(id)
            refresh(host)
            return true
        }
        if let host = running.removeValue(forKey: id) {
            hosts[host]?.running -= 1
            refresh(host)
            return true
        }
        return false
    }

    /// Gives a waiting download another rank.
    package mutating func rearrange(_ id: DownloadID, to rank: QueueRank) {
        guard let host = waiting[id] else { return }
        hosts[host]?.waiting.set(id, to: rank)
        refresh(host)
    }

    /// Gives slots to all downloads that may start now.
    /// - Returns: These downloads, in the order of their start.
    package mutating func startable() -> [DownloadID] {
        var started: [DownloadID] = []
        while let id = next() { started.append(id) }
        return started
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
        hosts[host]?.waiting.remove(id)
        hosts[host]?.running += 1
        running[id] = host
        refresh(host)
        return true
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
