import System
import Testing

@testable import DownloadCore
@testable import Downloads

@Suite("Finished files that are found or missing")
struct FinishedFileLookupTests {
    private static let (old, new) = (identity(1), identity(2))

    private static func identity(_ inode: UInt64) -> FileIdentity { FileIdentity(device: 1, inode: inode, size: 5, modified: 0) }

    @Test(
        "A search is recorded if the record says something else",
        arguments: [
            (false, old, old, false), (false, old, new, true), (false, old, nil, true), (true, old, nil, false),
            (true, old, old, true), (true, old, new, true), (false, nil, new, true),
        ] as [(Bool, FileIdentity?, FileIdentity?, Bool)])
    func corrections(_ isMissing: Bool, _ recorded: FileIdentity?, _ found: FileIdentity?, _ isRecorded: Bool) {
        var download = sampleRecord(1, state: .completed).download
        (download.fileMissing, download.file) = (isMissing, recorded)
        let correction = FinishedFileLookup.correction(of: download, found: found)
        if case .noteFile(let noted)? = correction {
            #expect(isRecorded && noted == found)
        } else {
            #expect(!isRecorded && correction == nil)
        }
    }
}
