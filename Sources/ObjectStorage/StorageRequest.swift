internal import HTTPClient
internal import HTTPCore
internal import System

/// One request to a service, before it is signed.
struct StorageRequest: Sendable {
    var method: String
    /// Behind the location's prefix; nil: the request is about the bucket.
    var key: String?
    var query: [QueryItem]
    var fields: [(name: String, value: String)] = []
    var body: RequestBody?
    /// The SHA-256 of the body in hexadecimal.
    var digest = RequestSigner.emptyDigest
    /// Whether status 200 says nothing yet: what matters is in the content
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html>).
    var failsLate = false

    /// A request with content, if any, that is empty.
    init(_ method: String, key: String? = nil, query: [QueryItem] = [], body: RequestBody? = nil) {
        self.method = method
        self.key = key
        self.query = query
        self.body = body
    }

    /// Gives it content.
    mutating func set(bytes: [UInt8]) {
        body = .bytes(bytes)
        digest = Hexadecimal.encode(SHA256.digest(of: bytes))
    }

    /// Gives it content of a file.
    mutating func set(file: FileDescriptor, _ range: Range<Int64>, sha256: [UInt8]) {
        body = .file(file, range)
        digest = Hexadecimal.encode(sha256)
    }
}
