public import HTTPCore

/// The location of objects: a bucket of an S3-compatible service, and the prefix of all keys.
///
/// Written as `s3://bucket/prefix?endpoint=https://…&region=…&public=https://…`. Requests name the bucket in the path,
/// not in the host: MinIO and Ceph need further setup for hosts, and AWS accepts both.
public struct ObjectLocation: Sendable, Equatable {
    /// The name of the bucket.
    public let bucket: String
    /// The prefix of all keys, without the slash that follows; may be empty.
    public let prefix: String
    /// Bucket and prefix as written.
    public var place: String { prefix.isEmpty ? bucket : "\(bucket)/\(prefix)" }
    /// The URL of the service; its path precedes the bucket's name. The default is AWS's URL for the region.
    public let endpoint: HTTPURL
    /// The region of signatures; the default is `us-east-1`, which most other services accept.
    public let region: String
    /// The URL at which clients reach the service, if it differs from `endpoint`; `nil` otherwise.
    public let publicEndpoint: HTTPURL?

    /// The reason why a text is not a location, and the accepted form.
    public struct ParsingError: Error, Sendable, Equatable, CustomStringConvertible {
        /// One line for people.
        public let description: String

        init(_ problem: String) {
            description = "\(problem); accepted is \(ObjectLocation.form)"
        }
    }

    /// The form of a location.
    public static let form = "s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME&public=URL]"

    /// Parses a location. The prefix and the query are percent-encoded as in URLs; unknown names in the query are
    /// errors.
    public init(parsing text: String) throws(ParsingError) {
        let scheme = "s3://"
        guard text.hasPrefix(scheme) else { throw ParsingError("it does not begin with \(scheme)") }
        let rest = text.dropFirst(scheme.count)
        let question = rest.firstIndex(of: "?")
        let path = rest[..<(question ?? rest.endIndex)]
        let slash = path.firstIndex(of: "/")
        bucket = String(path[..<(slash ?? path.endIndex)])
        guard Self.isBucket(bucket) else {
            throw ParsingError("\"\(bucket)\" is not a bucket name: up to 255 letters, digits, dots, hyphens and underscores")
        }
        prefix = try Self.prefix(slash.map { path[$0...] } ?? "")
        var options = try Self.options(question.map { rest[$0...].dropFirst() } ?? "")
        region = options.removeValue(forKey: "region") ?? "us-east-1"
        guard Self.isRegion(region) else {
            throw ParsingError("\"\(region)\" is not a region: up to 64 letters, digits and hyphens")
        }
        let endpoint = options.removeValue(forKey: "endpoint") ?? "https://s3.\(region).amazonaws.com"
        self.endpoint = try Self.address(endpoint, named: "endpoint")
        var publicEndpoint: HTTPURL?
        if let address = options.removeValue(forKey: "public") { publicEndpoint = try Self.address(address, named: "public") }
        self.publicEndpoint = publicEndpoint
        if let name = options.keys.min() { throw ParsingError("\"\(name)\" is unknown") }
    }

    /// The full key for a key without the prefix.
    func fullKey(_ key: String) -> String { prefix.isEmpty ? key : "\(prefix)/\(key)" }

    private static func prefix(_ path: Substring) throws(ParsingError) -> String {
        guard !path.contains("#"), let decoded = PercentEncoding.decode(Array(path.utf8)),
            decoded.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw ParsingError("the prefix has an invalid character or escape (a # is written %23)") }
        let prefix = decoded.drop { $0 == "/" }
        // A key has at most 1,024 bytes; the rest is for the keys of downloads.
        guard prefix.utf8.count <= 512 else { throw ParsingError("the prefix is longer than 512 bytes") }
        var trimmed = prefix
        while trimmed.last == "/" { trimmed.removeLast() }
        return String(trimmed)
    }

    private static func options(_ query: Substring) throws(ParsingError) -> [String: String] {
        var options: [String: String] = [:]
        let items: [QueryItem]
        do throws(QueryError) {
            items = try QueryItem.parse(Array(query.utf8))
        } catch {
            throw ParsingError("\"\(error.item)\" has a bad escape")
        }
        for item in items {
            guard options.updateValue(item.value, forKey: item.name) == nil else {
                throw ParsingError("\"\(item.name)\" occurs twice")
            }
        }
        return options
    }

    private static func address(_ text: String, named name: String) throws(ParsingError) -> HTTPURL {
        guard let url = HTTPURL(text), !url.hasUserInfo, url.query == nil, url.path.utf8.allSatisfy(isPlain) else {
            throw ParsingError("\(name)=\(text) is not an http or https address without user, query and escapes")
        }
        return url
    }

    /// Whether a byte never needs an escape. Signatures cover the path, so it must have one spelling only.
    private static func isPlain(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "/")].contains(byte)
    }

    private static func isBucket(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && name.utf8.first.map(isLetterOrDigit) == true
            && name.utf8.allSatisfy { isPlain($0) && $0 != UInt8(ascii: "/") }
    }

    private static func isRegion(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26
    }
}
