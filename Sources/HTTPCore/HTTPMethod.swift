/// A request's method: RFC 9110 §9, and PATCH of RFC 5789. Methods are case-sensitive: `get` is not `GET`.
public enum HTTPMethod: Sendable, Hashable {
    case get, head, post, put, patch, delete, options, trace, connect
    /// Any other token, as it was sent.
    case other(String)

    /// The method as it stands in a request-line.
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

    /// The method of that name; nil unless it is a token.
    public init?(_ name: String) {
        guard !name.isEmpty, name.utf8.allSatisfy({ ByteSet.token.contains($0) }) else { return nil }
        self.init(token: Array(name.utf8).span)
    }

    /// The method those bytes spell, which must be a token. The usual ones need no allocation.
    init(token: Span<UInt8>) {
        // At most eight bytes make one integer, which is faster to compare than strings are.
        var word: UInt64 = 0
        if token.count <= 8 {
            for index in token.indices { word = word << 8 | UInt64(token[index]) }
        }
        switch word {
        case 0x47_4554: self = .get
        case 0x4845_4144: self = .head
        case 0x504F_5354: self = .post
        case 0x50_5554: self = .put
        case 0x50_4154_4348: self = .patch
        case 0x4445_4C45_5445: self = .delete
        case 0x4F_5054_494F_4E53: self = .options
        case 0x54_5241_4345: self = .trace
        case 0x43_4F4E_4E45_4354: self = .connect
        default:
            var bytes: [UInt8] = []
            bytes.append(token)
            self = .other(String(decoding: bytes, as: UTF8.self))
        }
    }
}

extension HTTPMethod: CustomStringConvertible {
    /// The same as `name`.
    public var description: String { name }
}
