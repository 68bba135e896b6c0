internal import DownloadCore
internal import HTTPCore
internal import System

/// Decides which messages to webhooks are in memory, and which are sent next.
///
/// A receiver is a scheme, host and port. Receivers are served in turn, and those that respond come first. A receiver that does
/// not respond delays no messages of others, and its backlog displaces none of them. A message without room in memory stays in
/// the store. The queue notes the first such message of each receiver, and the messages are loaded once the receiver has room.
struct WebhookQueue: Sendable {
    /// The limits of attempts and messages.
    struct Limits: Sendable {
        /// The default of `concurrent`: 96, or a tenth of the descriptors of the process if that is less.
        private static let most = max(4, min(96, ProcessEnvironment.descriptorLimit / 10))

        /// The maximum number of attempts at once.
        var concurrent = most
        /// The maximum number of those at receivers that did not respond last time or have not been tried. The others
        /// are for receivers that respond.
        var unproven = most * 5 / 6
        /// The maximum number of those at receivers that did not respond last time.
        var failing = most / 4
        /// The maximum number of attempts at once at one receiver that has not accepted the last message.
        var perHost = 2
        /// The maximum number of attempts at one receiver at once. Each message that it accepts allows one more, up to this.
        var accepting = 16
        /// The maximum number of messages of one receiver in memory. Each contains its body.
        var keptPerHost = 200
        /// The maximum number of messages in memory. A receiver without any may add one all the same.
        var kept = 10_000
        /// The maximum number of known receivers without messages.
        var idleHosts = 10_000
    }

    /// The outcome of an attempt.
    enum Outcome: Sendable {
        /// The receiver has accepted the message in time.
        case accepted
        /// The receiver has responded in time, and not accepted the message.
        case refused
        /// There was no response in time.
        case silent
    }

    /// The last outcome of attempts at a receiver, best first.
    private enum Standing: Int, Sendable {
        case responding, untried, failing
    }

    /// The order of receivers with the same standing: those with the fewest attempts under way, then those whose last
    /// attempt began the longest ago.
    private struct Precedence: Comparable, Sendable {
        var running: Int
        var number: UInt64

        static func < (left: Precedence, right: Precedence) -> Bool {
            (left.running, left.number) < (right.running, right.number)
        }
    }

    private struct Host: Sendable {
        var standing = Standing.untried
        /// Messages that are due, in the order in which they became due.
        var due = IndexedHeap<RecordID, UInt64>()
        var running = 0
        /// The maximum number of attempts at once.
        var limit: Int
        /// The number of accepted messages that allow one attempt more, and of those since the last change. Each refusal
        /// doubles it, so that a receiver's own limit is met less and less often.
        var step = 1
        var accepted = 0
        var kept = 0
        var lastAttempt: UInt64 = 0
        /// The first message that may be only in the store; `nil`: there is none.
        var stored: RecordID?
        /// The first message without room in memory since the present reading of the store began; `nil`: there is none.
        var refused: RecordID?
        var isLoading = false
    }

    private struct Held: Sendable {
        var delivery: WebhookDelivery
        let host: String
    }

    private let limits: Limits
    private var held: [RecordID: Held] = [:]
    /// Messages that are not due, by the times at which they will be.
    private var waiting = IndexedHeap<RecordID, ContinuousClock.Instant>()
    /// Attempts under way, by their beginning.
    private var running: [RecordID: ContinuousClock.Instant] = [:]
    /// Attempts under way that were chosen to be ended.
    private var ending: Set<RecordID> = []
    private var hosts: [String: Host] = [:]
    /// Receivers with due messages and a free attempt, by standing.
    private var ready = [IndexedHeap<String, Precedence>](repeating: IndexedHeap(), count: 3)
    /// The number of attempts under way, by the standing of the receiver.
    private var attempts = [0, 0, 0]
    /// Receivers with messages that are only in the store.
    private var overflowing: Set<String> = []
    /// A counter for the order of due messages and of receivers.
    private var counter: UInt64 = 0

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    var count: Int { held.count }

