import Foundation
import HTTPCore
import System
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadFiles
@testable import Downloads

@Suite(.timeLimit(.minutes(3)))
struct FinishedFileTests {
    private let fixture: FilesFixture
    private var local: LocalFiles { fixture.local }
    private static let bytes = Array("the bytes of a file".utf8)

    init() throws {
        fixture = try FilesFixture()
    }

    @Test("A finished file counts once with any number of names, and a part file does not count")
    func finishedBytes() async throws {
        _ = try await fixture.publish([1, 2, 3], as: "a")
        try await local.finished.finishPublishing(FilesFixture.id(1))
        try FileManager.default.linkItem(atPath: fixture.path("files/a"), toPath: fixture.path("library"))
        #expect(try local.finished.finishedBytes() == 3)
        try FileManager.default.linkItem(atPath: fixture.path("files/a"), toPath: fixture.path("files/b"))
        try fixture.write([1, 2, 3, 4], to: "files/c")
        #expect(try local.finished.finishedBytes() == 7)
        _ = try fixture.makePart([1, 2, 3, 4, 5], 2)
        let part = fixture.path("incomplete/\(fixture.partName(2))")
        try FileManager.default.linkItem(atPath: part, toPath: fixture.path("files/look"))
        #expect(try local.finished.finishedBytes() == 7)
    }

    /// Possible changes of a finished file.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The expected recognition; `nil` for an adopted file.
        let recognition: FileRecognition?
        let happens: @Sendable (FilesFixture, String) throws -> Void
    }

    static let changes = [
        Change(testDescription: "nothing", recognition: .identical) { _, _ in },
        Change(testDescription: "it is removed", recognition: .missing) { _, path in
            try FileManager.default.removeItem(atPath: path)
        },
        Change(testDescription: "it is moved away", recognition: .missing) { fixture, path in
            try FileManager.default.moveItem(atPath: path, toPath: fixture.path("moved"))
        },
        Change(testDescription: "it is written to", recognition: .different) { _, path in
            try unsafe FileDescriptor(opening: path, .writing).write([0].span.bytes, at: 0)
        },
        Change(testDescription: "another file gets its name", recognition: .different) { fixture, path in
            try FileManager.default.moveItem(atPath: path, toPath: fixture.path("moved"))
            try fixture.write([1, 2, 3], to: "files/a")
        },
        Change(testDescription: "another file of the same length gets its name", recognition: .different) { fixture, path in
            try FileManager.default.moveItem(atPath: path, toPath: fixture.path("moved"))
            try fixture.write(Array(bytes.reversed()), to: "files/a")
        },
        Change(testDescription: "it is restored from a backup", recognition: nil) { fixture, path in
            try FileManager.default.moveItem(atPath: path, toPath: fixture.path("moved"))
            try fixture.write(bytes, to: "files/a")
        },
        Change(testDescription: "a link to it gets its name", recognition: .missing) { fixture, path in
            try FileManager.default.moveItem(atPath: path, toPath: fixture.path("moved"))
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: fixture.path("moved"))
        },
        Change(testDescription: "a pipe gets its name", recognition: .missing) { _, path in
            try FileManager.default.removeItem(atPath: path)
            #expect(unsafe mkfifo(path, 0o600) == 0)
        },
        Change(testDescription: "a directory gets its name", recognition: .missing) { _, path in
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        },
    ]

    @Test("Opens and removes only the published file", arguments: changes)
    func onlyPublishedFileIsOpenedOrRemoved(change: Change) async throws {
        let published = try await fixture.publish(Self.bytes, as: "a")
        let identity = try #require(published.identity)
        try change.happens(fixture, fixture.path("files/a"))
        let before = try fixture.names(in: "files")

        // A file that was restored from a backup is hashed.
        let isPublished = [.identical, nil].contains(change.recognition)
        #expect((try? local.finished.open(published)) != nil ? isPublished : !isPublished)
        #expect(change.recognition == .identical || local.finished.openCached("a", as: identity) == nil)
        _ = try local.finished.remove(published)
        #expect(try fixture.names(in: "files") == (isPublished ? [] : before))
    }

    @Test("Recognises a file by its identity, otherwise by its length and hash", arguments: changes)
    func fileIsRecognised(change: Change) async throws {
        let published = try await fixture.publish(Self.bytes, as: "a")
        try change.happens(fixture, fixture.path("files/a"))
        let recognition = try await local.finished.recognise(published, of: FilesFixture.id(1))
        if let expected = change.recognition {
            #expect(recognition == expected)
        } else {
            let found = try #require(try local.finished.identify("a"))
            #expect(recognition == .adopted(found))
        }
    }

    @Test("A file with the length and the time of the record is likely it, until it has been hashed", arguments: [true, false])
    func likelyFile(isSame: Bool) async throws {
        let file = try await fixture.publish(Self.bytes, as: "a")
        let modified: Int64 = 784_111_777
        try FileManager.default.moveItem(atPath: fixture.path("files/a"), toPath: fixture.path("moved"))
        try fixture.write(isSame ? Self.bytes : Self.bytes.reversed(), to: "files/a")
        try FileDescriptor(opening: fixture.path("files/a"), .writing).setModified(modified)
        let found = try #require(try local.finished.identify("a"))
        let known = FileIdentity(
            device: found.device + 1, inode: found.inode, size: found.size, modified: modified * 1_000_000_000)
        let record = PublishedFile(path: "a", length: file.length, sha256: file.sha256, identity: known)
        let id = FilesFixture.id(1)
        #expect(try await local.finished.recognise(record, of: id, isHashed: false) == .likely(found))
        let recognition: FileRecognition = isSame ? .adopted(found) : .different
        for isHashed in [true, false] {
            #expect(try await local.finished.recognise(record, of: id, isHashed: isHashed) == recognition)
        }
    }

    @Test("A file whose time changes at each opening is opened and removed as the published one")
    func unsteadyTime() async throws {
        let published = try await fixture.publish(Self.bytes, as: "a")
        for second in 1...3 {
            try FileDescriptor(opening: fixture.path("files/a"), .writing).setModified(Int64(second))
            _ = try local.finished.open(published)
        }
        _ = try local.finished.remove(published)
        #expect(try fixture.names(in: "files") == [])
    }

    @Test("Recognises a file without a stored identity by its hash")
    func fileWithoutIdentityIsRecognisedByHash() async throws {
        let published = try await fixture.publish(Self.bytes, as: "a")
        let unknown = PublishedFile(path: "a", length: published.length, sha256: published.sha256, identity: nil)
        #expect(try await local.finished.recognise(unknown, of: FilesFixture.id(1)) == .adopted(try #require(published.identity)))
    }

    @Test(
        "Refuses paths that lead out of the files directory",
        arguments: ["../pawl.sqlite", "..", ".", "", "/etc/passwd", "a/../b", "a//b"])
    func pathIsNoName(path: FilePath) throws {
        try fixture.directory.files.makeDirectory("a")
        let identity = FileIdentity(device: 1, inode: 2, size: 3, modified: 4)
        let file = PublishedFile(path: path, length: 3, sha256: [], identity: identity)
        #expect(throws: FileError.self) { try local.finished.open(file) }
        #expect(throws: FileError.self) { try local.finished.remove(file) }
        #expect(local.finished.openCached(path, as: identity) == nil)
    }
}

