/// The field Retry-After (RFC 9110 §10.2.3).
public enum RetryAfter {
    /// Returns the delay of a field, at most 2³² seconds: seconds, or a date; `nil` if it is neither.
    /// - Parameters:
    ///   - value: The field's value.
    ///   - date: The value of the Date field. The server means its own clock, which may differ from this machine's.
    ///   - now: The present time here, used if there is no Date.
    public static func delay(_ value: String, date: String?, now: Timestamp) -> Duration? {
        if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return .seconds(min(Int64(value) ?? .max, 1 << 32))
        }
        guard let time = HTTPDate(parsing: value) else { return nil }
        let start = date.flatMap { HTTPDate(parsing: $0) }?.secondsSinceEpoch ?? now.millisecondsSinceEpoch / 1_000
        return .seconds(min(max(time.secondsSinceEpoch - start, 0), 1 << 32))
    }
}

extension Fields {
    /// The delay that Retry-After asks for; `nil` without such a field, or one that is neither seconds nor a date.
    /// - Parameter now: The present time, used if there is no Date.
    public func retryAfter(at now: Timestamp) -> Duration? {
        self[.retryAfter].flatMap { RetryAfter.delay($0, date: self[.date], now: now) }
    }
}
