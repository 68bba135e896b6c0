internal import HTTPCore
internal import PawlConfiguration
internal import System

/// Short-lived stand-ins for a token, for what browsers fetch without letting a page add fields: `EventSource`, media elements
/// and links. They open event streams and finished files only, and stand in a URL, where a token must never be. A ticket has the scope of
/// its token, and ends with it.
///
/// Nothing of them is kept: a ticket is the time it ends, and a signature over that and the token's digest. So every replica of a fleet
/// knows those of the others.
struct Tickets: Sendable {
    /// How long a ticket opens anything. What it has opened goes on as long as the token is one.
    static let lifetime: Duration = .seconds(300)
    /// Bytes of the signature: 128 bits.
    private static let signatureLength = 16

    private let key: [UInt8]

    /// - Parameter key: what tickets are signed with.
    init(key: [UInt8]) {
        self.key = key
    }

    /// One that stands for a token.
    func issue(for token: TokenDigest, now: Timestamp) -> String {
        let end = now.millisecondsSinceEpoch + Int64(Self.lifetime / .milliseconds(1))
        return String(end, radix: 36) + signature(token, end)
    }

    /// Which of these tokens a ticket stands for; `nil` if it is none of them, or too old.
    func token(of ticket: String, among tokens: [TokenDigest], now: Timestamp) -> Int? {
        guard ticket.utf8.count > 2 * Self.signatureLength,
            let end = Int64(ticket.dropLast(2 * Self.signatureLength), radix: 36), end > now.millisecondsSinceEpoch
        else { return nil }
        let sent = TokenDigest(of: ticket.suffix(2 * Self.signatureLength).utf8)
        // All are compared, whichever it is: the time this takes gives nothing away.
        return tokens.indices.reduce(Int?.none) { found, index in
            sent.equals(TokenDigest(of: signature(tokens[index], end).utf8)) ? index : found
        }
    }

    private func signature(_ token: TokenDigest, _ end: Int64) -> String {
        Hexadecimal.encode(Array(HMAC.sha256(key: key, token.bytes + Array(String(end).utf8)).prefix(Self.signatureLength)))
    }
}
