import Foundation
import TestSupport
import Testing

@testable import Downloads

struct DataDirectoryTests {
    let temporary: TemporaryDirectory

    init() throws {
        temporary = try TemporaryDirectory()
    }

    @Test("a directory is made with all that leads to it, for its owner only")
    func directoryIsMadeForItsOwner() throws {
        let path = temporary.path + "/a/b/c"
        let directory = try DataDirectory(path: path + "//")
        #expect(directory.path == path)
        for made in [temporary.path + "/a", path, directory.incompletePath, directory.filesPath] {
            let attributes = try FileManager.default.attributesOfItem(atPath: made)
            #expect((attributes[.posixPermissions] as? Int) == 0o700)
        }
    }

    @Test("two instances never hold one directory, and letting go frees it")
    func directoryHasOneInstance() throws {
        let path = temporary.path + "/data"
        var first: DataDirectory? = try DataDirectory(path: path)
        #expect(first != nil)
        #expect(throws: StoreError.inUse(path: path)) { try DataDirectory(path: path) }
        #expect(StoreError.inUse(path: path).description == "data directory \(path) is in use by another instance")
        first = nil
        _ = try DataDirectory(path: path)
    }

    @Test("what cannot be a directory is reported with its reason")
    func badDirectoryIsReported() throws {
        let file = temporary.path + "/file"
        try Data().write(to: URL(filePath: file))
        #expect(throws: StoreError.unavailable(path: file, reason: "Not a directory")) { try DataDirectory(path: file) }
        #expect(throws: StoreError.self) { try DataDirectory(path: file + "/inside") }
        #expect(throws: StoreError.self) { try DataDirectory(path: "") }
    }
}
