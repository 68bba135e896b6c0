internal import DownloadCore
internal import DownloadIndex
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import PawlConfiguration
internal import Subscriptions
internal import System

/// Figures for monitoring.
extension API {
    /// `GET /metrics`.
    func showMetrics(_ request: borrowing Request) throws(Problem) -> RouteResult {
        // Process figures are read from files, and the store is checked.
        return .later { [self] () throws(Problem) in
            var response = Response()
            response.fields.append(.contentType, "text/plain; version=0.0.4; charset=utf-8")
            response.forbidStoring()
            response.body = metricsText(
                isDegraded: !(await downloads.storeCondition()).degraded.isEmpty, subscriptions.counts)
            return response
        }
    }

    private func metricsText(isDegraded: Bool, _ subscriptions: [Subscription.State: Int]) -> [UInt8] {
        var text = MetricsText()
        text.family("pawl_build_info", .gauge, "Always 1; the label contains the version.")
        text.sample("pawl_build_info", [("version", Program.version)], 1)
        text.gauge("pawl_uptime_seconds", "Seconds since the service started.", condition.uptime(at: .now) / .seconds(1))
        write(metrics.figures, to: &text)

        let statistics = index.statistics()
        text.family("pawl_downloads", .gauge, "Downloads by state.")
        for state in DownloadState.allCases {
            text.sample("pawl_downloads", [("state", state.rawValue)], Double(statistics.counts[state] ?? 0))
        }
        text.family("pawl_subscriptions", .gauge, "Subscriptions by state.")
        for state in Subscription.State.allCases {
            text.sample("pawl_subscriptions", [("state", state.rawValue)], Double(subscriptions[state] ?? 0))
        }
        text.family("pawl_received_bytes_total", .counter, "Bytes of bodies received from origins and search sources.")
        text.sample("pawl_received_bytes_total", Double(metrics.receivedBytes()))
        text.gauge("pawl_receive_bytes_per_second", "Speed of all transfers together.", Double(statistics.bytesPerSecond))
        text.family(
            "pawl_log_lines_dropped_total", .counter, "Lines of the log that are missing since standard error was not read.")
        text.sample("pawl_log_lines_dropped_total", Double(log.droppedLines))
        text.gauge("pawl_event_readers", "Open event streams.", Double(downloads.events.readerCount))
        text.gauge(
            "pawl_storage_degraded",
            "1 while `/readyz` lists a problem of the disk, database or object storage in `degraded`; 0 otherwise.",
            isDegraded ? 1 : 0)
        writeProcess(to: &text)
        return text.bytes
    }

    /// Writes the process's use of memory, descriptors and processor time, as far as the system reports it.
    private func writeProcess(to text: inout MetricsText) {
        if let bytes = condition.freeBytes {
            text.gauge("pawl_disk_free_bytes", "Free bytes on the disk of the downloads.", Double(bytes))
        }
        if let bytes = ProcessFigures.residentBytes {
            text.gauge("pawl_resident_memory_bytes", "Resident memory of the process.", Double(bytes))
        }
        if let count = ProcessFigures.openDescriptors {
            text.gauge("pawl_open_descriptors", "Open files and sockets of the process.", Double(count))
        }
        text.gauge(
            "pawl_max_descriptors", "Maximum number of open files and sockets of the process.",
            Double(ProcessEnvironment.descriptorLimit))
        text.family("pawl_cpu_seconds_total", .counter, "Processor time that the process has used.")
        text.sample("pawl_cpu_seconds_total", ProcessFigures.processorSeconds)
    }

