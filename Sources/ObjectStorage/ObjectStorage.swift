public import HTTPClient
public import HTTPCore
internal import System
internal import XML

/// A bucket of an S3-compatible service (<https://docs.aws.amazon.com/AmazonS3/latest/API/>).
///
/// Keys do not include the location's prefix. Every request is signed, follows no redirects and has time limits. It is
/// repeated after transient failures, so a request may have taken effect although it failed.
public final class ObjectStorage: Sendable {
    /// The location of the objects.
    public let location: ObjectLocation
    let client: HTTPClient
    let signer: RequestSigner
    let limits: ObjectStorageLimits
    let service: Locked<ServiceTraits>

    /// Creates access to the objects at a location.
    public convenience init(
        _ location: ObjectLocation, credentials: ObjectCredentials, client: HTTPClient, limits: ObjectStorageLimits = .init()
    ) {
        let signer = RequestSigner(credentials: credentials, region: location.region)
        self.init(location, client, signer, limits, Locked(ServiceTraits()))
    }

    private init(
        _ location: ObjectLocation, _ client: HTTPClient, _ signer: RequestSigner, _ limits: ObjectStorageLimits,
        _ service: Locked<ServiceTraits>
    ) {
        self.location = location
        self.client = client
        self.signer = signer
        self.limits = limits
        self.service = service
    }

    /// Returns access to the same objects whose requests are sent only once, each with a time limit.
    public func hurried(within limit: Duration) -> ObjectStorage {
        var limits = limits
        limits.tries = 1
        limits.connectTimeout = limit
        limits.idleTimeout = limit
        limits.answerTimeout = limit
        limits.smallRequestTimeout = limit
        limits.abortTimeout = limit
        return ObjectStorage(location, client, signer, limits, service)
    }

    /// The present time by the service's clock, as far as its responses have shown it.
    public var now: Timestamp {
        let lead = service.withLock { $0.clock.lead }
        return Timestamp(millisecondsSinceEpoch: SystemTime.sinceEpoch / 1_000_000 + lead * 1000)
    }

    /// The seconds by which the service's clock is ahead of this machine's. Zero for small differences, and before the
    /// first response.
    public var clockLead: Int64 { service.withLock { $0.clock.lead } }

    /// The properties of an object; `nil` if there is none. A missing bucket looks the same, since the response has no
    /// body.
    public func head(_ key: String) async throws(ObjectStorageError) -> ObjectDescription? {
        do throws(ObjectStorageError) {
            let response = try await send(StorageRequest("HEAD", key: key))
            guard let length = response.head.contentLength else {
                throw .invalidResponse("a response has no length of the object")
            }
            return ObjectDescription(length: length, tag: Self.tag(response))
        } catch .refused(status: 404, _, _) {
            return nil
        }
    }

    /// Removes an object, if it exists.
    public func remove(_ key: String) async throws(ObjectStorageError) {
        do throws(ObjectStorageError) {
            _ = try await send(StorageRequest("DELETE", key: key))
        } catch .refused(status: 404, let code, _) where code.isEmpty || code == "NoSuchKey" {
            return
        }
    }

    /// Lists the objects whose keys begin with `prefix`, ordered by the bytes of their keys: at most 1,000, beginning
    /// after a key.
    public func list(prefix: String = "", after key: String? = nil) async throws(ObjectStorageError) -> ObjectPage {
        try await list(prefix: prefix, after: key, atMost: 1000)
    }

    /// Lists the uploads in parts that were neither completed nor aborted, for keys that begin with `prefix`: at most
    /// 1,000.
    public func unfinishedUploads(
        prefix: String = "", after position: UploadPage.Position? = nil
    ) async throws(ObjectStorageError) -> UploadPage {
        // Without `encoding-type`: Ceph (Pacific) then encodes the keys without stating it, so that they would be
        // ambiguous.
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

    /// Aborts an upload in parts, if it exists, and removes its parts.
    public func abort(_ key: String, uploadID: String) async throws(ObjectStorageError) {
        do throws(ObjectStorageError) {
            _ = try await send(StorageRequest("DELETE", key: key, query: [QueryItem(name: "uploadId", value: uploadID)]))
        } catch .refused(status: 404, let code, _) where code.isEmpty || code == "NoSuchUpload" {
            return
        }
    }

    /// A URL at which any client can GET an object, or ranges of it, until it expires. It uses the public endpoint if
    /// there is one.
    /// - Parameters:
    ///   - method: The method that the URL is signed for, such as HEAD.
    ///   - disposition: The Content-Disposition of responses.
    ///   - mediaType: The Content-Type of responses; `nil` for the object's.
    ///   - seconds: The validity, from 1 second to 7 days, at most as long as the credentials'.
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

    /// The owner of this location. Users that must be alone there check it before ``mark(for:noting:)``.
    /// - Parameters:
    ///   - owner: The owner's name: letters, digits and hyphens.
    ///   - note: A text that distinguishes owners with the same name. An empty mark, as created by hand, belongs to any
    ///     of them.
    public func ownership(for owner: String, noting note: String) async throws(ObjectStorageError) -> ObjectOwnership {
        let found = try await list(prefix: Self.marks, after: nil, atMost: 2).items
        let names = found.map { String($0.key.dropFirst(Self.marks.utf8.count)) }
        if let other = names.first(where: { $0 != owner }) { return .other(other) }
        if names.isEmpty { return .unowned }
        let kept = try await send(StorageRequest("GET", key: Self.marks + owner)).body
        return kept.isEmpty || kept == Array(note.utf8) ? .own : .copy
    }

    /// Stores an object that marks the owner. It also shows that the bucket is writable.
    public func mark(for owner: String, noting note: String) async throws(ObjectStorageError) {
        var request = StorageRequest("PUT", key: Self.marks + owner)
        request.set(bytes: Array(note.utf8))
        _ = try await send(request)
    }

    private static let marks = ".pawl/"

    private func list(
        prefix: String, after key: String?, atMost count: Int
    ) async throws(ObjectStorageError) -> ObjectPage {
        var query = [
            QueryItem(name: "list-type", value: "2"), QueryItem(name: "max-keys", value: String(count)),
            QueryItem(name: "encoding-type", value: "url"), QueryItem(name: "prefix", value: location.fullKey(prefix)),
        ]
        if let key { query.append(QueryItem(name: "start-after", value: location.fullKey(key))) }
        let response = try await send(StorageRequest("GET", query: query))
        return try ObjectPage(try Self.document(response), location: location)
    }

    /// The path of an object, or of the bucket if there is no key.
    func path(_ key: String?, at endpoint: HTTPURL) -> String {
        var base = endpoint.path
        while base.utf8.last == UInt8(ascii: "/") { base.removeLast() }
        let bucket = "\(base)/\(location.bucket)"
        return key.map { "\(bucket)/\(RequestSigner.encodePath(location.fullKey($0)))" } ?? bucket
    }

    /// The XML document in a response.
    static func document(_ response: ClientResponse) throws(ObjectStorageError) -> XMLElement {
        do throws(XMLReader.ParsingError) {
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
