/// The contents of `openapi.yaml` as a tree. Supports only the parts of YAML that the document uses.
struct DocumentOutline: Sendable {
    /// The key; `-` for an item of a list.
    let key: String
    /// The text after the key, without quotes; a list in brackets stays as written.
    var value = ""
    var children: [DocumentOutline] = []

    /// The child with this name.
    subscript(key: String) -> DocumentOutline? { children.first { $0.key == key } }

    /// The text of the child with this name.
    func text(_ key: String) -> String? { self[key]?.value }

    /// The texts of a list, in brackets or one per line.
    var items: [String] {
        guard children.isEmpty else { return children.map(\.value) }
        guard value.hasPrefix("[") else { return [] }
        return Self.parts(of: value).map(Self.unquoted)
    }
}

extension DocumentOutline {
    /// Parses a whole document.
    init(parsing document: String) {
        var reader = Reader(lines: document.split(separator: "\n").filter { !$0.allSatisfy { $0 == " " } }[...])
        self.init(key: "", children: reader.children(at: 0))
    }

    /// Parses a document line by line.
    private struct Reader {
        var lines: ArraySlice<Substring>
        /// The nodes with an anchor `&name`, for aliases `*name`.
        var anchors: [Substring: [DocumentOutline]] = [:]

        private func indentation(of line: Substring) -> Int { line.prefix { $0 == " " }.count }

        /// The nodes whose keys have this indentation.
        mutating func children(at indentation: Int) -> [DocumentOutline] {
            var nodes: [DocumentOutline] = []
            while let line = lines.first, self.indentation(of: line) == indentation {
                nodes.append(node(line.dropFirst(indentation), at: indentation))
            }
            return nodes
        }

        private mutating func node(_ text: Substring, at indentation: Int) -> DocumentOutline {
            if text.hasPrefix("- ") {
                let rest = text.dropFirst(2)
                guard !rest.hasPrefix("{"), DocumentOutline.member(rest) != nil else {
                    lines.removeFirst()
                    return DocumentOutline.flow(key: "-", rest)
                }
                // The item's members are indented by two more.
                lines[lines.startIndex] = Substring(String(repeating: " ", count: indentation + 2) + rest)
                return DocumentOutline(key: "-", children: children(at: indentation + 2))
            }
            lines.removeFirst()
            guard let (key, value) = DocumentOutline.member(text) else { return DocumentOutline(key: String(text)) }
            if value.hasPrefix("*") { return DocumentOutline(key: key, children: anchors[value.dropFirst()] ?? []) }
            if value == "|" { return DocumentOutline(key: key, value: continuation(beyond: indentation)) }
            guard value.isEmpty || value.hasPrefix("&") else {
                let more = continuation(beyond: indentation)
                return DocumentOutline.flow(key: key, more.isEmpty ? value : Substring(value + " " + more))
            }
            guard let next = lines.first, self.indentation(of: next) > indentation else { return DocumentOutline(key: key) }
            // A list that begins on the line after its key.
            if next.drop(while: { $0 == " " }).hasPrefix("[") {
                return DocumentOutline(key: key, value: continuation(beyond: indentation))
            }
            let nodes = children(at: self.indentation(of: next))
            if value.hasPrefix("&") { anchors[value.dropFirst()] = nodes }
            return DocumentOutline(key: key, children: nodes)
        }

        /// The more deeply indented lines, joined.
        private mutating func continuation(beyond indentation: Int) -> String {
            var words: [Substring] = []
            while let line = lines.first, self.indentation(of: line) > indentation {
                words.append(line.drop { $0 == " " })
                lines.removeFirst()
            }
            return words.joined(separator: " ")
        }
    }

    /// A node from the text after its key. The members of `{ a: b, c: d }` become its children.
    private static func flow(key: String, _ text: Substring) -> DocumentOutline {
        guard text.hasPrefix("{") else { return DocumentOutline(key: key, value: unquoted(text)) }
        let children = parts(of: text).compactMap { part in member(part).map { flow(key: $0.key, $0.value) } }
        return DocumentOutline(key: key, children: children)
    }

    /// The key and value of `key: value` or `key:`.
    private static func member(_ text: Substring) -> (key: String, value: Substring)? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let rest = text[colon...].dropFirst()
        guard rest.isEmpty || rest.hasPrefix(" ") else { return nil }
        return (unquoted(text[..<colon]), rest.drop { $0 == " " })
    }

    /// The text between a pair of brackets or braces, split at its outer commas.
    private static func parts(of text: some StringProtocol) -> [Substring] {
        var parts: [Substring] = []
        let inner = Substring(text).dropFirst().dropLast()
        var begin = inner.startIndex
        var depth = 0
        var quote: Character?
        for index in inner.indices {
            let character = inner[index]
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "\"" || character == "'" {
                // Within a word it is an apostrophe.
                if index == begin || " [{,".contains(inner[inner.index(before: index)]) { quote = character }
            } else if "[{".contains(character) {
                depth += 1
            } else if "]}".contains(character) {
                depth -= 1
            } else if character == ",", depth == 0 {
                parts.append(inner[begin..<index])
                begin = inner.index(after: index)
            }
        }
        parts.append(inner[begin...])
        return parts.map { part in
            let rest = part.drop { $0 == " " }
            return rest.prefix(rest.count - rest.reversed().prefix { $0 == " " }.count)
        }
    }

    private static func unquoted(_ text: some StringProtocol) -> String {
        guard let quote = text.first, quote == "\"" || quote == "'", text.count > 1, text.last == quote else {
            return String(text)
        }
        return String(text.dropFirst().dropLast())
    }
}
