/// Decides who transfers next: higher priorities first, first in first out within one, never more than so many at once, nor
/// more than so many from one host and port.
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

    /// A place in the order of arrival.
    typealias Ticket = UInt64

    private struct Rank: Comparable, Sendable {
        var priority: Int
        var ticket: Ticket

        static func < (left: Rank, right: Rank) -> Bool {
            left.priority == right.priority ? left.ticket < right.ticket : left.priority > right.priority
        }
    }

    private struct Host: Sendable {
        var waiting = IndexedHeap<DownloadID, Rank>()
        var running = 0
    }

    private struct Member: Sendable {
        var host: String
        var ticket: Ticket
    }

    private var hosts: [String: Host] = [:]
    /// Hosts with a free slot and somebody waiting, by their best.
    private var ready = IndexedHeap<String, Rank>()
    private var waiting: [DownloadID: Member] = [:]
    private var running: [DownloadID: Member] = [:]
    private var nextTicket: Ticket = 1

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
    ///   - ticket: The place it had before, for one that comes back after a failed attempt; `nil`: the end.
    /// - Returns: Its place.
    @discardableResult
    mutating func enqueue(_ id: DownloadID, host: String, priority: Int, ticket: Ticket? = nil) -> Ticket {
        if let member = waiting[id] ?? running[id] { return member.ticket }
        let place = ticket ?? nextTicket
        if ticket == nil { nextTicket += 1 }
        waiting[id] = Member(host: host, ticket: place)
        hosts[host, default: Host()].waiting.set(id, to: Rank(priority: priority, ticket: place))
        refresh(host)
        return place
    }

    /// Takes a download out, whether it waits or holds a slot; returns its place, or `nil` if it was in neither.
    @discardableResult
    mutating func remove(_ id: DownloadID) -> Ticket? {
        if let member = waiting.removeValue(forKey: id) {
            hosts[member.host]?.waiting.remove(id)
            refresh(member.host)
            return member.ticket
        }
        if let member = running.removeValue(forKey: id) {
            hosts[member.host]?.running -= 1
            refresh(member.host)
            return member.ticket
        }
        return nil
    }

    /// Gives a waiting download another priority; it keeps its place of arrival.
    mutating func reprioritise(_ id: DownloadID, to priority: Int) {
        guard let member = waiting[id] else { return }
        hosts[member.host]?.waiting.set(id, to: Rank(priority: priority, ticket: member.ticket))
        refresh(member.host)
    }

    /// Gives slots to all that may start now, and names them in the order of their starting.
    mutating func startable() -> [DownloadID] {
        var started: [DownloadID] = []
        while !isFull, let host = ready.first?.key,
            let id = hosts[host]?.waiting.first?.key, let member = waiting.removeValue(forKey: id)
        {
            hosts[host]?.waiting.remove(id)
            hosts[host]?.running += 1
            running[id] = member
            refresh(host)
            started.append(id)
        }
        return started
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
