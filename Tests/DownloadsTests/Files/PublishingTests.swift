import Foundation
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadFiles
@testable import Downloads

@Suite(.timeLimit(.minutes(2)))
struct PublishingTests {
    private let fixture: FilesFixture
    private var local: LocalFiles { fixture.local }
    private let id = FilesFixture.id(1)
    private let bytes = Array("the bytes of a file".utf8)

    init() throws {
        fixture = try FilesFixture()
    }

    // MARK: - Verification

    @Test("Verifies a file that matches its checksum", arguments: [Checksum.Algorithm.sha256, .sha1, .md5, .sha512])
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

    @Test("Does not verify a file that is too short, and does not extend it", arguments: [3, 2 << 20])
    func shortFileIsNotVerified(length: Int) async throws {
        let part = try fixture.makePart(bytes)
        try part.cut(to: 2)
        let error = await #expect(throws: FinishingFailure.self) { try await fixture.verify(part, length: length) }
        guard case .file(let cause) = error else { throw FinishingFailure.abandoned }
        #expect(cause.kind == .short)
        #expect(try part.identity().size == 2)
    }

    @Test("Abandoning a verification ends it at once, whatever its size")
    func verificationGivesUpAtOnce() async throws {
        let part = try local.parts.createPart(id, keepsOthers: false)
        // Hashing a hole of a tebibyte takes longer than this test may.
        let length: Int64 = 1 << 40
        try FileDescriptor(opening: part.path, .writing).truncate(to: length)
        let hasher = StreamingHasher()
        hasher.bind(to: part, holding: 0)
        let verification = Verification(part: part, hasher: hasher, length: length, expected: [])
        let outcome = Task { [local] in try await local.parts.verify(verification) }
        verification.abandon()
        await #expect(throws: FinishingFailure.abandoned) { try await outcome.value }
    }

    // MARK: - Publication

