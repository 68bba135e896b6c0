/// A table that is fitted to a terminal.
public struct TextTable: Sendable {
    /// A column.
    public struct Column: Sendable {
        /// The heading.
        public var title: TerminalText
        /// Whether its text is aligned to the right.
        public var isRight: Bool
        /// The minimum width when the table is squeezed; `nil` if the column is never squeezed.
        public var least: Int?
        /// The order in which columns are left out in narrow terminals, the greatest first; columns with 0 always stay.
        public var dispensability: Int

        /// Creates a column from its parts.
        public init(_ title: TerminalText, isRight: Bool = false, least: Int? = nil, dispensability: Int = 0) {
            self.title = title
            self.isRight = isRight
            self.least = least
            self.dispensability = dispensability
        }
    }

    /// A cell of a row.
    public struct Cell: Sendable {
        /// The text.
        public var text: TerminalText
        /// The style of the text.
        public var style: Style

        /// Creates a cell from its parts.
        public init(_ text: TerminalText, _ style: Style = .plain) {
            self.text = text
            self.style = style
        }
    }

    /// The number of spaces between columns.
    private static let gap = 2

    private let columns: [Column]
    private var rows: [[Cell]] = []

    /// Creates a table without rows.
    public init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Adds a row. Missing cells are empty; extra cells are ignored.
    public mutating func append(_ cells: [Cell]) {
        rows.append((0..<columns.count).map { $0 < cells.count ? cells[$0] : Cell("") })
    }

    /// The heading and the rows.
    /// - Parameter width: The width of the terminal in columns; `nil` for unlimited.
    public func lines(width: Int?, _ appearance: Appearance) -> [TerminalLine] {
        let widths = widths(within: width)
        let heading = columns.map { Cell($0.title, .bold) }
        return ([heading] + rows).map { row in
            var line = TerminalLine()
            let shown = columns.indices.filter { widths[$0] > 0 }
            for index in shown {
                if line.width > 0 { line.append(TerminalText(String(repeating: " ", count: Self.gap))) }
                let cell = row[index]
                let text = cell.text.shortened(to: widths[index], appearance)
                // The last text of a line needs no padding.
                let isLast = index == shown.last && !columns[index].isRight
                line.append(isLast ? text : text.padded(to: widths[index], isRight: columns[index].isRight), cell.style)
            }
            return width.map { line.clipped(to: $0, appearance) } ?? line
        }
    }

    /// The width of each column; 0 if it is left out.
    private func widths(within limit: Int?) -> [Int] {
        var widths = columns.enumerated().map { index, column in
            rows.reduce(column.title.width) { max($0, $1[index].text.width) }
        }
        guard let limit else { return widths }
        func total() -> Int { widths.reduce(0) { $0 + ($1 > 0 ? $1 + Self.gap : 0) } - Self.gap }
        func squeeze() {
            for index in columns.indices.reversed() where widths[index] > 0 {
                guard let least = columns[index].least, total() > limit else { continue }
                // A cut heading would be useless.
                let floor = min(max(least, columns[index].title.width), widths[index])
                widths[index] = max(floor, widths[index] - (total() - limit))
            }
        }
        let natural = widths
        squeeze()
        let order = columns.indices.filter { columns[$0].dispensability > 0 }
            .sorted { columns[$0].dispensability > columns[$1].dispensability }
        for index in order where total() > limit {
            widths[index] = 0
            for other in columns.indices where widths[other] > 0 { widths[other] = natural[other] }
            squeeze()
        }
        return widths
    }
}
