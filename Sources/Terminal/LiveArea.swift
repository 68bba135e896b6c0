/// The lines at the end of a terminal's output that are redrawn, below the lines that stay.
///
/// A pure value: it makes the characters to write, and remembers the drawn lines.
public struct LiveArea: Sendable {
    /// The widths of the drawn lines.
    private var drawn: [Int] = []

    /// Creates an empty area.
    public init() {}

    /// Draws lines over those drawn last. It overwrites line by line, so that nothing flickers, and terminals that keep
    /// cleared screens have nothing to keep. Lines that scroll out of the terminal cannot be redrawn, so at most `rows`
    /// − 2 are drawn.
    /// - Parameters:
    ///   - staying: Lines to leave above the area.
    ///   - columns: The current width of the terminal. If it has become narrower since the last drawing, lines may have
    ///     been wrapped.
    public mutating func draw(
        _ lines: [TerminalLine], staying: [TerminalLine] = [], columns: Int, rows: Int, _ appearance: Appearance
    ) -> String {
        let shown = lines.prefix(max(1, rows - 2)).map { $0.clipped(to: max(1, columns - 1), appearance) }
        let height = height(columns: max(1, columns))
        // ECMA-48: CPL to the area's first line, EL after each line, ED below the last line.
        var text = height > 0 ? "\u{1B}[\(height)F" : ""
        let lineEnd = height > 0 ? "\u{1B}[K\n" : "\n"
        for line in staying + shown { text += line.rendered(appearance) + lineEnd }
        if height > 0 { text += "\u{1B}[J" }
        drawn = shown.map(\.width)
        return text
    }

    /// The number of the terminal's lines that the area occupies.
    private func height(columns: Int) -> Int {
        drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
    }
}