    @Test("Files appear whole under their names, one by one or many at once", arguments: [1, 4, 5, 40])
    func filesAppearWhole(count: Int) async throws {
        var files: [Publication] = []
        for number in 0..<count {
            let content = Array("content \(number)".utf8)
            let file = try await fixture.verify(try fixture.makePart(content, number), length: content.count)
            files.append(Publication(id: FilesFixture.id(number), file: file, path: FilePath("file \(number).txt", in: "")))
        }
        let published = try await withThrowingTaskGroup { group in
            for file in files { group.addTask { [local] in try await local.finished.publish(file) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(published.count == count)
        for file in published { #expect(try local.finished.identify(file.path) == file.identity) }
        for number in 0..<count {
            #expect(try fixture.read("files/file \(number).txt") == Array("content \(number)".utf8))
        }
    }

    enum Links: CaseIterable {
        case hard, none, neither
    }

    private func local(_ links: Links) -> LocalFiles {
        switch links {
        case .hard: fixture.local
        case .none: fixture.withoutLinks
        case .neither: fixture.onShare()
        }
    }

    @Test(
        "Publishes files on a share with any error codes",
        arguments: [EPERM, EOPNOTSUPP, ENOSYS, EINVAL, EACCES, EIO, ERANGE], [EINVAL, ENOSYS, EOPNOTSUPP, EPERM, EACCES, EIO])
    func shareErrors(link: Int32, rename: Int32) async throws {
        try await publishes(fixture.onShare(link: link, rename: rename))
    }

    @Test("Publishes files on a share that cannot rename over another file", arguments: [EPERM, EEXIST, EACCES])
    func shareWithoutReplacing(replace: Int32) async throws {
        try await publishes(fixture.onShare(replace: replace))
    }

    /// Expects a trial and a publication to succeed, without leftovers.
    private func publishes(_ local: LocalFiles) async throws {
        try local.finished.tryPublishing(isHidden: false)
        try local.finished.tryPublishing(isHidden: true)
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        let published = try await local.finished.publish(Publication(id: id, file: file, path: "a"))
        #expect(published.path == "a")
        try await local.finished.finishPublishing(id)
        #expect(try fixture.read("files/a") == bytes)
        #expect(try fixture.names(in: "files") == ["a"] && fixture.names(in: "incomplete") == [])
    }

    @Test("A file has the given time before its identity is read, in any way of publishing", arguments: Links.allCases)
    func givenTime(links: Links) async throws {
        let files = local(links).finished
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        let published = try await files.publish(Publication(id: id, file: file, path: "a", modified: 784_111_777))
        #expect(published.identity?.modified == 784_111_777_000_000_000)
        #expect(files.has(published))
        // The publication is repeated after a crash.
        let again = try await files.publish(Publication(id: id, file: file, path: "a", modified: 784_111_777))
        #expect(again == published)
        try await files.finishPublishing(id)
        #expect(try await files.recognise(published, of: id) == .identical)
        #expect(try fixture.read("files/a") == bytes)
    }

    @Test("On a share, never replaces another file, whenever it appears", arguments: [[], [1]] as [[UInt8]])
    func shareReplacesNothing(foreign: [UInt8]) async throws {
        let path = fixture.path("files/a")
        let local = LocalFiles(
            fixture.directory,
            operations: .init(
                link: { (_, _, _, _) throws(SystemError) in throw SystemError(EOPNOTSUPP) },
                rename: { (_, _, _, name) throws(SystemError) in
                    // Between the check whether the name is free and its reservation.
                    if name == "a" { try? Data(foreign).write(to: URL(filePath: path)) }
                    throw SystemError(EINVAL)
                }))
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        let published = try await local.finished.publish(Publication(id: id, file: file, path: "a"))
        #expect(published.path == "a (2)")
        #expect(try fixture.read("files/a") == foreign)
        #expect(try fixture.read("files/a (2)") == bytes)
    }

    @Test("A share that reports every name as used ends the publication, and is detected at the start")
    func shareWithoutFreeNames() async throws {
        let local = fixture.onShare(link: EEXIST)
        #expect(throws: FileError.self) { try local.finished.tryPublishing(isHidden: false) }
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        let error = await #expect(throws: FinishingFailure.self) {
            try await local.finished.publish(Publication(id: id, file: file, path: "a"))
        }
        guard case .file(let cause) = error else { throw FinishingFailure.abandoned }
        #expect(cause.message.hasSuffix("/files/a: no name is free up to a (1000)"))
        #expect(try fixture.names(in: "files") == [])
    }

    @Test("If no file can move between the directories, this stays reported, and no part file is created")
    func dividedDirectories() async throws {
        let isDivided = Locked(true)
        let local = fixture.divided(isDivided)
        let trial = PublishingTrial(local.finished, patience: .zero) { _ in }
        await trial.begin()
        for _ in 0..<3 { #expect(await trial.failure()?.message.contains("are not on one file system") == true) }
        #expect(throws: FileError.self) { try local.parts.createPart(id, keepsOthers: false) }
        #expect(try fixture.names(in: "files") == [] && fixture.names(in: "incomplete") == [])
        isDivided.withLock { $0 = false }
        #expect(await trial.failure() == nil)
        _ = try local.parts.createPart(id, keepsOthers: false)
    }

    @Test("The trial file's name is as long as a whole part file's")
    func trialNameIsLong() throws {
        let name = PartName(id, .max, whole: SHA256.digest(of: bytes))
        #expect(name.text.utf8.count == PartName.longest)
        let seen = Locked<[String]>([])
        let local = LocalFiles(
            fixture.directory,
            operations: .init(link: { (from, name, to, newName) throws(SystemError) in
                seen.withLock { $0.append(name) }
                try from.link(name, to: to, as: newName)
            }))
        try local.finished.tryPublishing(isHidden: false)
        #expect(seen.withLock { $0.map(\.utf8.count) } == [PartName.longest])
    }

    @Test("A crash on a share between reservation and renaming leaves no empty file, and keeps the bytes")
    func crashAfterReservation() async throws {
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        try file.part.cut(to: Int64(bytes.count))
        let generation = try #require(file.part.generation)
        let note = PublicationNote(path: "a", identity: try file.part.identity(), sha256: file.sha256, generation: generation)
        try note.write("\(id).publishing", in: fixture.directory.incomplete)
        try fixture.write([], to: "files/a")
        try fixture.write([], to: "files/mine")
        let next = fixture.onShare()
        #expect(try next.parts.recover(id, generation, likelyPath: "a") == .part(size: Int64(bytes.count)))
        try next.parts.removeOrphans { $0 == id && $1 == generation }
        #expect(try fixture.names(in: "files") == ["mine"])
        let part = try next.parts.openPart(id, generation, holding: Int64(bytes.count))
        let again = try await fixture.verify(part, length: bytes.count)
        #expect(try await next.finished.publish(Publication(id: id, file: again, path: "a")).path == "a")
        #expect(try fixture.names(in: "files") == ["a", "mine"])
    }

    @Test("The trial reports unwritable directories, and leaves no file", arguments: ["files", "incomplete"])
    func trialFindsWhatIsNotWritable(name: String) throws {
        try local.finished.tryPublishing(isHidden: false)
        #expect(try fixture.names(in: "files") == [] && fixture.names(in: "incomplete") == [])
        // Root may write everywhere, but not into a missing directory.
        try FileManager.default.removeItem(atPath: fixture.path(name))
        if name == "incomplete" {
            #expect(throws: FileError.self) { try local.finished.tryPublishing(isHidden: true) }
        } else {
            #expect(throws: FileError.self) { try local.finished.tryPublishing(isHidden: false) }
        }
    }

    @Test("Never writes over a file of a user", arguments: Links.allCases)
    func foreignFileIsNeverOverwritten(links: Links) async throws {
        try fixture.write([1], to: "files/a.tar.gz")
        try FileManager.default.createSymbolicLink(atPath: fixture.path("files/a (2).tar.gz"), withDestinationPath: "nowhere")
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        let published = try await local(links).finished.publish(Publication(id: id, file: file, path: "a.tar.gz"))
        #expect(published.path == "a (3).tar.gz")
        #expect(published.sha256 == SHA256.digest(of: bytes))
        #expect(try fixture.read("files/a.tar.gz") == [1])
        #expect(try fixture.read("files/a (3).tar.gz") == bytes)
        #expect(try fixture.names(in: "files").count == 3)
    }

    @Test("After the record's commit, only the finished file remains", arguments: Links.allCases)
    func recordLeavesOnlyFinishedFile(links: Links) async throws {
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        let local = local(links)
        let published = try await local.finished.publish(Publication(id: id, file: file, path: "a"))
        try await local.finished.finishPublishing(id)
        #expect(try fixture.names(in: "incomplete") == [])
        #expect(try fixture.names(in: "files") == ["a"])
        #expect(try await local.finished.recognise(published, of: FilesFixture.id(1)) == .identical)
    }

    @Test("Detects a crash before the record's commit at the start, and makes no second file", arguments: Links.allCases)
    func crashBeforeRecordIsFoundOut(links: Links) async throws {
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        try fixture.write([1], to: "files/a")
        let published = try await local(links).finished.publish(Publication(id: id, file: file, path: "a"))

        let next = LocalFiles(fixture.directory)
        let identity = try #require(published.identity)
        // The record may not have the generation yet.
        let generation = try #require(file.part.generation)
        for known in [generation, nil] {
            #expect(
                try next.parts.recover(id, known, likelyPath: "a")
                    == .published(
                        path: "a (2)", identity: identity, sha256: published.sha256, generation: generation))
        }
        // The next run verifies the file, and publishes it again.
        let again = try await fixture.verify(try next.parts.openPublished("a (2)", length: identity.size), length: bytes.count)
        #expect(try await next.finished.publish(Publication(id: id, file: again, path: "a (2)")) == published)
        #expect(try fixture.names(in: "files") == ["a", "a (2)"])
    }

    @Test("A crash before the renaming leaves the file as it was")
    func crashBeforeRename() async throws {
        let part = try fixture.makePart(bytes)
        try part.cut(to: Int64(bytes.count))
        let note = PublicationNote(
            path: "a", identity: try part.identity(), sha256: SHA256.digest(of: bytes), generation: try #require(part.generation))
        try note.write("\(id).publishing", in: fixture.directory.incomplete)
        #expect(try local.parts.recover(id, part.generation, likelyPath: "a") == .part(size: Int64(bytes.count)))
        // By now another user's file of another length.
        _ = try local.parts.removeParts(id)
        try note.write("\(id).publishing", in: fixture.directory.incomplete)
        #expect(try local.parts.recover(id, part.generation, likelyPath: "a") == .missing)
        try fixture.write([1], to: "files/a")
        #expect(try local.parts.recover(id, part.generation, likelyPath: "a") == .missing)
    }

    @Test("A second name from a user for a part file is no publication", arguments: ["mine", "files/mine", "files/a"])
    func secondNameIsNoPublication(name: String) throws {
        let part = try fixture.makePart(bytes)
        try FileManager.default.linkItem(atPath: fixture.part, toPath: fixture.path(name))
        let next = LocalFiles(fixture.directory)
        #expect(try next.parts.recover(id, part.generation, likelyPath: "a") == .part(size: 10_000))
        #expect(try next.parts.recover(id, nil, likelyPath: "a") == .missing)
    }

    @Test("A file without a begun publication is whole after a crash, and published with its digest")
    func crashBeforeNameIsGiven() async throws {
        let refuses = LocalFiles(
            fixture.directory,
            operations: .init(link: { (_, _, _, _) throws(SystemError) in throw SystemError(ENOSPC) }))
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        await #expect(throws: FinishingFailure.self) {
            try await refuses.finished.publish(Publication(id: id, file: file, path: "a"))
        }
        let next = LocalFiles(fixture.directory)
        let generation = try #require(file.part.generation)
        #expect(
            try next.parts.recover(id, generation, likelyPath: "a")
                == .whole(size: Int64(bytes.count), sha256: SHA256.digest(of: bytes), generation: generation))
        // It is no part of another generation.
        #expect(try next.parts.recover(id, nil, likelyPath: "a") == .missing)
        let part = try next.parts.openPart(id, generation, holding: Int64(bytes.count))
        let again = try await fixture.verify(part, length: bytes.count)
        let published = try await next.finished.publish(Publication(id: id, file: again, path: "a"))
        #expect(published.path == "a")
        try await next.finished.finishPublishing(id)
        #expect(try fixture.names(in: "incomplete") == [])
        #expect(try fixture.read("files/a") == bytes)
    }

    @Test("Where names have numbers of their own, detects a crash before the record's commit as well")
    func namesAreNumbered() async throws {
        let local = fixture.numberingNames
        try local.finished.tryPublishing(isHidden: false)
        let file = try await fixture.verify(try fixture.makePart(bytes, by: local), length: bytes.count)
        let published = try await local.finished.publish(Publication(id: id, file: file, path: "a"))
        // The first reader need not compare the file.
        #expect(local.finished.has(published))
        let next = fixture.numberingNames
        let generation = try #require(file.part.generation)
        let identity = try #require(published.identity)
        #expect(
            try next.parts.recover(id, generation, likelyPath: "a")
                == .published(path: "a", identity: identity, sha256: file.sha256, generation: generation))
        let again = try await fixture.verify(try next.parts.openPublished("a", length: identity.size), length: bytes.count)
        #expect(try await next.finished.publish(Publication(id: id, file: again, path: "a")) == published)
        try await next.finished.finishPublishing(id)
        #expect(try fixture.names(in: "files") == ["a"] && fixture.names(in: "incomplete") == [])
    }

    @Test("A file at a note's path counts if it has the length and the time or the bytes", arguments: [true, false])
    func noteDecides(isSame: Bool) async throws {
        let local = fixture.numberingNames
        let file = try await fixture.verify(try fixture.makePart(bytes, by: local), length: bytes.count)
        _ = try await local.finished.publish(Publication(id: id, file: file, path: "a"))
        try FileManager.default.removeItem(atPath: fixture.path("files/a"))
        try fixture.write(isSame ? bytes : bytes.reversed(), to: "files/a")
        let next = fixture.numberingNames
        let generation = try #require(file.part.generation)
        let found = try next.parts.recover(id, generation, likelyPath: "a")
        if isSame {
            let identity = try #require(try next.finished.identify("a"))
            #expect(found == .published(path: "a", identity: identity, sha256: file.sha256, generation: generation))
        } else {
            #expect(found == .whole(size: Int64(bytes.count), sha256: file.sha256, generation: generation))
        }
    }

    // MARK: - Copies

    @Test("Copies a file into a folder on another file system, beside files of others")
    func folderElsewhere() async throws {
        let local = fixture.divided(Locked(true))
        try FileManager.default.createDirectory(atPath: fixture.path("files/music"), withIntermediateDirectories: false)
        try fixture.write([1], to: "files/music/a")
        let part = try fixture.makePart(bytes, by: local)
        let file = try await fixture.verify(part, length: bytes.count)
        let publication = Publication(id: id, file: file, path: "music/a", modified: 784_111_777)
        let published = try await local.finished.publish(publication)
        #expect(published.path == "music/a (2)" && local.finished.has(published))
        #expect(published.identity?.modified == 784_111_777_000_000_000)
        #expect(try fixture.read("files/music/a (2)") == bytes)
        #expect(try fixture.names(in: "files/music") == ["a", "a (2)"])
        // The process ends before the record's commit.
        let generation = try #require(part.generation)
        let identity = try #require(published.identity)
        #expect(
            try fixture.divided(Locked(true)).parts.recover(id, generation, likelyPath: "music/a")
                == .published(path: published.path, identity: identity, sha256: file.sha256, generation: generation))
        try await local.finished.finishPublishing(id)
        #expect(try fixture.names(in: "incomplete") == [])
    }

