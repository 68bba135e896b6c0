/// A request's method: RFC 9110 §9, and PATCH of RFC 5789. Methods are case-sensitive: `get` is not `GET`.
public enum HTTPMethod: Sendable, Hashable {
    case get, head, post, put, patch, delete, options, trace, connect
    /// Any other token, as it was sent.
    case other(String)

    /// The method in the spelling of the request line.
    public var name: String {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .trace: "TRACE"
        case .connect: "CONNECT"
        case .other(let name): name
        }
    }

    /// Creates the method of a name, which must be a token.
    init(token name: Span<UInt8>) {
        // The most frequent name is compared without making text of it.
        if name.count == 3, name[0] == UInt8(ascii: "G"), name[1] == UInt8(ascii: "E"), name[2] == UInt8(ascii: "T") {
            self = .get
        } else {
            self.init(token: String(fieldText: name))
        }
    }

    /// Creates the method of a name, which must be a token.
    init(token name: String) {
        self = Self.known.first { $0.name == name } ?? .other(name)
    }

    private static let known: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .options, .trace, .connect]
}

extension HTTPMethod: CustomStringConvertible {
    /// The same as ``name``.
    public var description: String { name }
}
