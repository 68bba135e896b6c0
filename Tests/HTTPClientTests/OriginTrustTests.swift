import HTTPCore
import Testing

@testable import HTTPClient

@Suite("Trust in origins")
struct OriginTrustTests {
    private static func ends(_ port: Int32) -> ConnectionSockets.Endpoints {
        ConnectionSockets.Endpoints(local: .v4(1), localPort: port, remote: .v4(2), remotePort: 80)
    }

    @Test("Reuses connections after a silent one, and not after an unsolicited response", arguments: [true, false])
    func trust(isSilent: Bool) {
        let start = ContinuousClock.now
        var trust = OriginTrust()
        func ask(_ origin: String, _ offset: Duration) -> OriginTrust.Connection {
            trust.connection(to: origin, now: start + offset) { $0 == Self.ends(1) && isSilent }
        }
        #expect([ask("a", .zero), ask("a", .zero)] == [.new, .new])
        trust.ended("a", on: Self.ends(1), now: start)
        trust.ended("a", on: Self.ends(2), now: start)
        #expect([ask("a", .milliseconds(1)), ask("a", .milliseconds(249)), ask("b", .zero)] == [.single, .single, .new])
        #expect(ask("a", OriginTrust.silence) == (isSilent ? .any : .new))
        #expect(ask("a", .seconds(9)) == (isSilent ? .any : .new))
        trust.broke("a")
        #expect(ask("a", .seconds(10)) == .new)
    }

    @Test("Limits the number of known origins")
    func bounds() {
        var trust = OriginTrust()
        for number in 0...OriginTrust.capacity { trust.ended("\(number)", on: Self.ends(1), now: .now) }
        #expect(trust.connection(to: "0", now: .now) { _ in true } == .new)
        #expect(trust.connection(to: "\(OriginTrust.capacity)", now: .now) { _ in true } == .single)
    }
}
