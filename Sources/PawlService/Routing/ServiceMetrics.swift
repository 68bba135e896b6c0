internal import DownloadCore
internal import HTTPCore
internal import Subscriptions
internal import System

/// The counters of the service, which any thread may change.
final class ServiceMetrics: Sendable {
    /// The values of all counters at one moment.
    struct Figures: Sendable {
        /// Requests by route and status.
        var requests: [RequestKind: UInt64] = [:]
        /// Durations of requests by route.
        var durations: [String: Histogram] = [:]
        /// Transitions of downloads by the new state.
        var transitions: [DownloadState: UInt64] = [:]
        /// Attempts that failed and will be retried, by failure.
        var retries: [FailureCode: UInt64] = [:]
        /// Attempts to deliver messages to webhooks, by result: delivered, to be retried, abandoned.
        var webhooks: (delivered: UInt64, retried: UInt64, abandoned: UInt64) = (0, 0, 0)
        /// Checks of subscriptions, by result.
        var checks: (succeeded: UInt64, failed: UInt64) = (0, 0)
        /// Requests refused because of a missing or wrong token.
        var authenticationFailures: UInt64 = 0
        /// Dropped mirrors.
        var droppedMirrors: UInt64 = 0
        /// Durations for which downloads waited for a slot.
        var queueWaits = Histogram()
        /// Durations of the store's commits, and the number of changes in each.
        var commits = Histogram()
        var commitSizes = Histogram(Histogram.changes)
        var fleet = Fleet()
    }

    /// Additional counters of a replica of a fleet.
    struct Fleet: Sendable {
        /// Ages of the fleet's changes when this replica published them to its readers.
        var lags = Histogram()
        /// Durations of uploads of finished files, and the number of bytes uploaded.
        var uploads = Histogram()
        var uploadedBytes: UInt64 = 0
        /// Replicas that this replica has declared dead, and the downloads that it freed from them.
        var ended: UInt64 = 0
        var adopted: UInt64 = 0
        /// Leases that this replica has lost, also before a restart within the process.
        var fenced: UInt64 = 0
    }

    /// The key by which requests are counted.
    struct RequestKind: Sendable, Hashable {
        /// The path of the endpoint; `none` for a path without one.
        let route: String
        let status: Int
    }

    /// The counts of one endpoint. They are updated on every request, so they are found by index, and statuses in a
    /// short list.
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

    /// The route of paths without an endpoint.
    private static let noRoute = "none"

    private let state = Locked(Figures())
    /// The rows by index in `Endpoint.all`; the last row counts paths without an endpoint.
    private let rows = Locked([Row](repeating: Row(), count: Endpoint.all.count + 1))
    /// Bytes of bodies received from origins and search sources.
    let receivedBytes: @Sendable () -> UInt64

    /// - Parameter fenced: The number of leases that this process has lost before.
    init(fenced: UInt64 = 0, receivedBytes: @escaping @Sendable () -> UInt64 = { 0 }) {
        self.receivedBytes = receivedBytes
        state.withLock { $0.fleet.fenced = fenced }
    }

    /// All counts so far.
    var figures: Figures {
        var figures = state.withLock { $0 }
        for (route, row) in zip(Endpoint.all.map(\.path) + [Self.noRoute], rows.withLock { $0 }) where !row.statuses.isEmpty {
            figures.durations[route] = row.durations
            for (code, count) in row.statuses {
                figures.requests[RequestKind(route: route, status: code), default: 0] &+= count
            }
        }
        return figures
    }

    /// Counts a request that has its response; `endpoint` is the endpoint's index in `Endpoint.all`.
    func record(_ endpoint: Int?, _ status: HTTPStatus, nanoseconds: Int64) {
        let taken = Double(nanoseconds) * 1e-9
        rows.withLock { rows in
            rows[endpoint ?? rows.count - 1].record(status.code, seconds: taken)
        }
    }

    /// Counts a request that the server refused before the API saw it.
    func record(refusal status: HTTPStatus) {
        state.withLock { $0.requests[RequestKind(route: Self.noRoute, status: status.code), default: 0] &+= 1 }
    }

    /// Counts a request refused because of a missing or wrong token.
    func recordAuthenticationFailure() {
        state.withLock { $0.authenticationFailures &+= 1 }
    }

    /// Counts an event of a subscription.
    func record(_ event: SubscriptionLogEvent) {
        switch event {
        case .checked: state.withLock { $0.checks.succeeded &+= 1 }
        case .failed: state.withLock { $0.checks.failed &+= 1 }
        case .warning: break
        }
    }

    /// Counts an event of a download or of the store.
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
                $0.fleet.ended &+= UInt64(clamping: replicas)
                $0.fleet.adopted &+= UInt64(clamping: downloads)
            }
        case .fenced: state.withLock { $0.fleet.fenced &+= 1 }
        case .webhook(_, _, .delivered): state.withLock { $0.webhooks.delivered &+= 1 }
        case .webhook(_, _, .retried): state.withLock { $0.webhooks.retried &+= 1 }
        case .webhook(_, _, .abandoned): state.withLock { $0.webhooks.abandoned &+= 1 }
        case .mirrorDropped: state.withLock { $0.droppedMirrors &+= 1 }
        default: break
        }
    }
}
