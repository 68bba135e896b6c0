import Testing

@testable import DownloadTransfer

struct ProgressMeterTests {
    let start = ContinuousClock.now

    private func meter(_ samples: [(Double, Int64)]) -> ProgressMeter {
        var meter = ProgressMeter()
        for (seconds, bytes) in samples { meter.sample(bytes: bytes, at: start + .seconds(seconds)) }
        return meter
    }

    @Test("A steady transfer has a speed from the second sample on")
    func steadyTransferShowsSpeed() {
        #expect(meter([]).bytesPerSecond(at: start) == 0)
        #expect(meter([(0, 0)]).bytesPerSecond(at: start) == 0)
        #expect(meter([(0, 0), (0.5, 500)]).bytesPerSecond(at: start + .seconds(0.5)) == 1_000)
        let long = meter((0...100).map { (Double($0) / 10, Int64($0) * 100) })
        #expect(long.bytesPerSecond(at: start + .seconds(10)) == 1_000)
    }

    @Test("A resumed transfer does not count its first bytes")
    func resumedTransferCountsNewBytesOnly() {
        #expect(meter([(0, 1_000_000), (1, 1_000_500)]).bytesPerSecond(at: start + .seconds(1)) == 500)
    }

    @Test("Follows a change of speed within the window")
    func changeOfSpeedIsFollowed() {
        var samples: [(Double, Int64)] = []
        for step in 0...40 { samples.append((Double(step) / 4, Int64(step) * 250)) }
        for step in 1...20 { samples.append((10 + Double(step) / 4, 10_000 + Int64(step) * 2_500)) }
        #expect(meter(samples).bytesPerSecond(at: start + .seconds(15)) == 10_000)
    }

    @Test("Silence lowers the speed, and stalls")
    func silenceStalls() {
        let silent = meter([(0, 0), (1, 1_000)])
        #expect(silent.bytesPerSecond(at: start + .seconds(4)) == 250)
        #expect(!silent.isStalled(at: start + .seconds(5.9)))
        #expect(silent.isStalled(at: start + .seconds(6)))
        let sampled = meter((0...20).map { (Double($0), $0 == 0 ? 0 : 1_000) })
        #expect(sampled.bytesPerSecond(at: start + .seconds(20)) == 0)
        #expect(sampled.isStalled(at: start + .seconds(20)))
        #expect(!meter([(0, 0), (1, 1_000), (9, 1_001)]).isStalled(at: start + .seconds(9)))
        #expect(meter([(0, 0)]).isStalled(at: start + .seconds(5)))
    }

    @Test("A falling counter restarts the meter")
    func fallingCounterStartsAnew() {
        let restarted = meter([(0, 0), (1, 10_000), (2, 0), (3, 700)])
        #expect(restarted.bytesPerSecond(at: start + .seconds(3)) == 700)
    }

    @Test("Accepts frequent samples, late ones and absurd counters")
    func absurdSamplesDoNoHarm() {
        let frequent = meter((0...10_000).map { (Double($0) / 1_000, Int64($0)) })
        #expect((990...1_010).contains(frequent.bytesPerSecond(at: start + .seconds(10))))
        #expect(meter([(1, 100), (0, 50), (2, 300)]).bytesPerSecond(at: start + .seconds(2)) == 200)
        #expect(meter([(0, .min), (1, .max)]).bytesPerSecond(at: start + .seconds(1)) == 0)
        #expect(meter([(0, 0), (0.000_001, .max)]).bytesPerSecond(at: start + .seconds(0.000_001)) == .max)
    }
}
