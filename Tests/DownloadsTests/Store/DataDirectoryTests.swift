import Foundation
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadFiles
@testable import DownloadStore

struct DataDirectoryTests {
    let temporary: TemporaryDirectory

    init() throws {
        temporary = try TemporaryDirectory()
    }

    @Test("Creates a directory and those above it for its owner only")
    func directoryIsMadeForItsOwner() throws {
        let path = temporary.path + "/a/b/c"
        let directory = try DataDirectory(path: path + "//")
        #expect(directory.path == path)
        for made in [temporary.path + "/a", path, directory.incompletePath, directory.filesPath] {
            let attributes = try FileManager.default.attributesOfItem(atPath: made)
            #expect((attributes[.posixPermissions] as? Int) == 0o700)
        }
    }

    @Test("Two instances never hold one directory, and releasing frees it")
    func directoryHasOneInstance() throws {
        let path = temporary.path + "/data"
        var first: DataDirectory? = try DataDirectory(path: path)
        #expect(first != nil)
        #expect(throws: StoreError.inUse(path: path)) { try DataDirectory(path: path) }
        #expect(StoreError.inUse(path: path).description == "directory \(path) is in use by another process of pawl")
        first = nil
        _ = try DataDirectory(path: path)
    }

    @Test("Files can be in another directory; then the data directory has none of them, and one instance holds both")
    func filesAreElsewhere() throws {
        let (path, downloads) = (temporary.path + "/data", temporary.path + "/volume/pawl")
        var first: DataDirectory? = try DataDirectory(path: path, downloads: downloads + "/")
        #expect(first?.filesPath == downloads + "/files")
        #expect(first?.incompletePath == downloads + "/incomplete")
        #expect(first?.databasePath == path + "/pawl.sqlite")
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: downloads).sorted() == ["files", "incomplete"])
        // An instance with other records for these files, or with other files for these records.
        let other = temporary.path + "/other"
        #expect(throws: StoreError.inUse(path: downloads)) { try DataDirectory(path: other, downloads: downloads) }
        #expect(throws: StoreError.inUse(path: downloads)) { try DataDirectory(path: downloads) }
        #expect(throws: StoreError.inUse(path: path)) { try DataDirectory(path: other, downloads: path) }
        #expect(throws: StoreError.inUse(path: path)) { try DataDirectory(path: path, downloads: other) }
        first = nil
        // Another path of the same directory needs no second lock.
        try FileManager.default.createSymbolicLink(atPath: temporary.path + "/link", withDestinationPath: path)
        let same = try DataDirectory(path: path, downloads: temporary.path + "/link")
        #expect(throws: StoreError.inUse(path: path)) { try DataDirectory(path: path) }
        same.release()
        _ = try DataDirectory(path: path)
        #expect(throws: StoreError.self) { try DataDirectory(path: path, downloads: "") }
    }

    @Test("Directories created for finished files get the requested mode, existing ones never")
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
        // Files of an earlier run get the mode, a directory of the user does not.
        permissions.directory = 0o750
        try FileManager.default.setAttributes([.posixPermissions: 0o2705], ofItemAtPath: directory.filesPath)
        let again = try DataDirectory(path: path, permissions: permissions)
        #expect(try mode(again.filesPath) == 0o2750)
        #expect(try mode(path) == 0o777)
        again.release()
        // Without an option, the modes of existing directories stay.
        _ = try DataDirectory(path: path)
        #expect(try mode(again.filesPath) == 0o2750)
        let apart = try DataDirectory(path: temporary.path + "/b", downloads: temporary.path + "/c", permissions: permissions)
        #expect(try mode(temporary.path + "/b") == 0o700)
        #expect(try [temporary.path + "/c", apart.filesPath].map(mode) == [0o750, 0o750])
    }

    @Test("Uses a private directory wherever its path leads: records, their log, journal and files")
    func privateDirectory() throws {
        let files = FileManager.default
        let (path, taken) = (temporary.path + "/data", temporary.path + "/taken")
        let opened = try Directory(reaching: temporary.path).openPrivateDirectory("data", at: path)
        try files.moveItem(atPath: path, toPath: taken)
        try files.createDirectory(atPath: path, withIntermediateDirectories: false)
        let directory = try DataDirectory(path: path, opened: opened)
        let writer = try SQLiteRecordWriter(directory)
        try writer.commit([.set(name: "a", value: "b")], isRepeated: false)
        _ = try TransferJournal(in: directory.top)
        #expect(
            try files.contentsOfDirectory(atPath: taken).sorted() == [
                "files", "in-transfer", "incomplete", "pawl.sqlite", "pawl.sqlite-shm", "pawl.sqlite-wal",
            ])
        #expect(throws: StoreError.inUse(path: taken)) { try DataDirectory(path: taken) }
        writer.close()
        #expect(try files.contentsOfDirectory(atPath: taken).sorted() == ["files", "in-transfer", "incomplete", "pawl.sqlite"])
        #expect(try files.contentsOfDirectory(atPath: path).isEmpty)
        #expect(try SQLiteRecordWriter(DataDirectory(path: taken)).load().settings["a"] == "b")
    }

    @Test("Does not follow links in a data directory", arguments: ["files", "incomplete", "pawl.sqlite", "in-transfer", "node"])
    func links(name: String) throws {
        let elsewhere = temporary.path + "/elsewhere"
        let path = temporary.path + "/data"
        try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: "\(elsewhere)/\(name)")
        if name == "files" || name == "incomplete" {
            try FileManager.default.createDirectory(atPath: "\(elsewhere)/\(name)", withIntermediateDirectories: false)
            let error = #expect(throws: StoreError.self) { try DataDirectory(path: path) }
            #expect(error?.description.contains("\(path)/\(name): it is a link") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(elsewhere)/\(name)").isEmpty)
        } else {
            let directory = try DataDirectory(path: path)
            #expect(throws: (any Error).self) {
                switch name {
                case "node": _ = try directory.node()
                case "in-transfer": _ = try TransferJournal(in: directory.top)
                default: _ = try SQLiteRecordWriter(directory)
                }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).isEmpty)
        }
    }

    @Test("In a private directory, the directories of files must belong to this user", .enabled(if: geteuid() == 0))
    func foreignFiles() throws {
        let path = temporary.path + "/data"
        let opened = try Directory(reaching: temporary.path).openPrivateDirectory("data", at: path)
        try opened.makeDirectory("files")
        try #require(unsafe chown(path + "/files", 1234, 1234) == 0)
        let reason = "it belongs to another user (1234)"
        #expect(throws: StoreError.unavailable(path: path + "/files", reason: reason)) {
            try DataDirectory(path: path, opened: opened)
        }
        opened.unlock()
        // The operator's volume may belong to any user.
        _ = try DataDirectory(path: path)
    }

    @Test("Uses the operator's directory although others may write to it, with a warning if all may")
    func warnings() throws {
        let (path, volume) = (temporary.path + "/data", temporary.path + "/volume")
        for (mode, count) in [(0o700, 0), (0o2770, 0), (0o777, 1), (0o1777, 1)] {
            for path in [path, volume] {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            }
            let directory = try DataDirectory(path: path, downloads: volume)
            #expect(directory.warnings.count == 2 * count)
            #expect(directory.warnings.allSatisfy { $0.contains("other users may write to") })
        }
        guard geteuid() == 0 else { return }
        try #require(unsafe chown(volume, 1234, 1234) == 0)
        #expect(try DataDirectory(path: path, downloads: volume).warnings.count { $0.contains("another user (1234)") } == 1)
    }

    @Test("Reports a path that cannot be a directory with its reason")
    func badDirectoryIsReported() throws {
        let file = temporary.path + "/file"
        try Data().write(to: URL(filePath: file))
        #expect(throws: StoreError.unavailable(path: file, reason: "Not a directory")) { try DataDirectory(path: file) }
        #expect(throws: StoreError.self) { try DataDirectory(path: file + "/inside") }
        #expect(throws: StoreError.self) { try DataDirectory(path: "") }
    }
}
