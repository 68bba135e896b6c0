import Foundation
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadFiles

@Suite(.timeLimit(.minutes(3)))
@OffPool
struct StreamingHasherTests {
    /// The digests of "abc" in the examples of FIPS 180-4 and RFC 1321 §A.5.
    nonisolated static let abc: [(Checksum.Algorithm, String)] = [
        (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            .sha512,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
        (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (.md5, "900150983cd24fb0d6963f7d28e17f72"),
    ]

    @Test("The standards' examples", arguments: abc)
    func examples(algorithm: Checksum.Algorithm, hex: String) {
        var digest = FileDigest([algorithm])
        unsafe digest.update(Array("abc".utf8).span.bytes)
        #expect(digest.checksum(algorithm)?.description == "\(algorithm.rawValue):\(hex)")
    }

    @Test("Lengths around the blocks' ends, in every division", arguments: [Checksum.Algorithm.sha512, .sha1, .md5])
    func cuts(algorithm: Checksum.Algorithm) throws {
        for length in [0, 1, 55, 56, 63, 64, 65, 111, 112, 119, 120, 127, 128, 129, 1000] {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            var whole = try #require(MessageDigest(algorithm))
            unsafe whole.update(bytes.span.bytes)
            for step in [1, 7, 64, 100] {
                var pieces = try #require(MessageDigest(algorithm))
                for start in stride(from: 0, to: length, by: step) {
                    unsafe pieces.update(Array(bytes[start..<min(length, start + step)]).span.bytes)
                }
                #expect(pieces.digest() == whole.digest(), "\(length) bytes by \(step)")
            }
        }
    }

    private let fixture: FilesFixture

    init() throws {
        fixture = try FilesFixture()
    }

    private func part(_ bytes: [UInt8]) throws -> PartFile {
        let part = try fixture.local.parts.createPart(FilesFixture.id(1), keepsOthers: false)
        try unsafe part.write(bytes.span.bytes, at: 0)
        return part
    }

    /// Five million bytes, made once: this takes a while without optimisation.
    private static let bytes = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 11) }

    @Test("A stopped hasher returns no digest and delays no caller, until it is bound again")
    func stopped() async throws {
        let part = try part([UInt8](repeating: 1, count: 3 << 20))
        let hasher = StreamingHasher()
        hasher.bind(to: part, holding: 0)
        hasher.stop()
        hasher.follow(upTo: 2 << 20)
        await #expect(throws: FileError.self) { _ = try await hasher.complete(upTo: 3 << 20) }
        hasher.bind(to: part, holding: 3 << 20)
        #expect(try await hasher.complete(upTo: 3 << 20).length == 3 << 20)
    }

    @Test(
        "A hasher hashes received bytes, and the others on completion",
        arguments: [0, 1, 1_000, 3 << 20, 5_000_000])
    func follows(upTo end: Int) async throws {
        let bytes = Self.bytes
        let hasher = StreamingHasher([.md5])
        hasher.bind(to: try part(bytes), holding: 0)
        unsafe hasher.take(Array(bytes[..<10]).span.bytes, at: 0)
        unsafe hasher.take(Array(bytes[20..<30]).span.bytes, at: 20)
        #expect(hasher.length == 10)
        for target in stride(from: 0, through: Int64(end), by: 100_000) { hasher.follow(upTo: target) }
        let digest = try await hasher.complete(upTo: 5_000_000)
        #expect(Hexadecimal.encode(digest.sha256) == SHA256.hexadecimal(of: bytes))
        #expect(digest.checksum(.md5) != nil)
        #expect(digest.checksum(.sha1) == nil)
        let again = try await hasher.complete(upTo: 5_000_000)
        #expect(again.sha256 == digest.sha256)
    }

    @Test("A file that is too short is an error, not a hash")
    func tooShort() async throws {
        let hasher = StreamingHasher()
        hasher.bind(to: try part([1, 2, 3]), holding: 3)
        let error = await #expect(throws: FileError.self) { try await hasher.complete(upTo: 4) }
        #expect(error?.kind == .short)
    }

    @Test("Hashes nothing without a file")
    func unbound() async throws {
        let hasher = StreamingHasher()
        unsafe hasher.take(([1] as [UInt8]).span.bytes, at: 0)
        #expect(hasher.length == 0)
        await #expect(throws: FileError.self) { try await hasher.complete(upTo: 1) }
    }

    /// Changes of a closed part file whose first three bytes are hashed.
    nonisolated struct Break: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var trusted: Int64 = 3
        let keepsHash: Bool
        let happens: @Sendable (FilesFixture) throws -> Void
    }

    nonisolated static let breaks = [
        Break(testDescription: "nothing", keepsHash: true) { _ in },
        Break(testDescription: "nothing, but fewer bytes are trusted", trusted: 2, keepsHash: false) { _ in },
        Break(testDescription: "it is another file with the same bytes", keepsHash: false) { fixture in
            try fixture.replacePart(with: [1, 2, 3])
        },
        Break(testDescription: "it was written to", keepsHash: false) { fixture in
            let part = try fixture.local.parts.openPart(FilesFixture.id(1), fixture.generation(), holding: 0)
            try unsafe part.write(([9] as [UInt8]).span.bytes, at: 1)
        },
        Break(testDescription: "it was cut and filled up", keepsHash: false) { fixture in
            let part = try fixture.local.parts.openPart(FilesFixture.id(1), fixture.generation(), holding: 0)
            try part.cut(to: 1)
            try unsafe part.write(([0, 0] as [UInt8]).span.bytes, at: 1)
        },
    ]

    @Test("A hash is stored for its file only", arguments: breaks)
    func binding(_ rule: Break) async throws {
        let hasher = StreamingHasher()
        hasher.bind(to: try part([1, 2, 3]), holding: 0)
        unsafe hasher.take(([1, 2, 3] as [UInt8]).span.bytes, at: 0)
        hasher.rest()
        try rule.happens(fixture)
        let part = try fixture.local.parts.openPart(FilesFixture.id(1), fixture.generation(), holding: 3)
        hasher.bind(to: part, holding: rule.trusted)
        #expect(hasher.length == (rule.keepsHash ? 3 : 0))
        let content = try [UInt8](Data(contentsOf: URL(filePath: part.path)))
        #expect(try await hasher.complete(upTo: 3).sha256 == SHA256.digest(of: content))
    }
}
