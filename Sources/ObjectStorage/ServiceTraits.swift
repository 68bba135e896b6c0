internal import HTTPClient
internal import HTTPCore
internal import System

/// The properties of a service, as far as its responses have shown them.
struct ServiceTraits: Sendable {
    /// Whether it refuses content that does not have the stated SHA-256.
    var comparesSHA256 = false
    /// Whether the tag of a part, and of an object from a single request, is the MD5 of its bytes.
    var tagsAreMD5 = false
    var clock = StorageClock()

    /// Whether the tag of stored content shows that it has other bytes than the ones that were sent.
    func contradicts(_ tag: String, _ digests: ContentDigests) -> Bool {
        guard tagsAreMD5, let md5 = digests.md5 else { return false }
        return tag != Hexadecimal.encode(md5)
    }
}

/// The difference between a service's clock and this machine's. Signatures have a time, and services refuse a signature with
/// another one.
struct StorageClock: Sendable, Equatable {
    /// The seconds by which the service's clock is ahead; 0 for small differences.
    private(set) var lead: Int64 = 0

    /// The maximum difference in seconds that counts as none: a Date has whole seconds, and responses take time.
    static let tolerance: Int64 = 5
    /// The maximum duration of a request whose response shows the time. The head of a slower one may be old.
    private static let longestExchange: Duration = .seconds(2)

    /// Notes the time of a response.
    /// - Parameters:
    ///   - date: Its Date, in seconds since 1970.
    ///   - now: The time of this machine, in seconds since 1970.
    ///   - elapsed: The time since the request.
    mutating func note(_ date: Int64, at now: Int64, after elapsed: Duration) {
        guard elapsed <= Self.longestExchange else { return }
        lead = abs(date - now) <= Self.tolerance ? 0 : date - now
    }

    /// The Date of a response in seconds since 1970; `nil` if it has none, or comes from a cache.
    static func date(in head: ClientResponseHead) -> Int64? {
        guard head.fields[ageField] == nil, let text = head.fields[dateField] else { return nil }
        return HTTPDate(parsing: text)?.secondsSinceEpoch
    }

    private static let dateField = FieldName(constant: "date")
    private static let ageField = FieldName(constant: "age")
}