    @Test("A file to be copied can be abandoned, also while it is found out that it must be", arguments: [true, false])
    func copyIsAbandoned(isEarly: Bool) async throws {
        let found = Locked<Publication?>(nil)
        let local = LocalFiles(
            fixture.directory,
            operations: .init(
                link: { (from, _, to, _) throws(SystemError) in
                    guard from !== to else { throw SystemError(EPERM) }
                    if isEarly { _ = found.withLock(\.self)?.abandon() }
                    throw SystemError(EXDEV)
                },
                rename: { (from, _, to, _) throws(SystemError) in
                    // A copy without a name gets one in another way.
                    throw SystemError(from === to ? EPERM : EXDEV)
                }))
        let part = try fixture.makePart(bytes, by: local)
        let file = try await fixture.verify(part, length: bytes.count)
        let publication = Publication(id: id, file: file, path: "new/a")
        found.withLock { $0 = publication }
        if isEarly {
            await #expect(throws: FinishingFailure.abandoned) { try await local.finished.publish(publication) }
            while try fixture.names(in: "files") != [] { await Task.yield() }
            #expect(try fixture.names(in: "incomplete").contains { $0.hasSuffix(".whole") })
        } else {
            #expect(try await local.finished.publish(publication).path == "new/a")
            #expect(!publication.abandon())
            #expect(try fixture.read("files/new/a") == bytes)
        }
        found.withLock { $0 = nil }
    }

