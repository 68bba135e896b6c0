public import HTTPClient
public import HTTPCore
internal import System

/// A bucket of an S3-compatible service (<https://docs.aws.amazon.com/AmazonS3/latest/API/>).
///
/// Keys are those behind the location's prefix. Every request is signed, follows no redirect, has time limits, and is tried several
/// times if what went wrong may pass; so a request may have taken effect although its error says otherwise.
public final class ObjectStorage: Sendable {
    /// Where the objects are.
    public let location: ObjectLocation
    let client: HTTPClient
    let signer: RequestSigner
    let limits: ObjectStorageLimits

    /// The objects at a location.
    public init(
        _ location: ObjectLocation, credentials: ObjectCredentials, client: HTTPClient, limits: ObjectStorageLimits = .init()
    ) {
        self.location = location
        self.client = client
        self.limits = limits
        signer = RequestSigner(credentials: credentials, region: location.region)
    }

    /// What is known of an object; nil if there is none. (That the bucket is missing cannot be told from that: the answer has no content.)
    public func head(_ key: String) async throws(ObjectStorageError) -> ObjectDescription? {
        do throws(ObjectStorageError) {
            let response = try await send(StorageRequest("HEAD", key: key))
            guard let length = response.head.contentLength else { throw .invalidResponse("it does not say an object's length") }
            return ObjectDescription(length: length, tag: Self.tag(response))
        } catch .refused(status: 404, _, _) {
            return nil
        }
    }

    /// Removes an object, if there is one.
    public func remove(_ key: String) async throws(ObjectStorageError) {
        do throws(ObjectStorageError) {
            _ = try await send(StorageRequest("DELETE", key: key))
        } catch .refused(status: 404, let code, _) where code.isEmpty || code == "NoSuchKey" {
            return
        }
    }

    /// The objects whose keys begin with `prefix`, in the order of their keys' bytes: at most 1,000, of which the first comes after a key.
    public func list(prefix: String = "", after key: String? = nil) async throws(ObjectStorageError) -> ObjectPage {
        try await list(prefix: prefix, after: key, atMost: 1000)
    }

    /// The uploads in parts that were begun for keys that begin with `prefix`, and neither completed nor given up: at most 1,000.
    public func unfinishedUploads(
        prefix: String = "", after position: UploadPage.Position? = nil
    ) async throws(ObjectStorageError) -> UploadPage {
        // Without encoding-type: Ceph then encodes the keys, but does not say so (Pacific), so that nobody could tell how to read them.
        var query = [
            QueryItem(name: "uploads", value: ""), QueryItem(name: "max-uploads", value: "1000"),
            QueryItem(name: "prefix", value: location.fullKey(prefix)),
        ]
        if let position {
            query.append(QueryItem(name: "key-marker", value: location.fullKey(position.key)))
            query.append(QueryItem(name: "upload-id-marker", value: position.uploadID))
        }
        let response = try await send(StorageRequest("GET", query: query))
        return try UploadPage(try Self.document(response), location: location)
    }

    /// Gives up an upload in parts, if there is one; its parts are removed.
    public func abort(_ key: String, uploadID: String) async throws(ObjectStorageError) {
        do throws(ObjectStorageError) {
            _ = try await send(StorageRequest("DELETE", key: key, query: [QueryItem(name: "uploadId", value: uploadID)]))
        } catch .refused(status: 404, let code, _) where code.isEmpty || code == "NoSuchUpload" {
            return
        }
    }

    /// A URL at which anybody may GET an object, or ranges of it, until it ends; of the public endpoint, if there is one.
    /// - Parameters:
    ///   - method: what it is signed for instead, such as HEAD.
    ///   - disposition: the Content-Disposition of responses.
    ///   - mediaType: their Content-Type; nil: what the object was stored with.
    ///   - seconds: how long it is valid: 1 second to 7 days, and no longer than the credentials.
    public func signedURL(
        _ key: String, method: String = "GET", disposition: String?, mediaType: String?, validFor seconds: Int, now: Timestamp
    ) -> String {
        let endpoint = location.publicEndpoint ?? location.endpoint
        let path = path(key, at: endpoint)
        var query: [QueryItem] = []
        if let disposition { query.append(QueryItem(name: "response-content-disposition", value: disposition)) }
        if let mediaType { query.append(QueryItem(name: "response-content-type", value: mediaType)) }
        let signed = signer.signedQuery(
            method: method, host: endpoint.authority, path: path, query: query, validFor: seconds, now: now)
        return "\(endpoint.scheme)://\(endpoint.authority)\(path)?\(signed)"
    }

