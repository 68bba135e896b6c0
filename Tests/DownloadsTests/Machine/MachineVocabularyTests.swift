import DownloadCore
import DownloadTransfer
import Testing

@testable import Downloads

/// The sizes of the values that each step of a download moves. Large payloads are in boxes, which a copy shares.
struct MachineVocabularyTests {
    @Test("Events, actions and messages fit into a cache line or two")
    func eventsAndActionsAreSmall() {
        #expect(MemoryLayout<DownloadMachine.Event>.size <= 64)
        #expect(MemoryLayout<DownloadMachine.Action>.size <= 64)
        #expect(MemoryLayout<DownloadService.Message>.size <= 96)
    }
}
