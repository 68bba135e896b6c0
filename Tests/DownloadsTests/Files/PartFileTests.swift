import Foundation
import System
import Testing

@testable import DownloadCore
@testable import DownloadFiles
@testable import Downloads

@Suite(.timeLimit(.minutes(3)))
struct PartFileTests {
    private let fixture: FilesFixture
    private var local: LocalFiles { fixture.local }
    private let id = FilesFixture.id(1)

    init() throws {
        fixture = try FilesFixture()
    }

    /// Possible files with the name of a part file.
    enum Found: String, CaseIterable, CustomTestStringConvertible {
        case nothing, shorter, whole, longer, link, dangling, pipe, directory
        var testDescription: String { rawValue }
    }

    private func make(_ found: Found) throws {
        switch found {
        case .nothing: break
        case .shorter: try fixture.write([1, 2], to: "incomplete/" + fixture.partName())
        case .whole: try fixture.write([1, 2, 3], to: "incomplete/" + fixture.partName())
        case .longer: try fixture.write([1, 2, 3, 4], to: "incomplete/" + fixture.partName())
        case .link:
            try fixture.write([7, 7, 7], to: "elsewhere")
            try FileManager.default.createSymbolicLink(atPath: fixture.part, withDestinationPath: fixture.path("elsewhere"))
        case .dangling:
            try FileManager.default.createSymbolicLink(atPath: fixture.part, withDestinationPath: fixture.path("elsewhere"))
        case .pipe: #expect(unsafe mkfifo(fixture.part, 0o600) == 0)
        case .directory: try FileManager.default.createDirectory(atPath: fixture.part, withIntermediateDirectories: false)
        }
    }

    @Test(
        "Opens a part file only if it exists, is regular and long enough",
        arguments: [
            (.nothing, .missing), (.shorter, .short), (.whole, nil), (.longer, nil), (.link, .notRegular),
            (.dangling, .notRegular),
            (.pipe, .notRegular), (.directory, .notRegular),
        ] as [(Found, FileError.Kind?)])
    func partFileIsOpenedIfSound(found: Found, kind: FileError.Kind?) throws {
        try make(found)
        do throws(FileError) {
            let part = try local.parts.openPart(id, 1, holding: 3)
            #expect(kind == nil)
            #expect(try part.identity().size >= 3)
        } catch {
            #expect(error.kind == kind)
            #expect(error.meansNoBytes)
        }
        #expect(try fixture.names(in: "incomplete").count == (found == .nothing ? 0 : 1))
    }

