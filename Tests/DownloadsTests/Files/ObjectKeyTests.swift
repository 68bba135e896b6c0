import System
import Testing

@testable import DownloadFiles

@Suite("The keys of objects")
struct ObjectKeyTests {
    @Test("A key survives a round trip, and is stored in a record as an identity")
    func roundTrip() throws {
        let id = FilesFixture.id(1)
        for upload in [0, 1, Int64.max] {
            let key = ObjectKey(id: id, upload: upload)
            #expect(ObjectKey(key.description) == key)
            let identity = try #require(FileIdentity(key.identity(size: 5, modified: 7).description))
            #expect(ObjectKey(id, identity) == key && identity.size == 5 && identity.modified == 7)
        }
        // A file on a disk.
        #expect(ObjectKey(id, FileIdentity(device: 1, inode: 2, size: 3, modified: 4)) == nil)
    }

    @Test("Refuses keys that are no file's")
    func others() {
        let id = FilesFixture.id(1)
        for text in [
            "", "\(id)", "\(id)/", "\(id)/-1", "\(id)/+1", "\(id)/01", "\(id)/1/2", "/\(id)/1", "x/1",
            "\(id)/9223372036854775808",
        ] {
            #expect(ObjectKey(text) == nil, "\(text)")
        }
    }
}
