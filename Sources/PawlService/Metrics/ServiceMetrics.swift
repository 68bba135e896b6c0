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
        /// How long the store took to make changes durable, and how many it made durable together.
        var commits = Histogram()
        var commitSizes = Histogram(Histogram.changes)
        var fleet = Fleet()
    }

    /// What a replica of a fleet counts besides.
    struct Fleet: Sendable {
        /// How old changes were when they were shown here.
        var lags = Histogram()
        /// How long it took to store a finished file, and how many bytes were stored.
        var uploads = Histogram()
        var uploadedBytes: UInt64 = 0
        /// Replicas that this one has declared dead, and downloads that were freed with them.
        var dead: UInt64 = 0
        var adopted: UInt64 = 0
        /// How often this one was taken for dead by others.
        var fenced: UInt64 = 0
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
            durations.record(seconds)
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

    /// - Parameter fenced: how often the replica has lost its lease before.
    init(fenced: UInt64 = 0, receivedBytes: @escaping @Sendable () -> UInt64 = { 0 }) {
        self.receivedBytes = receivedBytes
        state.withLock { $0.fleet.fenced = fenced }
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
        case .started(_, let wait): state.withLock { $0.queueWaits.record(wait / .seconds(1)) }
        case .committed(let duration, let changes):
            state.withLock {
                $0.commits.record(duration / .seconds(1))
                $0.commitSizes.record(Double(changes))
            }
        case .followed(let lags): state.withLock { for lag in lags { $0.fleet.lags.record(lag / .seconds(1)) } }
        case .stored(let duration, let bytes):
            state.withLock {
                $0.fleet.uploads.record(duration / .seconds(1))
                $0.fleet.uploadedBytes &+= UInt64(clamping: bytes)
            }
        case .adopted(let replicas, let downloads):
            state.withLock {
                $0.fleet.dead &+= UInt64(clamping: replicas)
                $0.fleet.adopted &+= UInt64(clamping: downloads)
            }
        case .fenced: state.withLock { $0.fleet.fenced &+= 1 }
        case .webhook(_, .delivered): state.withLock { $0.webhooks.delivered &+= 1 }
        case .webhook(_, .retried): state.withLock { $0.webhooks.retried &+= 1 }
        case .webhook(_, .givenUp): state.withLock { $0.webhooks.givenUp &+= 1 }
        case .mirrorDropped: state.withLock { $0.droppedMirrors &+= 1 }
        default: break
        }
    }
}
