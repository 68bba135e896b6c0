/// The lines at the end of a terminal's output that are drawn again and again, below what stays.
///
/// Pure: it makes the characters to be written, and remembers what stands there.
public struct LiveArea: Sendable {
    /// The columns of the lines that stand there.
    private var drawn: [Int] = []

    /// An area with nothing in it.
    public init() {}

    /// Draws these lines in place of those drawn last, line over line: nothing flickers, and a terminal that keeps what is cleared
    /// has nothing to keep. Lines beyond the terminal's height would scroll away, where they could not be drawn over: at most
    /// `rows` − 2 of them are drawn, whatever is given.
    /// - Parameters:
    ///   - staying: lines that stand above the area from now on.
    ///   - columns: how wide the terminal is now: since the last drawing it may have become narrower, and have broken lines in two.
    public mutating func draw(
        _ lines: [TerminalLine], staying: [TerminalLine] = [], columns: Int, rows: Int, _ appearance: Appearance
    ) -> String {
        let shown = lines.prefix(max(1, rows - 2)).map { $0.clipped(to: max(1, columns - 1), appearance) }
        let height = height(columns: max(1, columns))
        // ECMA-48: CPL to the area's first line, EL behind each line, ED below the last one.
        var text = height > 0 ? "\u{1B}[\(height)F" : ""
        let lineEnd = height > 0 ? "\u{1B}[K\n" : "\n"
        for line in staying + shown { text += line.rendered(appearance) + lineEnd }
        if height > 0 { text += "\u{1B}[J" }
        drawn = shown.map(\.width)
        return text
    }

    /// The terminal's lines that the area takes.
    private func height(columns: Int) -> Int {
        drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
    }
}
