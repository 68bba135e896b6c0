/// Reads an XML document (XML 1.0, Namespaces in XML 1.0) token by token, from UTF-8 bytes in memory.
///
/// A tolerant reader accepts the mistakes of real feeds: text and white space before the declaration, unknown entities,
/// entities of HTML, a bare `&` or `<`, attributes without quotation marks, and end tags that match no start tag. It
/// passes over a document type declaration, and expands nothing from it. A strict reader refuses all these.
public struct XMLReader {
    /// A part of the document.
    public enum Token: Sendable, Equatable {
        /// The start of an element. ``name``, ``prefix``, ``namespace`` and ``attribute(_:)`` describe it.
        case start
        /// The end of the innermost open element.
        case end
        /// Text in the innermost open element: ``text`` has it.
        case text
    }

    /// The reason why a document is invalid or refused.
    public struct ParsingError: Error, Equatable, Sendable {
        /// The problem, as the end of a sentence about the document.
        public let problem: String

        /// Creates an error.
        public init(_ problem: String) { self.problem = problem }
    }

    /// The limits of a document.
    public struct Limits: Sendable {
        /// The maximum nesting of elements.
        public var depth = 64
        /// The maximum number of elements.
        public var elements = 2_000_000
        /// The maximum length of a decoded text in bytes. Longer texts are cut.
        public var text = 256 << 10

        /// Creates the limits of feeds.
        public init() {}
    }

    private struct Open {
        /// The qualified name.
        let name: Range<Int>
        /// The number of namespace declarations outside the element.
        let declarations: Int
    }

    private struct Declaration {
        let prefix: String
        let namespace: String
    }

    private let bytes: [UInt8]
    private let isTolerant: Bool
    private let limits: Limits
    private var position = 0
    private var open: [Open] = []
    /// The element whose start token is returned once more.
    private var restarted: Open?
    private var declarations: [Declaration] = []
    private var count = 0
    /// The number of end tokens that follow from the last tag.
    private var pendingEnds = 0
    private var hasRoot = false
    private var nameRange = 0..<0
    /// The start of the name behind its prefix.
    private var localStart = 0
    private var attributes: [(name: Range<Int>, value: Range<Int>)] = []
    private var textRange = 0..<0
    private var isLiteral = false

    /// Creates a reader at the start of a document.
    /// - Parameter bytes: The document in UTF-8. Invalid bytes become U+FFFD.
    public init(_ bytes: [UInt8], isTolerant: Bool, limits: Limits = Limits()) {
        self.bytes = bytes
        self.isTolerant = isTolerant
        self.limits = limits
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        // Some programs print messages before the document.
        if isTolerant { position = bytes[position...].firstIndex(of: Self.less) ?? bytes.endIndex }
    }

    /// The maximum number of namespaces that are declared at the same time. Others count as not declared.
    private static let maximumDeclarations = 64
    /// The maximum number of attributes of an element. Others are ignored.
    private static let maximumAttributes = 256
    /// The maximum length of a namespace in bytes. Longer ones count as not declared.
    private static let maximumNamespace = 256
    private static let instructionEnd = Array("?>".utf8)
    private static let comment = Array("<!--".utf8)
    private static let commentEnd = Array("-->".utf8)
    private static let literal = Array("<![CDATA[".utf8)
    private static let literalEnd = Array("]]>".utf8)
    private static let less = UInt8(ascii: "<")
    private static let greater = UInt8(ascii: ">")

    /// The number of open elements.
    public var depth: Int { open.count }

    // MARK: - Tokens

    /// Reads the next token; `nil` at the end of the document.
    /// - Throws: ``ParsingError`` if the document is invalid, or ends too early.
    public mutating func next() throws(ParsingError) -> Token? {
        if let element = restarted.take() {
            open.append(element)
            return .start
        }
        if pendingEnds > 0 {
            pendingEnds -= 1
            close()
            return .end
        }
        while position < bytes.endIndex {
            if bytes[position] == Self.less {
                if let token = try markup() { return token }
            } else if try readTextToken() {
                return .text
            }
        }
        guard hasRoot, open.isEmpty else { throw ParsingError("it ends too early") }
        return nil
    }

    /// Ends the open elements below a depth, whose end tags are missing or misspelt, except for the one that has just
    /// started. Its start is the next token again.
    public mutating func endElements(below depth: Int) {
        guard let last = open.popLast() else { return }
        restarted = Open(name: last.name, declarations: open.dropFirst(depth).first?.declarations ?? last.declarations)
        open.removeSubrange(min(depth, open.count)...)
    }

    /// Skips the rest of the innermost open element, and its end.
    public mutating func skipElement() throws(ParsingError) {
        let outer = depth - 1
        while depth > outer, try next() != nil {}
    }

