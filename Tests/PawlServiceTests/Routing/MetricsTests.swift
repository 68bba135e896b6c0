import TestSupport
import Testing

@testable import PawlService

@Suite("Metrics", .timeLimit(.minutes(3)))
struct MetricsTests {
    @Test("requests, downloads and the process are counted, in lines that Prometheus reads")
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
            #expect(lines.contains { $0.hasPrefix("pawl_resident_memory_bytes ") })
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

    @Test("a histogram counts what is at most each bound, its bound included")
    func histogram() {
        var histogram = Histogram()
        for seconds in [0.00005, 0.0001, 0.002, 100] { histogram.record(seconds: seconds) }
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
