/// A bar that fills from left to right.
public enum ProgressBar {
    /// The bar in exactly `width` columns; empty if that is too narrow. An unknown fraction is an empty bar.
    /// - Parameter fraction: The completed fraction, 0…1; `nil` if it is unknown.
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
        // In half columns: a heavy line for the completed fraction, a light line for the rest.
        let halves = fraction.isFinite ? Int(Double(width * 2) * fraction) : 0
        var done = String(repeating: "━", count: halves / 2)
        if halves % 2 == 1 { done += "╸" }
        line.append(TerminalText(done), style)
        line.append(TerminalText(String(repeating: "─", count: width - halves / 2 - halves % 2)), .dim)
        return line
    }
}
