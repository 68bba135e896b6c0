internal import System

/// A digest that the finished file must have, written `sha-256:<hex>`.
public struct Checksum: Sendable, Equatable {
    /// The digest algorithms understood, by the names of RFC 9530's registry.
    public enum Algorithm: String, Sendable, CaseIterable {
        /// SHA-256 (FIPS 180-4).
        case sha256 = "sha-256"
        /// SHA-512 (FIPS 180-4).
        case sha512 = "sha-512"
        /// SHA-1 (FIPS 180-4): tells damage, not malice.
        case sha1 = "sha-1"
        /// MD5 (RFC 1321): tells damage, not malice.
        case md5 = "md5"

        /// How many bytes a digest has.
        public var length: Int {
            switch self {
            case .sha256: 32
            case .sha512: 64
            case .sha1: 20
            case .md5: 16
            }
        }
    }

    /// What was wrong with a written checksum.
    public enum ParsingError: Error, Sendable, Equatable, CustomStringConvertible {
        /// There is no colon between algorithm and digest.
        case noAlgorithm(String)
        /// The algorithm is not one of those accepted.
        case unknownAlgorithm(String)
        /// The digest is not that many hexadecimal digits.
        case badDigest(String, expectedDigits: Int)

        /// One sentence that names the value and what is accepted.
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
    /// The digest, as many bytes as the algorithm makes.
    public let bytes: [UInt8]

    /// Parses `sha-256:<hex>`, in either case.
    public init(parsing text: String) throws(ParsingError) {
        guard let colon = text.firstIndex(of: ":") else { throw .noAlgorithm(text) }
        let name = String(text[..<colon])
        guard let algorithm = Algorithm(rawValue: name.lowercased()) else { throw .unknownAlgorithm(name) }
        let digits = text[text.index(after: colon)...]
        guard let bytes = Hexadecimal.decode(digits.utf8), bytes.count == algorithm.length else {
            throw .badDigest(String(digits), expectedDigits: algorithm.length * 2)
        }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// A checksum from its digest; `nil` if the digest has not the algorithm's length.
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
