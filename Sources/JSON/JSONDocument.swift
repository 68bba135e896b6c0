/// A parsed JSON text that remembers where its members and the elements of its outer arrays stand, so that they can be passed on as they were
/// written.
public struct JSONDocument: Sendable {
    /// An element and its place in ``JSONDocument/bytes``.
    public struct Element: Sendable {
        /// The element.
        public let value: JSONValue
        /// The bytes it was written in, without white space around it.
        public let range: Range<Int>
    }

    /// The text.
    public let bytes: [UInt8]
    /// The value the text stands for.
    public let root: JSONValue
    private let outerArrays: [JSONParser.OuterArray]
    private let outerMembers: [(name: String, range: Range<Int>)]

    /// Parses one JSON text by the rules of ``JSONValue/init(parsing:maximumDepth:)``.
    public init(parsing bytes: [UInt8], maximumDepth: Int = 64) throws(JSONError) {
        var parser = JSONParser(bytes: bytes, maximumDepth: maximumDepth, locatesElements: true)
        root = try parser.parseText()
        self.bytes = bytes
        outerArrays = parser.outerArrays
        outerMembers = parser.outerMembers
    }

    /// Where the value of the member called `name` stands in ``bytes``, without white space around it; `nil` if there is none.
    public func place(of name: String) -> Range<Int>? {
        outerMembers.first { haveSameBytes($0.name, name) }?.range
    }

    /// The elements of the text, if it is an array.
    public var elements: [Element]? { elements(of: root, named: nil) }

    /// The elements of the member called `name`, if the text is an object and that member an array.
    public func elements(of name: String) -> [Element]? {
        root[name].flatMap { elements(of: $0, named: name) }
    }

    private func elements(of value: JSONValue, named name: String?) -> [Element]? {
        guard let values = value.array else { return nil }
        let outer = outerArrays.first { array in
            switch (array.name, name) {
            case (nil, nil): true
            case (let first?, let second?): haveSameBytes(first, second)
            default: false
            }
        }
        return outer.map { zip(values, $0.ranges).map { Element(value: $0, range: $1) } }
    }
}