    /// Reads the text of the innermost open element and of all elements in it, and its end. The text is cut at the limit.
    public mutating func readText() throws(ParsingError) -> String {
        let outer = depth - 1
        var result = ""
        while depth > outer, let token = try next() {
            if token == .text, result.utf8.count < limits.text { result += text }
        }
        return result
    }

    // MARK: - The present token

    /// The name of the element without its prefix.
    public var name: String { String(decoding: bytes[localStart..<nameRange.upperBound], as: UTF8.self) }

    /// The prefix of the element's name; empty if it has none.
    public var prefix: String { String(decoding: bytes[prefixRange], as: UTF8.self) }

    private var prefixRange: Range<Int> { nameRange.lowerBound..<max(nameRange.lowerBound, localStart - 1) }

    /// The URI of the element's namespace; `nil` if its prefix is not declared.
    public var namespace: String? {
        let prefix = prefixRange
        return declarations.last { isEqual(prefix, $0.prefix) }?.namespace
    }

    /// The text of the present text token, with references replaced.
    public var text: String {
        let range = textRange.prefix(limits.text)
        return isLiteral
            ? String(decoding: bytes[range], as: UTF8.self) : XMLReferences.decoded(bytes[range], isTolerant: isTolerant)
    }

    /// Returns the value of an attribute of the element that has just started.
    /// - Parameter name: The name as it is written, with its prefix. A tolerant reader ignores its case, as HTML does.
    public func attribute(_ name: String) -> String? {
        guard let (_, value) = attributes.first(where: { isEqual($0.name, name, ignoringCase: isTolerant) }) else { return nil }
        return XMLReferences.decoded(bytes[value.prefix(limits.text)], isTolerant: true)
    }

    // MARK: - Text

    /// Returns whether there is a token for the text.
    private mutating func readTextToken() throws(ParsingError) -> Bool {
        let start = position
        position = bytes[position...].firstIndex(of: Self.less) ?? bytes.endIndex
        return try take(start..<position, literally: false)
    }

    private mutating func take(_ range: Range<Int>, literally: Bool) throws(ParsingError) -> Bool {
        if open.isEmpty {
            guard isTolerant || bytes[range].allSatisfy(Self.isSpace) else {
                throw ParsingError("there is text outside its element")
            }
            return false
        }
        if !isTolerant, !literally { try XMLReferences.check(bytes[range]) }
        (textRange, isLiteral) = (range, literally)
        return !range.isEmpty
    }

    // MARK: - Markup

    /// Reads what begins with `<`; `nil` if there is no token for it.
    private mutating func markup() throws(ParsingError) -> Token? {
        guard position + 1 < bytes.endIndex else { throw ParsingError("it ends too early") }
        switch bytes[position + 1] {
        case UInt8(ascii: "?"): _ = try skip(past: Self.instructionEnd)
        case UInt8(ascii: "!"):
            if takes(Self.comment) {
                _ = try skip(past: Self.commentEnd)
            } else if takes(Self.literal) {
                if try take(try skip(past: Self.literalEnd), literally: true) { return .text }
            } else {
                guard isTolerant else { throw ParsingError("it declares a document type") }
                position += 2
                try skipDeclaration()
            }
        case UInt8(ascii: "/"):
            position += 2
            return try endTag()
        default: return try startTag()
        }
        return nil
    }

    private mutating func startTag() throws(ParsingError) -> Token? {
        let start = position
        let name = try? takeName(at: position + 1)
        guard let name else {
            guard isTolerant else { throw ParsingError("a tag has no name") }
            // It is a character of the text.
            position = bytes[(start + 1)...].firstIndex(of: Self.less) ?? bytes.endIndex
            return try take(start..<position, literally: false) ? .text : nil
        }
        count += 1
        guard !hasRoot || !open.isEmpty else {
            if isTolerant {
                position = bytes.endIndex
                return nil
            }
            throw ParsingError("it has too many elements")
        }
        guard count <= limits.elements else { throw ParsingError("it has too many elements") }
        guard open.count < limits.depth else { throw ParsingError("it has more than \(limits.depth) levels of elements") }
        attributes.removeAll(keepingCapacity: true)
        let (range, isEmpty) = try takeAttributes(from: name.upperBound)
        if !range.isEmpty { attributes += XMLAttributes(bytes, in: range).prefix(Self.maximumAttributes) }
        hasRoot = true
        nameRange = name
        localStart = bytes[name].lastIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? name.lowerBound
        open.append(Open(name: name, declarations: declarations.count))
        declareNamespaces()
        if isEmpty { pendingEnds = 1 }
        return .start
    }

