import Foundation
import HTTPCore
import System
import TestSupport

@testable import Downloads

/// A data directory of a test's own, and the depot in it.
final class DepotFixture: Sendable {
    let temporary: TemporaryDirectory
    let directory: DataDirectory
    let depot: LocalFileDepot

    init(permissions: FilePermissions = FilePermissions()) throws {
        temporary = try TemporaryDirectory()
        directory = try DataDirectory(path: temporary.path, permissions: permissions)
        depot = LocalFileDepot(directory)
    }

    /// The same directory on a file system without hard links.
    var withoutLinks: LocalFileDepot {
        LocalFileDepot(directory) { (_, _, _, _) throws(SystemError) in throw SystemError(EPERM) }
    }

    static func id(_ number: Int) -> DownloadID {
        DownloadID(value: UInt128(1_763_717_520_000 + UInt64(number)) << 80 | UInt128(number))
    }

    func path(_ name: String) -> String { "\(temporary.path)/\(name)" }
    var part: String { path("incomplete/\(Self.id(1)).part") }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(filePath: path(name)))
    }

    func read(_ name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(filePath: path(name))))
    }

    func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(directory)).sorted()
    }

    /// Another file in the part file's place.
    func replacePart(with bytes: [UInt8]) throws {
        try write(bytes, to: "incomplete/new")
        try directory.incomplete.rename("new", to: "\(Self.id(1)).part")
    }

    /// A part file with these bytes, and room for more.
    func makePart(_ bytes: [UInt8], _ number: Int = 1) throws -> PartFile {
        let part = try depot.createPart(Self.id(number), replacement: false)
        _ = try part.preallocate(10_000)
        try unsafe part.write(bytes.span.bytes, at: 0)
        return part
    }

    func verify(_ part: PartFile, length: Int, expecting expected: [Checksum] = []) async throws(FinishingFailure) -> VerifiedFile
    {
        let hasher = StreamingHasher()
        hasher.bind(to: part, holding: 0)
        return try await depot.verify(
            Verification(part: part, hasher: hasher, length: Int64(length), expected: expected))
    }

    /// Writes, verifies and publishes a file.
    @discardableResult
    func publish(_ bytes: [UInt8], as path: FilePath, number: Int = 1) async throws -> PublishedFile {
        let file = try await verify(try makePart(bytes, number), length: bytes.count)
        return try await depot.publish(Publication(id: Self.id(number), file: file, path: path))
    }
}

extension FilePath: ExpressibleByStringLiteral {
    /// A path as text, safe or not.
    public init(stringLiteral text: String) { self.init(text, in: "") }
}
