import Foundation
import HTTPCore
import System
import TestSupport

@testable import DownloadCore
@testable import DownloadFiles

/// A data directory for one test, and its files.
final class FilesFixture: Sendable {
    let temporary: TemporaryDirectory
    let directory: DataDirectory
    let local: LocalFiles

    init(permissions: FilePermissions = FilePermissions()) throws {
        temporary = try TemporaryDirectory()
        directory = try DataDirectory(path: temporary.path, permissions: permissions)
        local = LocalFiles(directory)
    }

    /// The same directory on a file system without hard links.
    var withoutLinks: LocalFiles {
        LocalFiles(directory, operations: .init(link: { (_, _, _, _) throws(SystemError) in throw SystemError(EPERM) }))
    }

    /// The same directory on a share without hard links, and without exclusive renaming.
    /// - Parameters:
    /// - link: the error number of hard links.
    /// - rename: the error number of exclusive renaming.
    /// - replace: the error number of renaming over a file; `nil` if that works.
    func onShare(link: Int32 = EOPNOTSUPP, rename: Int32 = EINVAL, replace: Int32? = nil) -> LocalFiles {
        LocalFiles(
            directory,
            operations: .init(
                link: { (_, _, _, _) throws(SystemError) in throw SystemError(link) },
                rename: { (_, _, _, _) throws(SystemError) in throw SystemError(rename) },
                replace: { (from, name, to, newName) throws(SystemError) in
                    if let replace, try to.status(of: newName) != nil { throw SystemError(replace) }
                    try from.rename(name, to: to, as: newName)
                }))
    }

    /// The same directory where each name of a file has a number of its own, as if it were another file.
    var numberingNames: LocalFiles {
        LocalFiles(
            directory,
            operations: .init(link: { (from, name, to, newName) throws(SystemError) in
                let (source, copy) = (try from.open(name, .reading), try to.open(newName, .creating))
                let status = try source.status().identity
                var bytes = [UInt8](repeating: 0, count: Int(status.size))
                _ = try source.read(into: &bytes, count: bytes.count, at: 0)
                try unsafe copy.write(bytes.span.bytes, at: 0)
                try source.setModified(1)
                try copy.setModified(1)
            }))
    }

    /// The same directory where no file can move from `incomplete` to `files` while the switch is on.
    func divided(_ isDivided: Locked<Bool>) -> LocalFiles {
        let check = { @Sendable (from: Directory, to: Directory) throws(SystemError) in
            if from !== to, isDivided.withLock(\.self) { throw SystemError(EXDEV) }
        }
        return LocalFiles(
            directory,
            operations: .init(
                link: { (from, name, to, newName) throws(SystemError) in
                    try check(from, to)
                    try from.link(name, to: to, as: newName)
                },
                rename: { (from, name, to, newName) throws(SystemError) in
                    try check(from, to)
                    try from.renameExclusively(name, to: to, as: newName)
                },
                replace: { (from, name, to, newName) throws(SystemError) in
                    try check(from, to)
                    try from.rename(name, to: to, as: newName)
                }))
    }

    static func id(_ number: Int) -> RecordID {
        RecordID(value: UInt128(1_763_717_520_000 + UInt64(number)) << 80 | UInt128(number))
    }

    func path(_ name: String) -> String { "\(temporary.path)/\(name)" }
    /// The path of the first download's only part file.
    var part: String { path("incomplete/\(partName())") }

    /// The name of a download's only part file, or of its first generation if there is none.
    func partName(_ number: Int = 1) -> String {
        let found = (try? names(in: "incomplete"))?.filter { PartName($0)?.id == Self.id(number) } ?? []
        return found.count == 1 ? found[0] : PartName(Self.id(number), 1).text
    }

    /// The generation of a download's only part file.
    func generation(_ number: Int = 1) -> UInt64? { PartName(partName(number))?.generation }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(filePath: path(name)))
    }

    func read(_ name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(filePath: path(name))))
    }

    func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(directory)).sorted()
    }

    /// Another file in place of the part file.
    func replacePart(with bytes: [UInt8]) throws {
        try write(bytes, to: "incomplete/new")
        try directory.incomplete.rename("new", to: partName())
    }

    /// A part file with these bytes, and space for more.
    /// - Parameter other: the files that it belongs to; by default the fixture's own.
    func makePart(_ bytes: [UInt8], _ number: Int = 1, by other: LocalFiles? = nil) throws -> PartFile {
        let part = try (other ?? local).parts.createPart(Self.id(number), keepsOthers: false)
        _ = try part.preallocate(10_000)
        try unsafe part.write(bytes.span.bytes, at: 0)
        return part
    }

    func verify(_ part: PartFile, length: Int, expecting expected: [Checksum] = []) async throws(FinishingFailure) -> VerifiedFile
    {
        let hasher = StreamingHasher()
        hasher.bind(to: part, holding: 0)
        return try await local.parts.verify(
            Verification(part: part, hasher: hasher, length: Int64(length), expected: expected))
    }

    /// Writes, verifies and publishes a file.
    @discardableResult
    func publish(_ bytes: [UInt8], as path: FilePath, number: Int = 1) async throws -> PublishedFile {
        let file = try await verify(try makePart(bytes, number), length: bytes.count)
        return try await local.finished.publish(Publication(id: Self.id(number), file: file, path: path))
    }
}

/// The part files and finished files of a directory on this machine.
struct LocalFiles: Sendable {
    let parts: PartFiles
    let finished: LocalFinishedFiles

    init(_ directory: DataDirectory, operations: PartFiles.Operations = .init()) {
        parts = PartFiles(directory, operations: operations)
        finished = LocalFinishedFiles(parts)
    }
}

extension AbandonableOutcome {
    /// Starts the work, and waits for its outcome.
    func value(of start: () -> Void) async throws(FinishingFailure) -> Value {
        let result = await withCheckedContinuation { continuation in
            whenDone { continuation.resume(returning: $0) }
            start()
        }
        return try result.get()
    }
}

extension PartFiles {
    func verify(_ verification: Verification) async throws(FinishingFailure) -> VerifiedFile {
        try await verification.outcome.value { begin(verification) }
    }
}

extension FinishedFiles {
    func publish(_ publication: Publication) async throws(FinishingFailure) -> PublishedFile {
        try await publication.outcome.value { begin(publication) }
    }

    /// Recognises a file by its hash unless its identity is the same.
    func recognise(_ file: PublishedFile, of id: RecordID) async throws(FileError) -> FileRecognition {
        try await recognise(file, of: id, isHashed: true)
    }

    func finishPublishing(_ id: RecordID) async throws(FileError) {
        let error = await withCheckedContinuation { continuation in
            finishPublishing(id) { continuation.resume(returning: $0) }
        }
        if let error { throw error }
    }
}

extension FilePath: ExpressibleByStringLiteral {
    /// A path as text, safe or not.
    public init(stringLiteral text: String) { self.init(text, in: "") }
}
