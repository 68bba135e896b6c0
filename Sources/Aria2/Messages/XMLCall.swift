internal import HTTPCore
internal import JSON
internal import XML

/// Reads a call of XML-RPC (http://xmlrpc.com/spec.md): a `methodCall` with its parameters.
///
/// Values become JSON values. As in aria2, a `double` becomes a string. `nil` and an invalid `int` are left out of their
/// list or struct.
struct XMLCallReader {
    private var reader: XMLReader

    /// - Parameter charset: The encoding that the media type names; `nil` if it names none.
    init(_ text: [UInt8], charset: String?) {
        var limits = XMLReader.Limits()
        limits.text = .max
        reader = XMLReader(TextEncoding.decoded(text, charset: charset).text, isTolerant: false, limits: limits)
    }

    /// Returns the call; its method is empty if the document names none.
    mutating func read() throws(XMLReader.ParsingError) -> RPCCall {
        var method = ""
        var parameters: [JSONValue] = []
        guard try reader.next() == .start else { throw XMLReader.ParsingError("it has no element") }
        let isCall = reader.name == "methodCall"
        try readChildren { reader, name throws(XMLReader.ParsingError) in
            switch name {
            case "methodName" where isCall: method = try reader.reader.readText()
            case "params" where isCall:
                parameters = []
                try reader.readChildren("param") { reader throws(XMLReader.ParsingError) in
                    try reader.readValues { parameters.append($0) }
                }
            default: try reader.reader.skipElement()
            }
        }
        // Nothing may follow the element.
        while try reader.next() != nil {}
        return RPCCall(method: method, parameters: parameters)
    }

    /// Reads the children of the innermost open element, and its end.
    /// - Parameter body: Reads a child with a name, and its end.
    private mutating func readChildren(
        _ body: (inout Self, String) throws(XMLReader.ParsingError) -> Void
    ) throws(XMLReader.ParsingError) {
        let depth = reader.depth
        while reader.depth >= depth, let token = try reader.next() {
            if token == .start { try body(&self, reader.name) }
        }
    }

    /// Reads the children with a name. Others are skipped.
    private mutating func readChildren(
        _ wanted: String, _ body: (inout Self) throws(XMLReader.ParsingError) -> Void
    ) throws(XMLReader.ParsingError) {
        try readChildren { reader, name throws(XMLReader.ParsingError) in
            if name == wanted { try body(&reader) } else { try reader.reader.skipElement() }
        }
    }

    private mutating func readValues(_ take: (JSONValue) -> Void) throws(XMLReader.ParsingError) {
        try readChildren("value") { reader throws(XMLReader.ParsingError) in
            if let value = try reader.readValue() { take(value) }
        }
    }

    /// Reads the innermost open `value`, and its end. Text without a type is a string.
    /// - Returns: `nil` if the value is left out.
    private mutating func readValue() throws(XMLReader.ParsingError) -> JSONValue? {
        let depth = reader.depth
        var text = ""
        var typed: JSONValue??
        while reader.depth >= depth, let token = try reader.next() {
            switch token {
            case .text: text += reader.text
            case .start: typed = .some(try readValue(ofType: reader.name))
            case .end: break
            }
        }
        return typed ?? .string(text)
    }

    private mutating func readValue(ofType type: String) throws(XMLReader.ParsingError) -> JSONValue? {
        switch type {
        case "string", "double", "dateTime.iso8601": return .string(try reader.readText())
        case "int", "i4", "i8": return Int64(try readWord()).map(JSONValue.integer)
        case "boolean":
            let word = try readWord()
            return ["0": false, "1": true][word].map(JSONValue.bool)
        case "base64":
            let digits = try reader.readText().utf8.filter { $0 > 0x20 }
            return .string(String(decoding: Base64.decode(digits) ?? [], as: UTF8.self))
        case "array":
            var elements: [JSONValue] = []
            try readChildren("data") { reader throws(XMLReader.ParsingError) in
                try reader.readValues { elements.append($0) }
            }
            return .array(elements)
        case "struct": return .object(try readMembers())
        default:
            try reader.skipElement()
            return nil
        }
    }

    /// Reads text without the white space around it.
    private mutating func readWord() throws(XMLReader.ParsingError) -> String {
        try reader.readText().split { $0.isWhitespace }.joined(separator: " ")
    }

    private mutating func readMembers() throws(XMLReader.ParsingError) -> [JSONMember] {
        var members: [JSONMember] = []
        var names: Set<String> = []
        try readChildren("member") { reader throws(XMLReader.ParsingError) in
            var name = ""
            var value: JSONValue?
            try reader.readChildren { reader, child throws(XMLReader.ParsingError) in
                switch child {
                case "name": name = try reader.reader.readText()
                case "value": value = try reader.readValue()
                default: try reader.reader.skipElement()
                }
            }
            guard let value else { return }
            guard names.insert(name).inserted else { throw XMLReader.ParsingError("a struct has two members of one name") }
            members.append(JSONMember(name: name, value: value))
        }
        return members
    }
}
