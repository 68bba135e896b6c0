/// One proxy's information on a request that it forwarded: an element of `Forwarded`, RFC 7239 §4.
public struct ForwardedElement: Sendable, Hashable {
    /// The node that sent the request to the proxy (`for`).
    public var node: ForwardedNode?
    /// The `Host` of the request that the proxy received.
    public var host: String?
    /// The scheme of the request that the proxy received, in lowercase.
    public var scheme: String?

    /// Creates an element without parameters.
    public init() {}

    /// Parses the field by the strict rules of §4: no white space within an element, no repeated parameter, and a valid
    /// value for every parameter. Nil if any of it is malformed. The position of a mistake is unknown, so none of the
    /// field can be trusted.
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
            // RFC 9110 §5.6.1: empty members of a list are skipped.
            reader.skipWhiteSpace()
        }
        return elements
    }

    /// Stores one parameter; returns false if its value is invalid.
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
            // RFC 3986 §3.1 defines the characters of a scheme.
            guard let first = value.first, ASCII.isAlpha(first),
                value.allSatisfy({ ASCII.isAlpha($0) || ASCII.isDigit($0) || "+-.".utf8.contains($0) })
            else { return false }
            scheme = String(decoding: value.map(ASCII.lowercased), as: UTF8.self)
        default: break
        }
        return true
    }

    /// A reader that consumes the field from its beginning.
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

        /// Reads the pairs of an element, separated by semicolons; nil if they are malformed.
        mutating func element() -> ForwardedElement? {
            var element = ForwardedElement()
            var names: Set<String> = []
            repeat {
                // RFC 7239 §4: there may be an empty pair between two semicolons.
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

        /// Reads a token or a quoted string, without its quotes; nil if neither is next.
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
