import Foundation
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadFiles
@testable import Downloads

@Suite("Folders below the files directory", .timeLimit(.minutes(2)))
struct FolderTests {
    private let fixture: FilesFixture
    private var local: LocalFiles { fixture.local }
    private let bytes = Array("the bytes of a file".utf8)

    init() throws {
        fixture = try FilesFixture()
    }

    private func makeDirectory(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: fixture.path(name), withIntermediateDirectories: true)
    }

    @Test("Files with one name in several folders are different files")
    func nameIsUniqueInItsFolder() async throws {
        let paths: [FilePath] = ["a", "music/a", "music/live/a", "1/2/3/4/5/6/7/8/a"]
        var published: [PublishedFile] = []
        for (number, path) in paths.enumerated() {
            published.append(try await fixture.publish(bytes + [UInt8(number)], as: path, number: number))
        }
        #expect(published.map(\.path) == paths)
        for (number, file) in published.enumerated() {
            let identity = try #require(file.identity)
            #expect(try fixture.read("files/\(file.path)") == bytes + [UInt8(number)])
            #expect(try local.finished.identify(file.path) == identity)
            #expect(local.finished.isTaken(file.path))
            #expect(try local.finished.open(file).status().identity == identity)
            #expect(try await local.finished.recognise(file, of: FilesFixture.id(1)) == .identical)
        }
        #expect(!local.finished.isTaken("music/b"))
        #expect(!local.finished.isTaken("elsewhere/a"))
        #expect(try local.finished.identify("music/live") == nil)
        let made = try FileManager.default.attributesOfItem(atPath: fixture.path("files/music/live"))
        #expect(made[.posixPermissions] as? Int == 0o700)
    }

    @Test("Publishes many files of several folders together")
    func foldersArePublishedTogether() async throws {
        let published = try await withThrowingTaskGroup { group in
            for number in 0..<40 {
                group.addTask { [fixture] in
                    try await fixture.publish([UInt8(number)], as: FilePath("a", in: "folder \(number % 4)"), number: number)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(published.map(\.path)).count == 40)
        for file in published { #expect(try local.finished.identify(file.path) == file.identity) }
        #expect(try fixture.names(in: "files/folder 0").count == 10)
    }

    @Test("Removes a folder with its last file, and empty folders above it")
    func folderGoesWithItsLastFile() async throws {
        let first = try await fixture.publish(bytes, as: "a/b/c/first", number: 1)
        let second = try await fixture.publish(bytes, as: "a/b/second", number: 2)
        let third = try await fixture.publish(bytes, as: "third", number: 3)
        func remove(_ file: PublishedFile) async throws -> [String] {
            let removed = try local.finished.remove(file)
            await removed.flush()
            await removed.free()
            return try fixture.names(in: "files")
        }
        #expect(try await remove(first) == ["a", "third"])
        #expect(try fixture.names(in: "files/a/b") == ["second"])
        try fixture.write([1], to: "files/a/mine")
        #expect(try await remove(second) == ["a", "third"])
        #expect(try fixture.names(in: "files/a") == ["mine"])
        // The root stays, whatever it contains.
        #expect(try await remove(third) == ["a"])
        try FileManager.default.removeItem(atPath: fixture.path("files/a"))
        #expect(try await remove(third) == [])
    }

    @Test("Never removes a folder that an operator has made, and removes its own also after a restart")
    func operatorsFolderStays() async throws {
        try makeDirectory("files/mine")
        let first = try await fixture.publish(bytes, as: "mine/own/a", number: 1)
        let second = try await fixture.publish(bytes, as: "mine/b", number: 2)
        let next = LocalFiles(fixture.directory)
        _ = try next.finished.remove(first)
        #expect(try fixture.names(in: "files/mine") == ["b"])
        _ = try next.finished.remove(second)
        #expect(try fixture.names(in: "files") == ["mine"])
        // A publication that fails removes only what it has made.
        let full = LocalFiles(
            fixture.directory,
            operations: .init(link: { (_, _, _, _) throws(SystemError) in throw SystemError(ENOSPC) }))
        for folder in ["mine", "mine/own"] {
            let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
            await #expect(throws: FinishingFailure.self) {
                try await full.finished.publish(
                    Publication(id: FilesFixture.id(1), file: file, path: FilePath("a", in: folder)))
            }
            #expect(try fixture.names(in: "files/mine") == [] && fixture.names(in: "files") == ["mine"])
        }
    }

    @Test(
        "Never removes a copy of a folder that it has made, or a renamed one",
        arguments: [
            ("mine", "cp -a music mine; rm mine/a"), ("mine", "mv music mine; rm mine/a"),
            ("music", "cp -a music copy; rm -r music; mv copy music; rm music/a"),
        ])
    func copiedFolderStays(folder: String, operations: String) async throws {
        _ = try await fixture.publish(bytes, as: "music/a", number: 1)
        let shell = TestProcess()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-ec", "cd '\(fixture.path("files"))'; \(operations)"]
        try shell.run()
        shell.waitUntilExit()
        let file = try await fixture.publish(bytes, as: FilePath("b", in: folder), number: 2)
        _ = try local.finished.remove(file)
        #expect(try fixture.names(in: "files/\(folder)") == [])
    }

    @Test("Removes the folder of a file that was deleted by hand, but keeps one with another file")
    func folderOfMissingFileIsRemoved() async throws {
        let file = try await fixture.publish(bytes, as: "a/b/file")
        try FileManager.default.moveItem(atPath: fixture.path("files/a/b/file"), toPath: fixture.path("moved"))
        try fixture.write([1, 2, 3], to: "files/a/b/file")
        _ = try local.finished.remove(file)
        #expect(try fixture.read("files/a/b/file") == [1, 2, 3])
        try FileManager.default.removeItem(atPath: fixture.path("files/a/b/file"))
        _ = try local.finished.remove(file)
        #expect(try fixture.names(in: "files") == [])
    }

    /// Possible obstacles in place of a folder.
    enum Obstacle: CaseIterable {
        case file, link, linkInside, dangling
    }

    private func put(_ obstacle: Obstacle) throws {
        try makeDirectory("outside")
        switch obstacle {
        case .file: try fixture.write([1], to: "files/a")
        case .link:
            try FileManager.default.createSymbolicLink(
                atPath: fixture.path("files/a"), withDestinationPath: fixture.path("outside"))
        case .linkInside:
            try makeDirectory("files/a")
            try FileManager.default.createSymbolicLink(
                atPath: fixture.path("files/a/b"), withDestinationPath: fixture.path("outside"))
        case .dangling:
            try FileManager.default.createSymbolicLink(atPath: fixture.path("files/a"), withDestinationPath: "nowhere")
        }
    }

    @Test(
        "Writes, opens and removes nothing through a path that is no directory, and keeps the bytes", arguments: Obstacle.allCases
    )
    func linksAreNotFollowed(obstacle: Obstacle) async throws {
        try put(obstacle)
        #expect(local.finished.obstacle(to: "a/b") != nil)
        let part = try fixture.makePart(bytes)
        let file = try await fixture.verify(part, length: bytes.count)
        let error = await #expect(throws: FinishingFailure.self) {
            try await local.finished.publish(Publication(id: FilesFixture.id(1), file: file, path: "a/b/c"))
        }
        guard case .file(let cause) = error else { throw FinishingFailure.abandoned }
        // No folder that would require fetching the bytes again.
        #expect(!cause.meansNoBytes)
        #expect(try fixture.names(in: "outside") == [])
        #expect(try fixture.names(in: "incomplete").count == 1)

        try fixture.write(bytes, to: "outside/c")
        let status = try FileDescriptor(opening: fixture.path("outside/c")).status()
        #expect(try local.finished.identify("a/b/c") == nil)
        #expect(!local.finished.isTaken("a/b/c"))
        let outside = PublishedFile(path: "a/b/c", length: status.identity.size, sha256: [], identity: status.identity)
        #expect(throws: FileError.self) { try local.finished.open(outside) }
        #expect(local.finished.openCached("a/b/c", as: status.identity) == nil)
        _ = try? local.finished.remove(outside)
        #expect(try fixture.names(in: "outside") == ["c"])
        #expect(try fixture.names(in: "files") == ["a"])
    }

    @Test("An existing folder can be used, and a missing one can be created", arguments: ["", "a", "a/b", "a/c", "new/b"])
    func foldersCanBeUsed(folder: String) throws {
        try makeDirectory("files/a/b")
        #expect(local.finished.obstacle(to: folder) == nil)
    }

    @Test("Detects a crash before the record's commit in a folder, too", arguments: [true, false])
    func crashIsFoundOut(hasLinks: Bool) async throws {
        let local = hasLinks ? fixture.local : fixture.withoutLinks
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        try makeDirectory("files/music/live")
        try fixture.write([1], to: "files/music/live/a")
        let published = try await local.finished.publish(Publication(id: FilesFixture.id(1), file: file, path: "music/live/a"))
        #expect(published.path == "music/live/a (2)")
        let identity = try #require(published.identity)
        let generation = try #require(file.part.generation)
        // Also if the record, which may be behind, has another folder.
        for likely: FilePath? in ["music/live/a", "a", nil] {
            #expect(
                try local.parts.recover(FilesFixture.id(1), generation, likelyPath: likely)
                    == .published(
                        path: published.path, identity: identity, sha256: published.sha256, generation: generation))
        }
        let again = try await fixture.verify(
            try local.parts.openPublished(published.path, length: identity.size), length: bytes.count)
        #expect(
            try await local.finished.publish(Publication(id: FilesFixture.id(1), file: again, path: published.path)) == published)
        try await local.finished.finishPublishing(FilesFixture.id(1))
        #expect(try fixture.names(in: "incomplete") == [])
        #expect(try fixture.names(in: "files/music/live") == ["a", "a (2)"])
    }

    @Test("Creates a folder again that disappears during a publication")
    func vanishedFolderIsMadeAgain() async throws {
        let isFirst = Locked(true)
        let path = fixture.path("files/a")
        let local = LocalFiles(
            fixture.directory,
            operations: .init(link: { (from, name, to, newName) throws(SystemError) in
                if isFirst.withLock({ first in
                    defer { first = false }; return first
                }) {
                    try? FileManager.default.removeItem(atPath: path)
                }
                try from.link(name, to: to, as: newName)
            }))
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        let published = try await local.finished.publish(Publication(id: FilesFixture.id(1), file: file, path: "a/b/c"))
        #expect(published.path == "a/b/c")
        #expect(try fixture.read("files/a/b/c") == bytes)
    }

    @Test("Finished files and their directories get the requested modes", arguments: [true, false])
    func modes(hasLinks: Bool) async throws {
        var permissions = FilePermissions()
        // More permissions than a usual umask leaves.
        (permissions.file, permissions.directory) = (0o666, 0o2777)
        let fixture = try FilesFixture(permissions: permissions)
        func mode(_ name: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: fixture.path(name))[.posixPermissions] as? Int
        }
        try FileManager.default.createDirectory(atPath: fixture.path("files/mine"), withIntermediateDirectories: false)
        let before = try mode("files/mine")
        for (number, path) in ["a", "mine/a", "b/c/a"].enumerated() {
            let part = try fixture.makePart(bytes, number)
            // As left by an earlier run without an option for modes.
            if number == 2 { try part.setPermissions(0o600) }
            let file = try await fixture.verify(part, length: bytes.count)
            let path = try #require(FilePath(path))
            let local = hasLinks ? fixture.local : fixture.withoutLinks
            _ = try await local.finished.publish(Publication(id: FilesFixture.id(number), file: file, path: path))
            #expect(try mode("files/\(path)") == 0o666)
        }
        #expect(try [mode("files/b"), mode("files/b/c")] == [0o2777, 0o2777])
        #expect(try mode("files/mine") == before)
        #expect(try mode("incomplete") == 0o700)
        let plain = try await self.fixture.publish(bytes, as: "a")
        #expect(try self.fixture.local.finished.open(plain).status().permissions == 0o600)
    }

    @Test("A failed publication leaves no empty folder")
    func failedPublicationLeavesNoFolder() async throws {
        let local = LocalFiles(
            fixture.directory,
            operations: .init(link: { (_, _, _, _) throws(SystemError) in throw SystemError(ENOSPC) }))
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        await #expect(throws: FinishingFailure.self) {
            try await local.finished.publish(Publication(id: FilesFixture.id(1), file: file, path: "a/b/c"))
        }
        #expect(try fixture.names(in: "files") == [])
    }
}

