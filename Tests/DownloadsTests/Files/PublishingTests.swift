import Foundation
import System
import TestSupport
import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(2)))
struct PublishingTests {
    private let fixture: DepotFixture
    private var depot: LocalFileDepot { fixture.depot }
    private let id = DepotFixture.id(1)
    private let bytes = Array("the bytes of a file".utf8)

    init() throws {
        fixture = try DepotFixture()
    }

    // MARK: - Verifying

    @Test("a file is verified if it matches what was promised", arguments: [Checksum.Algorithm.sha256, .sha1, .md5, .sha512])
    func matchingFileIsVerified(algorithm: Checksum.Algorithm) async throws {
        let right = try #require(checksum(algorithm, of: bytes))
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count, expecting: [right])
        #expect(file.sha256 == SHA256.digest(of: bytes))
        let wrong = try #require(checksum(algorithm, of: Array("other bytes".utf8)))
        let part = try fixture.makePart(bytes)
        await #expect(throws: FinishingFailure.self) {
            try await fixture.verify(part, length: bytes.count, expecting: [wrong])
        }
    }

    @Test("a file that is too short is not verified, and not extended", arguments: [3, 2 << 20])
    func shortFileIsNotVerified(length: Int) async throws {
        let part = try fixture.makePart(bytes)
        try part.cut(to: 2)
        let error = await #expect(throws: FinishingFailure.self) { try await fixture.verify(part, length: length) }
        guard case .file(let cause) = error else { throw FinishingFailure.abandoned }
        #expect(cause.kind == .short)
        #expect(try part.size() == 2)
    }

    @Test("giving up a verification is answered at once, however much there is to read")
    func verificationGivesUpAtOnce() async throws {
        let part = try depot.createPart(id, replacement: false)
        // Hashing a hole of a tebibyte takes longer than this test may.
        let length: Int64 = 1 << 40
        try FileDescriptor(opening: part.path, .writing).truncate(to: length)
        let hasher = StreamingHasher()
        hasher.bind(to: part, holding: 0)
        let verification = Verification(part: part, hasher: hasher, length: length, expected: [])
        let outcome = Task { [depot] in try await depot.verify(verification) }
        verification.abandon()
        await #expect(throws: FinishingFailure.abandoned) { try await outcome.value }
    }

    // MARK: - Publishing

    @Test("files appear whole under their names, each by itself or many at once", arguments: [1, 4, 5, 40])
    func filesAppearWhole(count: Int) async throws {
        var files: [Publication] = []
        for number in 0..<count {
            let content = Array("content \(number)".utf8)
            let file = try await fixture.verify(try fixture.makePart(content, number), length: content.count)
            files.append(Publication(id: DepotFixture.id(number), file: file, path: FilePath("file \(number).txt", in: "")))
        }
        let published = try await withThrowingTaskGroup { group in
            for file in files { group.addTask { [depot] in try await depot.publish(file) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(published.count == count)
        for file in published { #expect(try depot.identify(file.path) == file.identity) }
        for number in 0..<count {
            #expect(try fixture.read("files/file \(number).txt") == Array("content \(number)".utf8))
        }
    }

    enum Links: CaseIterable {
        case hard, none
    }

    private func depot(_ links: Links) -> LocalFileDepot { links == .hard ? fixture.depot : fixture.withoutLinks }

    @Test("a file that somebody put there is never written over", arguments: Links.allCases)
    func foreignFileIsNeverOverwritten(links: Links) async throws {
        try fixture.write([1], to: "files/a.tar.gz")
        try FileManager.default.createSymbolicLink(atPath: fixture.path("files/a (2).tar.gz"), withDestinationPath: "nowhere")
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        let published = try await depot(links).publish(Publication(id: id, file: file, path: "a.tar.gz"))
        #expect(published.path == "a (3).tar.gz")
        #expect(published.sha256 == SHA256.digest(of: bytes))
        #expect(try fixture.read("files/a.tar.gz") == [1])
        #expect(try fixture.read("files/a (3).tar.gz") == bytes)
        #expect(try fixture.names(in: "files").count == 3)
    }

    @Test("once the record tells of it, only the finished file is left", arguments: Links.allCases)
    func recordLeavesOnlyFinishedFile(links: Links) async throws {
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        let depot = depot(links)
        let published = try await depot.publish(Publication(id: id, file: file, path: "a"))
        try depot.finishPublishing(id)
        #expect(try fixture.names(in: "incomplete") == [])
        #expect(try fixture.names(in: "files") == ["a"])
        #expect(try await depot.recognise(published, of: DepotFixture.id(1)) == .identical)
    }

    @Test("a crash before the record tells of it is found out at the start, and makes no second file", arguments: Links.allCases)
    func crashBeforeRecordIsFoundOut(links: Links) async throws {
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        try fixture.write([1], to: "files/a")
        let published = try await depot(links).publish(Publication(id: id, file: file, path: "a"))

        let recovered = try depot.recover(id, likelyPath: "a")
        let identity = try #require(published.identity)
        #expect(recovered == .published(path: "a (2)", identity: identity, sha256: links == .hard ? nil : published.sha256))
        // The next run verifies it, and publishes it again.
        let again = try await fixture.verify(try depot.openPublished("a (2)", as: identity), length: bytes.count)
        #expect(try await depot(links).publish(Publication(id: id, file: again, path: "a (2)")) == published)
        #expect(try fixture.names(in: "files") == ["a", "a (2)"])
    }

    @Test("a crash before the file is renamed leaves it what it was")
    func crashBeforeRename() async throws {
        let part = try fixture.makePart(bytes)
        try part.cut(to: Int64(bytes.count))
        let note = PublicationNote(path: "a", identity: try part.identity(), sha256: SHA256.digest(of: bytes))
        try note.write("\(id).publishing", in: fixture.directory.incomplete)
        #expect(try depot.recover(id, likelyPath: "a") == .part(size: Int64(bytes.count)))
        // Somebody else's file by now, of another length: not ours.
        _ = try depot.removeParts(id)
        try note.write("\(id).publishing", in: fixture.directory.incomplete)
        #expect(try depot.recover(id, likelyPath: "a") == .missing)
        try fixture.write([1], to: "files/a")
        #expect(try depot.recover(id, likelyPath: "a") == .missing)
    }

    @Test("a second name that the user gave a part file is no publication")
    func secondNameIsNoPublication() throws {
        _ = try fixture.makePart(bytes)
        try FileManager.default.linkItem(atPath: fixture.part, toPath: fixture.path("mine"))
        #expect(try depot.recover(id, likelyPath: "a") == .part(size: 10_000))
    }

    @Test("a part file that was removed or replaced while it was verified is not published")
    func replacedPartFileIsNotPublished() async throws {
        for replaces in [false, true] {
            let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
            if replaces { try fixture.replacePart(with: [6, 6, 6]) } else { _ = try depot.removeParts(id) }
            let error = await #expect(throws: FinishingFailure.self) {
                try await depot.publish(Publication(id: id, file: file, path: "a"))
            }
            guard case .file(let cause) = error else { throw FinishingFailure.abandoned }
            #expect(cause.kind == .missing)
            #expect(try fixture.names(in: "files") == [])
        }
    }

    @Test("a part file that was cut after it was verified is not published")
    func cutPartFileIsNotPublished() async throws {
        let part = try fixture.makePart(bytes)
        let file = try await fixture.verify(part, length: bytes.count)
        try part.cut(to: 1)
        let error = await #expect(throws: FinishingFailure.self) {
            try await depot.publish(Publication(id: id, file: file, path: "a"))
        }
        guard case .file(let cause) = error else { throw FinishingFailure.abandoned }
        #expect(cause.kind == .short)
        #expect(try part.size() == 1)
    }

    @Test("a publication that is given up gives no name, one that came too late says so")
    func publicationIsGivenUpOrTooLate() async throws {
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        let early = Publication(id: id, file: file, path: "a")
        #expect(early.abandon())
        await #expect(throws: FinishingFailure.abandoned) { try await depot.publish(early) }
        #expect(try fixture.names(in: "files") == [])
        let late = Publication(id: id, file: file, path: "a")
        _ = try await depot.publish(late)
        #expect(!late.abandon())
    }

    @Test("removal and publishing at the same moment agree on whether there is a file")
    func removalAndPublishingAgree() async throws {
        let reached = Gate()
        let goesOn = Monitor(false)
        // Holds the moment at which the name is given.
        let held = LocalFileDepot(fixture.directory) { (from, name, to, newName) throws(SystemError) in
            reached.open()
            goesOn.wait { $0 ? .done(()) : .wait(nil) }
            try from.link(name, to: to, as: newName)
        }
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        let publication = Publication(id: id, file: file, path: "a")
        async let outcome = held.publish(publication)
        try await reached.wait()
        #expect(!publication.abandon())
        goesOn.withLock { isOpen in
            isOpen = true
            return ((), wake: true)
        }
        let published = try await outcome
        _ = try depot.remove(published.path, as: try #require(published.identity))
        _ = try depot.removeParts(id)
        #expect(try fixture.names(in: "files") == [] && fixture.names(in: "incomplete") == [])
    }
}

private func checksum(_ algorithm: Checksum.Algorithm, of bytes: [UInt8]) -> Checksum? {
    var digest = FileDigest([algorithm])
    unsafe digest.update(bytes.span.bytes)
    return digest.checksum(algorithm)
}
