/// The time limits of one transfer: of each phase of a hop, and of the whole. It has no clock: the time is a parameter.
///
/// libcurl limits the connection itself, and divides its time among addresses. The limit here only backs that up.
struct TransferTimer: Sendable {
    private enum Phase {
        /// The connection is being made, and the head may already be awaited.
        case connecting(Wait)
        /// The content is being sent from a file.
        case sending(SpeedMonitor?)
        case awaitingHead(Wait)
        case receiving(SpeedMonitor?)
    }

    /// A wait with its limit; nil: none.
    private struct Wait {
        let start: ContinuousClock.Instant
        var limit: Duration?

        var end: ContinuousClock.Instant? { limit.map { start + $0 } }
    }

    private let headTimeout: Duration?
    private let connectTimeout: Duration?
    private let lowSpeedLimit: (bytesPerSecond: Double, over: Duration)?
    private let totalTimeout: Duration?
    private let end: ContinuousClock.Instant?
    private let sendsFile: Bool
    private var phase: Phase

    init(request: ClientRequest, now: ContinuousClock.Instant) {
        headTimeout = request.headTimeout
        connectTimeout = request.connectTimeout
        lowSpeedLimit = request.lowSpeedLimit
        totalTimeout = request.totalTimeout
        end = request.totalTimeout.map { now + $0 }
        if case .file(_, let range) = request.body { sendsFile = !range.isEmpty } else { sendsFile = false }
        phase = .connecting(Wait(start: now))
        beginHop(now: now)
    }

    /// Begins the limits of a hop.
    mutating func beginHop(now: ContinuousClock.Instant) {
        phase = .connecting(Wait(start: now, limit: limitWithConnection(headTimeout)))
    }

    /// The limit of connecting and of a wait for the head together; nil: none.
    private func limitWithConnection(_ limit: Duration?) -> Duration? {
        guard let connectTimeout, let limit else { return nil }
        return connectTimeout + limit
    }

    /// Begins the next phase, when the connection is ready and the request is sent.
    mutating func connected(now: ContinuousClock.Instant) {
        phase = sendsFile ? .sending(monitor(bytes: 0, now: now)) : .awaitingHead(Wait(start: now, limit: headTimeout))
    }

    /// Begins the wait for the head, when the last byte of a file has been read.
    mutating func contentSent(now: ContinuousClock.Instant) {
        if case .sending = phase { phase = .awaitingHead(Wait(start: now, limit: headTimeout)) }
    }

    /// Begins the limits of the body, when the head is complete.
    mutating func headArrived(now: ContinuousClock.Instant) {
        phase = .receiving(monitor(bytes: 0, now: now))
    }

    /// Suspends the speed check while the transfer waits for its own speed limit, which is not the origin's fault.
    mutating func heldBack() {
        if case .receiving = phase { phase = .receiving(nil) }
    }

    /// Resumes the speed check with a whole new period.
    mutating func resumed(bytes: Int64, now: ContinuousClock.Instant) {
        if case .receiving = phase { phase = .receiving(monitor(bytes: bytes, now: now)) }
    }

    /// The time of the next check; nil if there are no limits.
    var due: ContinuousClock.Instant? {
        let phaseDue: ContinuousClock.Instant? =
            switch phase {
            case .connecting(let wait), .awaitingHead(let wait): wait.end
            case .sending(let monitor), .receiving(let monitor): monitor?.due
            }
        guard let phaseDue else { return end }
        return end.map { min($0, phaseDue) } ?? phaseDue
    }

    /// The error for an exceeded limit; nil if there is none.
    /// - Parameters:
    ///   - bytes: The length of the body so far.
    ///   - sent: The number of bytes that have been read from a file.
    ///   - extended: Returns the sink's ``TransferSink/extendedLimit()``.
    mutating func exceeded(
        bytes: Int64, sent: Int64 = 0, now: ContinuousClock.Instant, extended: () -> Duration? = { nil }
    ) -> ClientError? {
        if let end, let totalTimeout, now >= end { return .timedOut("no complete response within \(totalTimeout)") }
        switch phase {
        case .connecting(var wait):
            guard let end = wait.end, let limit = wait.limit, now >= end else { return nil }
            wait.limit = limitWithConnection(extended()) ?? limit
            phase = .connecting(wait)
            return wait.end.map { now >= $0 } ?? false ? .timedOut("no response within \(limit)") : nil
        case .awaitingHead(var wait):
            guard let end = wait.end, let limit = wait.limit, now >= end else { return nil }
            wait.limit = extended() ?? limit
            phase = .awaitingHead(wait)
            return wait.end.map { now >= $0 } ?? false ? .timedOut("no response head within \(limit)") : nil
        case .sending(var monitor):
            let stall = monitor?.stall(bytes: sent, now: now)
            phase = .sending(monitor)
            return stall == nil ? nil : .stalled
        case .receiving(var monitor):
            let stall = monitor?.stall(bytes: bytes, now: now)
            phase = .receiving(monitor)
            guard let stall else { return nil }
            return stall < extended() ?? .zero ? nil : .stalled
        }
    }

    private func monitor(bytes: Int64, now: ContinuousClock.Instant) -> SpeedMonitor? {
        guard let limit = lowSpeedLimit, limit.bytesPerSecond > 0, limit.over > .zero else { return nil }
        let product = limit.bytesPerSecond * (limit.over / .seconds(1))
        return SpeedMonitor(
            minimumBytes: max(1, Int64(min(product.rounded(.up), 1e15))), period: limit.over, bytes: bytes, now: now)
    }
}