struct FilePathTests {
    @Test("A path has a folder and a name", arguments: [("a", "", "a"), ("a/b", "a", "b"), ("a/b c/d.e", "a/b c", "d.e")])
    func parts(text: String, folder: String, name: String) throws {
        let path = try #require(FilePath(String(text)))
        #expect(path.folder == folder && path.name == name)
        #expect(path == FilePath(name, in: folder))
        #expect("\(path)" == text)
    }

    @Test(
        "Refuses paths that are not below the files directory",
        arguments: [
            "", "/", "/a", "a/", "a//b", "..", "../a", "a/../b", "a/.b", ".a/b", "1/2/3/4/5/6/7/8/9/a", "a\\b/c", "a\u{0}/b",
        ])
    func unsafe(text: String) {
        #expect(FilePath(String(text)) == nil)
    }

    @Test("A name is reserved for one download in each folder, ignoring case")
    func reserving() {
        var names = FileNames { $0 == "there/a.txt" }
        let (first, second) = (FilesFixture.id(1), FilesFixture.id(2))
        #expect(names.reserve("a.txt", for: first) == "a.txt")
        #expect(names.reserve("A.txt", for: second) == "A (2).txt")
        #expect(names.reserve("b/a.txt", for: first) == "b/a.txt")
        #expect(names.reserve("B/A.txt", for: second) == "B/A (2).txt")
        #expect(names.reserve("there/a.txt", for: second) == "there/a (2).txt")
        names.release(first)
        #expect(names.reserve("b/a.txt", for: second) == "b/a.txt")
        #expect(names.reserve("v1.0/a", for: first) == "v1.0/a")
        #expect(names.reserve("v1.0/a", for: second) == "v1.0/a (2)")
    }

