import Foundation
import System
import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(1)))
struct PartFileTests {
    private let fixture: DepotFixture
    private var depot: LocalFileDepot { fixture.depot }
    private let id = DepotFixture.id(1)

    init() throws {
        fixture = try DepotFixture()
    }

    /// What may bear the name of a part file.
    enum Found: String, CaseIterable, CustomTestStringConvertible {
        case nothing, shorter, whole, longer, link, dangling, pipe, directory
        var testDescription: String { rawValue }
    }

    private func make(_ found: Found) throws {
        switch found {
        case .nothing: break
        case .shorter: try fixture.write([1, 2], to: "incomplete/\(id).part")
        case .whole: try fixture.write([1, 2, 3], to: "incomplete/\(id).part")
        case .longer: try fixture.write([1, 2, 3, 4], to: "incomplete/\(id).part")
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
        "a part file is opened only if it is there, regular, and long enough",
        arguments: [
            (.nothing, .missing), (.shorter, .short), (.whole, nil), (.longer, nil), (.link, .notRegular),
            (.dangling, .notRegular),
            (.pipe, .notRegular), (.directory, .notRegular),
        ] as [(Found, FileError.Kind?)])
    func partFileIsOpenedIfSound(found: Found, kind: FileError.Kind?) throws {
        try make(found)
        do throws(FileError) {
            let part = try depot.openPart(id, holding: 3)
            #expect(kind == nil)
            #expect(try part.size() >= 3)
        } catch {
            #expect(error.kind == kind)
            #expect(error.meansNoBytes)
        }
        #expect(try fixture.names(in: "incomplete").count == (found == .nothing ? 0 : 1))
    }

    @Test("a new part file takes the place of what bears its name, and writes through nothing", arguments: Found.allCases)
    func newPartFileReplacesName(found: Found) throws {
        try make(found)
        guard found != .directory else {
            let error = #expect(throws: FileError.self) { try depot.createPart(id, replacement: false) }
            #expect(error?.kind == .other)
            return
        }
        let part = try depot.createPart(id, replacement: false)
        #expect(try part.size() == 0)
        try unsafe part.write(([9] as [UInt8]).span.bytes, at: 0)
        #expect(try fixture.read("incomplete/\(id).part") == [9])
        #expect(try depot.directoryStatus(fixture) == .regular)
        if found == .link { #expect(try fixture.read("elsewhere") == [7, 7, 7]) }
        if found == .dangling { #expect(!FileManager.default.fileExists(atPath: fixture.path("elsewhere"))) }
    }

    @Test("a replacement leaves the part file alone until it takes its place")
    func replacementLeavesPartFileAlone() async throws {
        _ = try fixture.makePart([1])
        let replacement = try depot.createPart(id, replacement: true)
        try unsafe replacement.write(([2] as [UInt8]).span.bytes, at: 0)
        #expect(try fixture.read("incomplete/\(id).part").first == 1)
        try await depot.promoteReplacement(id)
        #expect(try fixture.read("incomplete/\(id).part") == [2])
        #expect(try fixture.names(in: "incomplete").count == 1)
        #expect(try replacement.identity() == depot.openPart(id, holding: 1).identity())
    }

    @Test("a replacement that is not there takes no place")
    func missingReplacementTakesNoPlace() async throws {
        _ = try fixture.makePart([1])
        await #expect(throws: FileError.self) { try await depot.promoteReplacement(id) }
        #expect(try fixture.read("incomplete/\(id).part").first == 1)
    }

    @Test("all that belongs to an unfinished download is removed, and nothing else")
    func allOfUnfinishedDownloadIsRemoved() throws {
        _ = try fixture.makePart([1])
        _ = try depot.createPart(id, replacement: true)
        try fixture.write([1], to: "incomplete/\(id).publishing")
        _ = try fixture.makePart([1], 2)
        _ = try depot.removeParts(id)
        #expect(try fixture.names(in: "incomplete") == ["\(DepotFixture.id(2)).part"])
        _ = try depot.removeParts(id)
    }

    @Test("what no record counts on is removed from among the part files")
    func unrecordedPartFilesAreRemoved() throws {
        for number in 1...3 { _ = try fixture.makePart([1], number) }
        for name in [
            "\(DepotFixture.id(1)).publishing", "\(DepotFixture.id(1)).part.next", "\(DepotFixture.id(2)).publishing", "x",
            ".part",
        ] {
            try fixture.write([1], to: "incomplete/" + name)
        }
        try depot.removeOrphans { $0 != DepotFixture.id(2) }
        let kept = ["\(DepotFixture.id(1)).part", "\(DepotFixture.id(1)).publishing", "\(DepotFixture.id(3)).part"]
        #expect(try fixture.names(in: "incomplete") == kept)
    }

    @Test("a file is cut to its length, and never extended")
    func fileIsCutNeverExtended() throws {
        let part = try fixture.makePart([1, 2, 3])
        try part.cut(to: 3)
        #expect(try part.size() == 3)
        let error = #expect(throws: FileError.self) { try part.cut(to: 4) }
        #expect(error?.kind == .short)
        #expect(try part.size() == 3)
    }

    @Test("bytes that somebody has cut off are missed, also once the file has grown again")
    func cutAndGrown() throws {
        let part = try depot.createPart(id, replacement: false)
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

    @Test("room for bytes that have not come is given back, and the others stay")
    func unusedRoomIsGivenBack() throws {
        let part = try depot.createPart(id, replacement: false)
        _ = try part.preallocate(8 << 20)
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        var written = Coverage()
        for start in [0, 3 << 20] as [Int64] {
            try unsafe part.write(piece.span.bytes, at: start)
            written.insert(start..<start + Int64(piece.count))
        }
        part.release(allBut: written)
        #expect(try part.size() == 4 << 20)
        #expect(try part.space().allocated < 3 << 20)
        let content = try fixture.read("incomplete/\(id).part")
        #expect(Array(content[..<piece.count]) == piece)
        #expect(Array(content[(3 << 20)...]) == piece)
    }
}

extension LocalFileDepot {
    fileprivate func directoryStatus(_ fixture: DepotFixture) throws -> FileStatus.Kind? {
        try fixture.directory.incomplete.status(of: "\(DepotFixture.id(1)).part")?.kind
    }
}
