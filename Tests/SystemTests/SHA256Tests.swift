import CSystem
import System
import Testing

/// Serialized, since one test switches the implementation of the whole process.
@Suite("SHA-256", .serialized)
struct SHA256Tests {
    /// The examples of FIPS 180-4, and the empty message.
    static let known: [(String, String)] = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ]

    @Test("The standard's examples", arguments: known)
    func examples(_ text: String, _ digest: String) {
        #expect(Hexadecimal.encode(SHA256.digest(of: Array(text.utf8))) == digest)
    }

    @Test("Feeding two digests together equals feeding them one by one in any state", arguments: [0, 1, 63, 64, 70])
    func both(held: Int) {
        for portable in [Int32(0), 1] {
            pawl_sha256_force_portable(portable)
            defer { pawl_sha256_force_portable(0) }
            let (before, bytes) = ([UInt8](repeating: 7, count: held), (0..<1_000).map { UInt8(truncatingIfNeeded: $0) })
            var (first, second) = (SHA256(), SHA256())
            first.update(before)
            unsafe SHA256.update(&first, &second, with: bytes.span.bytes)
            unsafe SHA256.update(&first, &second, with: bytes.span.bytes)
            #expect(first.digest() == SHA256.digest(of: before + bytes + bytes))
            #expect(second.digest() == SHA256.digest(of: bytes + bytes))
        }
    }

    @Test("The accelerated and the portable implementation agree in every division")
    func agreement() {
        var generator = SystemRandomNumberGenerator()
        for length in [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1_000, 70_000] {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let whole = Hexadecimal.encode(SHA256.digest(of: bytes))
            pawl_sha256_force_portable(1)
            defer { pawl_sha256_force_portable(0) }
            var pieces = SHA256()
            var start = 0
            while start < length {
                let end = min(length, start + Int.random(in: 1...200, using: &generator))
                unsafe pieces.update(Array(bytes[start..<end]).span.bytes)
                start = end
            }
            #expect(Hexadecimal.encode(pieces.digest()) == whole)
            #expect(pieces.length == Int64(length))
        }
    }
}
