import DownloadCore
import DownloadTransfer
import Testing

@testable import Downloads

/// The sizes of the values that each step of a download moves. Large payloads are in boxes, which a copy shares.
struct MachineVocabularyTests {
    @Test("Events and actions have at most 64 bytes, messages at most 96")
    func eventsAndActionsAreSmall() {
        #expect(MemoryLayout<DownloadMachine.Event>.size <= 64)
        #expect(MemoryLayout<DownloadMachine.Action>.size <= 64)
        #expect(MemoryLayout<DownloadService.Message>.size <= 96)
    }
}
