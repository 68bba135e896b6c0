/// The protocol version of a message: RFC 9110 §2.5.
public struct HTTPVersion: Sendable, Hashable, Comparable {
    /// The major version, 0–9.
    public let major: Int
    /// The minor version, 0–9.
    public let minor: Int

    /// HTTP/1.0: RFC 1945.
    public static var http10: HTTPVersion { HTTPVersion(major: 1, minor: 0) }
    /// HTTP/1.1: RFC 9112.
    public static var http11: HTTPVersion { HTTPVersion(major: 1, minor: 1) }

    /// Orders by major, then minor version.
    public static func < (left: HTTPVersion, right: HTTPVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }
}

extension HTTPVersion: CustomStringConvertible {
    /// The wire form: `HTTP/1.1`.
    public var description: String { "HTTP/\(major).\(minor)" }
}
