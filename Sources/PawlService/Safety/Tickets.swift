internal import System

/// Short-lived stand-ins for the token, for what browsers fetch without letting a page add fields: `EventSource`, media elements
/// and links. They open event streams and finished files only, and stand in a URL, where a token must never be.
final class Tickets: Sendable {
    /// How long a ticket opens anything. What it has opened goes on.
    static let lifetime: Duration = .seconds(300)
    /// The most tickets at a time; beyond that the oldest is void.
    static let capacity = 1000

    private struct Issued {
        let ticket: String
        let expiry: ContinuousClock.Instant
    }

    private let issued = Locked<[Issued]>([])

    /// A new one: 128 random bits.
    func issue(now: ContinuousClock.Instant) -> String {
        let halves = [UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)]
        let ticket = halves.map { half in
            let digits = String(half, radix: 36)
            return String(repeating: "0", count: 13 - digits.count) + digits
        }.joined()
        issued.withLock { issued in
            issued.removeAll { $0.expiry <= now }
            if issued.count >= Self.capacity { issued.removeFirst() }
            issued.append(Issued(ticket: ticket, expiry: now + Self.lifetime))
        }
        return ticket
    }

    /// Whether it was issued, and is not too old.
    func accepts(_ ticket: String, now: ContinuousClock.Instant) -> Bool {
        issued.withLock { issued in
            // All are compared, whichever it is: the time this takes gives nothing away.
            issued.reduce(false) { found, known in
                (known.ticket == ticket && known.expiry > now) || found
            }
        }
    }

    /// Makes all void: the token that they stand for is no more.
    func revoke() {
        issued.withLock { $0 = [] }
    }
}
