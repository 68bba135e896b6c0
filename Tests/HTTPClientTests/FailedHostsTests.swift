import Testing

@testable import HTTPClient

struct FailedHostsTests {
    @Test("A failure is remembered for as long as libcurl may keep an address that was looked up before")
    func failureIsRemembered() {
        let hosts = FailedHosts()
        let start = ContinuousClock.now
        hosts.insert("a.example", now: start)
        #expect(hosts.contains("a.example", now: start) && !hosts.contains("b.example", now: start))
        #expect(hosts.contains("a.example", now: start + .seconds(59)))
        #expect(!hosts.contains("a.example", now: start + .seconds(60)))
        hosts.insert("a.example", now: start + .seconds(61))
        #expect(hosts.contains("a.example", now: start + .seconds(62)))
    }

    @Test("The number of hosts is bounded")
    func hostsAreBounded() {
        let hosts = FailedHosts()
        let start = ContinuousClock.now
        for number in 0...FailedHosts.capacity { hosts.insert("\(number)", now: start) }
        #expect(!hosts.contains("0", now: start) && hosts.contains("\(FailedHosts.capacity)", now: start))
    }
}