    /// Finds the end of a start tag. Returns the range of its attributes, and whether the element is empty.
    private mutating func takeAttributes(from start: Int) throws(ParsingError) -> (Range<Int>, isEmpty: Bool) {
        var index = start
        // Quotation marks count only around a value, which follows `=`.
        var precedesValue = false
        while index < bytes.endIndex {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard precedesValue else {
                    if isTolerant { break }
                    throw ParsingError("a tag has a quotation mark in it")
                }
                guard let close = bytes[(index + 1)...].firstIndex(of: byte) else { throw ParsingError("it ends too early") }
                index = close
            case Self.greater:
                let isEmpty = index > start && bytes[index - 1] == UInt8(ascii: "/")
                position = index + 1
                return (start..<(isEmpty ? index - 1 : index), isEmpty)
            case UInt8(ascii: "/") where !isTolerant:
                guard index + 1 < bytes.endIndex, bytes[index + 1] == Self.greater else {
                    throw ParsingError("a tag has a slash in it")
                }
            case Self.less:
                guard isTolerant else { throw ParsingError("a tag has no end") }
                position = index
                return (start..<index, false)
            default: break
            }
            if !Self.isSpace(byte) { precedesValue = byte == UInt8(ascii: "=") }
            index += 1
        }
        throw ParsingError("it ends too early")
    }

    private mutating func declareNamespaces() {
        for (name, value) in attributes where bytes[name].starts(with: "xmlns".utf8) {
            let rest = bytes[name].dropFirst(5)
            guard rest.first ?? UInt8(ascii: ":") == UInt8(ascii: ":") else { continue }
            guard value.count <= Self.maximumNamespace else { continue }
            guard declarations.count < Self.maximumDeclarations else { return }
            declarations.append(
                Declaration(
                    prefix: String(decoding: rest.dropFirst(), as: UTF8.self),
                    namespace: XMLReferences.decoded(bytes[value], isTolerant: true)))
        }
    }

    private mutating func endTag() throws(ParsingError) -> Token? {
        let name = try? takeName(at: position)
        let end = bytes[position...].firstIndex(of: Self.greater)
        guard let end else { throw ParsingError("it ends too early") }
        guard let name else {
            guard isTolerant else { throw ParsingError("a tag has no name") }
            position = end + 1
            return nil
        }
        if !isTolerant {
            guard bytes[name.upperBound..<end].allSatisfy(Self.isSpace), let last = open.last, isEqual(last.name, name) else {
                throw ParsingError("an end tag matches no start tag")
            }
        }
        position = end + 1
        // The elements in between have no end tags.
        guard let index = open.lastIndex(where: { isEqual($0.name, name) }) else { return nil }
        pendingEnds = open.count - index - 1
        close()
        return .end
    }

    private mutating func close() {
        guard let last = open.popLast() else { return }
        declarations.removeLast(declarations.count - last.declarations)
    }

    /// Skips a document type declaration, and everything that it declares.
    private mutating func skipDeclaration() throws(ParsingError) {
        var nesting = 0
        while position < bytes.endIndex {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard let close = bytes[position...].firstIndex(of: byte) else { throw ParsingError("it ends too early") }
                position = close + 1
            case Self.less where bytes[(position - 1)...].starts(with: Self.comment): _ = try skip(past: Self.commentEnd)
            case UInt8(ascii: "["): nesting += 1
            case UInt8(ascii: "]"): nesting -= 1
            case Self.greater where nesting <= 0: return
            default: break
            }
        }
        throw ParsingError("it ends too early")
    }

    // MARK: - Bytes

    private func isEqual(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).allSatisfy { bytes[$0] == bytes[$1] }
    }

    private func isEqual(_ range: Range<Int>, _ text: String, ignoringCase: Bool = false) -> Bool {
        guard range.count == text.utf8.count else { return false }
        let mask: UInt8 = ignoringCase ? ~0x20 : ~0
        return zip(range, text.utf8).allSatisfy { (bytes[$0] ^ $1) & mask == 0 }
    }

    /// Returns the range of a qualified name.
    private func takeName(at start: Int) throws(ParsingError) -> Range<Int> {
        var end = start
        while end < bytes.endIndex, !Self.isSpace(bytes[end]), !Self.endsName(bytes[end]) { end += 1 }
        guard end > start, Self.beginsName(bytes[start]) else { throw ParsingError("a tag has no name") }
        return start..<end
    }

    private mutating func takes(_ text: [UInt8]) -> Bool {
        let isNext = bytes[position...].starts(with: text)
        if isNext { position += text.count }
        return isNext
    }

    /// Skips a text, and returns the range before it.
    private mutating func skip(past end: [UInt8]) throws(ParsingError) -> Range<Int> {
        let start = position
        while let index = bytes[position...].firstIndex(of: end[0]) {
            if bytes[index...].starts(with: end) {
                position = index + end.count
                return start..<index
            }
            position = index + 1
        }
        position = bytes.endIndex
        throw ParsingError("it ends too early")
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func beginsName(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":") || byte >= 0x80
    }

    private static func endsName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), greater, UInt8(ascii: "="), less, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "&"): true
        default: false
        }
    }
}
