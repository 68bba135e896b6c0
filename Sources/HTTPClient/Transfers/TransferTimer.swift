/// The time limits of one transfer: of each phase of a hop, and of the whole. It has no clock: the time is a parameter.
///
/// libcurl limits the connection itself, and divides its time among addresses. The limit here only backs that up.
struct TransferTimer: Sendable {
    private enum Phase {
        case connecting(until: ContinuousClock.Instant)
        /// The content is being sent from a file.
        case sending(SpeedMonitor?)
        case awaitingHead(until: ContinuousClock.Instant)
        case receiving(SpeedMonitor?)
    }

    private let headTimeout: Duration
    private let connectTimeout: Duration
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
        phase = .connecting(until: now + connectTimeout + headTimeout)
    }

    /// Begins the limits of a hop.
    mutating func beginHop(now: ContinuousClock.Instant) {
        phase = .connecting(until: now + connectTimeout + headTimeout)
    }

    /// Begins the next phase, when the connection is ready and the request is sent.
    mutating func connected(now: ContinuousClock.Instant) {
        phase = sendsFile ? .sending(monitor(bytes: 0, now: now)) : .awaitingHead(until: now + headTimeout)
    }

    /// Begins the wait for the head, when the last byte of a file has been read.
    mutating func contentSent(now: ContinuousClock.Instant) {
        if case .sending = phase { phase = .awaitingHead(until: now + headTimeout) }
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
            case .connecting(let until), .awaitingHead(let until): until
            case .sending(let monitor), .receiving(let monitor): monitor?.due
            }
        guard let phaseDue else { return end }
        return end.map { min($0, phaseDue) } ?? phaseDue
    }

    /// The error for an exceeded limit; nil if there is none. `bytes` is the length of the body so far, and `sent` the
    /// number of bytes that have been read from a file.
    mutating func exceeded(bytes: Int64, sent: Int64 = 0, now: ContinuousClock.Instant) -> ClientError? {
        if let end, let totalTimeout, now >= end { return .timedOut("no complete response within \(totalTimeout)") }
        switch phase {
        case .connecting(let until):
            return now >= until ? .timedOut("no response within \(connectTimeout + headTimeout)") : nil
        case .awaitingHead(let until):
            return now >= until ? .timedOut("no response head within \(headTimeout)") : nil
        case .sending(var monitor):
            let isStalled = monitor?.isStalled(bytes: sent, now: now) ?? false
            phase = .sending(monitor)
            return isStalled ? .stalled : nil
        case .receiving(var monitor):
            let isStalled = monitor?.isStalled(bytes: bytes, now: now) ?? false
            phase = .receiving(monitor)
            return isStalled ? .stalled : nil
        }
    }

    private func monitor(bytes: Int64, now: ContinuousClock.Instant) -> SpeedMonitor? {
        guard let limit = lowSpeedLimit, limit.bytesPerSecond > 0, limit.over > .zero else { return nil }
        let product = limit.bytesPerSecond * (limit.over / .seconds(1))
        return SpeedMonitor(
            minimumBytes: max(1, Int64(min(product.rounded(.up), 1e15))), period: limit.over, bytes: bytes, now: now)
    }
}
