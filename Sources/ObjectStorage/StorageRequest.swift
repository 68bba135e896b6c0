internal import HTTPClient
internal import HTTPCore
internal import System

/// A request to the service, before it is signed.
struct StorageRequest: Sendable {
    var method: String
    /// The key without the location's prefix; `nil` for a request about the bucket.
    var key: String?
    var query: [QueryItem]
    var fields: [(name: String, value: String)] = []
    /// The requested bytes of an object; `nil` for all.
    var range: Range<Int64>?
    var body: RequestBody?
    /// The SHA-256 of the body in hexadecimal.
    var digest = RequestSigner.emptyDigest
    /// Whether a response with status 200 may still contain an error
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html>).
    var failsLate = false

    /// Creates a request without content, or with empty content.
    init(_ method: String, key: String? = nil, query: [QueryItem] = [], body: RequestBody? = nil) {
        self.method = method
        self.key = key
        self.query = query
        self.body = body
    }

    /// Sets the content.
    mutating func set(bytes: [UInt8]) {
        body = .bytes(bytes)
        digest = Hexadecimal.encode(SHA256.digest(of: bytes))
    }

    /// Sets the content to a range of a file.
    mutating func set(file: FileDescriptor, _ range: Range<Int64>, _ digests: ContentDigests) {
        body = .file(file, range)
        set(digests)
    }

    /// Sets the digests of the content.
    mutating func set(_ digests: ContentDigests) {
        digest = Hexadecimal.encode(digests.sha256)
        if let md5 = digests.md5 { fields.append((name: "Content-MD5", value: Base64.encode(md5))) }
    }
}
