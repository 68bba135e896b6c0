import HTTPCore

/// The reason for which a server and this client cannot agree on TLS, so that another attempt would fail as well.
enum TLSRefusal: Sendable, Equatable {
    case version
    case certificate
    case cipher
    case name
    case protocols
    case other

    /// Finds the reason in libcurl's text; nil if there is none, or if it may pass.
    ///
    /// OpenSSL and its relatives add a number: `error:0A00042E:SSL routines::tlsv1 alert protocol version`. Its last
    /// three digits are 1000 and the server's alert (RFC 8446 §6), or the number of a reason of this side.
    init?(_ text: String) {
        guard let number = Self.number(in: text) else { return nil }
        switch number {
        case 1070, 1086, Self.unsupportedProtocol: self = .version
        case 1041...1046, 1116: self = .certificate
        case 1040, 1071, Self.smallKey, Self.legacyRenegotiation: self = .cipher
        case 1112: self = .name
        case 1120: self = .protocols
        case 1047...1049, 1109, 1115: self = .other
        // The other alerts are about damaged records, or a fault of the server.
        default: return nil
        }
    }

    /// The reasons of OpenSSL for a server that accepted the handshake with a version, a key or a renegotiation that is
    /// too weak for this side.
    private static let (unsupportedProtocol, smallKey, legacyRenegotiation) = (0x102, 0x18A, 0x152)

    /// Whether libcurl's text says that the connection ended without TLS's `close_notify`.
    static func isEndWithoutNotice(_ text: String) -> Bool { number(in: text) == unexpectedEnd }

    /// The reason of OpenSSL 3 for such an end.
    private static let unexpectedEnd = 0x126

    private static func number(in text: String) -> Int? {
        text.firstRange(of: ":SSL routines:").flatMap { Int(text[..<$0.lowerBound].suffix(3), radix: 16) }
    }
}

extension TLSRefusal: CustomStringConvertible {
    /// The reason in words.
    var description: String {
        switch self {
        case .version: "the server offers only versions of TLS that are out of date; 1.2 or newer is needed"
        case .certificate: "the server wants a certificate of the client, and Pawl has none"
        case .cipher: "the server offers no cipher that is strong enough, or wants a certificate of the client, and Pawl has none"
        case .name: "the server has no site of this name"
        case .protocols: "the server refuses HTTP/1.1; it may speak only HTTP/2"
        case .other: "the server refused the handshake"
        }
    }
}
