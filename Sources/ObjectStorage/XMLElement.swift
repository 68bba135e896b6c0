internal import HTTPCore

/// An element of a small XML document (XML 1.0). Supports the parts of the language that S3 uses, within limits.
///
/// Attributes, comments and processing instructions are ignored, prefixes of names are removed, and text is joined.
/// Documents with a document type declaration are refused. Only the five named entities and character references are
/// expanded.
struct XMLElement: Sendable, Equatable {
    /// The name without a prefix.
    var name: String
    /// The text directly in the element.
    var text = ""
    /// The elements directly in the element.
    var children: [XMLElement] = []

    /// The reason why a document is invalid or refused.
    struct ParsingError: Error, Equatable {
        let problem: String

        init(_ problem: String) { self.problem = problem }
    }

    /// The maximum nesting of elements; responses of S3 have four levels.
    static let maximumDepth = 16
    /// The maximum number of elements; a page of 1,000 objects has about 10,000.
    static let maximumElements = 100_000

    /// The first child with this name.
    subscript(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    /// Parses a document.
    static func parse(_ bytes: [UInt8]) throws(ParsingError) -> XMLElement {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw ParsingError("it is not UTF-8") }
        var scanner = Scanner(bytes)
        return try scanner.document()
    }

    private struct Scanner {
        private var rest: ArraySlice<UInt8>
        /// The open elements, the innermost last.
        private var open: [XMLElement] = []
        private var root: XMLElement?
        private var count = 0

        init(_ bytes: [UInt8]) {
            rest = bytes[...]
            if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        }

        mutating func document() throws(ParsingError) -> XMLElement {
            while !rest.isEmpty {
                if rest.first == UInt8(ascii: "<") { try markup() } else { try text() }
            }
            guard let root, open.isEmpty else { throw ParsingError("it ends too early") }
            return root
        }

        private mutating func markup() throws(ParsingError) {
            if take("<?") {
                _ = try skip(past: "?>")
            } else if take("<!--") {
                _ = try skip(past: "-->")
            } else if take("<![CDATA[") {
                try append(String(decoding: try skip(past: "]]>"), as: UTF8.self))
            } else if take("<!") {
                throw ParsingError("it declares a document type")
            } else if take("</") {
                let name = try name()
                skipSpace()
                guard take(">"), let element = open.popLast(), element.name == name else {
                    throw ParsingError("an end tag matches no start tag")
                }
                close(element)
            } else {
                rest = rest.dropFirst()
                try startTag()
            }
        }

        private mutating func startTag() throws(ParsingError) {
            let element = XMLElement(name: try name())
            count += 1
            guard root == nil, count <= XMLElement.maximumElements, open.count < XMLElement.maximumDepth else {
                throw ParsingError("it has too many elements")
            }
            // Skips attributes; quoted values may contain any character.
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "'"):
                    guard let end = rest.firstIndex(of: byte) else { throw ParsingError("it ends too early") }
                    rest = rest[(end + 1)...]
                case UInt8(ascii: "/"):
                    guard take(">") else { throw ParsingError("a tag has a slash in it") }
                    return close(element)
                case UInt8(ascii: ">"):
                    return open.append(element)
                case UInt8(ascii: "<"):
                    throw ParsingError("a tag has no end")
                default: break
                }
            }
            throw ParsingError("it ends too early")
        }

        private mutating func close(_ element: XMLElement) {
            if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
        }

        private mutating func text() throws(ParsingError) {
            let end = rest.firstIndex(of: UInt8(ascii: "<")) ?? rest.endIndex
            let raw = rest[..<end]
            rest = rest[end...]
            try append(try decoded(raw))
        }

        /// Appends text to the innermost element. Outside the root element only white space is allowed.
        private mutating func append(_ text: String) throws(ParsingError) {
            if open.isEmpty {
                guard text.utf8.allSatisfy(isSpace) else { throw ParsingError("there is text outside its element") }
            } else {
                open[open.count - 1].text += text
            }
        }

        private func decoded(_ raw: ArraySlice<UInt8>) throws(ParsingError) -> String {
            guard raw.contains(UInt8(ascii: "&")) else { return String(decoding: raw, as: UTF8.self) }
            var result = ""
            var rest = raw
            while let ampersand = rest.firstIndex(of: UInt8(ascii: "&")) {
                result += String(decoding: rest[..<ampersand], as: UTF8.self)
                // The longest is &#x10FFFF;.
                let limit = min(ampersand + 12, rest.endIndex)
                guard let end = rest[ampersand..<limit].firstIndex(of: UInt8(ascii: ";")),
                    let scalar = scalar(String(decoding: rest[(ampersand + 1)..<end], as: UTF8.self))
                else { throw ParsingError("it has an unknown entity") }
                result.unicodeScalars.append(scalar)
                rest = rest[(end + 1)...]
            }
            return result + String(decoding: rest, as: UTF8.self)
        }

        private func scalar(_ entity: String) -> UnicodeScalar? {
            switch entity {
            case "lt": "<"
            case "gt": ">"
            case "amp": "&"
            case "quot": "\""
            case "apos": "'"
            default:
                if entity.hasPrefix("#x") {
                    UInt32(entity.dropFirst(2), radix: 16).flatMap(UnicodeScalar.init)
                } else if entity.hasPrefix("#") {
                    UInt32(entity.dropFirst()).flatMap(UnicodeScalar.init)
                } else {
                    nil
                }
            }
        }

        /// Parses a name, and removes its prefix.
        private mutating func name() throws(ParsingError) -> String {
            let name = rest.prefix { !isSpace($0) && !"/>=<\"'&".utf8.contains($0) }
            guard !name.isEmpty else { throw ParsingError("a tag has no name") }
            rest = rest[name.endIndex...]
            let local = name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
            return String(decoding: local, as: UTF8.self)
        }

        private mutating func take(_ text: String) -> Bool {
            guard rest.starts(with: text.utf8) else { return false }
            rest = rest.dropFirst(text.utf8.count)
            return true
        }

        /// Skips a text, and returns the bytes before it.
        private mutating func skip(past text: String) throws(ParsingError) -> ArraySlice<UInt8> {
            let end = Array(text.utf8)
            var index = rest.startIndex
            while index + end.count <= rest.endIndex {
                if rest[index] == end[0], rest[index...].starts(with: end) {
                    defer { rest = rest[(index + end.count)...] }
                    return rest[..<index]
                }
                index += 1
            }
            throw ParsingError("it ends too early")
        }

        private mutating func skipSpace() { rest = rest.drop(while: isSpace) }

        private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    }
}
