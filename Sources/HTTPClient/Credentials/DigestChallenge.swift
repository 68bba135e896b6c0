import HTTPCore
import System

/// A challenge of the Digest scheme that the client can answer: RFC 7616, with MD5 or SHA-256.
struct DigestChallenge: Sendable, Equatable {
    enum Algorithm: String, Sendable {
        case md5 = "MD5"
        case sha256 = "SHA-256"

        /// The digest in lowercase hexadecimal digits.
        func digest(_ text: String) -> String {
            let bytes = Array(text.utf8)
            switch self {
            case .sha256: return Hexadecimal.encode(SHA256.digest(of: bytes))
            case .md5:
                var digest = MessageDigest(.md5)
                unsafe digest.update(bytes.span.bytes)
                return Hexadecimal.encode(digest.digest())
            }
        }
    }

    let realm: String
    let nonce: String
    let opaque: String?
    let algorithm: Algorithm
    /// The algorithm as the origin writes it; nil if it names none.
    let writtenAlgorithm: String?
    /// Whether the key depends on the nonces: `MD5-sess`, `SHA-256-sess`.
    let isSession: Bool
    /// Whether the origin counts requests (`qop=auth`). Only old ones do not (RFC 2069).
    let isCounting: Bool
    /// Whether the user and the password were right, and only the nonce has to be replaced.
    private(set) var isStale: Bool

    /// Returns the strongest of the challenges that can be answered; nil if there is none.
    static func strongest(of challenges: [AuthenticationChallenge]) -> DigestChallenge? {
        let usable = challenges.compactMap { DigestChallenge($0) }
        return usable.first { $0.algorithm == .sha256 } ?? usable.first
    }

    init?(_ challenge: AuthenticationChallenge) {
        guard challenge.scheme == "digest", let realm = challenge.parameters["realm"], let nonce = challenge.parameters["nonce"]
        else { return nil }
        writtenAlgorithm = challenge.parameters["algorithm"]
        var name = (writtenAlgorithm ?? "MD5").uppercased()
        isSession = name.hasSuffix("-SESS")
        if isSession { name.removeLast("-SESS".count) }
        guard let algorithm = Algorithm(rawValue: name) else { return nil }
        let qualities = challenge.parameters["qop"]?.lowercased().split(separator: ",").map { $0.utf8.trimmingWhiteSpace }
        isCounting = qualities?.contains { $0.elementsEqual("auth".utf8) } ?? false
        // The only quality is another one, such as auth-int.
        if qualities != nil, !isCounting { return nil }
        self.algorithm = algorithm
        self.realm = realm
        self.nonce = nonce
        opaque = challenge.parameters["opaque"]
        isStale = challenge.parameters["stale"]?.lowercased() == "true"
    }

    /// Whether an answer to another challenge has answered this one.
    func isSame(as other: DigestChallenge) -> Bool {
        var other = other
        other.isStale = isStale
        return self == other
    }

    /// Returns the value of the Authorization field (RFC 7616 §3.4).
    /// - Parameters:
    ///   - target: The path and query of the request.
    ///   - count: The number of requests with this nonce, with this one.
    ///   - clientNonce: A random text.
    func authorization(
        of login: Login, method: String, target: String, count: UInt32, clientNonce: String
    ) -> String {
        let digest = algorithm.digest
        var key = digest("\(login.user):\(realm):\(login.password)")
        if isSession { key = digest("\(key):\(nonce):\(clientNonce)") }
        let digits = String(count, radix: 16)
        let number = String(repeating: "0", count: 8 - digits.count) + digits
        let counted = isCounting ? "\(number):\(clientNonce):auth:" : ""
        let response = digest("\(key):\(nonce):\(counted)" + digest("\(method):\(target)"))
        var parts = [("username", login.user), ("realm", realm), ("nonce", nonce), ("uri", target), ("response", response)]
            .map { "\($0.0)=\(QuotedString.encode($0.1))" }
        if let opaque { parts.append("opaque=\(QuotedString.encode(opaque))") }
        if let writtenAlgorithm { parts.append("algorithm=\(writtenAlgorithm)") }
        if isCounting { parts.append("qop=auth, nc=\(number)") }
        if isCounting || isSession { parts.append("cnonce=\"\(clientNonce)\"") }
        return "Digest " + parts.joined(separator: ", ")
    }
}
