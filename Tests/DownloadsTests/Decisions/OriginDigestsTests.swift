import HTTPCore
import Testing

@testable import DownloadCore
@testable import DownloadStore

struct OriginDigestsTests {
    /// The digests of the empty file.
    static let sha256 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    static let sha512 =
        "z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="

    @Test(
        "Chooses the strongest digest, and ignores invalid ones",
        arguments: [
            ("Repr-Digest", "sha-256=:\(sha256):", .sha256),
            ("Repr-Digest", "sha-512=:\(sha512):, sha-256=:\(sha256):", .sha256),
            ("Repr-Digest", "sha-512=:\(sha512):;q=1", .sha512),
            ("repr-digest", "unixsum=:AAAA:,  sha-512 = :\(sha512):", .sha512),
            ("Digest", "SHA-256=\(sha256)", .sha256),
            ("Digest", "md5=1B2M2Y8AsgTpgAmY7PhCfg==,SHA-512=\(sha512)", .sha512),
            ("Digest", "SHA-256=:\(sha256):", nil),
            ("Repr-Digest", "sha-256=\(sha256)", nil),
            ("Repr-Digest", "sha-256=:AAAA:", nil),
            ("Repr-Digest", "sha-256=:!\(sha256.dropFirst()):", nil),
            ("Repr-Digest", "sha-256", nil),
            ("Repr-Digest", "sha-256=:", nil),
            ("Repr-Digest", "", nil),
            ("Content-Digest", "sha-256=:\(sha256):", nil),
        ] as [(String, String, Checksum.Algorithm?)])
    func strongest(name: String, value: String, algorithm: Checksum.Algorithm?) throws {
        var fields = Fields()
        try fields.append(#require(FieldName(name)), value)
        let found = OriginDigests.strongest(fields)
        #expect(found?.algorithm == algorithm)
        if algorithm == .sha256 { #expect(found?.description == "sha-256:\(ChecksumTests.hex)") }
    }
}
