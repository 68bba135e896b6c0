import XML

extension OPML {
    /// Reads a document. The mistakes of real documents are accepted, as in feeds: names in any case, a bare `&`, HTML
    /// entities, and outlines outside of a body. Outlines without `xmlUrl` are groups.
    /// - Parameters:
    ///   - bytes: The document.
    ///   - charset: The `charset` of its media type; `nil` if it has none.
    /// - Throws: ``Refusal`` if the document is no OPML, breaks off, or exceeds a limit.
    public init(reading bytes: [UInt8], charset: String? = nil) throws(Refusal) {
        guard bytes.count <= Limits.bytes else { throw Refusal(finding: "is longer than \(Limits.bytes >> 20) MiB") }
        if let phrase = FileSignature.phrase(bytes) { throw Refusal(finding: "is \(phrase)") }
        let decoded = TextEncoding.decoded(bytes, charset: charset)
        var document = OPMLDocument(XMLReader(decoded.text, isTolerant: true))
        try document.read()
        self = document.list
        if let warning = decoded.warning { warnings.append(warning) }
    }
}

/// Reads the elements of an OPML document.
private struct OPMLDocument {
    private(set) var list = OPML()
    private var reader: XMLReader
    /// The number of outlines so far.
    private var count = 0
    /// The open outlines: the depth of each, and its name if it is a group.
    private var open: [(depth: Int, label: String?)] = []

    init(_ reader: XMLReader) { self.reader = reader }

    mutating func read() throws(OPML.Refusal) {
        guard (try? reader.next()) == .start else { throw OPML.Refusal(finding: "is no XML") }
        let root = reader.name.lowercased()
        guard root == "opml" else {
            throw OPML.Refusal(finding: root == "html" ? "is a page (HTML)" : "is XML of another kind (\(root.prefix(40)))")
        }
        while let token = try next() {
            guard token == .start else { continue }
            while let last = open.last, last.depth >= reader.depth { open.removeLast() }
            switch reader.name.lowercased() {
            case "outline": try readOutline()
            case "title" where list.title == nil && open.isEmpty: try readTitle()
            default: break
            }
        }
    }

    private mutating func next() throws(OPML.Refusal) -> XMLReader.Token? {
        do throws(XMLReader.ParsingError) {
            return try reader.next()
        } catch {
            throw OPML.Refusal(finding: "breaks off after \(count) outlines: \(error.problem)")
        }
    }

    private mutating func readTitle() throws(OPML.Refusal) {
        let outer = reader.depth - 1
        var title = ""
        do throws(XMLReader.ParsingError) {
            while reader.depth > outer, let token = try reader.next() {
                if token == .text, title.utf8.count < XMLReader.Limits().text { title += reader.text }
                // The title has no end tag, or a misspelt one.
                if token == .start { reader.endElements(below: outer) }
            }
            list.title = FeedBuilder.plain(title)
        } catch {
            throw OPML.Refusal(finding: "breaks off in its title: \(error.problem)")
        }
    }

    private mutating func readOutline() throws(OPML.Refusal) {
        count += 1
        guard count <= OPML.Limits.outlines else {
            throw OPML.Refusal(finding: "has more than \(OPML.Limits.outlines) outlines")
        }
        guard open.count < OPML.Limits.levels else {
            throw OPML.Refusal(finding: "has more than \(OPML.Limits.levels) levels of outlines")
        }
        let name = (text("title") ?? text("text")).flatMap(FeedBuilder.plain)
        guard let address = text("xmlUrl") else { return open.append((reader.depth, name)) }
        var labels: [String] = []
        for case let label? in open.map(\.label) + tags.prefix(OPML.Limits.tags) where !labels.contains(label) {
            labels.append(label)
        }
        list.outlines.append(OPML.Outline(address: address, title: name, page: text("htmlUrl"), labels: labels))
        open.append((reader.depth, nil))
    }

    /// The categories without slashes (http://opml.org/spec2.opml). A slash in front of one is accepted.
    private var tags: [String?] {
        (text("category") ?? "").split(separator: ",").map { category in
            let tag = category.drop { $0 == "/" || $0 == " " }
            return tag.contains("/") ? nil : FeedBuilder.plain(String(tag))
        }
    }

    /// Returns an attribute without surrounding and repeated white space; `nil` if it is missing or empty.
    private func text(_ attribute: String) -> String? {
        let text = FeedBuilder.collapsed(reader.attribute(attribute) ?? "")
        return text.isEmpty ? nil : text
    }
}
