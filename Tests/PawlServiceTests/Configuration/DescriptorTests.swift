import HTTPServer
import Testing

@testable import PawlService

@Suite struct DescriptorTests {
    @Test(
        "clients never get the descriptors that downloads need",
        arguments: [
            // Descriptors, connections, refused ones, files.
            (1_048_576, 10_000, 256, 10_000), (20_000, 10_000, 256, 9560), (4096, 2436, 256, 1220), (1024, 490, 105, 245),
            (256, 74, 16, 38), (16, 4, 1, 3),
        ])
    func connections(descriptors: Int, connections: Int, refused: Int, files: Int) {
        var limits = ServerLimits()
        limits.fit(descriptors: descriptors, transfers: Configuration())
        #expect(limits.connections == connections)
        #expect(limits.refusedConnections == refused)
        #expect(limits.files == files)
    }

    @Test("transfers that would need more than there is get half")
    func manyTransfers() {
        var configuration = Configuration()
        configuration.maxConcurrent = 1000
        configuration.segments = 16
        var limits = ServerLimits()
        limits.fit(descriptors: 8192, transfers: configuration)
        #expect(limits.connections == 2560)
    }
}