    @Test("A copy that a crash has cut is removed at the next start, and made again")
    func cutCopyIsRemoved() async throws {
        try FileManager.default.createDirectory(atPath: fixture.path("files/music"), withIntermediateDirectories: false)
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        try file.part.cut(to: Int64(bytes.count))
        let generation = try #require(file.part.generation)
        let note = PublicationNote(
            path: "music/a", identity: try file.part.identity(), sha256: file.sha256, generation: generation)
        try note.write("\(id).publishing", in: fixture.directory.incomplete)
        let copy = "files/music/\(FolderCopy.name(of: id))"
        try fixture.write([1], to: copy)
        let next = fixture.divided(Locked(true))
        #expect(try next.parts.recover(id, generation, likelyPath: "music/a") == .part(size: Int64(bytes.count)))
        try next.parts.removeOrphans { $0 == id && $1 == generation }
        #expect(try fixture.names(in: "files/music") == [])
        let part = try next.parts.openPart(id, generation, holding: Int64(bytes.count))
        let again = try await fixture.verify(part, length: bytes.count)
        #expect(try await next.finished.publish(Publication(id: id, file: again, path: "music/a")).path == "music/a")
        #expect(try fixture.names(in: "files/music") == ["a"])
        // It is also removed with its download.
        try fixture.write([1], to: copy)
        _ = try next.parts.removeParts(id)
        #expect(try fixture.names(in: "files/music") == ["a"])
    }

