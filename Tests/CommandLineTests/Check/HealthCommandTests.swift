import System
import Testing

@testable import CommandLine

@Suite("The service that pawl health asks")
struct HealthCommandTests {
    private typealias Listener = ServiceProcesses.Listener

    @Test(
        "Asks the only running service, preferring the options' port; asks none of several",
        arguments: [
            ([], [8080]), ([[9000]], [9000]), ([[9000, 9001]], [9000, 9001]), ([[8080]], [8080]), ([[9000, 8080]], [8080]),
            ([[]], [8080]), ([[9000], [9001]], [8080]), ([[9000], [8080]], [8080]),
        ] as [([[Int]], [Int])])
    func choice(found: [[Int]], asked: [Int]) {
        let listeners = HealthCommand.listeners(
            own: Listener(host: "127.0.0.1", port: 8080),
            found: found.map { ports in ports.map { Listener(host: "0.0.0.0", port: $0) } })
        #expect(listeners.map(\.port) == asked)
    }

    @Test("Asks a service at another address of this machine")
    func otherAddress() {
        let found = Listener(host: "127.0.0.2", port: 8080)
        #expect(HealthCommand.listeners(own: Listener(host: "127.0.0.1", port: 8080), found: [[found]]) == [found])
    }
}
