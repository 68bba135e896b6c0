/// A parsed JSON text with the byte ranges of its members and of its outer arrays' elements. Callers can pass them on
/// exactly as they were written.
public struct JSONDocument: Sendable {
    /// An element and its range in ``JSONDocument/bytes``.
    public struct Element: Sendable {
        /// The element.
        public let value: JSONValue
        /// The bytes of the element, without white space around it.
        public let range: Range<Int>
    }

    /// The text.
    public let bytes: [UInt8]
    /// The value that the text represents.
    public let root: JSONValue
    private let outerArrays: [JSONParser.OuterArray]
    private let outerMembers: [JSONParser.OuterMember]

    /// Parses one JSON text by the rules of ``JSONValue/init(parsing:maximumDepth:)``.
    /// - Parameter maximumValues: The maximum number of values. Two bytes of text can become a value of a hundred bytes
    ///   in memory.
    public init(parsing bytes: [UInt8], maximumDepth: Int = 64, maximumValues: Int = .max) throws(JSONError) {
        var parser = JSONParser(
            bytes: bytes, maximumDepth: maximumDepth, maximumValues: maximumValues, locatesElements: true)
        root = try parser.parseText()
        self.bytes = bytes
        outerArrays = parser.outerArrays
        outerMembers = parser.outerMembers
    }

    /// The elements of the text; `nil` unless it is an array.
    public var elements: [Element]? { elements(of: root, at: []) }

    /// The elements of the member called `name`; `nil` unless the text is an object and the member an array.
    public func elements(of name: String) -> [Element]? {
        root[name].flatMap { elements(of: $0, at: [name]) }
    }

    /// The elements of the member `name` of the member `outer`; `nil` unless `outer` is an object and `name` an array.
    public func elements(of name: String, in outer: String) -> [Element]? {
        root[outer]?[name].flatMap { elements(of: $0, at: [outer, name]) }
    }

    /// The member called `name`; `nil` unless the text is an object that has one.
    public func member(_ name: String) -> Element? {
        guard let value = root[name], let member = outerMembers.first(where: { haveSameBytes($0.name, name) }) else { return nil }
        return Element(value: value, range: member.range)
    }

    private func elements(of value: JSONValue, at path: [String]) -> [Element]? {
        guard let values = value.array else { return nil }
        let outer = outerArrays.first { array in
            array.path.count == path.count && zip(array.path, path).allSatisfy { haveSameBytes($0, $1) }
        }
        return outer.map { zip(values, $0.ranges).map { Element(value: $0, range: $1) } }
    }
}
