/// A bar that fills from left to right.
public enum ProgressBar {
    /// The bar in exactly `width` columns; nothing if there is no room for one. An unknown fraction is an empty bar.
    /// - Parameter fraction: how much is there, 0…1.
    public static func line(_ fraction: Double?, width: Int, _ appearance: Appearance, style: Style = .active) -> TerminalLine {
        var line = TerminalLine()
        guard width >= 3 else { return line }
        let fraction = min(max(fraction ?? 0, 0), 1)
        guard appearance.isUnicode else {
            let inside = width - 2
            let filled = fraction.isFinite ? Int(Double(inside) * fraction) : 0
            line.append("[")
            line.append(TerminalText(String(repeating: "=", count: filled)), style)
            line.append(TerminalText(String(repeating: " ", count: inside - filled) + "]"))
            return line
        }
        // Half columns: a heavy line as far as it goes, a light one for the rest.
        let halves = fraction.isFinite ? Int(Double(width * 2) * fraction) : 0
        var done = String(repeating: "━", count: halves / 2)
        if halves % 2 == 1 { done += "╸" }
        line.append(TerminalText(done), style)
        line.append(TerminalText(String(repeating: "─", count: width - halves / 2 - halves % 2)), .dim)
        return line
    }
}