    @Test("A download has at most one reservation, and none after its release")
    func oneReservation() {
        var names = FileNames { _ in false }
        let (first, second) = (FilesFixture.id(1), FilesFixture.id(2))
        #expect(names.reserve("a/x", for: first) == "a/x")
        #expect(names.reserve("b/y", for: first) == "b/y")
        #expect(names.reserve("a/x", for: second) == "a/x")
        #expect(names.path(of: first) == "b/y" && names.reservationCount == 2)
        // A path of another download is not restored, and not released for it.
        names.restore("x", in: "a", for: first)
        #expect(names.path(of: first) == nil && names.path(of: second) == "a/x")
        names.release(first)
        #expect(names.reserve("a/x", for: first) == "a/x (2)")
        names.release(first)
        names.release(second)
        names.release(second)
        #expect(names.reservationCount == 0)
        #expect(names.reserve("a", for: first) == "a")
    }

    @Test("A file cannot get a needed folder's name, nor a folder a file's name")
    func filesAndFolders() {
        var names = FileNames(
            isTaken: { _ in false }, obstacle: { $0.hasPrefix("file") ? FileError(.other, "'file' is no directory") : nil })
        let (first, second) = (FilesFixture.id(1), FilesFixture.id(2))
        // The name is not known yet.
        names.reserve(folder: "Music/Live", for: first)
        #expect(names.reserve("music", for: second) == "music (2)")
        #expect(names.reserve("Music/live", for: second) == "Music/live (2)")
        #expect(names.reserve("Music/live.txt", for: second) == "Music/live.txt")
        #expect(names.reserve("Live", for: second) == "Live")
        #expect(names.objection(toFolder: "live", for: first)?.message.contains("'Live'") == true)
        #expect(names.objection(toFolder: "live/a/b", for: nil) != nil)
        #expect(names.objection(toFolder: "live", for: second) == nil)
        #expect(names.objection(toFolder: "lively", for: first) == nil)
        #expect(names.objection(toFolder: "Music/Live", for: second) == nil)
        #expect(names.objection(toFolder: "file/a", for: second)?.message.contains("no directory") == true)
        #expect(names.objection(toFolder: "", for: second) == nil)
        names.release(first)
        #expect(names.reserve("music", for: second) == "music")
        #expect(names.objection(toFolder: "music/live", for: first) != nil)
        names.release(second)
        #expect(names.objection(toFolder: "music/live", for: first) == nil)
    }
}

struct FolderNamingTests {
    @Test(
        "Accepts a folder of safe names",
        arguments: ["", "a", "music/live", "A b/c.d/é", "1/2/3/4/5/6/7/8", String(repeating: "a", count: 200)])
    func taken(folder: String) {
        #expect(FileNaming.objection(toFolder: folder) == nil)
        #expect(FileNaming.isSafeFolder(folder))
    }

    @Test(
        "Refuses any other with a sentence that names the field",
        arguments: [
            "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", ".a", "a/.b", "a./b", " a", "a /b", "a\\b", "C:\\a",
            "a:b",
            "con", "a/NUL.txt", "a\nb", "a/\u{202E}b", "a?", "a\u{0}", "1/2/3/4/5/6/7/8/9", String(repeating: "a", count: 201),
            "a/\u{301}/\u{200B}", "/\u{301}",
        ])
    func refused(folder: String) throws {
        let objection = try #require(FileNaming.objection(toFolder: folder))
        #expect(objection.contains("folder"))
    }
}
