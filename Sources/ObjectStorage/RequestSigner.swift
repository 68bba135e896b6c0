public import HTTPCore
internal import System

/// Signs requests to S3 with AWS Signature Version 4: in fields
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>) or in a URL
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html>).
///
/// The caller passes the time. The key of a day is cached, so that one signature costs four digests.
public struct RequestSigner: Sendable {
    private struct DayKey {
        let day: Substring
        let key: [UInt8]
    }

    /// The SHA-256 of empty content, in hexadecimal.
    public static let emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    private static let algorithm = "AWS4-HMAC-SHA256"

    private let credentials: ObjectCredentials
    private let region: String
    private let dayKey = Locked<DayKey?>(nil)

    /// Creates a signer for requests to S3 in a region.
    public init(credentials: ObjectCredentials, region: String) {
        self.credentials = credentials
        self.region = region
    }

    /// A path whose segments are percent-encoded once, except unreserved characters. S3 signs it in the form in which
    /// it is sent.
    public static func encodePath(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).map { PercentEncoding.encodeComponent(String($0)) }
            .joined(separator: "/")
    }

    /// The query as it is signed and sent: encoded, and sorted by names, then values.
    public static func encodeQuery(_ items: [QueryItem]) -> String {
        let pairs = items.map { (PercentEncoding.encodeComponent($0.name), PercentEncoding.encodeComponent($0.value)) }
        // Encoded names and values are ASCII, which the standard library orders by bytes.
        return pairs.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    /// The fields to send in addition to `fields`, including the signature.
    /// - Parameters:
    ///   - host: The value of the Host field.
    ///   - path: The path from ``encodePath(_:)``.
    ///   - query: The query, not encoded.
    ///   - fields: The fields of the request, which are signed as well.
    ///   - digest: The SHA-256 of the content in hexadecimal.
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

    /// The query of a URL that is signed for any client until it expires. `path` and `query` are the URL's.
    /// - Parameters:
    ///   - method: The method that the URL is signed for, such as HEAD.
    ///   - seconds: The validity, clamped to 1 second … 7 days.
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

    /// The time in the form `20130524T000000Z`.
    private static func time(_ now: Timestamp) -> String {
        let digits = now.description.utf8.prefix(19).filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ":") }
        return String(decoding: digits, as: UTF8.self) + "Z"
    }

    /// The value without surrounding spaces, and with single spaces within.
    private static func trimmed(_ value: String) -> String {
        guard value.utf8.contains(where: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) else { return value }
        return value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }
}
