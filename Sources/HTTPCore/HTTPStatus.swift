/// A response's status: RFC 9110 §15, RFC 6585 and RFC 4918.
public struct HTTPStatus: Sendable, Hashable {
    /// The status code, 100–999, whose first digit is the class.
    public let code: Int

    /// Creates a status. Codes outside 100–999 are clamped, since a status line has exactly three digits.
    public init(_ code: Int) {
        self.code = min(max(code, 100), 999)
    }

    /// Whether the class is 1xx: the response is interim, and another one follows.
    public var isInformational: Bool { code < 200 }
    /// Whether the class is 2xx.
    public var isSuccessful: Bool { code >= 200 && code < 300 }
    /// Whether the class is 5xx.
    public var isServerError: Bool { code >= 500 && code < 600 }

    /// Whether a response of this status never has a body, with any fields: RFC 9112 §6.3.
    public var forbidsBody: Bool { code < 200 || code == 204 || code == 304 }
}

extension HTTPStatus: CustomStringConvertible {
    /// The code and the reason: `404 Not Found`.
    public var description: String {
        reason.isEmpty ? String(code) : "\(code) \(reason)"
    }
}
