import HTTPServer
import Testing

@testable import PawlService

@Suite struct DescriptorTests {
    @Test(
        "clients never get the descriptors that downloads need",
        arguments: [
            // Descriptors, connections, refused ones.
            (1_048_576, 10_000, 256), (20_480, 10_000, 256), (4096, 1828, 256), (1024, 367, 105), (256, 56, 16), (16, 3, 1),
        ])
    func connections(descriptors: Int, connections: Int, refused: Int) {
        var limits = ServerLimits()
        limits.fit(descriptors: descriptors, transfers: Configuration())
        #expect(limits.connections == connections)
        #expect(limits.refusedConnections == refused)
    }

    @Test("transfers that would need more than there is get half")
    func manyTransfers() {
        var configuration = Configuration()
        configuration.maxConcurrent = 1000
        configuration.segments = 16
        var limits = ServerLimits()
        limits.fit(descriptors: 8192, transfers: configuration)
        #expect(limits.connections == 1920)
    }
}