    func contains(_ id: RecordID) -> Bool { held[id] != nil }

    /// The time at which the next message is due; `nil` if none waits.
    var nextDue: ContinuousClock.Instant? { waiting.first?.rank }

    /// The longest time for a response. A slower receiver counts as one that does not respond.
    static let slowness: Duration = .seconds(5)

    /// Returns the receiver of a URL.
    static func host(of url: String) -> String {
        guard let url = HTTPURL(url) else { return "" }
        return "\(url.origin)"
    }
}

// MARK: - Messages

extension WebhookQueue {
    /// Adds a message, or makes one wait again after an attempt.
    /// - Returns: False if there is no room: the message stays in the store and is loaded later.
    @discardableResult
    mutating func add(_ delivery: WebhookDelivery, due: ContinuousClock.Instant) -> Bool {
        let name = Self.host(of: delivery.url)
        if held[delivery.id] == nil {
            var host = hosts[name] ?? Host(limit: limits.perHost)
            guard hasRoom(host) else {
                if host.isLoading {
                    host.refused = min(host.refused ?? delivery.id, delivery.id)
                } else {
                    host.stored = min(host.stored ?? delivery.id, delivery.id)
                }
                hosts[name] = host
                overflowing.insert(name)
                return false
            }
            host.kept += 1
            hosts[name] = host
        } else {
            leave(delivery.id)
        }
        held[delivery.id] = Held(delivery: delivery, host: name)
        waiting.set(delivery.id, to: due)
        refresh(name)
        return true
    }

    /// Removes and returns the messages to send now.
    mutating func startable(at now: ContinuousClock.Instant) -> [WebhookDelivery] {
        while let (id, due) = waiting.first, due <= now, let name = held[id]?.host {
            waiting.remove(id)
            let number = next()
            hosts[name]?.due.set(id, to: number)
            refresh(name)
        }
        var started: [WebhookDelivery] = []
        while running.count < limits.concurrent, let name = nextHost(), let id = hosts[name]?.due.first?.key, let found = held[id]
        {
            hosts[name]?.due.remove(id)
            hosts[name]?.running += 1
            let number = next()
            hosts[name]?.lastAttempt = number
            attempts[hosts[name]?.standing.rawValue ?? 0] += 1
            running[id] = now
            refresh(name)
            started.append(found.delivery)
        }
        return started
    }

    /// The attempt that may be ended first in favour of another receiver, and the time from which it may. It is the
    /// longest attempt at a receiver that does not respond, while an untried receiver waits; `nil`: there is none.
    private var hanging: (id: RecordID, limit: ContinuousClock.Instant)? {
        guard !ready[Standing.untried.rawValue].isEmpty else { return nil }
        let candidates = running.filter { id, _ in
            !ending.contains(id) && held[id].flatMap { hosts[$0.host] }?.standing != .responding
        }
        return candidates.min { $0.value < $1.value }.map { ($0.key, $0.value + Self.slowness) }
    }

    /// The time from which an attempt may be ended in favour of another receiver; `nil`: no attempt may.
    var nextEnding: ContinuousClock.Instant? { hanging?.limit }

    /// Chooses an attempt to be ended in favour of another receiver, and returns its message; `nil`: there is none.
    mutating func endHanging(at now: ContinuousClock.Instant) -> RecordID? {
        guard let (id, limit) = hanging, limit <= now else { return nil }
        ending.insert(id)
        return id
    }

    func isEnding(_ id: RecordID) -> Bool { ending.contains(id) }

