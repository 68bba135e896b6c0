import Testing

@testable import DownloadCore

struct ChecksumTests {
    static let hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    @Test(
        "Reads a checksum in either case, and writes it in lower case",
        arguments: ["sha-256:\(hex)", "SHA-256:\(hex.uppercased())", "sha256:\(hex)", "Sha256:\(hex)"])
    func checksumIsReadInEitherCase(_ text: String) throws {
        let checksum = try Checksum(parsing: text)
        #expect(checksum.algorithm == .sha256)
        #expect(checksum.bytes.count == 32)
        #expect(checksum.description == "sha-256:\(Self.hex)")
    }

    @Test(
        "Refuses an invalid checksum with its fault",
        arguments: [
            ("", "checksum '' must be written <algorithm>:<hex>, with one of sha-256, sha-512, sha-1, md5"),
            (hex, "checksum '\(hex)' must be written <algorithm>:<hex>, with one of sha-256, sha-512, sha-1, md5"),
            ("sha-2-56:00", "checksum algorithm 'sha-2-56' is not one of sha-256, sha-512, sha-1, md5"),
            ("crc32:00", "checksum algorithm 'crc32' is not one of sha-256, sha-512, sha-1, md5"),
            ("md5:\(hex)", "checksum digest '\(hex)' must be 32 hexadecimal digits"),
            ("sha-256:abc", "checksum digest 'abc' must be 64 hexadecimal digits"),
            ("sha-256:\(hex)00", "checksum digest '\(hex)00' must be 64 hexadecimal digits"),
            ("sha-256:z\(hex.dropFirst())", "checksum digest 'z\(hex.dropFirst())' must be 64 hexadecimal digits"),
        ])
    func badChecksumIsRefused(_ text: String, _ reason: String) {
        do throws(Checksum.ParsingError) {
            _ = try Checksum(parsing: text)
            Issue.record("taken")
        } catch {
            #expect(error.description == reason)
        }
    }
}
