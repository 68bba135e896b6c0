import Foundation
import TestSupport
import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(3)))
@OffPool
struct FileDigestTests {
    /// What FIPS 180-4's examples and RFC 1321 §A.5 say of "abc".
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

    @Test("the standards' examples", arguments: abc)
    func examples(algorithm: Checksum.Algorithm, hex: String) {
        var digest = FileDigest([algorithm])
        unsafe digest.update(Array("abc".utf8).span.bytes)
        #expect(digest.checksum(algorithm)?.description == "\(algorithm.rawValue):\(hex)")
    }

    @Test("lengths around the blocks' ends, however the bytes are cut", arguments: [Checksum.Algorithm.sha512, .sha1, .md5])
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

    private func part(_ bytes: [UInt8]) throws -> (TemporaryDirectory, PartFile) {
        let directory = try TemporaryDirectory()
        let part = try PartFile(path: directory.path + "/part", truncating: true)
        try unsafe part.write(bytes.span.bytes, at: 0)
        return (directory, part)
    }

    /// Five million, made once: without optimisation that takes a while.
    private static let bytes = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 11) }

    @Test("a follower that was stopped gives no digest, and keeps nobody waiting")
    func stopped() async throws {
        let (directory, part) = try part([UInt8](repeating: 1, count: 3 << 20))
        defer { withExtendedLifetime(directory) {} }
        let follower = HashFollower()
        follower.stop()
        follower.follow(part, upTo: 2 << 20)
        await #expect(throws: FileError.self) { _ = try await follower.complete(part, upTo: 3 << 20) }
    }

    @Test(
        "a follower hashes what has arrived, and the rest when it is asked to complete",
        arguments: [0, 1, 1_000, 3 << 20, 5_000_000])
    func follows(upTo end: Int) async throws {
        let bytes = Self.bytes
        let (directory, part) = try part(bytes)
        let follower = HashFollower([.md5])
        unsafe follower.take(Array(bytes[..<10]).span.bytes, at: 0)
        unsafe follower.take(Array(bytes[20..<30]).span.bytes, at: 20)
        #expect(follower.length == 10)
        for target in stride(from: 0, through: Int64(end), by: 100_000) { follower.follow(part, upTo: target) }
        let digest = try await follower.complete(part, upTo: 5_000_000)
        #expect(digest.hexadecimal == SHA256.hexadecimal(of: bytes))
        #expect(digest.checksum(.md5) != nil)
        #expect(digest.checksum(.sha1) == nil)
        let again = try await follower.complete(part, upTo: 5_000_000)
        #expect(again.hexadecimal == digest.hexadecimal)
        withExtendedLifetime(directory) {}
    }

    @Test("a file that is shorter than it should be is an error, not a hash")
    func tooShort() async throws {
        let (directory, part) = try part([1, 2, 3])
        await #expect(throws: FileError.self) { try await HashFollower().complete(part, upTo: 4) }
        withExtendedLifetime(directory) {}
    }
}
