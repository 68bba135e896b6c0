internal import HTTPCore
internal import PawlConfiguration
internal import System

/// Short-lived stand-ins for a token in the URL, where a token must never be.
///
/// Browsers need them for requests to which a page cannot add fields: `EventSource`, media elements and links. They
/// authenticate event streams and finished files only. A ticket has the scope of its token, and becomes invalid with
/// it.
///
/// Tickets are not stored: a ticket is its end time, and a signature of that time and the token's digest. So every
/// replica of a fleet accepts the tickets of the others.
struct Tickets: Sendable {
    /// The lifetime of a ticket. A response that has begun continues as long as the token is valid.
    static let lifetime: Duration = .seconds(300)
    /// Bytes of the signature (128 bits).
    private static let signatureLength = 16

    private let key: [UInt8]

    /// - Parameter key: The key of the signatures.
    init(key: [UInt8]) {
        self.key = key
    }

    /// A new ticket for a token.
    func issue(for token: TokenDigest, now: Timestamp) -> String {
        let end = now.millisecondsSinceEpoch + Int64(Self.lifetime / .milliseconds(1))
        return String(end, radix: 36) + signature(token, end)
    }

    /// The index of the token that a ticket was issued for; `nil` if it is none of these tokens, or the ticket has
    /// expired.
    func token(of ticket: String, among tokens: [TokenDigest], now: Timestamp) -> Int? {
        guard let end = Self.end(of: ticket)?.millisecondsSinceEpoch, end > now.millisecondsSinceEpoch
        else { return nil }
        let sent = TokenDigest(of: ticket.suffix(2 * Self.signatureLength).utf8)
        // All are compared, so that the time taken reveals nothing.
        return tokens.indices.reduce(Int?.none) { found, index in
            sent.equals(TokenDigest(of: signature(tokens[index], end).utf8)) ? index : found
        }
    }

    /// The time at which a ticket expires, valid or not; `nil` for a text that is no ticket.
    static func end(of ticket: String) -> Timestamp? {
        guard ticket.utf8.count > 2 * signatureLength else { return nil }
        return Int64(ticket.dropLast(2 * signatureLength), radix: 36).map { Timestamp(millisecondsSinceEpoch: $0) }
    }

    private func signature(_ token: TokenDigest, _ end: Int64) -> String {
        Hexadecimal.encode(Array(HMAC.sha256(key: key, token.bytes + Array(String(end).utf8)).prefix(Self.signatureLength)))
    }
}
