import Foundation
import System
import TestSupport
import Testing

@testable import DownloadFiles

@Suite("Space of removed files", .timeLimit(.minutes(3)))
struct RemovedFilesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let size: Int64
        var hasOtherName = false
        let isHeld: Bool
        var testDescription: String { name }
    }

    @Test(
        "Frees a large file's name at once, and its space on request",
        arguments: [
            Case(name: "large", size: 32 << 20, isHeld: true), Case(name: "small", size: 1 << 20, isHeld: false),
            Case(name: "large, with another name", size: 32 << 20, hasOtherName: true, isHeld: false),
        ])
    func removal(_ rule: Case) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/file"
        try Data(count: Int(rule.size)).write(to: URL(filePath: path))
        if rule.hasOtherName { try FileManager.default.linkItem(atPath: path, toPath: directory.path + "/other") }
        var removed = RemovedFiles()
        try removed.remove("file", from: Directory(opening: directory.path))
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try descriptors(of: path) == (rule.isHeld ? 1 : 0))
        await removed.flush()
        await removed.free()
        #expect(try descriptors(of: path) == 0)
    }

    @Test("A missing file is no error, a directory in its place is")
    func failures() throws {
        let directory = try TemporaryDirectory()
        var removed = RemovedFiles()
        let opened = try Directory(opening: directory.path)
        try removed.remove("missing", from: opened)
        let path = directory.path + "/directory"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(throws: SystemError.self) { try removed.remove("directory", from: opened) }
        #expect(try descriptors(of: path) == 0)
    }
}

/// The number of this process's descriptors for the file with this path, even a removed one.
func descriptors(of path: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { number in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + number)
        return target == path || target == path + " (deleted)"
    }
}