    @Test("Does not publish a part file that was removed or replaced during verification")
    func replacedPartFileIsNotPublished() async throws {
        for replaces in [false, true] {
            let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
            if replaces { try fixture.replacePart(with: [6, 6, 6]) } else { _ = try local.parts.removeParts(id) }
            let error = await #expect(throws: FinishingFailure.self) {
                try await local.finished.publish(Publication(id: id, file: file, path: "a"))
            }
            guard case .file(let cause) = error else { throw FinishingFailure.abandoned }
            #expect(cause.kind == .missing)
            #expect(try fixture.names(in: "files") == [])
        }
    }

    @Test("Does not publish a part file that was cut after verification")
    func cutPartFileIsNotPublished() async throws {
        let part = try fixture.makePart(bytes)
        let file = try await fixture.verify(part, length: bytes.count)
        try part.cut(to: 1)
        let error = await #expect(throws: FinishingFailure.self) {
            try await local.finished.publish(Publication(id: id, file: file, path: "a"))
        }
        guard case .file(let cause) = error else { throw FinishingFailure.abandoned }
        #expect(cause.kind == .short)
        #expect(try part.identity().size == 1)
    }

    @Test("An abandoned publication gives no name, and one that came too late reports that")
    func publicationIsGivenUpOrTooLate() async throws {
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        let early = Publication(id: id, file: file, path: "a")
        #expect(early.abandon())
        await #expect(throws: FinishingFailure.abandoned) { try await local.finished.publish(early) }
        #expect(try fixture.names(in: "files") == [])
        let late = Publication(id: id, file: file, path: "a")
        _ = try await local.finished.publish(late)
        #expect(!late.abandon())
    }

    @Test("Concurrent removal and publication agree on the file's existence")
    func removalAndPublishingAgree() async throws {
        let reached = Gate()
        let goesOn = Monitor(false)
        // Stops at the moment of naming.
        let held = LocalFiles(
            fixture.directory,
            operations: .init(link: { (from, name, to, newName) throws(SystemError) in
                reached.open()
                goesOn.wait { $0 ? .done(()) : .wait(nil) }
                try from.link(name, to: to, as: newName)
            }))
        let file = try await fixture.verify(try fixture.makePart(bytes), length: bytes.count)
        let publication = Publication(id: id, file: file, path: "a")
        async let outcome = held.finished.publish(publication)
        try await reached.wait()
        #expect(!publication.abandon())
        goesOn.withLock { isOpen in
            isOpen = true
            return ((), wake: true)
        }
        let published = try await outcome
        _ = try held.finished.remove(published)
        _ = try held.parts.removeParts(id)
        #expect(try fixture.names(in: "files") == [] && fixture.names(in: "incomplete") == [])
    }
}

private func checksum(_ algorithm: Checksum.Algorithm, of bytes: [UInt8]) -> Checksum? {
    var digest = FileDigest([algorithm])
    unsafe digest.update(bytes.span.bytes)
    return digest.checksum(algorithm)
}
