/// Parses durations as people and programs write them.
public enum PlayingTime {
    /// Milliseconds for `351.4` (seconds), `05:37` or `1:02:03`; `nil` for `0`, which means unknown, and for everything
    /// else.
    public static func milliseconds(_ text: String) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 3, let last = parts.last, let seconds = thousandths(last) else { return nil }
        var whole: Int64 = 0
        for part in parts.dropLast() {
            guard (1...6).contains(part.utf8.count), let number = digits(part) else { return nil }
            whole = whole * 60 + number
        }
        let milliseconds = whole * 60_000 + seconds
        return milliseconds > 0 ? milliseconds : nil
    }

    /// Thousandths of a number with at most nine digits, and a fraction of any length. Three digits of the fraction count.
    private static func thousandths(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), (1...9).contains(parts[0].utf8.count), let whole = digits(parts[0]) else {
            return nil
        }
        guard parts.count == 2 else { return whole * 1000 }
        guard let fraction = digits(String((parts[1] + "000").prefix(3))[...]), digits(parts[1].prefix(18)) != nil else {
            return nil
        }
        return whole * 1000 + fraction
    }

    private static func digits(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64(text) : nil
    }
}
