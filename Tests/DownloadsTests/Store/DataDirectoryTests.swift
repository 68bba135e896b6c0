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
        #expect(StoreError.inUse(path: path).description == "directory \(path) is in use by another instance")
        first = nil
        _ = try DataDirectory(path: path)
    }

    @Test("files can be kept elsewhere; nothing of them is in the data directory then, and one instance holds both")
    func filesAreElsewhere() throws {
        let (path, downloads) = (temporary.path + "/data", temporary.path + "/volume/pawl")
        var first: DataDirectory? = try DataDirectory(path: path, downloads: downloads + "/")
        #expect(first?.filesPath == downloads + "/files")
        #expect(first?.incompletePath == downloads + "/incomplete")
        #expect(first?.databasePath == path + "/pawl.sqlite")
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: downloads).sorted() == ["files", "incomplete"])
        // Whoever comes with other records, or has them where these files are, or files where these records are.
        let other = temporary.path + "/other"
        #expect(throws: StoreError.inUse(path: downloads)) { try DataDirectory(path: other, downloads: downloads) }
        #expect(throws: StoreError.inUse(path: downloads)) { try DataDirectory(path: downloads) }
        #expect(throws: StoreError.inUse(path: path)) { try DataDirectory(path: other, downloads: path) }
        #expect(throws: StoreError.inUse(path: path)) { try DataDirectory(path: path, downloads: other) }
        first = nil
        // By another path it is the same one, and no second lock is wanted.
        try FileManager.default.createSymbolicLink(atPath: temporary.path + "/link", withDestinationPath: path)
        let same = try DataDirectory(path: path, downloads: temporary.path + "/link")
        #expect(throws: StoreError.inUse(path: path)) { try DataDirectory(path: path) }
        same.release()
        _ = try DataDirectory(path: path)
        #expect(throws: StoreError.self) { try DataDirectory(path: path, downloads: "") }
    }

    @Test("the directories that lead to finished files get the mode that was asked for, those of others never")
    func modes() throws {
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        var permissions = FilePermissions()
        permissions.directory = 0o777
        let path = temporary.path + "/a/data"
        let directory = try DataDirectory(path: path, permissions: permissions)
        #expect(try [temporary.path + "/a", path, directory.filesPath].map(mode) == [0o777, 0o777, 0o777])
        #expect(try mode(directory.incompletePath) == 0o700)
        directory.release()
        // Files of an earlier run are opened up, the directory that somebody made is not.
        permissions.directory = 0o750
        try FileManager.default.setAttributes([.posixPermissions: 0o2705], ofItemAtPath: directory.filesPath)
        let again = try DataDirectory(path: path, permissions: permissions)
        #expect(try mode(again.filesPath) == 0o2750)
        #expect(try mode(path) == 0o777)
        again.release()
        // Without a word of the operator's, what somebody else has chosen stays.
        _ = try DataDirectory(path: path)
        #expect(try mode(again.filesPath) == 0o2750)
        let apart = try DataDirectory(path: temporary.path + "/b", downloads: temporary.path + "/c", permissions: permissions)
        #expect(try mode(temporary.path + "/b") == 0o700)
        #expect(try [temporary.path + "/c", apart.filesPath].map(mode) == [0o750, 0o750])
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
