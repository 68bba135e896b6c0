import DownloadCore
import Downloads
import HTTPClient
import HTTPCore
import PawlConfiguration
import TestSupport
import Testing

@testable import PawlService

@Suite("Metrics", .timeLimit(.minutes(3)))
struct MetricsTests {
    @Test("Counts requests, downloads and the process, in lines for Prometheus")
    func figures() async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=100")
            try await running.complete(id)
            _ = try await running.send("GET", "/downloads/\(id)")
            _ = try await running.send("GET", "/nothing")
            let answer = try await running.send("GET", "/metrics")
            #expect(answer["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            let lines = answer.text.split(separator: "\n").map(String.init)
            #expect(lines.contains(#"pawl_http_requests_total{route="/downloads/{id}",status="200"} 1"#))
            #expect(lines.contains(#"pawl_http_requests_total{route="none",status="404"} 1"#))
            #expect(lines.contains(#"pawl_http_request_duration_seconds_count{route="/downloads"} 1"#))
            #expect(lines.contains(#"pawl_downloads{state="completed"} 1"#))
            #expect(lines.contains(#"pawl_download_transitions_total{state="completed"} 1"#))
            for name in [
                "pawl_resident_memory_bytes", "pawl_open_descriptors", "pawl_max_descriptors", "pawl_cpu_seconds_total",
                "pawl_disk_free_bytes", "pawl_event_readers", "pawl_uptime_seconds",
            ] {
                #expect(lines.contains { $0.hasPrefix(name + " ") }, "\(name)")
            }
            #expect(lines.contains("pawl_received_bytes_total 100"))
            #expect(lines.contains(#"pawl_subscriptions{state="active"} 0"#))
            #expect(lines.contains(#"pawl_subscription_checks_total{outcome="failed"} 0"#))
            #expect(lines.contains("pawl_queue_wait_seconds_count 1"))
            let commits = lines.first { $0.hasPrefix("pawl_store_commit_duration_seconds_count ") }
            #expect(commits.flatMap { Int($0.split(separator: " ")[1]) }.map { $0 >= 1 } == true)
            for line in lines where !line.hasPrefix("#") {
                let parts = line.split(separator: " ")
                #expect(parts.count == 2 && Double(parts[1]) != nil, "\(line)")
                #expect(line.hasPrefix("pawl_"))
                let name = String(line.prefix { $0 != "{" && $0 != " " })
                let families =
                    [name] + ["_bucket", "_sum", "_count"].filter(name.hasSuffix).map { String(name.dropLast($0.count)) }
                #expect(families.contains { family in lines.contains { $0.hasPrefix("# TYPE \(family) ") } }, "\(line)")
            }
        }
    }

    @Test("Counts webhook deliveries by outcome, and dropped mirrors")
    func webhooks() async throws {
        let metrics = ServiceMetrics()
        let id = RecordID(value: 1)
        for outcome in [WebhookOutcome.delivered, .retried("503", isFirst: true), .retried("503", isFirst: false), .delivered] {
            metrics.record(.webhook(id, about: id, outcome))
        }
        metrics.record(.webhook(id, about: nil, .abandoned("404")))
        metrics.record(.mirrorDropped(id, "it answered 404"))
        #expect(metrics.figures.webhooks == (2, 2, 1))
        #expect(metrics.figures.droppedMirrors == 1)

        let receiver = try ScriptedOrigin { _ in [.response(503, [], body: [])] }
        let base = try #require(HTTPURL(receiver.url("/")))
        try await RunningService.with {
            $0.downloads.destinationGuard.allowed.append(DestinationRule(base))
        } _: { running in
            // The origin accepts no messages there.
            let id = try await running.add("/entity?size=1", #","webhook":"\#(running.upstreamURL)/nowhere""#)
            try await running.complete(id)
            var text = ""
            while !text.contains(#"pawl_webhook_deliveries_total{outcome="given_up"} 1"#) {
                text = try await running.send("GET", "/metrics").text
            }
            #expect(text.contains(#"pawl_webhook_deliveries_total{outcome="delivered"} 0"#))
            #expect(text.contains("pawl_mirrors_dropped_total 0"))
            try await until {
                try await running.send("GET", "/metrics").text.contains("\npawl_webhook_oldest_message_seconds 0\n")
            }
            let waiting = try await running.add("/entity?size=2", #","webhook":"\#(receiver.url("/"))""#)
            try await running.complete(waiting)
            try await until { try await running.send("GET", "/metrics").text.contains("\npawl_webhook_messages 1\n") }
        }
    }

    @Test("Counts refusals of the server itself")
    func refusals() async throws {
        try await RunningService.with { running in
            try await running.blocking { client in
                let stream = try TestConnection(client.port)
                try stream.send(Array("GET / HTTP/1.1\r\nHost : x\r\n\r\n".utf8))
                #expect(try stream.readHead().status == 400)
            }
            let text = try await running.send("GET", "/metrics").text
            #expect(text.contains(#"pawl_http_requests_total{route="none",status="400"} 1"#))
        }
    }

    @Test("A bucket of a histogram counts values up to its bound, inclusive")
    func histogram() {
        var histogram = Histogram()
        for seconds in [0.00005, 0.0001, 0.002, 100] { histogram.record(seconds) }
        var text = MetricsText()
        text.histogram("h", [], histogram)
        let lines = String(decoding: text.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(lines.contains(#"h_bucket{le="0.0001"} 2"#))
        #expect(lines.contains(#"h_bucket{le="0.005"} 3"#))
        #expect(lines.contains(#"h_bucket{le="30.0"} 3"#))
        #expect(lines.contains(#"h_bucket{le="+Inf"} 4"#))
        #expect(lines.contains("h_count 4"))
    }
}
