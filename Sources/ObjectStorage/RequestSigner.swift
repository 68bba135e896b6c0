public import HTTPCore
internal import System

/// Signs requests by AWS's Signature Version 4, for S3: in fields
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>) or in a URL
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html>).
///
/// The time is passed in. The key for a day is kept, so that one signature costs four digests.
public struct RequestSigner: Sendable {
    private struct DayKey {
        let day: Substring
        let key: [UInt8]
    }

    /// The SHA-256 of no content, in hexadecimal.
    public static let emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    private static let algorithm = "AWS4-HMAC-SHA256"

    private let credentials: ObjectCredentials
    private let region: String
    private let dayKey = Locked<DayKey?>(nil)

    /// A signer for requests to S3 in a region.
    public init(credentials: ObjectCredentials, region: String) {
        self.credentials = credentials
        self.region = region
    }

    /// A path with each byte of its segments encoded that is not unreserved: once, as S3 wants it and as it is sent.
    public static func encodePath(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).map { PercentEncoding.encodeComponent(String($0)) }
            .joined(separator: "/")
    }

    /// The query as it is signed and sent: encoded, and sorted by names, then values.
    public static func encodeQuery(_ items: [QueryItem]) -> String {
        let pairs = items.map { (PercentEncoding.encodeComponent($0.name), PercentEncoding.encodeComponent($0.value)) }
        // Encoded, they are ASCII, which the standard library orders by bytes.
        return pairs.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    /// The fields that are to be sent besides `fields`, the signature among them.
    /// - Parameters:
    ///   - host: what the Host field will say.
    ///   - path: as ``encodePath(_:)`` has it.
    ///   - query: not encoded.
    ///   - fields: those of the request that are signed, too.
    ///   - digest: the SHA-256 of the content in hexadecimal.
    public func fields(
        method: String, host: String, path: String, query: [QueryItem] = [], fields: [(name: String, value: String)] = [],
        digest: String, now: Timestamp
    ) -> [(name: String, value: String)] {
        let time = Self.time(now)
        var added = [(name: "x-amz-content-sha256", value: digest), (name: "x-amz-date", value: time)]
        if let token = credentials.sessionToken { added.append((name: "x-amz-security-token", value: token)) }
        let signed = (fields + added + [(name: "host", value: host)]).map { ($0.name.lowercased(), Self.trimmed($0.value)) }
            .sorted { $0 < $1 }
        let names = signed.map(\.0).joined(separator: ";")
        let signature = signature(
            of: [
                method, path, Self.encodeQuery(query), signed.map { "\($0):\($1)\n" }.joined(), names, digest,
            ], time: time)
        let value =
            "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope(time)),SignedHeaders=\(names),Signature=\(signature)"
        return added + [(name: "Authorization", value: value)]
    }

    /// The query of a URL that anybody may get until it ends, `path` and `query` as in the URL.
    /// - Parameters:
    ///   - method: what may be done instead, such as HEAD.
    ///   - seconds: how long it is valid: 1 second to 7 days; other numbers are clamped.
    public func signedQuery(
        method: String = "GET", host: String, path: String, query: [QueryItem] = [], validFor seconds: Int, now: Timestamp
    ) -> String {
        let time = Self.time(now)
        var items = query
        items.append(QueryItem(name: "X-Amz-Algorithm", value: Self.algorithm))
        items.append(QueryItem(name: "X-Amz-Credential", value: "\(credentials.accessKeyID)/\(scope(time))"))
        items.append(QueryItem(name: "X-Amz-Date", value: time))
        items.append(QueryItem(name: "X-Amz-Expires", value: String(min(max(seconds, 1), 604_800))))
        items.append(QueryItem(name: "X-Amz-SignedHeaders", value: "host"))
        if let token = credentials.sessionToken { items.append(QueryItem(name: "X-Amz-Security-Token", value: token)) }
        let encoded = Self.encodeQuery(items)
        let signature = signature(
            of: [method, path, encoded, "host:\(host)\n", "host", "UNSIGNED-PAYLOAD"], time: time)
        return "\(encoded)&X-Amz-Signature=\(signature)"
    }

    /// The signature of a request in its canonical form.
    private func signature(of lines: [String], time: String) -> String {
        let digest = Hexadecimal.encode(SHA256.digest(of: Array(lines.joined(separator: "\n").utf8)))
        let text = "\(Self.algorithm)\n\(time)\n\(scope(time))\n\(digest)"
        return Hexadecimal.encode(HMAC.sha256(key: key(day: time.prefix(8)), Array(text.utf8)))
    }

    private func scope(_ time: String) -> String { "\(time.prefix(8))/\(region)/s3/aws4_request" }

    private func key(day: Substring) -> [UInt8] {
        dayKey.withLock { dayKey in
            if let known = dayKey, known.day == day { return known.key }
            var key = Array("AWS4\(credentials.secretAccessKey)".utf8)
            for part in [String(day), region, "s3", "aws4_request"] { key = HMAC.sha256(key: key, Array(part.utf8)) }
            dayKey = DayKey(day: day, key: key)
            return key
        }
    }

    /// `20130524T000000Z`.
    private static func time(_ now: Timestamp) -> String {
        now.description.prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
    }

    /// Without spaces at the ends, and with one where there are several.
    private static func trimmed(_ value: String) -> String {
        value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }
}
