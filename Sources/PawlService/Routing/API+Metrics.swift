internal import Downloads
internal import HTTPCore
internal import HTTPServer

/// Figures for monitoring.
extension API {
    /// `GET /metrics`.
    func showMetrics(_ request: borrowing Request) throws(Problem) -> Answer {
        try QueryReader(request.head.target).finish()
        // What the process takes is read from files.
        return .later { [self] () throws(Problem) in
            var response = Response()
            response.fields.append(.contentType, "text/plain; version=0.0.4; charset=utf-8")
            response.fields.append(.cacheControl, "no-store")
            response.body = metricsText()
            return response
        }
    }

    private func metricsText() -> [UInt8] {
        var text = MetricsText()
        text.family("pawl_build_info", .gauge, "Always 1; its label tells the version.")
        text.sample("pawl_build_info", [("version", Help.version)], 1)
        text.family("pawl_uptime_seconds", .gauge, "How long the service has been running.")
        text.sample("pawl_uptime_seconds", condition.uptime(at: .now) / .seconds(1))
        write(metrics.figures, to: &text)

        let statistics = board.statistics()
        text.family("pawl_downloads", .gauge, "Downloads by state.")
        for state in DownloadState.allCases {
            text.sample("pawl_downloads", [("state", state.rawValue)], Double(statistics.counts[state] ?? 0))
        }
        text.family("pawl_receive_bytes_per_second", .gauge, "Speed of all transfers together.")
        text.sample("pawl_receive_bytes_per_second", Double(statistics.bytesPerSecond))
        text.family("pawl_event_readers", .gauge, "Open event streams.")
        text.sample("pawl_event_readers", Double(downloads.events.readerCount))
        if let bytes = condition.freeBytes {
            text.family("pawl_disk_free_bytes", .gauge, "Free bytes where the data directory is.")
            text.sample("pawl_disk_free_bytes", Double(bytes))
        }
        if let bytes = ProcessFigures.residentBytes {
            text.family("pawl_resident_memory_bytes", .gauge, "Memory the process occupies.")
            text.sample("pawl_resident_memory_bytes", Double(bytes))
        }
        if let count = ProcessFigures.openDescriptors {
            text.family("pawl_open_descriptors", .gauge, "Files and sockets the process holds open.")
            text.sample("pawl_open_descriptors", Double(count))
        }
        return text.bytes
    }

    private func write(_ figures: ServiceMetrics.Figures, to text: inout MetricsText) {
        text.family("pawl_http_requests_total", .counter, "Requests answered, by route and status.")
        let kinds = figures.requests.sorted {
            ($0.key.endpoint.label, $0.key.status) < ($1.key.endpoint.label, $1.key.status)
        }
        for (kind, count) in kinds {
            let labels = [(name: "route", value: kind.endpoint.label), (name: "status", value: String(kind.status))]
            text.sample("pawl_http_requests_total", labels, Double(count))
        }
        text.family(
            "pawl_http_request_duration_seconds", .histogram, "Time from a request's end to its answer's beginning, by route.")
        for (endpoint, histogram) in figures.durations.sorted(by: { $0.key.label < $1.key.label }) {
            text.histogram("pawl_http_request_duration_seconds", [("route", endpoint.label)], histogram)
        }
        text.family("pawl_download_transitions_total", .counter, "How often a download came into a state, or was changed in it.")
        for state in DownloadState.allCases {
            text.sample(
                "pawl_download_transitions_total", [("state", state.rawValue)], Double(figures.transitions[state] ?? 0))
        }
        text.family("pawl_download_retries_total", .counter, "Failed attempts that are repeated, by reason.")
        for code in FailureCode.allCases where figures.retries[code] != nil {
            text.sample("pawl_download_retries_total", [("reason", code.rawValue)], Double(figures.retries[code] ?? 0))
        }
    }
}

extension Endpoint? {
    /// The value of the `route` label.
    fileprivate var label: String { self?.path ?? "none" }
}