    /// Whose this location is. To be asked by whoever relies on being alone there, before ``mark(for:noting:)``.
    /// - Parameters:
    ///   - owner: letters, digits and hyphens.
    ///   - note: tells the owner from others of that name. An empty mark, as it may be left by hand, is anybody's of the name.
    ///   - limit: how long each request may take, which is sent once then.
    public func ownership(
        for owner: String, noting note: String, within limit: Duration? = nil
    ) async throws(ObjectStorageError) -> ObjectOwnership {
        let found = try await list(prefix: Self.marks, after: nil, atMost: 2, within: limit).items
        let names = found.map { String($0.key.dropFirst(Self.marks.utf8.count)) }
        if let other = names.first(where: { $0 != owner }) { return .other(other) }
        if names.isEmpty { return .nobody }
        let kept = try await send(StorageRequest("GET", key: Self.marks + owner), tries: limit.map { _ in 1 }, timeout: limit)
            .body
        return kept.isEmpty || kept == Array(note.utf8) ? .own : .copy
    }

    /// Leaves an object there that tells whose it is, which shows besides that the bucket may be written to.
    public func mark(for owner: String, noting note: String, within limit: Duration? = nil) async throws(ObjectStorageError) {
        var request = StorageRequest("PUT", key: Self.marks + owner)
        request.set(bytes: Array(note.utf8))
        _ = try await send(request, tries: limit.map { _ in 1 }, timeout: limit)
    }

    private static let marks = ".pawl/"

    /// Makes the bucket, unless these credentials have it already. For tests and demonstrations.
    public func createBucket() async throws(ObjectStorageError) {
        var request = StorageRequest("PUT", body: [])
        if location.region != "us-east-1" {
            let constraint = "<LocationConstraint>\(location.region)</LocationConstraint>"
            request.set(bytes: Array("<CreateBucketConfiguration>\(constraint)</CreateBucketConfiguration>".utf8))
        }
        do throws(ObjectStorageError) {
            _ = try await send(request)
        } catch .refused(status: 409, code: "BucketAlreadyOwnedByYou", _) {
            return
        }
    }

    private func list(
        prefix: String, after key: String?, atMost count: Int, within limit: Duration? = nil
    ) async throws(ObjectStorageError) -> ObjectPage {
        var query = [
            QueryItem(name: "list-type", value: "2"), QueryItem(name: "max-keys", value: String(count)),
            QueryItem(name: "encoding-type", value: "url"), QueryItem(name: "prefix", value: location.fullKey(prefix)),
        ]
        if let key { query.append(QueryItem(name: "start-after", value: location.fullKey(key))) }
        let response = try await send(StorageRequest("GET", query: query), tries: limit.map { _ in 1 }, timeout: limit)
        return try ObjectPage(try Self.document(response), location: location)
    }

    /// The path of an object, or of the bucket.
    func path(_ key: String?, at endpoint: HTTPURL) -> String {
        var base = endpoint.path
        while base.utf8.last == UInt8(ascii: "/") { base.removeLast() }
        let bucket = "\(base)/\(location.bucket)"
        return key.map { "\(bucket)/\(RequestSigner.encodePath(location.fullKey($0)))" } ?? bucket
    }

    /// The content of a response that is a document.
    static func document(_ response: ClientResponse) throws(ObjectStorageError) -> XMLElement {
        do throws(XMLElement.ParsingError) {
            return try XMLElement.parse(response.body)
        } catch {
            throw .invalidResponse("its XML: \(error.problem)")
        }
    }

    /// The entity tag of a response, without quotes.
    static func tag(_ response: ClientResponse) -> String {
        (response.head.fields[.etag] ?? "").filter { $0 != "\"" }
    }
}