struct FinishedNamesTests {
    private func completed(_ number: Int, _ name: String, at time: Int64, state: DownloadState = .completed) -> Download {
        var download = Download(
            id: FilesFixture.id(number), url: "http://a.example/", state: state, createdAt: Timestamp(millisecondsSinceEpoch: 0))
        download.filename = name
        download.endedAt = Timestamp(millisecondsSinceEpoch: time)
        return download
    }

    @Test("A name belongs to the last download completed under it")
    func nameBelongsToLastDownload() {
        let downloads = [
            completed(1, "a", at: 30), completed(2, "a", at: 20), completed(3, "b", at: 10),
            completed(4, "a", at: 40, state: .paused),
        ]
        let names = FinishedNames(downloads.compactMap(FinishedNames.Completion.init))
        #expect(names.owner(of: "a") == FilesFixture.id(1))
        #expect(names.owner(of: "b") == FilesFixture.id(3))
        #expect(names.owner(of: "c") == nil)
    }

    @Test("Publishing a name tells which file has lost it")
    func publishingNameDisplacesOthers() {
        var names = FinishedNames()
        let (first, second) = (FilesFixture.id(1), FilesFixture.id(2))
        #expect(names.publish("a", by: first) == nil)
        #expect(names.publish("a", by: first) == nil)
        #expect(names.publish("a", by: second) == first)
        names.release("a", by: first)
        #expect(names.owner(of: "a") == second)
        names.release("a", by: second)
        #expect(names.owner(of: "a") == nil)
    }
}

struct HashSlotsTests {
    @Test("Slots find the same numbers as a dictionary, also of elements with equal hashes", arguments: [1, 7, 1_000_000])
    func model(hashes: UInt32) {
        var random = SeededRandom(seed: UInt64(hashes))
        var (slots, model, elements) = (HashSlots(), [Int: Int](), [Int]())
        // Elements are numbers, and have the hash of their remainder.
        func hash(_ element: Int) -> Int { Int((UInt32(element) % hashes) &* 2_654_435_761) }
        for step in 0..<5_000 {
            let element = Int.random(in: 0..<600, using: &random)
            if let number = model.removeValue(forKey: element) {
                slots.remove(number, hash(element))
                let last = elements.removeLast()
                if number < elements.count {
                    slots.change(elements.count, to: number, hash(last))
                    (elements[number], model[last]) = (last, number)
                }
            } else {
                model[element] = elements.count
                slots.insert(elements.count, hash(element))
                elements.append(element)
            }
            guard step % 50 == 0 else { continue }
            for element in 0..<600 {
                #expect(slots.number(hash(element), where: { elements[$0] == element }) == model[element])
            }
        }
    }
}

struct PublicationNoteTests {
    private static let note = PublicationNote(
        path: "a (2).txt", identity: FileIdentity(device: 1, inode: 2, size: 3, modified: 4), sha256: Array(0..<32),
        generation: 255)

    @Test("A note survives a round trip")
    func noteIsReadAsWritten() {
        #expect(PublicationNote(Self.note.text) == Self.note)
    }

    @Test(
        "Ignores the rest of a note after a crash",
        arguments: [
            "", "1:2:3:4", "1:2:3:4\n00\na", String(note.text.dropLast(10)),
            note.text.replacingOccurrences(of: "a (2).txt", with: "../a"),
            String(note.text.dropFirst(8)), note.text + "\n", note.text.replacingOccurrences(of: "a (2).txt", with: ""),
        ])
    func brokenNoteIsNone(text: String) {
        #expect(PublicationNote(text) == nil)
    }
}
