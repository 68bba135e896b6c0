/// A line of a terminal: pieces of text, each with a style.
public struct TerminalLine: Sendable, Equatable {
    /// A piece of text with its style.
    struct Piece: Sendable, Equatable {
        var text: TerminalText
        var style: Style
    }

    private(set) var pieces: [Piece] = []

    /// An empty line.
    public init() {}

    /// A line of one piece.
    public init(_ text: TerminalText, _ style: Style = .plain) {
        append(text, style)
    }

    /// The width in columns.
    public var width: Int { pieces.reduce(0) { $0 + $1.text.width } }

    /// Adds a piece at the end.
    public mutating func append(_ text: TerminalText, _ style: Style = .plain) {
        pieces.append(Piece(text: text, style: style))
    }

    /// Adds another line at the end.
    public mutating func append(_ line: TerminalLine) {
        pieces += line.pieces
    }

    /// Adds spaces until the line has `width` columns.
    public mutating func pad(to width: Int) {
        let missing = width - self.width
        if missing > 0 { append(TerminalText(String(repeating: " ", count: missing))) }
    }

    /// The line without the text beyond `width` columns.
    public func clipped(to width: Int, _ appearance: Appearance) -> TerminalLine {
        guard self.width > width else { return self }
        var result = TerminalLine()
        var room = max(0, width)
        for piece in pieces where room > 0 {
            let text = piece.text.truncated(to: room, appearance)
            result.append(text, piece.style)
            room -= piece.text.width
        }
        return result
    }

    /// The whole line in one style.
    public func styled(_ style: Style) -> TerminalLine {
        var result = self
        for index in result.pieces.indices { result.pieces[index].style = style }
        return result
    }

    /// The text without styles.
    public var plain: String { pieces.map(\.text.string).joined() }

    /// The text, with control sequences for styles if the terminal has them. It ends in the plain style.
    public func rendered(_ appearance: Appearance) -> String {
        guard appearance.hasStyles else { return plain }
        var result = ""
        for piece in pieces {
            if piece.style == .plain {
                result += piece.text.string
            } else {
                result += "\u{1B}[\(piece.style.parameters)m\(piece.text.string)\u{1B}[0m"
            }
        }
        return result
    }
}
