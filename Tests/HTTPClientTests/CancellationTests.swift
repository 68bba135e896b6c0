import HTTPClient
import HTTPCore
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct CancellationTests {
    @Test("A cancelled transfer finishes once and closes its connection")
    func cancelledTransferFinishesOnce() async throws {
        let client = try HTTPClient()
        let origin = try ScriptedOrigin { _ in [.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), .stall] }
        let sink = RecordingSink()
        let handle = client.start(try ClientRequest(origin), sink: sink)
        try await sink.record.wait { $0.bytes.count == 5 }
        handle.cancel()
        handle.cancel()
        #expect(try await sink.outcome().error == .cancelled)
        try await origin.openConnections(exactly: 0)
        handle.cancel()
        #expect(!handle.isHeldBack)
        client.shutdown()
        #expect(sink.record.value.outcomes.count == 1)
    }

    @Test("A sink may cancel its own transfer, start others and shut down the client")
    func sinkMayActOnClient() async throws {
        let client = try HTTPClient()
        let origin = try ScriptedOrigin { _ in
            [.text("HTTP/1.1 200 OK\r\n\r\n"), .generate(count: 1 << 40) { _, count in [UInt8](repeating: 1, count: count) }]
        }
        let handle = Mutex<TransferHandle?>(nil)
        let sink = RecordingSink(bytes: { _ in
            handle.withLock { $0?.cancel() }
            return .proceed
        })
        let request = try ClientRequest(origin)
        handle.withLock { $0 = client.start(request, sink: sink) }
        #expect(try await sink.outcome().error == .cancelled)

        let second = RecordingSink()
        let first = RecordingSink(head: { _ in
            client.start(request, sink: second)
            client.shutdown()
            return .proceed
        })
        client.start(request, sink: first)
        #expect(try await first.outcome().error == .cancelled)
        #expect(try await second.outcome().error == .cancelled)
    }

    @Test("Hundreds of concurrent transfers with cancellations finish once each")
    func hundredsOfTransfersFinishOnce() async throws {
        let client = try HTTPClient()
        let origin = try ScriptedOrigin { request in
            switch request.number % 4 {
            case 0: [.response(body: [UInt8](repeating: 7, count: 1000))]
            case 1: [.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), .stall]
            case 2: [.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), .reset]
            default: [.redirect(to: "/again")]
            }
        }
        let limiter = SpeedLimiter()
        var limited = try ClientRequest(origin)
        limited.speedLimiters = [limiter]
        let request = limited
        let sinks = (0..<600).map { _ in RecordingSink() }
        await withTaskGroup(of: Void.self) { group in
            for (index, sink) in sinks.enumerated() {
                group.addTask {
                    let handle = client.start(request, sink: sink)
                    if index % 3 == 0 { handle.cancel() }
                    if index % 3 == 1 { _ = try? await sink.record.wait(within: .milliseconds(index % 7)) { !$0.heads.isEmpty } }
                    limiter.setLimit(bytesPerSecond: index.isMultiple(of: 2) ? Int64(index) * 1000 : 0)
                    handle.cancel()
                }
            }
        }
        for sink in sinks { _ = try await sink.outcome() }
        client.shutdown()
        for sink in sinks {
            #expect(sink.record.value.outcomes.count == 1)
            let error = sink.record.value.outcomes.first?.error
            // A busy machine may be slow to connect, or let one transfer receive all redirects.
            let ends = ["cancelled", "transferBroken", "connectionFailed", "timedOut", "tooManyRedirects"]
            #expect(error.map { ends.contains($0.kind) } ?? true, "\(String(describing: error))")
        }
    }

    @Test("A shutdown cancels running and later transfers")
    func shuttingDownCancelsTransfers() async throws {
        let client = try HTTPClient()
        let origin = try ScriptedOrigin { _ in [.stall] }
        let sinks = (0..<50).map { _ in RecordingSink() }
        let request = try ClientRequest(origin)
        for sink in sinks { client.start(request, sink: sink) }
        try await origin.requests(atLeast: 50)
        client.shutdown()
        for sink in sinks { #expect(sink.record.value.outcomes.map(\.error) == [.cancelled]) }
        let late = RecordingSink()
        client.start(request, sink: late)
        #expect(late.record.value.outcomes.map(\.error) == [.cancelled])
        await #expect(throws: ClientError.cancelled) { try await client.fetch(request, bodyLimit: 1) }
        client.shutdown()
    }

    @Test("A sink that keeps its own handle is freed after the end")
    func sinkWithItsHandleGoesAway() async throws {
        final class Holder: TransferSink {
            let handle = Mutex<TransferHandle?>(nil)
            let gone: Gate

            init(_ gone: Gate) { self.gone = gone }

            func received(_ head: ClientResponseHead) -> SinkDecision { .proceed }
            func received(_ bytes: RawSpan) -> SinkDecision { .proceed }
            func finished(_ outcome: Result<TransferSummary, ClientError>) {}

            deinit { gone.open() }
        }
        let client = try HTTPClient()
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        let gone = Gate()
        do {
            let sink = Holder(gone)
            let handle = client.start(try ClientRequest(origin), sink: sink)
            sink.handle.withLock { $0 = handle }
        }
        try await gone.wait()
    }

    @Test("Releasing a client ends its transfers")
    func releasedClientEndsTransfers() async throws {
        let origin = try ScriptedOrigin { _ in [.stall] }
        let sink = RecordingSink()
        try HTTPClient().start(ClientRequest(origin), sink: sink)
        #expect(try await sink.outcome().error == .cancelled)
    }

    @Test("Clients that start and stop under load lose no transfer")
    func clientsStopUnderFire() async throws {
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        let request = try ClientRequest(origin)
        for _ in 0..<20 {
            let client = try HTTPClient()
            let sinks = (0..<20).map { _ in RecordingSink() }
            await withTaskGroup(of: Void.self) { group in
                for (index, sink) in sinks.enumerated() {
                    group.addTask { client.start(request, sink: sink) }
                    if index == 10 { group.addTask { client.shutdown() } }
                }
            }
            for sink in sinks {
                let error = try await sink.outcome().error
                #expect(error == nil || error == .cancelled)
                #expect(sink.record.value.outcomes.count == 1)
            }
        }
    }
}
