package import HTTPCore

/// The limits of the values of a download. Its record keeps all of them, so each needs a limit.
///
/// ``DownloadService`` refuses values beyond them. Front ends read their limits here, so that a refusal can name the
/// parameter of the client.
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

extension DownloadLimits {
    /// Refuses options with a value beyond its limit.
    /// - Throws: `invalid`.
    package static func check(_ options: DownloadOptions, of url: HTTPURL?) throws(DownloadError) {
        if let url { try check(url, "the URL") }
        if let mirrors = options.mirrors { try check(mirrors: mirrors) }
        if let webhook = options.webhook { try check(webhook, "the webhook") }
        if let priority = options.priority { try check(priority, "the priority", in: priorities) }
        if let labels = options.labels { try check(labels: labels) }
        if let limit = options.speedLimit { try check(limit, "the speed limit", in: 0...Int64.max) }
        if let connections = options.segments { try check(connections, "the number of segments", in: segments) }
        if let timeouts = options.timeouts { try check(timeouts) }
        if let position = options.position { try check(position, "the position", in: 0...Int.max) }
        if let pattern = options.mediaType, !isMediaTypePattern(pattern) {
            throw .invalid("the media type is '\(pattern.prefix(mediaType))'; it takes one such as audio/mp4 or audio/*")
        }
        if let bytes = options.track?.count, bytes > track {
            throw .invalid("the track has \(bytes) bytes; it takes at most \(track)")
        }
    }

    /// Refuses default webhooks beyond the limits.
    /// - Throws: `invalid`.
    package static func check(webhooks: [HTTPURL]) throws(DownloadError) {
        guard webhooks.count <= DefaultWebhooks.limit else {
            throw .invalid("there are \(webhooks.count) webhooks; the settings take at most \(DefaultWebhooks.limit)")
        }
        for webhook in webhooks { try check(webhook, "the webhook") }
    }

    private static func check(_ url: HTTPURL, _ name: String) throws(DownloadError) {
        // A character has up to four bytes, and each has three once it is percent-encoded.
        guard url.string.utf8.count <= 12 * self.url else {
            throw .invalid("\(name) is too long; it takes at most \(self.url) characters")
        }
    }

    private static func check(_ chosen: Timeouts) throws(DownloadError) {
        for (name, seconds) in chosen.members {
            if let seconds { try check(seconds, "the \(name) timeout", in: timeouts) }
        }
    }

    private static func check(mirrors: [HTTPURL]) throws(DownloadError) {
        guard mirrors.count <= self.mirrors else {
            throw .invalid("there are \(mirrors.count) mirrors; a download takes at most \(self.mirrors)")
        }
        for mirror in mirrors { try check(mirror, "the mirror") }
    }

    private static func check(labels: [String]) throws(DownloadError) {
        guard labels.count <= self.labels else {
            throw .invalid("there are \(labels.count) labels; a download takes at most \(self.labels)")
        }
        guard labels.allSatisfy(isLabel) else {
            throw .invalid("a label has 1 to \(label) characters, and no control characters")
        }
    }

    private static func check<Number: FixedWidthInteger>(
        _ value: Number, _ name: String, in range: ClosedRange<Number>
    ) throws(DownloadError) {
        guard !range.contains(value) else { return }
        let accepted = range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
        throw .invalid("\(name) is \(value); it takes \(accepted)")
    }
}
