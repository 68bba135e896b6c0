import Testing

@testable import DownloadCore
@testable import Downloads

@Suite("Suspects of crashes")
struct CrashSuspicionTests {
    static let transfers: [(running: Duration, hasBytes: Bool, stage: CrashSuspicion.Stage)] = [
        (.zero, false, .begun), (.milliseconds(999), false, .begun), (.seconds(1), false, .waiting),
        (.seconds(99), false, .waiting),
        (.zero, true, .begun), (.seconds(9), true, .begun), (.seconds(10), true, .proven),
    ]

    @Test("The progress of a transfer", arguments: transfers)
    func stage(running: Duration, hasBytes: Bool, stage: CrashSuspicion.Stage) {
        #expect(CrashSuspicion.stage(running: running, hasBytes: hasBytes) == stage)
    }

    static let counts: [(before: Int, stage: CrashSuspicion.Stage?, isMarked: Bool, after: Int)] = [
        (0, nil, true, 0), (2, nil, true, 2), (2, nil, false, 2), (0, .begun, false, 0), (2, .begun, false, 2),
        (0, .begun, true, 1), (2, .begun, true, 3), (3, .begun, true, 3), (0, .waiting, false, 1), (2, .waiting, false, 3),
        (1, .waiting, true, 2), (2, .proven, true, 3), (2, .proven, false, 0),
    ]

    @Test("The number of crashes during a download's transfers", arguments: counts)
    func crashes(before: Int, stage: CrashSuspicion.Stage?, isMarked: Bool, after: Int) {
        #expect(CrashSuspicion.crashes(before: before, stage: stage, isMarked: isMarked) == after)
    }

    @Test("Pauses the one of many downloads that crashes the service, and no other")
    func killer() {
        let ids = (1...8).map { RecordID(value: UInt128($0)) }
        let killer = ids[4]
        var counts: [RecordID: Int] = [:]
        for _ in 0..<CrashSuspicion.limit {
            // Suspects run one by one to their ends; the others run beside them.
            var line = SuspectQueue()
            var running: [RecordID] = ids.filter { counts[$0, default: 0] == 0 }
            for id in ids where counts[id, default: 0] > 0 && line.admits(id) { running.append(id) }
            while !running.contains(killer), let done = running.first {
                counts[done] = 0
                running.removeFirst()
                if let next = line.remove(done) { running.append(next) }
            }
            #expect(running.contains(killer))
            for id in running {
                counts[id] = CrashSuspicion.crashes(before: counts[id, default: 0], stage: .begun, isMarked: true)
            }
        }
        #expect(counts[killer] == CrashSuspicion.limit)
        #expect(counts.values.count { $0 == CrashSuspicion.limit } == 1)
    }

    @Test("One suspect at a time")
    func line() {
        let (one, two, three) = (RecordID(value: 1), RecordID(value: 2), RecordID(value: 3))
        var line = SuspectQueue()
        #expect([one, two, three, one].map { line.admits($0) } == [true, false, false, true])
        #expect([two, one].map { line.remove($0) } == [nil, three])
        #expect([one, three].map { line.remove($0) } == [nil, nil])
        #expect([two].map { line.admits($0) } == [true])
    }
}
