import Foundation
import TestSupport
import Testing

@testable import Downloads

@Suite("Publishing finished files", .timeLimit(.minutes(3)))
struct FinisherTests {
    private func setUp() throws -> (TemporaryDirectory, DataDirectory) {
        let temporary = try TemporaryDirectory()
        return (temporary, try DataDirectory(path: temporary.path))
    }

    private func order(_ directory: DataDirectory, _ content: String, name: String, checksum: Checksum? = nil) throws
        -> Finisher.Order
    {
        var generator = DownloadIDGenerator()
        var random = SystemRandom()
        let id = generator.next(now: .now(), using: &random)
        let part = try PartFile(path: directory.part(id), truncating: true)
        try unsafe part.write(Array(content.utf8).span.bytes, at: 0)
        // As preallocation leaves it: longer than its content.
        try part.truncate(to: 10_000)
        return Finisher.Order(
            id: id, part: part, hasher: HashFollower(), length: Int64(content.utf8.count), name: name,
            expected: [checksum].compactMap(\.self))
    }

    @Test("one file, and many that share a sync, appear whole under their names", arguments: [1, 4, 5, 40])
    func many(_ count: Int) async throws {
        let (temporary, directory) = try setUp()
        let finisher = Finisher(directory: directory)
        let orders = try (0..<count).map { try order(directory, "content \($0)", name: "file \($0).txt") }
        let outcomes = await withTaskGroup(of: Result<Finisher.Published, Finisher.Failure>.self) { group in
            for order in orders { group.addTask { await finisher.finish(order) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for outcome in outcomes { #expect((try? outcome.get()) != nil) }
        for number in 0..<count {
            let bytes = try Data(contentsOf: URL(filePath: "\(temporary.path)/files/file \(number).txt"))
            #expect(String(decoding: bytes, as: UTF8.self) == "content \(number)")
        }
    }

    @Test("a file that somebody put there is never written over")
    func taken() async throws {
        let (temporary, directory) = try setUp()
        try Data("mine".utf8).write(to: URL(filePath: directory.file("a.tar.gz")))
        let outcome = await Finisher(directory: directory).finish(try order(directory, "theirs", name: "a.tar.gz"))
        let published = try outcome.get()
        #expect(published.name == "a (2).tar.gz")
        #expect(try String(contentsOfFile: "\(temporary.path)/files/a.tar.gz", encoding: .utf8) == "mine")
        #expect(published.sha256 == SHA256.hexadecimal(of: Array("theirs".utf8)))
    }

    @Test("a checksum that does not fit keeps the file unpublished")
    func mismatch() async throws {
        let (temporary, directory) = try setUp()
        defer { withExtendedLifetime(temporary) {} }
        let wrong = try Checksum(parsing: "sha-256:" + String(repeating: "a", count: 64))
        let outcome = await Finisher(directory: directory).finish(try order(directory, "x", name: "x", checksum: wrong))
        guard case .failure(.checksum) = outcome else {
            Issue.record("published: \(outcome)")
            return
        }
        #expect(try FileSystem.entries(of: directory.filesPath) == [])
    }
}
