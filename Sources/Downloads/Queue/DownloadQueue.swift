/// Decides who transfers next: in the order of their ranks, never more than so many at once, nor more than so many from one host and port.
///
/// A host that has no slot left does not hold up the others. Every change costs O(log n).
struct DownloadQueue: Sendable {
    /// How many may transfer at once. Lowering a limit stops nobody; it takes effect as transfers end.
    struct Limits: Sendable, Equatable {
        /// Over all hosts.
        var maxConcurrent: Int
        /// From one host and port.
        var maxPerHost: Int

        init(maxConcurrent: Int = 8, maxPerHost: Int = 4) {
            self.maxConcurrent = maxConcurrent
            self.maxPerHost = maxPerHost
        }
    }

    private struct Host: Sendable {
        var waiting = IndexedHeap<DownloadID, QueueRank>()
        var running = 0
    }

    private var hosts: [String: Host] = [:]
    /// Hosts with a free slot and somebody waiting, by their best.
    private var ready = IndexedHeap<String, QueueRank>()
    /// The host of each that waits, and of each that runs.
    private var waiting: [DownloadID: String] = [:]
    private var running: [DownloadID: String] = [:]

    /// The limits, which may change at any time.
    var limits: Limits {
        didSet {
            if limits.maxPerHost != oldValue.maxPerHost { hosts.keys.forEach { refresh($0) } }
        }
    }

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Hosts from which no more may transfer.
    private(set) var fullHosts: Set<String> = []

    /// Whether no slot is free, whatever the host.
    var isFull: Bool { running.count >= limits.maxConcurrent }
    /// How many wait.
    var waitingCount: Int { waiting.count }
    /// How many hold a slot.
    var runningCount: Int { running.count }
}

// MARK: - Coming and going

extension DownloadQueue {
    /// Puts a download into the queue. One that waits or runs already stays where it is.
    ///
    /// - Parameters:
    ///   - host: Host and port of the origin.
    ///   - rank: Where it stands.
    mutating func enqueue(_ id: DownloadID, host: String, rank: QueueRank) {
        guard waiting[id] == nil, running[id] == nil else { return }
        waiting[id] = host
        hosts[host, default: Host()].waiting.set(id, to: rank)
        refresh(host)
    }

    /// Takes a download out, whether it waits or holds a slot; returns whether it was in either.
    @discardableResult
    mutating func remove(_ id: DownloadID) -> Bool {
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

    /// Moves a waiting download.
    mutating func rearrange(_ id: DownloadID, to rank: QueueRank) {
        guard let host = waiting[id] else { return }
        hosts[host]?.waiting.set(id, to: rank)
        refresh(host)
    }

    /// Gives slots to all that may start now, and names them in the order of their starting.
    mutating func startable() -> [DownloadID] {
        var started: [DownloadID] = []
        while let id = next() { started.append(id) }
        return started
    }

    /// Gives a slot to the first download that may start now, and names it.
    mutating func next() -> DownloadID? {
        guard !isFull, let host = ready.first?.key, let id = hosts[host]?.waiting.first?.key else { return nil }
        return start(id) ? id : nil
    }

    /// Whether a download waits and may start now, wherever it stands.
    func canStart(_ id: DownloadID) -> Bool {
        guard !isFull, let host = waiting[id] else { return false }
        return (hosts[host]?.running ?? 0) < limits.maxPerHost
    }

    /// Gives a slot to a waiting download, wherever it stands.
    /// - Returns: false if no slot is free for it.
    mutating func start(_ id: DownloadID) -> Bool {
        guard canStart(id), let host = waiting.removeValue(forKey: id) else { return false }
        hosts[host]?.waiting.remove(id)
        hosts[host]?.running += 1
        running[id] = host
        refresh(host)
        return true
    }

    /// Brings a host's place among the ready ones up to date, and forgets one that nobody uses.
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
