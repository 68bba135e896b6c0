import HTTPServer
import Synchronization
import System
import TestSupport
import Testing

@testable import DemoUpstream
@testable import TestUpstream

/// The wait of a body before its break.
@Suite("Delivery before a break", .timeLimit(.minutes(3))) @OffPool struct DeliveryTests {
    @Test("The kernel reports the unsent bytes of exactly one socket")
    func queues() async throws {
        try await withUpstream { _, base in
            let port = UInt16(base.split(separator: ":").last ?? "") ?? 0
            // Other connections of the same server do not count. One of them holds bytes.
            let other = try connect(base)
            try other.send("GET", "/entity?size=1000")
            let client = try connect(base)
            let ends = ConnectionQueues.Ends(
                localAddress: 0x7f00_0001, localPort: port, remoteAddress: 0x7f00_0001, remotePort: client.localPort)
            let delivery = Delivery(
                server: SocketAddress(host: "127.0.0.1", port: Int(port)),
                client: SocketAddress(host: "127.0.0.1", port: Int(ends.remotePort)))
            try await until { ConnectionQueues(of: ends).map { $0.unacknowledged == 0 } ?? false }
            #expect(delivery.isComplete())
            try client.send("GET", "/entity?size=1000")
            try await until { (ConnectionQueues(of: ends.reversed)?.unread ?? 0) > 1000 }
            #expect(!delivery.isComplete())
            _ = try client.readResponse()
            #expect(ConnectionQueues(of: ends.reversed)?.unread == 0)
            try await until { delivery.isComplete() }
            #expect(
                ConnectionQueues(
                    of: ConnectionQueues.Ends(
                        localAddress: 0x7f00_0001, localPort: port, remoteAddress: 0x7f00_0001, remotePort: port)) == nil)
            _ = try other.readResponse()
        }
    }

    @Test("Checks a client that does not read less and less often, for a limited time", arguments: [true, false])
    func backOff(isReset: Bool) {
        let looks = Atomic(0)
        let stream = stream(ending: isReset ? .reset : .close) {
            looks.add(1, ordering: .relaxed)
            return false
        }
        var now = ContinuousClock.now
        let start = now
        var buffer: [UInt8] = []
        steps: while true {
            switch stream.next(into: &buffer, limit: 65_536, now: now) {
            case .wait(let until):
                guard let until else {
                    Issue.record("it waits for nothing")
                    break steps
                }
                #expect(until > now)
                now = until
            case .abort(let reset):
                #expect(reset == isReset)
                break steps
            case .more: buffer = []
            case .end:
                Issue.record("the body ended")
                break steps
            }
        }
        #expect(now - start == .seconds(40))
        #expect(looks.load(ordering: .relaxed) < 300)
    }

    @Test("Breaks off a body soon after the client has received everything")
    func soon() {
        let left = Atomic(3)
        let stream = stream(ending: .reset) { left.subtract(1, ordering: .relaxed).newValue < 0 }
        var now = ContinuousClock.now
        let start = now
        var buffer: [UInt8] = []
        while true {
            let step = stream.next(into: &buffer, limit: 65_536, now: now)
            if case .wait(let until?) = step { now = until } else if case .more = step { buffer = [] } else { break }
        }
        #expect(now - start < .milliseconds(100))
    }

    @Test("Bodies of clients that do not read delay no other requests")
    func waitingBodies() async throws {
        try await withUpstream { _, base in
            let stalled = try (0..<20).map { _ in
                let client = try connect(base)
                try client.send("GET", "/entity?size=300000&fault=reset@200000")
                return client
            }
            // Many sockets in the kernel's table, as after many tests.
            let idle = try (0..<500).map { _ in try connect(base) }
            let start = ContinuousClock.now
            for _ in 0..<50 { #expect(try get(base, "/entity?size=10").status == 200) }
            let time = ContinuousClock.now - start
            #expect(time < .seconds(5), "50 requests took \(time)")
            withExtendedLifetime((stalled, idle)) {}
        }
    }

    private func stream(ending: BodyCut.Ending, isComplete: @escaping @Sendable () -> Bool) -> FaultyStream {
        FaultyStream(
            EntityStream(NoiseContent(length: 1000, seed: 1), 0..<1000, pace: Pace(bytesPerSecond: 0)), hasLength: true,
            cut: BodyCut(after: 500, ending: ending), delivery: Delivery(isComplete: isComplete), onSend: { _ in }, onEnd: {})
    }
}
