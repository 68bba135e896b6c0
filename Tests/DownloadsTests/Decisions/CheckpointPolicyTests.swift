import Testing

@testable import DownloadCore
@testable import Downloads

@Suite("Checkpoints of transfers")
struct CheckpointPolicyTests {
    @Test(
        "Each second; with hundreds of transfers, less often for those with few bytes",
        arguments: [
            (0.9, 1, 1 << 30, false), (1.0, 1, 1, true), (1.0, 100, 1, true), (1.0, 101, 1, false), (2.0, 101, 1, true),
            (1.9, 200, 1, false), (2.0, 200, 1, true), (9.9, 1000, (1 << 20) - 1, false), (10.0, 1000, 1, true),
            (1.0, 1000, 1 << 20, true), (0.9, 1000, 1 << 20, false), (1.0, 0, 1, true),
        ] as [(Double, Int, Int64, Bool)])
    func due(seconds: Double, running: Int, unsynced: Int64, isDue: Bool) {
        let policy = CheckpointPolicy(interval: .seconds(1))
        #expect(policy.isDue(after: .seconds(seconds), running: running, unsynced: { unsynced }) == isDue)
    }
}
