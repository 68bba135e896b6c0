/// One name of a ``NamingTemplate``: a text with placeholders.
struct NamePattern: Sendable, Equatable {
    /// A property of a part.
    enum Field: String, Sendable, CaseIterable {
        case work, title, artist, number, season, date, year, id

        /// Whether the value is a number, which may have leading zeros.
        var isNumber: Bool { self == .number || self == .season }
    }

    struct Placeholder: Sendable, Equatable {
        let field: Field
        /// The minimum number of digits of a number.
        var width = 0
    }

    /// A fault of a text, as the end of a sentence about it.
    enum Fault: Error, Equatable, CustomStringConvertible {
        case unknown(String)
        case badWidth(String)
        case unclosed
        case unopened

        var description: String {
            let fault =
                switch self {
                case .unknown(let text): "has the unknown placeholder '{\(text.prefix(64))}'"
                case .badWidth(let text):
                    "has '{\(text.prefix(64))}'; a width is 01 to 09, and only numbers take one, as in {number:02}"
                case .unclosed: "has '{' without '}'"
                case .unopened: "has '}' without '{'"
                }
            return "\(fault); it takes \(Self.accepted), and '{{' and '}}' for braces"
        }

        /// The placeholders in words.
        private static let accepted = Field.allCases.map {
            $0.isNumber ? "{\($0.rawValue)}, {\($0.rawValue):02}" : "{\($0.rawValue)}"
        }.joined(separator: ", ")
    }

    private indirect enum Piece: Sendable, Equatable {
        case text(String)
        case placeholder(Placeholder)
        /// A pair of brackets with placeholders in it.
        case brackets(NamePattern)

        var isText: Bool {
            if case .text = self { true } else { false }
        }
    }

    private var pieces: [Piece] = []

    /// Returns the name with these values; `nil` if it has placeholders, and none of them has a value.
    func text(_ value: (Placeholder) -> String?) -> String? {
        let last = pieces.lastIndex { !$0.isText }
        var result = ""
        var hasValue = last == nil
        // The text since the last value.
        var separator = ""
        var skipsText = false
        for (index, piece) in pieces.enumerated() {
            let found: String?
            switch piece {
            case .text(let text):
                if !skipsText { separator += text }
                continue
            case .placeholder(let placeholder): found = value(placeholder)
            case .brackets(let inner): found = inner.text(value)
            }
            skipsText = found == nil && index != last
            if let found {
                result += separator + found
                hasValue = true
            }
            if !skipsText { separator = "" }
        }
        return hasValue ? result + separator : nil
    }

    private mutating func append(_ piece: Piece) {
        if case .text(let text) = piece, case .text(let beginning)? = pieces.last {
            pieces[pieces.count - 1] = .text(beginning + text)
        } else {
            pieces.append(piece)
        }
    }
}

// MARK: - Parsing

extension NamePattern {
    /// Parses names with slashes between them; none for an empty text.
    static func parse(_ text: String) throws(Fault) -> [NamePattern] {
        if text.isEmpty { return [] }
        var names: [NamePattern] = []
        var builder = Builder()
        // A brace or slash with an accent on it still is one.
        var scalars = text.unicodeScalars[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "/":
                names.append(builder.finished)
                builder = Builder()
            case "{" where scalars.first == "{", "}" where scalars.first == "}":
                scalars.removeFirst()
                builder.append(scalar)
            case "{":
                guard let end = scalars.firstIndex(of: "}") else { throw .unclosed }
                builder.append(.placeholder(try Placeholder(parsing: String(scalars[..<end]))))
                scalars = scalars[end...].dropFirst()
            case "}": throw .unopened
            default: builder.append(scalar)
            }
        }
        return names + [builder.finished]
    }

    /// A name whose beginning is parsed.
    private struct Builder {
        private var name = NamePattern()
        /// The contents of the open brackets with the opening ones, from the outermost on.
        private var open: [(bracket: Unicode.Scalar, inner: NamePattern)] = []
        /// The maximum depth of brackets. Deeper ones are text.
        private static let deepestBrackets = 8

        /// The name, in which open brackets are text.
        var finished: NamePattern {
            var name = name
            for (_, inner) in open { for piece in inner.pieces { name.append(piece) } }
            return name
        }

        mutating func append(_ piece: Piece) {
            if open.isEmpty { name.append(piece) } else { open[open.count - 1].inner.append(piece) }
        }

        mutating func append(_ scalar: Unicode.Scalar) {
            if scalar == "(" || scalar == "[", open.count < Self.deepestBrackets { open.append((scalar, NamePattern())) }
            append(.text(String(scalar)))
            if scalar == ")" && open.last?.bracket == "(" || scalar == "]" && open.last?.bracket == "[" { close() }
        }

        private mutating func close() {
            guard let inner = open.popLast()?.inner else { return }
            if inner.pieces.contains(where: { !$0.isText }) {
                append(.brackets(inner))
            } else {
                for piece in inner.pieces { append(piece) }
            }
        }
    }
}

extension NamePattern.Placeholder {
    /// Parses the text between two braces.
    fileprivate init(parsing text: String) throws(NamePattern.Fault) {
        let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = halves.first, let field = NamePattern.Field(rawValue: String(name)) else { throw .unknown(text) }
        self.init(field: field)
        guard halves.count == 2 else { return }
        let digits = Array(halves[1].utf8)
        guard field.isNumber, digits.count == 2, digits[0] == UInt8(ascii: "0"),
            (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(digits[1])
        else { throw .badWidth(text) }
        width = Int(digits[1] - UInt8(ascii: "0"))
    }
}
