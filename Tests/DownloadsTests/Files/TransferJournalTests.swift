import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadFiles

@Suite("the journal of transfers")
struct TransferJournalTests {
    @Test("a transfer takes over the line of one that has ended, and the lines that are left are cleared")
    func takeover() throws {
        let temporary = try TemporaryDirectory()
        let directory = try Directory(opening: temporary.path)
        let journal = try TransferJournal(in: directory)
        journal.clear()
        let ids = (1...4).map { RecordID(value: $0) }
        for id in ids.prefix(3) { journal.begin(id) }
        journal.end(ids[0])
        journal.end(ids[1])
        journal.begin(ids[3])
        #expect(try Set(TransferJournal(in: directory).found.keys) == [ids[0], ids[2], ids[3]])
        journal.settle()
        #expect(try TransferJournal(in: directory).found == [ids[2]: .begun, ids[3]: .begun])
        journal.end(ids[2])
        journal.end(ids[3])
        journal.settle()
        #expect(try TransferJournal(in: directory).found.isEmpty)
    }
}
