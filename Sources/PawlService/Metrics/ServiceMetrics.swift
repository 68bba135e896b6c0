internal import Downloads
internal import HTTPCore
internal import System

/// What the service counts. Any thread may.
final class ServiceMetrics: Sendable {
    /// What was counted up to a moment.
    struct Figures: Sendable {
        /// Requests by route and status.
        var requests: [RequestKind: UInt64] = [:]
        /// How long they took, by route.
        var durations: [Endpoint?: Histogram] = [:]
        /// How often a download came into a state.
        var transitions: [DownloadState: UInt64] = [:]
        /// How often a failed attempt was to be repeated, by its failure.
        var retries: [FailureCode: UInt64] = [:]
        /// How attempts to deliver messages to webhooks ended: delivered, retried, given up.
        var webhooks: (delivered: UInt64, retried: UInt64, givenUp: UInt64) = (0, 0, 0)
        /// Requests that were refused for want of the right token.
        var authenticationFailures: UInt64 = 0
        /// How often a mirror was dropped.
        var droppedMirrors: UInt64 = 0
        /// How long downloads waited for a slot.
        var queueWaits = Histogram()
        /// How long the store took to make changes durable.
        var commits = Histogram()
    }

    /// What requests are counted by.
    struct RequestKind: Sendable, Hashable {
        /// `nil` for a path that leads nowhere.
        let endpoint: Endpoint?
        let status: Int
    }

    /// What was counted of one endpoint. Looked up by number, and by one of few statuses: this is on every request's way.
    private struct Row {
        var statuses: [(code: Int, count: UInt64)] = []
        var durations = Histogram()

        mutating func record(_ status: Int, seconds: Double) {
            durations.record(seconds: seconds)
            for index in statuses.indices where statuses[index].code == status {
                statuses[index].count &+= 1
                return
            }
            statuses.append((status, 1))
        }
    }

    private let state = Locked(Figures())
    /// By the endpoint's place among all; the last is for paths that lead nowhere.
    private let rows = Locked([Row](repeating: Row(), count: Endpoint.allCases.count + 1))
    /// Bytes of bodies received from origins and search sources.
    let receivedBytes: @Sendable () -> UInt64

    init(receivedBytes: @escaping @Sendable () -> UInt64 = { 0 }) {
        self.receivedBytes = receivedBytes
    }

    /// Everything counted so far.
    var figures: Figures {
        var figures = state.withLock { $0 }
        let endpoints = Endpoint.allCases.map(Optional.some) + [nil]
        for (endpoint, row) in zip(endpoints, rows.withLock { $0 }) where !row.statuses.isEmpty {
            figures.durations[endpoint] = row.durations
            for (code, count) in row.statuses {
                figures.requests[RequestKind(endpoint: endpoint, status: code), default: 0] &+= count
            }
        }
        return figures
    }

    /// Counts a request that has its response; `endpoint` is its endpoint's place among all.
    func record(_ endpoint: Int?, _ status: HTTPStatus, nanoseconds: Int64) {
        let taken = Double(nanoseconds) * 1e-9
        rows.withLock { rows in
            rows[endpoint ?? rows.count - 1].record(status.code, seconds: taken)
        }
    }

    /// Counts a request that the server refused by itself.
    func record(refusal status: HTTPStatus) {
        state.withLock { $0.requests[RequestKind(endpoint: nil, status: status.code), default: 0] &+= 1 }
    }

    /// Counts a request that was refused for want of the right token.
    func recordAuthenticationFailure() {
        state.withLock { $0.authenticationFailures &+= 1 }
    }

    /// Counts what happened to a download.
    func record(_ event: DownloadLogEvent) {
        switch event {
        case .transition(let download): state.withLock { $0.transitions[download.state, default: 0] &+= 1 }
        case .retry(let download, _):
            guard let code = download.error?.code else { return }
            state.withLock { $0.retries[code, default: 0] &+= 1 }
        case .started(_, let wait): state.withLock { $0.queueWaits.record(seconds: wait / .seconds(1)) }
        case .committed(let duration): state.withLock { $0.commits.record(seconds: duration / .seconds(1)) }
        case .webhook(_, .delivered): state.withLock { $0.webhooks.delivered &+= 1 }
        case .webhook(_, .retried): state.withLock { $0.webhooks.retried &+= 1 }
        case .webhook(_, .givenUp): state.withLock { $0.webhooks.givenUp &+= 1 }
        case .mirrorDropped: state.withLock { $0.droppedMirrors &+= 1 }
        default: break
        }
    }
}
