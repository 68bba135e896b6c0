import Testing

@testable import DownloadCore
@testable import Downloads

@Suite("The gate of new transfers", .timeLimit(.minutes(1)))
struct StorageGateTests {
    @Test(
        "the first of the reasons counts",
        arguments: [
            (false, false, false, nil), (false, false, true, .quota), (false, true, false, .disk), (false, true, true, .disk),
            (true, false, false, .volume), (true, true, true, .volume),
        ] as [(Bool, Bool, Bool, WaitingReason?)])
    func reason(_ isVolumeAway: Bool, _ isDiskLow: Bool, _ isQuotaFull: Bool, _ reason: WaitingReason?) {
        var gate = StorageGate(holdsFinishedFiles: true, isVolumeAway: isVolumeAway)
        gate.isDiskLow = isDiskLow
        #expect(gate.update(isAway: false, isQuotaFull: isQuotaFull) == (reason != nil))
        #expect(gate.reason == reason)
        // A change is reported once.
        #expect(gate.update(isAway: false, isQuotaFull: isQuotaFull) == false)
        (gate.isVolumeAway, gate.isDiskLow) = (false, false)
        #expect(gate.update(isAway: false, isQuotaFull: false) == (reason != nil))
        #expect(gate.reason == nil)
        #expect(gate.update(isAway: true, isQuotaFull: false) == true)
        #expect(gate.reason == .volume)
    }

    private enum Step {
        /// A count finds these bytes in finished files, in records, and in downloads without a reservation.
        case count(Int128, Int128, Int128)
        case removedRecord(Int64)
        case removedFile(Int64)
        case endedReservation(Int64)
    }

    /// The bytes without a record after the steps: with finished files on the disk, and in object storage.
    private static let rows: [(steps: [Step], local: Int128, remote: Int128)] = [
        ([], 0, 0),
        ([.count(100, 30, 7)], 70, 7),
        // Records may be ahead of the count.
        ([.count(30, 100, 7)], 0, 7),
        ([.count(100, 30, 7), .removedRecord(10)], 80, 7),
        ([.count(100, 30, 7), .removedFile(10), .removedRecord(10)], 70, 7),
        ([.count(100, 30, 7), .endedReservation(5)], 70, 12),
        ([.count(100, 30, 7), .endedReservation(5), .count(100, 100, 8)], 0, 8),
    ]

    @Test("bytes without a record are followed from count to count", arguments: rows.indices)
    func strayBytes(_ number: Int) {
        let row = Self.rows[number]
        for isLocal in [true, false] {
            var gate = StorageGate(holdsFinishedFiles: isLocal)
            for step in row.steps {
                switch step {
                case .count(let finished, let recorded, let unreserved):
                    gate.noteCount(finished: finished, recorded: recorded, unreserved: unreserved)
                case .removedRecord(let bytes): gate.noteRemovedRecord(bytes)
                case .removedFile(let bytes): gate.noteRemovedFile(bytes)
                case .endedReservation(let bytes): gate.noteEndedReservation(bytes)
                }
            }
            #expect(gate.strayBytes == (isLocal ? row.local : row.remote))
        }
    }

    @Test("queued downloads with bytes are known while finished files are here", arguments: [true, false])
    func begun(_ isLocal: Bool) {
        var gate = StorageGate(holdsFinishedFiles: isLocal)
        let id = RecordID(value: 1)
        gate.noteQueued(id)
        #expect(gate.begun == (isLocal ? [id] : []))
        gate.noteLeft(id)
        #expect(gate.begun.isEmpty)
    }
}