    @Test("A new part file is different from existing ones, and writes through no link", arguments: Found.allCases)
    func newPartFileIsAnother(found: Found) throws {
        try make(found)
        let part = try local.parts.createPart(id, keepsOthers: false)
        #expect(try part.identity().size == 0)
        try unsafe part.write(([9] as [UInt8]).span.bytes, at: 0)
        // A directory is no obstacle.
        #expect(try fixture.names(in: "incomplete").count == (found == .directory ? 2 : 1))
        let name = PartName(id, try #require(part.generation)).text
        #expect(try fixture.read("incomplete/" + name) == [9])
        #expect(try fixture.directory.incomplete.status(of: name)?.kind == .regular)
        if found == .link { #expect(try fixture.read("elsewhere") == [7, 7, 7]) }
        if found == .dangling { #expect(!FileManager.default.fileExists(atPath: fixture.path("elsewhere"))) }
    }

    @Test("Each generation has its own part file, found by its number only")
    func eachBeginningHasItsOwn() throws {
        let first = try fixture.makePart([1])
        let second = try local.parts.createPart(id, keepsOthers: true)
        try unsafe second.write(([2] as [UInt8]).span.bytes, at: 0)
        #expect(first.generation != second.generation)
        for part in [first, second] {
            #expect(try local.parts.openPart(id, part.generation, holding: 1).identity() == part.identity())
            #expect(try local.parts.recover(id, part.generation, likelyPath: nil) == .part(size: part.identity().size))
        }
        let unknown = #expect(throws: FileError.self) { try local.parts.openPart(id, nil, holding: 0) }
        #expect(unknown?.kind == .missing)
        #expect(try local.parts.recover(id, nil, likelyPath: nil) == .missing)
        _ = try local.parts.removeOtherParts(id, than: second.generation)
        #expect(try fixture.names(in: "incomplete") == [PartName(id, try #require(second.generation)).text])
        _ = try local.parts.removePart(id, second.generation)
        #expect(try fixture.names(in: "incomplete") == [])
    }

    @Test(
        "A small file with the name of a whole one is whole only if it has the named bytes",
        arguments: [[], [1], [1, 2, 3], [1, 2, 4]])
    func smallWholeFileIsProven(bytes: [UInt8]) throws {
        let content: [UInt8] = [1, 2, 3]
        let digest = SHA256.digest(of: content)
        let part = try local.parts.createPart(id, 7, keepsOthers: false, whole: digest)
        try unsafe part.write(bytes.span.bytes, at: 0)
        // As in the next start.
        let next = LocalFiles(fixture.directory)
        let whole = RecoveredPart.whole(size: 3, sha256: digest, generation: 7)
        let isWhole = bytes == content
        #expect(try next.parts.recover(id, 7, likelyPath: nil) == (isWhole ? whole : .part(size: Int64(bytes.count))))
        #expect(try next.parts.recover(id, nil, likelyPath: nil, findsWhole: true) == (isWhole ? whole : .missing))
        #expect(try next.parts.recover(id, nil, likelyPath: nil) == .missing)
    }

    @Test("A part file from an earlier volume has another generation")
    func returnedPartIsAnother() throws {
        let old = try fixture.makePart([1, 2, 3])
        let name = PartName(id, try #require(old.generation)).text
        let bytes = try fixture.read("incomplete/" + name)
        let new = try local.parts.createPart(id, keepsOthers: false)
        try fixture.write(bytes, to: "incomplete/" + name)
        // As in the next start.
        let next = LocalFiles(fixture.directory)
        #expect(try next.parts.recover(id, new.generation, likelyPath: nil) == .part(size: 0))
        try next.parts.removeOrphans { $0 == id && $1 == new.generation }
        #expect(try fixture.names(in: "incomplete") == [PartName(id, try #require(new.generation)).text])
    }

    @Test("Removes all files of an unfinished download, and no others")
    func allOfUnfinishedDownloadIsRemoved() throws {
        try fixture.write([1], to: "incomplete/\(id).publishing")
        _ = try fixture.makePart([1])
        _ = try local.parts.createPart(id, keepsOthers: true)
        let other = try fixture.makePart([1], 2)
        _ = try local.parts.removeParts(id)
        #expect(try fixture.names(in: "incomplete") == [PartName(FilesFixture.id(2), try #require(other.generation)).text])
        _ = try local.parts.removeParts(id)
    }

    @Test("Removes part files that no record uses, and nothing that is not Pawl's")
    func unrecordedPartFilesAreRemoved() throws {
        let parts = try (1...3).map { try fixture.makePart([1], $0) }
        let generations = try parts.map { try #require($0.generation) }
        let note = PublicationNote(
            path: "a", identity: try parts[0].identity(), sha256: [UInt8](repeating: 0, count: 32),
            generation: generations[0])
        try note.write("\(FilesFixture.id(1)).publishing", in: fixture.directory.incomplete)
        for name in [
            "\(FilesFixture.id(1)).part", PartName(FilesFixture.id(1), 7).text, "\(FilesFixture.id(2)).publishing", "x", ".part",
        ] {
            try fixture.write([1], to: "incomplete/" + name)
        }
        let kept = [FilesFixture.id(1): generations[0], FilesFixture.id(3): generations[2]]
        #expect(try Set(local.parts.removeOrphans { kept[$0] == .some($1) }) == ["x", ".part"])
        let names = [
            "x", ".part",
            PartName(FilesFixture.id(1), generations[0]).text, "\(FilesFixture.id(1)).publishing",
            PartName(FilesFixture.id(3), generations[2]).text,
        ]
        #expect(try Set(fixture.names(in: "incomplete")) == Set(names))
    }

    @Test("Cuts a file to its length, and never extends it")
    func fileIsCutNeverExtended() throws {
        let part = try fixture.makePart([1, 2, 3])
        try part.cut(to: 3)
        #expect(try part.identity().size == 3)
        let error = #expect(throws: FileError.self) { try part.cut(to: 4) }
        #expect(error?.kind == .short)
        #expect(try part.identity().size == 3)
    }

    @Test("Notices bytes that were cut off, even if the file has grown again")
    func cutAndGrown() throws {
        let part = try local.parts.createPart(id, keepsOthers: false)
        #expect(try part.preallocate(4 << 20))
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        try unsafe part.write(piece.span.bytes, at: 0)
        var written = Coverage(prefix: 1 << 20)
        try part.confirm(written)
        try FileHandle(forWritingTo: URL(filePath: fixture.part)).truncate(atOffset: 1000)
        #expect(throws: FileError.self) { try part.confirm(written) }
        try unsafe part.write(piece.span.bytes, at: 1 << 20)
        written.insert(1 << 20..<2 << 20)
        let error = #expect(throws: FileError.self) { try part.confirm(written) }
        #expect(error?.kind == .short)
    }

    @Test("Frees reserved space of missing bytes, and keeps the others")
    func unusedRoomIsGivenBack() throws {
        let part = try local.parts.createPart(id, keepsOthers: false)
        _ = try part.preallocate(8 << 20)
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        var written = Coverage()
        for start in [0, 3 << 20] as [Int64] {
            try unsafe part.write(piece.span.bytes, at: start)
            written.insert(start..<start + Int64(piece.count))
        }
        part.release(allBut: written)
        #expect(try part.identity().size == 4 << 20)
        #expect(try part.allocatedBytes() < 3 << 20)
        let content = try fixture.read("incomplete/" + fixture.partName())
        #expect(Array(content[..<piece.count]) == piece)
        #expect(Array(content[(3 << 20)...]) == piece)
    }
}
