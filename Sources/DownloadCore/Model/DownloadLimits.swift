internal import HTTPCore

/// The limits of the values of a download. Its record keeps all of them, so each needs a limit.
///
/// ``DownloadOptions`` has no values beyond them. Front ends read their limits here, and refuse other values with the name of
/// the client's parameter.
public enum DownloadLimits {
    /// The maximum number of characters of a URL, as written. Most origins allow as many bytes for the request line.
    public static let url = 8192
    /// The maximum number of mirrors.
    public static let mirrors = 16
    /// The maximum number of header fields.
    public static let headers = 50
    /// The maximum number of bytes in the name of a header field.
    public static let headerName = 256
    /// The maximum number of bytes in the value of a header field.
    public static let headerValue = 8192
    /// The maximum number of labels.
    public static let labels = 32
    /// The maximum number of characters in a label.
    public static let label = 200
    /// The maximum number of bytes in the JSON of a search result.
    public static let track = 64 * 1024
    /// The maximum number of characters of a name, as written. `FileNaming` allows fewer bytes.
    public static let filename = 1024
    /// The maximum number of characters of a folder: eight names and the slashes between them.
    public static let folder = 1607
    /// The maximum number of characters of a media type.
    public static let mediaType = 256
    /// The possible numbers of connections for one file.
    public static let segments = 1...16
    /// The possible time limits of requests in seconds; 0 is no limit.
    public static let timeouts = 0...86_400
    /// The possible priorities.
    public static let priorities = -10...10

    /// Whether a text can be a label: neither empty nor too long, and without control characters.
    public static func isLabel(_ text: String) -> Bool {
        !text.isEmpty && isWithin(text, label)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }

    /// Whether a text is a media type, or a pattern such as `audio/*` or `*/*`.
    public static func isMediaTypePattern(_ text: String) -> Bool {
        guard isWithin(text, mediaType) else { return false }
        return text == "*/*" || MediaType(parsing: text.hasSuffix("/*") ? text.dropLast() + "x" : text) != nil
    }

    /// Whether a text has at most this number of characters, as JSON counts them (RFC 8259 §7): Unicode scalars.
    public static func isWithin(_ text: String, _ limit: Int) -> Bool {
        text.utf8.count <= limit || text.unicodeScalars.count <= limit
    }
}

extension ClosedRange {
    /// Returns the value of the range that is nearest to another one.
    public func nearest(to value: Bound) -> Bound { Swift.min(Swift.max(value, lowerBound), upperBound) }
}
