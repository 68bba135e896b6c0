/// A duration as people write it: `30d`, `12h`, `90m`, `45s`.
public enum TimeSpan {
    /// The accepted values, as the end of "takes …".
    public static let accepted = "a whole number with s, m, h, d or w, such as 30d"

    /// The values of a time limit, as the end of "takes …".
    public static let acceptedLimit = "seconds up to \(DownloadLimits.timeouts.upperBound), or with m or h, such as 90, 90s or 2m"

    /// Parses a time limit; `nil` for invalid text, and for more than a day. The limit in the result is `nil` for 0.
    public static func parseLimit(_ text: String) -> Duration?? {
        if text == "0" { return .some(nil) }
        let isNumber = text.last.map { $0.isASCII && $0.isNumber } ?? false
        guard let span = parse(isNumber ? text + "s" : text), span <= .seconds(DownloadLimits.timeouts.upperBound) else {
            return nil
        }
        return span
    }

    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
    /// A thousand years, in seconds: longer than any useful retention.
    private static let longest: Int64 = 365_250 * 86_400

    /// Parses a duration; `nil` for invalid text, and for more than a thousand years.
    public static func parse(_ text: String) -> Duration? {
        let digits = text.dropLast()
        guard let unit = text.last.flatMap({ units[$0] }), !digits.isEmpty,
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(digits), number > 0
        else { return nil }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: unit)
        return overflow || seconds > longest ? nil : .seconds(seconds)
    }
}
