package import JSON

/// The choice of when failed attempts of a download are repeated, by a client or by the operator.
///
/// `nil` leaves a value to the service's option.
public struct RetryChoice: Sendable, Equatable {
    /// The number of consecutive attempts without new bytes after which the download fails; ``forEver`` for none. With 0 or
    /// 1 each failure is final.
    public var attempts: Int?
    /// The maximum of the delays that the origin has not asked for, in seconds.
    public var longestDelay: Int?
    /// Statuses after which a request is repeated, besides the temporary ones.
    public var statuses: [Int]?

    /// Creates a choice.
    public init(attempts: Int? = nil, longestDelay: Int? = nil, statuses: [Int]? = nil) {
        self.attempts = attempts
        self.longestDelay = longestDelay
        self.statuses = statuses
    }

    /// Whether everything is left to the service's options.
    public var isEmpty: Bool { self == RetryChoice() }

    /// The number of attempts of a download that never fails by failed attempts.
    public static let forEver = Int.max
    /// The possible numbers of attempts, besides ``forEver``.
    public static let attemptLimits = 0...1_000_000
    /// The possible longest delays, in seconds.
    public static let delays = 1...86_400
    /// The possible further statuses.
    public static let failures = 400...599
    /// The maximum number of further statuses.
    public static let maximumStatuses = 32

    /// Returns the choice with the values of a policy where it has none, so that clients see what is in effect.
    package func completed(by policy: RetryPolicy) -> RetryChoice {
        if isEmpty { return self }
        return RetryChoice(
            attempts: attempts ?? policy.maximumAttempts,
            longestDelay: longestDelay ?? Int((policy.longestDelay / .seconds(1)).rounded(.up)),
            statuses: statuses ?? policy.statuses)
    }
}

// MARK: - JSON

extension RetryChoice {
    /// The reason why a JSON value is no choice.
    package struct Fault: Error {
        /// The name of the member; empty if the value is not an object.
        package let member: String
        /// The end of a sentence about it.
        package let text: String
    }

    /// The JSON object of the chosen values: `{"attempts":8,"longestDelay":"60s","statuses":[404]}`, with `null` for
    /// attempts without end.
    package var json: JSONValue {
        var members: [JSONMember] = []
        func put(_ name: String, _ value: JSONValue?) {
            if let value { members.append(JSONMember(name: name, value: value)) }
        }
        put("attempts", attempts.map { $0 == Self.forEver ? .null : .integer(Int64($0)) })
        put("longestDelay", longestDelay.map { .string("\($0)s") })
        put("statuses", statuses.map { .array($0.map { .integer(Int64($0)) }) })
        return .object(members)
    }

    /// Reads the object of ``json``.
    package init(json: JSONValue) throws(Fault) {
        guard let members = json.members else { throw Fault(member: "", text: "must be a JSON object") }
        for (name, value) in members.map({ ($0.name, $0.value) }) {
            switch name {
            case "attempts":
                attempts = value.isNull ? Self.forEver : Self.number(value, in: Self.attemptLimits)
                if attempts == nil { throw Fault(member: name, text: "takes a number from 0 to 1000000, or null for ever") }
            case "longestDelay":
                if value.isNull { continue }
                longestDelay = value.string.flatMap(Self.seconds)
                if longestDelay == nil {
                    throw Fault(member: name, text: "takes a string of \(TimeSpan.acceptedLimit), and not 0")
                }
            case "statuses":
                if value.isNull { continue }
                let numbers = value.array?.map { Self.number($0, in: Self.failures) } ?? [nil]
                guard numbers.count <= Self.maximumStatuses, !numbers.contains(nil) else {
                    throw Fault(
                        member: name, text: "takes an array of at most \(Self.maximumStatuses) statuses from 400 to 599")
                }
                statuses = numbers.compactMap(\.self)
            default: throw Fault(member: name, text: "is unknown; accepted members: attempts, longestDelay, statuses")
            }
        }
    }

    private static func number(_ value: JSONValue, in range: ClosedRange<Int>) -> Int? {
        // RFC 8259 §6 has one kind of number, so 1.0 is a whole number.
        let number = value.integer ?? value.number.flatMap { Int64(exactly: $0) }
        return number.flatMap { range.contains(Int(clamping: $0)) ? Int($0) : nil }
    }

    /// Returns the seconds of a time such as `60s`; `nil` for invalid text, and for 0.
    public static func seconds(_ text: String) -> Int? {
        guard case .some(let span?) = TimeSpan.parseLimit(text) else { return nil }
        return Int(span.components.seconds)
    }
}
