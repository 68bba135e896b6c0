import Testing

@testable import DownloadCore
@testable import DownloadTransfer

struct MirrorTaskTests {
    private typealias Progress = MirrorTask.Progress

    private static let passing: [FailureCode] = [.connectionFailed, .transferBroken, .timedOut]
    private static let final: [FailureCode] = [.httpStatus, .unsupportedEncoding, .tooManyRedirects, .tlsFailure]

    @Test("Without any byte, another source is asked for the whole file", arguments: passing + final + [.entityChanged])
    func withoutBytesAnotherSourceIsAsked(_ code: FailureCode) {
        let failure = DownloadFailure(code, "")
        #expect(MirrorTask(after: failure, Progress()) == .everything)
        #expect(MirrorTask(after: failure, Progress(total: 100, isProven: true, usesOneStream: true)) == .everything)
    }

    @Test("With a proof, other sources send the missing bytes, once", arguments: passing + final)
    func underProofOthersBringRest(_ code: FailureCode) {
        let failure = DownloadFailure(code, "")
        let progress = Progress(hasBytes: true, total: 100, isProven: true)
        #expect(MirrorTask(after: failure, progress) == .rest(total: 100))
        var again = progress
        again.hasHandedOver = true
        #expect(MirrorTask(after: failure, again) == .nothing)
        var whole = progress
        whole.isWhole = true
        #expect(MirrorTask(after: failure, whole) == .nothing)
    }

    @Test(
        "Without a proof, bytes are discarded only if the download would fail otherwise",
        arguments: passing + final + [.entityChanged])
    func withoutProofBytesAreGivenUpLast(_ code: FailureCode) {
        let failure = DownloadFailure(code, "")
        let progress = Progress(hasBytes: true, total: 100)
        #expect(MirrorTask(after: failure, progress) == (Self.passing.contains(code) ? .nothing : .everything))
        var last = progress
        last.isLastAttempt = true
        #expect(MirrorTask(after: failure, last) == .everything)
    }

    @Test("Bytes of sources without ranges are not combined, whatever the proof")
    func bytesWithoutRangesAreNotCombined() {
        let progress = Progress(hasBytes: true, total: 100, isProven: true)
        let hindrances: [(inout Progress) -> Void] = [{ $0.total = nil }, { $0.usesOneStream = true }]
        for hinder in hindrances {
            var hindered = progress
            hinder(&hindered)
            #expect(MirrorTask(after: DownloadFailure(.timedOut, ""), hindered) == .nothing)
            #expect(MirrorTask(after: DownloadFailure(.tlsFailure, ""), hindered) == .everything)
        }
        // The matching bytes are unknown.
        #expect(MirrorTask(after: DownloadFailure(.entityChanged, ""), progress) == .everything)
    }

    @Test(
        "Another source cannot repair a failure of this machine", arguments: [FailureCode.ioError, .insufficientStorage],
        [true, false])
    func failureOfThisMachineStays(_ code: FailureCode, _ hasBytes: Bool) {
        let progress = Progress(hasBytes: hasBytes, total: 100, isProven: true, isLastAttempt: true)
        #expect(MirrorTask(after: DownloadFailure(code, ""), progress) == .nothing)
    }
}
