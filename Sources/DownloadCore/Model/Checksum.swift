internal import System

/// A digest that the finished file must have, written `sha-256:<hex>`.
public struct Checksum: Sendable, Equatable {
    /// The supported digest algorithms. `sha-256`, `sha-512` and `md5` are names of RFC 9530's registry.
    public enum Algorithm: String, Sendable, CaseIterable {
        /// SHA-256 (FIPS 180-4).
        case sha256 = "sha-256"
        /// SHA-512 (FIPS 180-4).
        case sha512 = "sha-512"
        /// SHA-1 (FIPS 180-4). It detects damage, but no deliberate changes.
        case sha1 = "sha-1"
        /// MD5 (RFC 1321). It detects damage, but no deliberate changes.
        case md5 = "md5"

        /// The length of a digest in bytes.
        public var length: Int {
            switch self {
            case .sha256: 32
            case .sha512: 64
            case .sha1: 20
            case .md5: 16
            }
        }
    }

    /// An error in a written checksum.
    public enum ParsingError: Error, Sendable, Equatable, CustomStringConvertible {
        /// There is no colon between algorithm and digest.
        case noAlgorithm(String)
        /// The algorithm is not an accepted one.
        case unknownAlgorithm(String)
        /// The digest does not consist of the expected number of hexadecimal digits.
        case badDigest(String, expectedDigits: Int)

        /// One sentence with the value and the accepted ones.
        public var description: String {
            let accepted = Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
            return switch self {
            case .noAlgorithm(let text): "checksum '\(text)' must be written <algorithm>:<hex>, with one of \(accepted)"
            case .unknownAlgorithm(let name): "checksum algorithm '\(name)' is not one of \(accepted)"
            case .badDigest(let text, let digits): "checksum digest '\(text)' must be \(digits) hexadecimal digits"
            }
        }
    }

    /// The algorithm.
    public let algorithm: Algorithm
    /// The digest, in the algorithm's number of bytes.
    public let bytes: [UInt8]

    /// Parses `sha-256:<hex>` or `sha256:<hex>`, in either case.
    public init(parsing text: String) throws(ParsingError) {
        guard let colon = text.firstIndex(of: ":") else { throw .noAlgorithm(text) }
        let name = String(text[..<colon])
        let spellings = { (known: Algorithm) in [known.rawValue, known.rawValue.filter { $0 != "-" }] }
        let algorithm = Algorithm.allCases.first { spellings($0).contains(name.lowercased()) }
        guard let algorithm else { throw .unknownAlgorithm(name) }
        let digits = text[text.index(after: colon)...]
        guard let bytes = Hexadecimal.decode(digits.utf8), bytes.count == algorithm.length else {
            throw .badDigest(String(digits), expectedDigits: algorithm.length * 2)
        }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// Creates a checksum from a digest; `nil` if the digest's length is not the algorithm's.
    public init?(_ algorithm: Algorithm, bytes: [UInt8]) {
        guard bytes.count == algorithm.length else { return nil }
        self.algorithm = algorithm
        self.bytes = bytes
    }
}

extension Checksum: CustomStringConvertible {
    /// The written form, in lower case.
    public var description: String {
        algorithm.rawValue + ":" + Hexadecimal.encode(bytes)
    }
}
