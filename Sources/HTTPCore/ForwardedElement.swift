/// What one proxy says of a request that it sent on: an element of `Forwarded`, RFC 7239 §4.
public struct ForwardedElement: Sendable, Hashable {
    /// Who sent the request to the proxy (`for`).
    public var node: ForwardedNode?
    /// The `Host` that came with it.
    public var host: String?
    /// The scheme by which it came, in lower case.
    public var scheme: String?

    /// An element that says nothing.
    public init() {}

    /// Reads the field as strictly as §4 has it: no white space within an element, no parameter twice, every value what its parameter
    /// takes. Nil if any of it is malformed, for then nobody knows where it went wrong: none of it can be believed.
    public static func list(parsing field: String) -> [ForwardedElement]? {
        var reader = Reader(rest: Array(field.utf8)[...])
        var elements: [ForwardedElement] = []
        reader.skipWhiteSpace()
        while !reader.rest.isEmpty {
            if !reader.takes(ASCII.comma) {
                guard let element = reader.element() else { return nil }
                elements.append(element)
                reader.skipWhiteSpace()
                guard reader.rest.isEmpty || reader.takes(ASCII.comma) else { return nil }
            }
            // RFC 9110 §5.6.1: empty members of a list are left out.
            reader.skipWhiteSpace()
        }
        return elements
    }

    /// Takes one parameter; false if its value is not what it takes.
    fileprivate mutating func take(_ name: String, _ value: [UInt8]) -> Bool {
        switch name {
        case "for":
            node = ForwardedNode(parsing: value[...])
            return node != nil
        case "by": return ForwardedNode(parsing: value[...]) != nil
        case "host":
            guard Authority.isValid(value.span) else { return false }
            host = String(decoding: value, as: UTF8.self)
        case "proto":
            // RFC 3986 §3.1.
            guard let first = value.first, ASCII.isAlpha(first),
                value.allSatisfy({ ASCII.isAlpha($0) || ASCII.isDigit($0) || "+-.".utf8.contains($0) })
            else { return false }
            scheme = String(decoding: value.map(ASCII.lowercased), as: UTF8.self)
        default: break
        }
        return true
    }

    /// Takes the field apart from its beginning.
    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func skipWhiteSpace() {
            rest = rest.drop(while: ASCII.isWhiteSpace)
        }

        mutating func takes(_ byte: UInt8) -> Bool {
            guard rest.first == byte else { return false }
            rest = rest.dropFirst()
            return true
        }

        /// Pairs with semicolons between them; nil if they are malformed.
        mutating func element() -> ForwardedElement? {
            var element = ForwardedElement()
            var names: Set<String> = []
            repeat {
                // Between two semicolons there may be nothing.
                guard let first = rest.first, ByteSet.token.contains(first) else { continue }
                let name = String(decoding: takeToken().map(ASCII.lowercased), as: UTF8.self)
                guard takes(ASCII.equals), let value = takeValue(), names.insert(name).inserted, element.take(name, value)
                else { return nil }
            } while takes(ASCII.semicolon)
            return element
        }

        private mutating func takeToken() -> ArraySlice<UInt8> {
            let token = rest.prefix(while: ByteSet.token.contains)
            rest = rest[token.endIndex...]
            return token
        }

        /// A token or a quoted string without its quotes; nil for neither.
        private mutating func takeValue() -> [UInt8]? {
            guard takes(ASCII.doubleQuote) else {
                let token = takeToken()
                return token.isEmpty ? nil : Array(token)
            }
            var value: [UInt8] = []
            while let byte = rest.popFirst() {
                switch byte {
                case ASCII.doubleQuote: return value
                case ASCII.backslash:
                    guard let escaped = rest.popFirst() else { return nil }
                    value.append(escaped)
                default: value.append(byte)
                }
            }
            return nil
        }
    }
}