    private func write(_ figures: ServiceMetrics.Figures, to text: inout MetricsText) {
        text.family("pawl_http_requests_total", .counter, "Requests answered, by route and status.")
        let kinds = figures.requests.sorted {
            ($0.key.route, $0.key.status) < ($1.key.route, $1.key.status)
        }
        for (kind, count) in kinds {
            let labels = [(name: "route", value: kind.route), (name: "status", value: String(kind.status))]
            text.sample("pawl_http_requests_total", labels, Double(count))
        }
        text.family(
            "pawl_http_request_duration_seconds", .histogram, "Time from a request's end to its response's beginning, by route.")
        for (route, histogram) in figures.durations.sorted(by: { $0.key < $1.key }) {
            text.histogram("pawl_http_request_duration_seconds", [("route", route)], histogram)
        }
        text.family("pawl_auth_failures_total", .counter, "Requests refused because of a missing or wrong token.")
        text.sample("pawl_auth_failures_total", Double(figures.authenticationFailures))
        text.family("pawl_download_transitions_total", .counter, "Transitions and changes of downloads, by resulting state.")
        for state in DownloadState.allCases {
            text.sample(
                "pawl_download_transitions_total", [("state", state.rawValue)], Double(figures.transitions[state] ?? 0))
        }
        text.family("pawl_download_retries_total", .counter, "Failed attempts that will be retried, by reason.")
        for code in FailureCode.allCases where figures.retries[code] != nil {
            text.sample("pawl_download_retries_total", [("reason", code.rawValue)], Double(figures.retries[code] ?? 0))
        }
        text.family("pawl_subscription_checks_total", .counter, "Checks of subscriptions, by outcome.")
        text.sample("pawl_subscription_checks_total", [("outcome", "succeeded")], Double(figures.checks.succeeded))
        text.sample("pawl_subscription_checks_total", [("outcome", "failed")], Double(figures.checks.failed))
        text.family("pawl_webhook_deliveries_total", .counter, "Attempts to deliver messages to webhooks, by outcome.")
        let webhooks = figures.webhooks
        for (outcome, count) in [
            ("delivered", webhooks.delivered), ("retried", webhooks.retried), ("given_up", webhooks.abandoned),
        ] {
            text.sample("pawl_webhook_deliveries_total", [("outcome", outcome)], Double(count))
        }
        if let backlog = downloads.webhookBacklog {
            text.gauge("pawl_webhook_messages", "Messages to webhooks that are not delivered yet.", Double(backlog.count))
            text.gauge("pawl_webhook_oldest_message_seconds", "Age of the first of them; 0 without any.", backlog.oldestAge)
        }
        text.family("pawl_mirrors_dropped_total", .counter, "Mirrors that downloads have abandoned.")
        text.sample("pawl_mirrors_dropped_total", Double(figures.droppedMirrors))
        text.family("pawl_queue_wait_seconds", .histogram, "Time that downloads waited for a slot.")
        text.histogram("pawl_queue_wait_seconds", [], figures.queueWaits)
        text.family(
            "pawl_store_commit_duration_seconds", .histogram, "Time that the store took to make a group of changes durable.")
        text.histogram("pawl_store_commit_duration_seconds", [], figures.commits)
        text.family("pawl_store_commit_changes", .histogram, "Changes that the store made durable as one group.")
        text.histogram("pawl_store_commit_changes", [], figures.commitSizes)
        if let condition = downloads.fleetCondition { write(figures.fleet, condition, to: &text) }
    }

    /// Writes the additional metrics of a replica of a fleet.
    private func write(_ figures: ServiceMetrics.Fleet, _ condition: FleetCondition, to text: inout MetricsText) {
        text.gauge("pawl_fleet_replicas", "Replicas that hold a lease.", Double(condition.replicas))
        text.gauge(
            "pawl_fleet_database_silence_seconds",
            "Seconds without an answer of the database. The replica loses its lease if the silence lasts too long.",
            condition.silence / .seconds(1))
        for (name, help, count) in [
            (
                "pawl_fleet_leases_lost_total", "Leases that this replica has lost.",
                figures.fenced
            ),
            ("pawl_fleet_dead_replicas_total", "Replicas that this replica has declared dead.", figures.ended),
            (
                "pawl_fleet_adoptions_total", "Downloads of dead replicas that this replica has released for takeover.",
                figures.adopted
            ),
            ("pawl_fleet_uploaded_bytes_total", "Bytes of finished files stored.", figures.uploadedBytes),
        ] {
            text.family(name, .counter, help)
            text.sample(name, Double(count))
        }
        text.family(
            "pawl_fleet_feed_lag_seconds", .histogram, "Time from a change in the database until this replica publishes it.")
        text.histogram("pawl_fleet_feed_lag_seconds", [], figures.lags)
        text.family("pawl_fleet_upload_duration_seconds", .histogram, "Time that the upload of a finished file took.")
        text.histogram("pawl_fleet_upload_duration_seconds", [], figures.uploads)
    }
}
