/// The protocol version of a message: RFC 9110 §2.5.
public struct HTTPVersion: Sendable, Hashable, Comparable {
    /// 0–9.
    public let major: Int
    /// 0–9.
    public let minor: Int

    /// A version as the two digits of `HTTP/major.minor`.
    public init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// HTTP/1.0: RFC 1945.
    public static var http10: HTTPVersion { HTTPVersion(major: 1, minor: 0) }
    /// HTTP/1.1: RFC 9112.
    public static var http11: HTTPVersion { HTTPVersion(major: 1, minor: 1) }

    /// Orders by major, then minor.
    public static func < (left: HTTPVersion, right: HTTPVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }
}

extension HTTPVersion: CustomStringConvertible {
    /// As on the wire: `HTTP/1.1`.
    public var description: String { "HTTP/\(major).\(minor)" }
}
