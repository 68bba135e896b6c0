internal import Downloads
internal import HTTPCore
internal import Threading

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
    }

    /// What requests are told apart by.
    struct RequestKind: Sendable, Hashable {
        /// `nil` for a path that leads nowhere.
        let endpoint: Endpoint?
        let status: Int
    }

    private let state = Locked(Figures())

    /// Everything counted so far.
    var figures: Figures { state.withLock { $0 } }

    /// Counts a request that was answered.
    func record(_ endpoint: Endpoint?, _ status: HTTPStatus, took duration: Duration) {
        state.withLock { figures in
            figures.requests[RequestKind(endpoint: endpoint, status: status.code), default: 0] &+= 1
            figures.durations[endpoint, default: Histogram()].record(seconds: duration / .seconds(1))
        }
    }

    /// Counts what happened to a download.
    func record(_ event: DownloadLogEvent) {
        switch event {
        case .transition(let download): state.withLock { $0.transitions[download.state, default: 0] &+= 1 }
        case .retry(let download, _):
            guard let code = download.error?.code else { return }
            state.withLock { $0.retries[code, default: 0] &+= 1 }
        default: break
        }
    }
}