    /// Notes the outcome of an attempt for the message's receiver.
    mutating func note(_ id: RecordID, _ outcome: Outcome) {
        guard let name = held[id]?.host, var host = hosts[name] else { return }
        let standing = outcome == .silent ? Standing.failing : .responding
        host.accepted = outcome == .accepted ? host.accepted + 1 : 0
        if outcome != .accepted {
            host.step = min(host.step * (host.limit > limits.perHost ? 2 : 1), 64)
            host.limit = limits.perHost
        } else if host.accepted >= host.step {
            host.accepted = 0
            host.limit = min(host.limit + 1, max(limits.accepting, limits.perHost))
        }
        ready[host.standing.rawValue].remove(name)
        attempts[host.standing.rawValue] -= host.running
        attempts[standing.rawValue] += host.running
        host.standing = standing
        hosts[name] = host
        refresh(name)
    }

    /// Removes a message that was delivered or abandoned.
    mutating func remove(_ id: RecordID) {
        guard let name = held[id]?.host else { return }
        leave(id)
        waiting.remove(id)
        held[id] = nil
        hosts[name]?.kept -= 1
        refresh(name)
        if hosts.count > held.count + overflowing.count + limits.idleHosts {
            hosts = hosts.filter { $0.value.kept > 0 || $0.value.stored != nil || $0.value.isLoading }
        }
    }

    /// Removes a message from those that are due or under way.
    private mutating func leave(_ id: RecordID) {
        guard let name = held[id]?.host else { return }
        if running.removeValue(forKey: id) != nil {
            ending.remove(id)
            hosts[name]?.running -= 1
            attempts[hosts[name]?.standing.rawValue ?? 0] -= 1
        } else {
            hosts[name]?.due.remove(id)
        }
        refresh(name)
    }

    private mutating func next() -> UInt64 {
        counter += 1
        return counter
    }

    private func hasRoom(_ host: Host) -> Bool {
        host.kept == 0 || (host.kept < limits.keptPerHost && held.count < limits.kept)
    }

    /// Returns the next receiver to serve; `nil`: there is none.
    private func nextHost() -> String? {
        if let host = ready[Standing.responding.rawValue].first { return host.key }
        let unproven = attempts[Standing.untried.rawValue] + attempts[Standing.failing.rawValue]
        guard unproven < limits.unproven else { return nil }
        // Second attempts at a receiver leave room for first attempts at others.
        func isFree(_ host: Precedence) -> Bool { host.running == 0 || unproven < limits.unproven / 2 }
        if let host = ready[Standing.untried.rawValue].first, isFree(host.rank) { return host.key }
        guard attempts[Standing.failing.rawValue] < limits.failing else { return nil }
        return ready[Standing.failing.rawValue].first.flatMap { isFree($0.rank) ? $0.key : nil }
    }

    private mutating func refresh(_ name: String) {
        guard let host = hosts[name] else { return }
        if host.due.isEmpty || host.running >= host.limit {
            ready[host.standing.rawValue].remove(name)
        } else {
            ready[host.standing.rawValue].set(name, to: Precedence(running: host.running, number: host.lastAttempt))
        }
    }
}

// MARK: - The store

extension WebhookQueue {
    /// Chooses a receiver with much room, whose messages are to be read from the store.
    /// - Returns: The receiver and the first id to read; `nil`: there is none.
    mutating func beginLoading() -> (host: String, from: RecordID)? {
        for name in overflowing {
            guard var host = hosts[name], let from = host.stored else { continue }
            guard !host.isLoading, host.kept <= limits.keptPerHost / 2, hasRoom(host) else { continue }
            host.isLoading = true
            host.refused = nil
            hosts[name] = host
            return (name, from)
        }
        return nil
    }

    /// Ends the reading that `beginLoading` has begun. The found messages have been added.
    /// - Parameter next: The id behind the last row that was read; `nil`: it was the last row.
    mutating func endLoading(_ name: String, next: RecordID?) {
        guard var host = hosts[name] else { return }
        host.isLoading = false
        host.stored = [next, host.refused].compactMap(\.self).min()
        host.refused = nil
        hosts[name] = host
        if host.stored == nil { overflowing.remove(name) }
    }
}
