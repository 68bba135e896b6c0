import Testing

@testable import System

@Suite("Processes of services")
struct ServiceProcessesTests {
    @Test(
        "Reads lines of the kernel's socket tables",
        arguments: [
            (
                "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0 100 0",
                "127.0.0.1", 8080
            ),
            ("   1: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1", "0.0.0.0", 80),
            (
                "   0: 00000000000000000000000001000000:1F91 00000000000000000000000000000000:0000 0A 0:0 0:0 0  0  0 4242 1",
                "::1",
                8081
            ),
        ])
    func listeners(line: String, host: String, port: Int) throws {
        let entry = try #require(ServiceProcesses.socketTableEntry(line))
        #expect(entry.listener == ServiceProcesses.Listener(host: host, port: port))
        #expect(entry.inode == 4242)
    }

    @Test(
        "Skips other lines",
        arguments: [
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode", "",
            "   0: 0100007F:1F90 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1000        0 4242 1",
            "   0: 0100007:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1",
            "   0: 0100007F 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1",
        ])
    func others(line: String) {
        #expect(ServiceProcesses.socketTableEntry(line) == nil)
    }
}
