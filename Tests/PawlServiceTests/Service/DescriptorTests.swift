import HTTPServer
import Testing

@testable import DownloadCore
@testable import PawlService

@Suite struct DescriptorTests {
    @Test(
        "Connections of clients never use the descriptors reserved for downloads",
        arguments: [
            // Descriptors, connections, refused ones, files.
            (1_048_576, 10_000, 1024, 10_000), (20_000, 10_000, 1024, 8472), (4096, 2094, 449, 1049), (1024, 414, 89, 209),
            (256, 74, 16, 38), (16, 4, 1, 3),
        ])
    func connections(descriptors: Int, connections: Int, refused: Int, files: Int) {
        var limits = ServerLimits()
        limits.fit(descriptors: descriptors, transfers: Self.settings())
        #expect(limits.connections == connections)
        #expect(limits.refusedConnections == refused)
        #expect(limits.files == files)
    }

    @Test("Transfers get half of the descriptors if they would need more")
    func manyTransfers() {
        var limits = ServerLimits()
        limits.fit(descriptors: 8192, transfers: Self.settings(maxConcurrent: 1000, segments: 16))
        #expect(limits.connections == 2388)
    }

    @Test("Divides descriptors again when the limit of transfers changes")
    func changes() {
        let budget = DescriptorBudget(descriptors: 8192)
        let before = budget.fit(transfers: Self.settings())
        #expect(budget.files == before.files)
        let fewer = budget.fit(transfers: Self.settings(maxConcurrent: 400))
        #expect(fewer.connections < before.connections)
        #expect(budget.files == fewer.files && fewer.files < before.files)
        #expect(budget.fit(transfers: Self.settings()).connections == before.connections)
        #expect(budget.files == before.files)
    }

    private static func settings(maxConcurrent: Int = 8, segments: Int = 4) -> ServiceSettings {
        ServiceSettings(maxConcurrent: maxConcurrent, maxPerHost: 4, segments: segments, speedLimit: 0)
    }
}
