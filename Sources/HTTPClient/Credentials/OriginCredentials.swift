/// The operator's user agent, logins, cookies and fields for origins, by host. They are sent with each request for an
/// origin, on every hop by that hop's host, and to no other host.
///
/// Its descriptions hide the contents, so that no secret can get into a log.
public struct OriginCredentials: Sendable {
    /// The User-Agent of requests for origins; nil: the same as for all requests.
    public var userAgent: String?
    /// User names and passwords.
    public var netrc = NetrcFile()
    /// Cookies, which are never changed.
    public var cookies = CookieFile()
    /// Other fields.
    public var headers = HeaderFile()

    /// Creates credentials without contents.
    public init() {}
}

extension OriginCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text without the contents.
    public var description: String { "credentials (hidden)" }
    /// A text without the contents.
    public var debugDescription: String { description }
    /// A mirror without the contents.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An error in a file of credentials. It repeats no word of the line, since any of them may be a secret.
public struct CredentialFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The number of the line, from 1.
    public let line: Int
    /// The expected contents of the line.
    public let reason: String

    /// The line and its expected contents.
    public var description: String { "line \(line): \(reason)" }

    /// Parses the lines of a file in order, without their line ends.
    static func read(
        _ bytes: [UInt8], _ parse: (_ line: ArraySlice<UInt8>, _ number: Int) throws(LineFault) -> Void
    ) throws(CredentialFault) {
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            do throws(LineFault) {
                try parse(line.last == UInt8(ascii: "\r") ? line.dropLast() : line, index + 1)
            } catch {
                throw CredentialFault(line: index + 1, reason: error.reason)
            }
        }
    }
}

/// The expected contents of a malformed line.
struct LineFault: Error {
    let reason: String
}

/// The limits of credentials.
public enum CredentialLimits {
    /// The maximum size of a file in bytes. A browser exports a few thousand cookies of some hundred bytes.
    public static let fileBytes = 4 << 20
    /// The maximum length of a value of the header file in bytes.
    static let headerValue = 8192
    /// The maximum length of a name and value of a cookie in bytes (RFC 6265 §6.1).
    static let cookie = 4096
    /// The maximum number of cookies of one transfer. Browsers keep 50 for a host and some more for its domains.
    static let cookies = 100
    /// The maximum length of a Cookie field in bytes, without the caller's own cookies. Servers refuse longer ones.
    static let cookieField = 8190
    /// The maximum number of origins whose Digest challenges are kept. When it is reached, all are removed.
    static let challenges = 256
}
