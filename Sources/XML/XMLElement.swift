/// An element of a small XML document, such as a response of S3. The document is read strictly.
///
/// Attributes, comments and processing instructions are ignored, prefixes of names are removed, and text is joined.
/// Documents with a document type declaration are refused. Only the five named entities and character references are
/// expanded.
public struct XMLElement: Sendable, Equatable {
    /// The name without a prefix.
    public let name: String
    /// The text directly in the element.
    public private(set) var text = ""
    /// The elements directly in the element.
    public private(set) var children: [XMLElement] = []

    /// The maximum nesting of elements; responses of S3 have four levels.
    static let maximumDepth = 16
    /// The maximum number of elements; a page of 1,000 objects has about 10,000.
    static let maximumElements = 100_000

    private init(name: String) { self.name = name }

    /// The first child with this name.
    public subscript(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    /// The first element that has a child with one of these names: this one, or one within it. `nil` if there is none.
    public func holder(of names: String...) -> XMLElement? { holder(ofAny: names) }

    private func holder(ofAny names: [String]) -> XMLElement? {
        if children.contains(where: { names.contains($0.name) }) { return self }
        return children.lazy.compactMap { $0.holder(ofAny: names) }.first
    }

    /// Parses a document.
    /// - Throws: ``XMLReader/ParsingError`` if it is invalid, not UTF-8 or too large.
    public static func parse(_ bytes: [UInt8]) throws(XMLReader.ParsingError) -> XMLElement {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw XMLReader.ParsingError("it is not UTF-8") }
        var limits = XMLReader.Limits()
        limits.depth = maximumDepth
        limits.elements = maximumElements
        limits.text = .max
        var reader = XMLReader(bytes, isTolerant: false, limits: limits)
        /// The open elements, the innermost last, in the document.
        var open = [XMLElement(name: "")]
        while let token = try reader.next() {
            switch token {
            case .start: open.append(XMLElement(name: reader.name))
            case .text: open[open.count - 1].text += reader.text
            case .end:
                let element = open.removeLast()
                open[open.count - 1].children.append(element)
            }
        }
        return open[0].children[0]
    }
}
