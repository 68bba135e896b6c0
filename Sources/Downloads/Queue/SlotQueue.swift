public import DownloadCore

/// The limits of a ``SlotQueue``. Lowering a limit stops nothing that has a slot.
public struct SlotLimits: Sendable, Equatable {
    /// The maximum number of slots over all hosts.
    public var maxConcurrent: Int
    /// The maximum number of slots for one host.
    public var maxPerHost: Int

    /// Creates limits.
    public init(maxConcurrent: Int = 8, maxPerHost: Int = 4) {
        self.maxConcurrent = maxConcurrent
        self.maxPerHost = maxPerHost
    }
}

/// Decides which downloads or subscriptions get slots: in the order of their ranks, up to one limit overall and another
/// per host.
///
/// A host without a free slot does not delay the others. Every change costs O(log n).
public struct SlotQueue<Rank: Comparable & Sendable>: Sendable {
    private struct Host: Sendable {
        var waiting = IndexedHeap<RecordID, Rank>()
        var running = 0
    }

    private var hosts: [String: Host] = [:]
    /// Hosts with a free slot and a waiting member, by the best rank of their waiting members.
    private var ready = IndexedHeap<String, Rank>()
    /// The host of each waiting member, and of each member with a slot.
    private var waiting: [RecordID: String] = [:]
    private var running: [RecordID: String] = [:]

    /// The limits, which may change at any time.
    public var limits: SlotLimits {
        didSet {
            if limits.maxPerHost != oldValue.maxPerHost { hosts.keys.forEach { refresh($0) } }
        }
    }

    /// Creates an empty queue.
    public init(limits: SlotLimits = SlotLimits()) {
        self.limits = limits
    }

    /// Hosts whose slots are all in use.
    public private(set) var fullHosts: Set<String> = []

    /// Whether no slot is free for any host.
    public var isFull: Bool { running.count >= limits.maxConcurrent }
    /// The number of waiting members.
    public var waitingCount: Int { waiting.count }
    /// The number of members with a slot.
    public var runningCount: Int { running.count }
}

// MARK: - Changes

extension SlotQueue {
    /// Adds a member. One that waits or has a slot already stays as it is.
    /// - Parameters:
    ///   - host: The host that limits it.
    ///   - rank: The rank in the queue, the best first.
    public mutating func enqueue(_ id: RecordID, host: String, rank: Rank) {
        guard waiting[id] == nil, running[id] == nil else { return }
        waiting[id] = host
        change(host) { $0.waiting.set(id, to: rank) }
    }

    /// Removes a member that waits or has a slot.
    /// - Returns: Whether it waited or had a slot.
    @discardableResult
    public mutating func remove(_ id: RecordID) -> Bool {
        if let host = waiting.removeValue(forKey: id) {
            change(host) { $0.waiting.remove(id) }
        } else if let host = running.removeValue(forKey: id) {
            change(host) { $0.running -= 1 }
        } else {
            return false
        }
        return true
    }

    /// Gives a waiting member another rank.
    public mutating func rearrange(_ id: RecordID, to rank: Rank) {
        guard let host = waiting[id] else { return }
        change(host) { $0.waiting.set(id, to: rank) }
    }

    /// Gives a slot to the first member that may start now.
    /// - Returns: This member; `nil` if none may start.
    public mutating func next() -> RecordID? {
        guard !isFull, let host = ready.first?.key, let id = hosts[host]?.waiting.first?.key else { return nil }
        return start(id) ? id : nil
    }

    /// Whether a member of any rank waits and may start now.
    public func canStart(_ id: RecordID) -> Bool {
        guard !isFull, let host = waiting[id] else { return false }
        return (hosts[host]?.running ?? 0) < limits.maxPerHost
    }

    /// Gives a slot to a waiting member of any rank.
    /// - Returns: `false` if no slot is free for it.
    public mutating func start(_ id: RecordID) -> Bool {
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

    /// Updates a host among the ready ones, and removes a host without members.
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
