internal import System

/// Short-lived stand-ins for a token, for what browsers fetch without letting a page add fields: `EventSource`, media elements
/// and links. They open event streams and finished files only, and stand in a URL, where a token must never be. A ticket has the scope of
/// its token, and ends with it.
final class Tickets: Sendable {
    /// How long a ticket opens anything. What it has opened goes on as long as the token is one.
    static let lifetime: Duration = .seconds(300)
    /// The most tickets at a time; beyond that the oldest of the same token is void, or if it has none, the oldest of all.
    static let capacity = 1000

    private struct Issued {
        let ticket: String
        let caller: Caller
        let expiry: ContinuousClock.Instant
    }

    private let issued = Locked<[Issued]>([])

    /// A new one: 128 random bits.
    func issue(to caller: Caller, now: ContinuousClock.Instant) -> String {
        let halves = [UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)]
        let ticket = halves.map { half in
            let digits = String(half, radix: 36)
            return String(repeating: "0", count: 13 - digits.count) + digits
        }.joined()
        issued.withLock { issued in
            issued.removeAll { $0.expiry <= now || $0.caller.isRevoked }
            if issued.count >= Self.capacity {
                issued.remove(at: issued.firstIndex { $0.caller.permit === caller.permit } ?? 0)
            }
            issued.append(Issued(ticket: ticket, caller: caller, expiry: now + Self.lifetime))
        }
        return ticket
    }

    /// Who it was issued to, unless it is too old or the token is no longer one.
    func caller(of ticket: String, now: ContinuousClock.Instant) -> Caller? {
        issued.withLock { issued in
            // All are compared, whichever it is: the time this takes gives nothing away.
            issued.reduce(Caller?.none) { found, known in
                known.ticket == ticket && known.expiry > now && !known.caller.isRevoked ? known.caller : found
            }
        }
    }
}
