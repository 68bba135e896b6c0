import Foundation
import System
import Testing

@testable import DownloadCore
@testable import DownloadFiles

@Suite("Names that are too long for the file system")
struct LongNameTests {
    private let fixture: FilesFixture
    private let bytes = Array("hello".utf8)

    init() throws { fixture = try FilesFixture() }

    private func publish(_ path: FilePath, by local: LocalFiles) async throws -> PublishedFile {
        let part = try fixture.makePart(bytes, by: local)
        let file = try await fixture.verify(part, length: bytes.count)
        let published = try await local.finished.publish(Publication(id: FilesFixture.id(1), file: file, path: path))
        try await local.finished.finishPublishing(FilesFixture.id(1))
        return published
    }

    /// A file system with names of at most this number of bytes, with hard links.
    private func local(taking limit: Int, error: Int32 = ENAMETOOLONG) -> LocalFiles {
        let check = { @Sendable (name: String) throws(SystemError) in
            if name.utf8.count > limit { throw SystemError(error) }
        }
        return LocalFiles(
            fixture.directory,
            operations: .init(
                link: { (from, name, to, newName) throws(SystemError) in
                    try check(newName)
                    try from.link(name, to: to, as: newName)
                },
                rename: { (from, name, to, newName) throws(SystemError) in
                    try check(newName)
                    try from.renameExclusively(name, to: to, as: newName)
                },
                replace: { (from, name, to, newName) throws(SystemError) in
                    try check(newName)
                    try from.rename(name, to: to, as: newName)
                }))
    }

    @Test(
        "Shortens a name between characters, keeps its extension, and numbers a used one",
        arguments: [143, 120, 80], [ENAMETOOLONG, EBADMSG])
    func shortened(limit: Int, error: Int32) async throws {
        let local = local(taking: limit, error: error)
        let name = String(repeating: "日", count: 60) + ".tar.gz"
        var found: [String] = []
        for _ in 1...3 { found.append(try await publish(FilePath(name, in: "a"), by: local).path.name) }
        #expect(Set(found).count == 3)
        for (index, name) in found.enumerated() {
            #expect(name.utf8.count <= limit && name.hasPrefix("日日日日日日日日日日日日日日"))
            #expect(name.hasSuffix(index == 0 ? "日.tar.gz" : "日 (\(index + 1)).tar.gz"))
        }
        #expect(try fixture.names(in: "files/a") == found.sorted())
    }

    @Test("Numbers a name of maximum length within the limit")
    func numbered() async throws {
        let local = local(taking: 143)
        let name = String(repeating: "a", count: 138) + ".mp3"
        #expect(try await publish(FilePath(name, in: ""), by: local).path.name == name)
        #expect(
            try await publish(FilePath(name, in: ""), by: local).path.name == String(repeating: "a", count: 135) + " (2).mp3")
    }

    @Test("The file system's own limit applies to names and folders, and a crash before the record's commit is detected")
    func realLimit() async throws {
        let folder = String(repeating: "f", count: 300) + "/b"
        let wanted = FilePath(String(repeating: "n", count: 300) + ".bin", in: folder)
        #expect(fixture.local.finished.obstacle(to: folder) == nil && !fixture.local.finished.isTaken(wanted))
        let part = try fixture.makePart(bytes)
        let file = try await fixture.verify(part, length: bytes.count)
        let published = try await fixture.local.finished.publish(Publication(id: FilesFixture.id(1), file: file, path: wanted))
        let path = FilePath(String(repeating: "n", count: 139) + ".bin", in: String(repeating: "f", count: 143) + "/b")
        #expect(published.path == path)
        let identity = try #require(published.identity)
        let generation = try #require(part.generation)
        #expect(
            try fixture.local.parts.recover(FilesFixture.id(1), generation, likelyPath: wanted)
                == .published(path: path, identity: identity, sha256: published.sha256, generation: generation))
        #expect(try fixture.local.finished.identify(path) == identity && fixture.local.finished.identify(wanted) == nil)
    }

    @Test("Cuts a name to the requested length, and makes it safe again")
    func cuts() {
        #expect(FileNaming.shortened("a.txt", to: 64) == "a.txt")
        #expect(
            FileNaming.shortened(String(repeating: "é", count: 80) + ".flac", to: 100) == String(repeating: "é", count: 47)
                + ".flac")
        #expect(FileNaming.shortened("con" + String(repeating: " ", count: 150) + "x.txt", to: 100) == "_con.txt")
        #expect(FileNaming.limit(below: 200) == 143 && FileNaming.limit(below: 143) == 100 && FileNaming.limit(below: 64) == nil)
    }
}
