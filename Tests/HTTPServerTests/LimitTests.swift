import HTTPCore
import HTTPServer
import Testing

/// The limits in the documentation. `RefusalTests`, `StreamTests` and `ConnectionStateTests` test each of them with
/// smaller values or simulated time.
@Suite struct LimitTests {
    @Test("The limits are as in the documentation")
    func theNumbersAreThoseThat() {
        let limits = ServerLimits()
        #expect(limits.parser.head == 80 * 1024)
        #expect(limits.parser.fields == 100)
        #expect(limits.parser.target == 8 * 1024)
        #expect(limits.body == 1024 * 1024)
        #expect(limits.headTimeout == .seconds(10))
        #expect(limits.idleTimeout == .seconds(60))
        #expect(limits.bodyRate == 1024)
        #expect(limits.bodyRateWindow == .seconds(10))
        #expect(limits.writeTimeout == .seconds(60))
        #expect(limits.connections == 10_000)
        #expect(limits.unsentBytes == 256 * 1024)
        #expect(limits.unlimitedSockets == 32)
    }
}
