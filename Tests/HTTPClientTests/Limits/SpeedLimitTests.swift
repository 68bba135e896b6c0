import HTTPClient
import HTTPCore
import TestSupport
import Testing

/// Speed limits over real connections. Bounds apply to bytes that must not have arrived yet, never to the speed of the
/// machine.
@Suite(.timeLimit(.minutes(3)))
struct SpeedLimitTests {
    static let size = 16 << 20

    /// Counts bytes of several transfers, and records an excess over the limit at any time.
    final class MeteringSink: TransferSink {
        struct Record {
            var bytes = 0
            var excess = 0
            var ends = 0
        }
        let record = Waiter(Record())
        let start = ContinuousClock.now
        let bytesPerSecond: Int

        init(bytesPerSecond: Int) { self.bytesPerSecond = bytesPerSecond }

        func received(_ head: ClientResponseHead) -> SinkDecision { .proceed }

        func received(_ bytes: RawSpan) -> SinkDecision {
            let count = bytes.byteCount
            record.update { record in
                record.bytes += count
                let earned = Double(bytesPerSecond) * ((.now - start) / .seconds(1)) + Double(bytesPerSecond) / 5
                if Double(record.bytes) > earned + 1 { record.excess += 1 }
            }
            return .proceed
        }

        func finished(_ outcome: Result<TransferSummary, ClientError>) { record.update { $0.ends += 1 } }
    }

    private func origin(isChunked: Bool = false) throws -> ScriptedOrigin {
        try ScriptedOrigin { _ in
            let body = { @Sendable (offset: Int, count: Int) in
                [UInt8](repeating: UInt8(truncatingIfNeeded: offset), count: count)
            }
            guard isChunked else {
                return [
                    .text("HTTP/1.1 200 OK\r\nContent-Length: \(Self.size)\r\n\r\n"), .generate(count: Self.size, from: body),
                ]
            }
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(String(Self.size, radix: 16))\r\n"
            return [.text(head), .generate(count: Self.size, from: body), .text("\r\n0\r\n\r\n")]
        }
    }

    @Test("Receives no more bytes than the limit allows", arguments: [false, true], [40_000, 1_000_000])
    func onlyEarnedBytesCome(isChunked: Bool, bytesPerSecond: Int) async throws {
        let origin = try origin(isChunked: isChunked)
        let client = try HTTPClient()
        let limiter = SpeedLimiter(bytesPerSecond: Int64(bytesPerSecond))
        var request = try ClientRequest(origin)
        request.speedLimiters = [limiter]
        let sink = MeteringSink(bytesPerSecond: bytesPerSecond)
        client.start(request, sink: sink)
        try await sink.record.wait { $0.bytes >= bytesPerSecond }
        #expect(sink.record.value.excess == 0)
        limiter.setLimit(bytesPerSecond: 0)
        let end = try await sink.record.wait { $0.ends == 1 }
        #expect(end.bytes == Self.size)
    }

    @Test("Transfers of several threads share one limit")
    func threadsShareOneLimit() async throws {
        let origin = try origin()
        let client = try HTTPClient()
        let limiter = SpeedLimiter(bytesPerSecond: 400_000)
        let sink = MeteringSink(bytesPerSecond: 400_000)
        var request = try ClientRequest(origin)
        let handles = (0..<5).map { _ in
            request.speedLimiters = [SpeedLimiter(), limiter]
            return client.start(request, sink: sink)
        }
        try await sink.record.wait { $0.bytes >= 600_000 }
        #expect(sink.record.value.excess == 0)
        for handle in handles { handle.cancel() }
        try await sink.record.wait { $0.ends == 5 }
        #expect(handles.allSatisfy { !$0.isHeldBack })
    }

    @Test("A limit that is set during a transfer applies to it")
    func limitAppliesToRunningTransfer() async throws {
        let origin = try origin()
        let client = try HTTPClient()
        let limiter = SpeedLimiter()
        var request = try ClientRequest(origin)
        request.speedLimiters = [limiter]
        let sink = RecordingSink(bytes: { _ in
            // One byte in a hundred seconds from here on: the bytes so far are nearly all.
            limiter.setLimit(bytesPerSecond: 1)
            return .proceed
        })
        let handle = client.start(request, sink: sink)
        let waiter = Waiter(false)
        let observer = Task {
            while !handle.isHeldBack { try await Task.sleep(for: .milliseconds(1)) }
            waiter.update { $0 = true }
        }
        try await waiter.wait { $0 }
        try await observer.value
        #expect(sink.record.value.bytes.count < Self.size / 2)
        limiter.setLimit(bytesPerSecond: 0)
        handle.cancel()
        #expect(try await sink.outcome().error == .cancelled)
    }

    @Test("A transfer that waits for its limit is not stalled; one that waits for its origin is")
    func limitedTransferIsNotStalled() async throws {
        let origin = try ScriptedOrigin { _ in
            [.text("HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n"), .send([UInt8](repeating: 1, count: 300)), .stall]
        }
        let client = try HTTPClient()
        var request = try ClientRequest(origin)
        // One byte at a time, a tenth of a second apart; the limit requires ten bytes per tenth of a second.
        request.lowSpeedLimit = (100, .milliseconds(100))
        request.speedLimiters = [SpeedLimiter(bytesPerSecond: 10), SpeedLimiter(bytesPerSecond: 150)]
        let limiter = request.speedLimiters[0]
        let sink = RecordingSink()
        client.start(request, sink: sink)
        try await sink.record.wait { $0.bytes.count >= 10 }
        limiter.setLimit(bytesPerSecond: 0)
        #expect(try await sink.outcome().error == .stalled)
        #expect(sink.record.value.bytes.count == 300)
    }

    @Test("A sink that stops while it receives delayed bytes ends the transfer")
    func sinkMayStopWhileResuming() async throws {
        let origin = try origin()
        let client = try HTTPClient()
        var request = try ClientRequest(origin)
        request.speedLimiters = [SpeedLimiter(bytesPerSecond: 1_000_000)]
        let sink = RecordingSink(bytes: { $0 >= 300_000 ? .stop : .proceed })
        client.start(request, sink: sink)
        #expect(try await sink.outcome().error == .stopped)
    }
}
