import HTTPClient
import HTTPCore
import TestSupport
import Testing

/// Many transfers and many bytes.
@Suite(.timeLimit(.minutes(3)))
@OffPool
struct VolumeTests {
    /// Bytes with a prime period, so that a lost or repeated piece is found; twice, so that any piece is a slice.
    nonisolated static let pattern: [UInt8] = {
        var state: UInt32 = 1
        let period = (0..<1_000_003).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
        return period + period
    }()

    /// At most 1,000,003 bytes from an offset.
    nonisolated static func bytes(_ offset: Int, _ count: Int) -> [UInt8] {
        let start = offset % 1_000_003
        return Array(pattern[start..<start + count])
    }

    /// Compares and counts received bytes.
    final class ComparingSink: TransferSink {
        let count = Waiter(0)
        let differences = Waiter(0)
        let end = Waiter<Result<TransferSummary, ClientError>?>(nil)

        func received(_ head: ClientResponseHead) -> SinkDecision { .proceed }

        func received(_ bytes: RawSpan) -> SinkDecision {
            let piece = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
            if piece != VolumeTests.bytes(count.value, piece.count) { differences.update { $0 += 1 } }
            count.update { $0 += piece.count }
            return .proceed
        }

        func finished(_ outcome: Result<TransferSummary, ClientError>) { end.update { $0 = outcome } }

        func outcome() async throws -> Result<TransferSummary, ClientError> {
            try await end.wait { $0?.isEnd ?? false } ?? .failure(.cancelled)
        }
    }

    @Test("Receives 64 MiB byte for byte", arguments: [true, false])
    func largeBodyArrives(isChunked: Bool) async throws {
        let size = 64 << 20
        let origin = try ScriptedOrigin { _ in
            guard isChunked else {
                return [.text("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"), .generate(count: size, from: Self.bytes)]
            }
            let chunks: [ScriptedOrigin.Step] = (0..<64).flatMap { index -> [ScriptedOrigin.Step] in
                [.text("100000\r\n"), .generate(count: 1 << 20) { Self.bytes(index << 20 + $0, $1) }, .text("\r\n")]
            }
            return [.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")] + chunks + [.text("0\r\n\r\n")]
        }
        let client = try HTTPClient()
        let sink = ComparingSink()
        client.start(try ClientRequest(origin), sink: sink)
        #expect(try await sink.outcome().get().bodyBytes == Int64(size))
        #expect(sink.count.value == size)
        #expect(sink.differences.value == 0)
    }

    /// The transfers of a loop share the memory for pieces: no transfer may get another's bytes, and a transfer ended
    /// by its sink must not end others.
    @Test("Keeps concurrent transfers of one thread apart")
    func simultaneousTransfersAreKeptApart() async throws {
        let size = 8 << 20
        let origin = try ScriptedOrigin { _ in
            [.text("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"), .generate(count: size, from: Self.bytes)]
        }
        var configuration = ClientConfiguration()
        configuration.threads = 1
        let client = try HTTPClient(configuration: configuration)
        let whole = (0..<4).map { _ in ComparingSink() }
        let stopped = (0..<4).map { number in
            RecordingSink(bytes: { $0 > number << 20 ? .stop : .proceed })
        }
        for (first, second) in zip(whole, stopped) {
            client.start(try ClientRequest(origin), sink: first)
            client.start(try ClientRequest(origin), sink: second)
        }
        for sink in whole {
            _ = try await sink.outcome().get()
            #expect(sink.count.value == size)
            #expect(sink.differences.value == 0)
        }
        for sink in stopped {
            #expect(try await sink.outcome().error == .stopped)
            let bytes = sink.record.value.bytes
            let expected = Self.pattern.prefix(1_000_003)
            let isExact = bytes.indices.allSatisfy { bytes[$0] == expected[$0 % 1_000_003] }
            #expect(isExact)
        }
    }

    @Test("Reuses an idle connection, however many are busy")
    func busyConnectionsLeaveIdleOnesOpen() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
            return request.target == "/busy" ? [.text(head), .wait(gate), .text("x")] : [.text(head + "x")]
        }
        var configuration = ClientConfiguration()
        configuration.threads = 1
        configuration.idleConnectionsPerThread = 1
        let client = try HTTPClient(configuration: configuration)
        let fetch = { _ = try await client.fetch(ClientRequest(origin), bodyLimit: 1) }
        let sinks = (0..<3).map { _ in RecordingSink() }
        for sink in sinks {
            client.start(try ClientRequest(origin, "/busy"), sink: sink)
            try await sink.record.wait { !$0.heads.isEmpty }
        }
        let count = { Set(origin.requests.map(\.connection)).count }
        // The origin is trusted with a connection after a silence.
        while count() == origin.requests.count { try await fetch() }
        let known = count()
        for _ in 0..<5 { try await fetch() }
        #expect(count() == known)
        gate.open()
        for sink in sinks { _ = try await sink.outcome().get() }
    }

    @Test("Runs 300 transfers at once")
    func threeHundredTransfersRun() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            let body = Array(request.target.utf8)
            return [
                .text("HTTP/1.1 200 OK\r\nContent-Length: \(body.count + 100_000)\r\n\r\n"), .send(body), .wait(gate),
                .generate(count: 100_000, from: Self.bytes),
            ]
        }
        let client = try HTTPClient()
        let sinks = (0..<300).map { _ in RecordingSink() }
        for (index, sink) in sinks.enumerated() {
            var request = try ClientRequest(origin, "/\(index)")
            // The test decides when the gate opens, so the wait is no stall.
            request.lowSpeedLimit = nil
            client.start(request, sink: sink)
        }
        for (index, sink) in sinks.enumerated() { try await sink.record.wait { $0.bytes.count == "/\(index)".utf8.count } }
        #expect(origin.openConnectionCount == 300)
        gate.open()
        let tail = Self.bytes(0, 100_000)
        for (index, sink) in sinks.enumerated() {
            _ = try await sink.outcome().get()
            #expect(Bytes(sink.record.value.bytes) == Bytes(Array("/\(index)".utf8) + tail))
        }
    }
}

extension Result {
    /// True, for conditions on an optional result that cannot be compared with nil.
    fileprivate var isEnd: Bool { true }
}
