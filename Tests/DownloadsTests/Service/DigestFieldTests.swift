import HTTPCore
import TestSupport
import Testing

@testable import Downloads

@Suite("Digests that files have to match", .timeLimit(.minutes(3)))
struct DigestFieldTests {
    /// FIPS 180-4's and RFC 1321's digests of "abc".
    @Test(
        "a file that does not match is never published",
        arguments: [
            (nil, nil, true),
            ("md5:900150983cd24fb0d6963f7d28e17f72", nil, true),
            ("md5:900150983cd24fb0d6963f7d28e17f73", nil, false),
            ("sha-1:a9993e364706816aba3e25717850c26c9cd0d89d", nil, true),
            ("sha-1:b9993e364706816aba3e25717850c26c9cd0d89d", nil, false),
            (nil, "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:", true),
            (nil, "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:", false),
            (nil, "sha-512=:3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==:", true),
            (nil, "sha-512=:z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==:", false),
            ("md5:900150983cd24fb0d6963f7d28e17f72", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:", false),
        ] as [(String?, String?, Bool)])
    func matches(checksum: String?, field: String?, isPublished: Bool) async throws {
        let fixture = try await ServiceFixture()
        let origin = try ScriptedOrigin { _ in
            [.response(200, [("ETag", "\"v1\"")] + (field.map { [("Repr-Digest", $0)] } ?? []), body: Array("abc".utf8))]
        }
        let url = try #require(HTTPURL(origin.url("/abc.txt")))
        let made = try await fixture.service.add(
            NewDownload(url: url, checksum: try checksum.map { try Checksum(parsing: $0) })
        ).download
        let done = try await fixture.end(of: made.id)
        #expect(done.state == (isPublished ? .completed : .failed))
        #expect(done.error?.code == (isPublished ? nil : .checksumMismatch))
        #expect(try fixture.names(in: "files") == (isPublished ? ["abc.txt"] : []))
        await fixture.service.shutdown()
    }
}
