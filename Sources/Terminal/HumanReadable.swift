/// Numbers formatted for people.
public enum HumanReadable {
    /// Bytes in binary units: `0 B`, `999 B`, `1.5 KiB`, `256.0 MiB`.
    public static func bytes(_ count: Int64) -> String {
        guard count >= 1024 else { return "\(max(0, count)) B" }
        var value = Double(count)
        var unit = "B"
        for next in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] where value >= 1024 {
            value /= 1024
            unit = next
        }
        let tenths = Int64((value * 10).rounded(.down))
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }

    /// A duration in its two largest units: `4s`, `3m07s`, `2h05m`, `5d03h`.
    public static func time(seconds: Double) -> String {
        guard seconds.isFinite, seconds < 86_400_000 else { return "long" }
        let whole = Int(max(0, seconds).rounded(.up))
        if whole < 60 { return "\(whole)s" }
        if whole < 3600 { return "\(whole / 60)m\(twoDigits(whole % 60))s" }
        if whole < 360_000 { return "\(whole / 3600)h\(twoDigits(whole % 3600 / 60))m" }
        return "\(whole / 86_400)d\(twoDigits(whole % 86_400 / 3600))h"
    }

    /// Minutes and seconds of a recording: `3:07`, `61:40`.
    public static func playingTime(milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1000
        return "\(seconds / 60):\(twoDigits(Int(seconds % 60)))"
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : String(number)
    }
}
