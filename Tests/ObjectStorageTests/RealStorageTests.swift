import HTTPClient
import HTTPCore
import System
import TestSupport
import Testing

@testable import ObjectStorage

/// The same against MinIO's code, which verifies every signature and digest.
@Suite(
    .enabled(if: PrivateStorage.isWanted, "PAWL_FLEET_TESTS is not set: Tests/Fleet/run runs them"),
    .timeLimit(.minutes(5)))
struct RealStorageTests {
    let client: HTTPClient

    init() throws {
        client = try HTTPClient()
    }

    /// A new bucket.
    func bucket(
        prefix: String = "some prefix/ü", secret: String? = nil, change: (inout ObjectStorageLimits) -> Void = { _ in }
    ) async throws -> ObjectStorage {
        let service = try await PrivateStorage.shared()
        let name = "bucket-\(UInt64.random(in: 0...UInt64.max))"
        let prefix = PercentEncoding.encodeComponent(prefix)
        let location = try ObjectLocation(parsing: "s3://\(name)/\(prefix)?endpoint=\(service.endpoint)")
        let credentials = try #require(
            ObjectCredentials(accessKeyID: service.accessKeyID, secretAccessKey: service.secretAccessKey))
        var limits = ObjectStorageLimits()
        change(&limits)
        let storage = ObjectStorage(location, credentials: credentials, client: client, limits: limits)
        _ = try await storage.send(StorageRequest("PUT", body: []))
        guard let secret else { return storage }
        let others = try #require(ObjectCredentials(accessKeyID: service.accessKeyID, secretAccessKey: secret))
        return ObjectStorage(location, credentials: others, client: client, limits: limits)
    }

    func get(_ url: String, range: String? = nil) async throws -> ClientResponse {
        var request = ClientRequest(url: try #require(HTTPURL(url)))
        request.range = range
        return try await client.fetch(request, bodyLimit: 1 << 20)
    }

    var now: Timestamp { Timestamp(millisecondsSinceEpoch: SystemTime.sinceEpoch / 1_000_000) }

    static let keys = ["id/7", "with space", "ü/€/\u{65}\u{301}", "a\"b'c", "a+b", "100%", "a%20b", "a&b=c?d#e", "(~*!$,;:@)"]

    @Test("Stores, describes, lists, reads by a signed URL, and removes an object", arguments: keys)
    func objectIsKept(key: String) async throws {
        let storage = try await bucket()
        let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 8) }
        try await storage.upload(Upload(content), to: key, mediaType: "audio/ogg")
        let object = try #require(try await storage.head(key))
        #expect(object.length == 100_000)
        #expect(!object.tag.isEmpty)
        let page = try await storage.list()
        #expect(page.items.map { Array($0.key.utf8) } == [Array(key.utf8)])
        #expect(page.items.map(\.length) == [100_000])
        #expect(page.next == nil)
        #expect(abs((page.items.first?.lastModified.millisecondsSinceEpoch ?? 0) - now.millisecondsSinceEpoch) < 600_000)

        let disposition = ContentDisposition.attachment(filename: "\(key).ogg")
        let url = storage.signedURL(key, disposition: disposition, mediaType: "audio/x-test", validFor: 60, now: now)
        let whole = try await get(url)
        #expect(whole.head.status.code == 200)
        #expect(whole.body == content)
        #expect(whole.head.fields[.contentDisposition] == disposition)
        #expect(whole.head.fields[.contentType] == "audio/x-test")
        let part = try await get(url, range: "bytes=1000-1999")
        #expect(part.head.status.code == 206)
        #expect(part.body == Array(content[1000..<2000]))
        let plain = try await get(storage.signedURL(key, disposition: nil, mediaType: nil, validFor: 60, now: now))
        #expect(plain.head.fields[.contentType] == "audio/ogg")
        // The URL is valid for this key and this time.
        let old = Timestamp(millisecondsSinceEpoch: now.millisecondsSinceEpoch - 120_000)
        for bad in [storage.signedURL(key, disposition: nil, mediaType: nil, validFor: 60, now: old), "\(url)0"] {
            #expect(try await get(bad).head.status.code == 403)
        }

        try await storage.remove(key)
        try await storage.remove(key)
        let after = try await storage.head(key)
        #expect(after == nil)
        let rest = try await storage.list()
        #expect(rest.items.isEmpty)
    }

    @Test("An empty file is an object of no bytes")
    func emptyFileIsObject() async throws {
        let storage = try await bucket(prefix: "")
        try await storage.upload(Upload([]), to: "empty")
        let object = try await storage.head("empty")
        #expect(object?.length == 0)
        let response = try await get(storage.signedURL("empty", disposition: nil, mediaType: nil, validFor: 60, now: now))
        #expect(response.head.status.code == 200)
        #expect(response.body.isEmpty)
    }

    @Test("Stores files of any length around the limits of parts", arguments: [64 << 20, 64 << 20 + 1, 200 << 20])
    func largeFileArrives(length: Int64) async throws {
        let storage = try await bucket()
        // Around the boundaries of parts.
        let marks = [0, 16 << 20 - 3, 48 << 20 - 1, length - 20] as [Int64]
        let upload = try Upload(sparse: length, marks: marks)
        let object = try await storage.upload(upload, to: "large")
        #expect(object.length == length)
        #expect(object.tag.hasSuffix("-\((length + 16 << 20 - 1) / (16 << 20))") == (length > 64 << 20))
        let url = storage.signedURL("large", disposition: nil, mediaType: nil, validFor: 600, now: now)
        let sink = HashingSink()
        client.start(ClientRequest(url: try #require(HTTPURL(url))), sink: sink)
        let digest = try await sink.result.wait { $0 != nil }
        #expect(digest == upload.sha256)
        let uploads = try await storage.unfinishedUploads()
        #expect(uploads.items.isEmpty)
    }

    @Test("Lists pages in the order of bytes")
    func listsGoOn() async throws {
        let storage = try await bucket()
        let keys = (0..<1003).map { "k/\(10_000 + $0)" }
        let empty = try Upload([])
        await withTaskGroup(of: ObjectStorageError?.self) { group in
            for key in keys {
                if group.isEmpty == false, keys.firstIndex(of: key).map({ $0 >= 8 }) == true {
                    let error = await group.next() ?? nil
                    #expect(error == nil)
                }
                group.addTask {
                    await failure { () async throws(ObjectStorageError) in try await storage.upload(empty, to: key) }
                }
            }
        }
        var listed: [String] = []
        var after: String?
        var pages = 0
        repeat {
            let page = try await storage.list(prefix: "k/", after: after)
            listed += page.items.map(\.key)
            after = page.next
            pages += 1
        } while after != nil && pages < 5
        #expect(pages == 2)
        #expect(listed == keys)
        let other = try await storage.list(prefix: "other/")
        #expect(other.items.isEmpty)
    }

    @Test("A cancelled upload leaves nothing")
    func cancelledUploadLeavesNothing() async throws {
        let storage = try await bucket { $0.parallelParts = 1 }
        let upload = try Upload(sparse: 200 << 20, marks: [])
        let task = Task {
            await failure { () async throws(ObjectStorageError) in try await storage.upload(upload, to: "large") }
        }
        // A client that is cancelled before it knows the upload's id cannot abort the upload. It knows the id when it has
        // sent a part.
        try await until {
            guard let id = try await storage.unfinishedUploads().items.first?.uploadID else { return false }
            let parts = StorageRequest("GET", key: "large", query: [QueryItem(name: "uploadId", value: id)])
            return String(decoding: try await storage.send(parts).body, as: UTF8.self).contains("<PartNumber>")
        }
        task.cancel()
        #expect(await task.value == .cancelled)
        let uploads = try await storage.unfinishedUploads()
        #expect(uploads.items.isEmpty)
        let object = try await storage.head("large")
        #expect(object == nil)
    }

    @Test("The service refuses a wrong key")
    func wrongKeyIsRefused() async throws {
        let storage = try await bucket(secret: "wrong")
        let error = await failure { () async throws(ObjectStorageError) in _ = try await storage.ownership(for: "us", noting: "1")
        }
        guard case .refused(403, "SignatureDoesNotMatch", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.message.contains("wrong") == false)
    }

    @Test("Does not store a file with another digest", arguments: [false, true])
    func wrongDigestIsRefused(inParts: Bool) async throws {
        let storage = try await bucket { if inParts { $0.singleUpload = 0 } }
        let upload = try Upload([1, 2, 3])
        let error = await failure { () async throws(ObjectStorageError) in
            try await storage.upload(
                upload.file, length: 3, sha256: SHA256.digest(of: [3, 2, 1]), to: "k", mediaType: nil)
        }
        #expect(error == .contentMismatch)
        let object = try await storage.head("k")
        #expect(object == nil)
    }

    @Test("A location has one owner; its existence is detected")
    func claimsLocation() async throws {
        let storage = try await bucket()
        #expect(try await storage.ownership(for: "us", noting: "1") == .unowned)
        for _ in 0..<2 {
            try await storage.mark(for: "us", noting: "1")
            #expect(try await storage.ownership(for: "us", noting: "1") == .own)
            #expect(try await storage.ownership(for: "us", noting: "2") == .copy)
            #expect(try await storage.ownership(for: "them", noting: "1") == .other("us"))
        }
        let page = try await storage.list()
        #expect(page.items.map(\.key) == [".pawl/us"])
        // Left over on purpose.
        try await storage.mark(for: "us", noting: "")
        #expect(try await storage.ownership(for: "us", noting: "2") == .own)
        try await storage.remove(".pawl/us")
        #expect(try await storage.ownership(for: "them", noting: "1") == .unowned)
        let service = try await PrivateStorage.shared()
        let location = try ObjectLocation(parsing: "s3://nobody-made-it?endpoint=\(service.endpoint)")
        let credentials = try #require(
            ObjectCredentials(accessKeyID: service.accessKeyID, secretAccessKey: service.secretAccessKey))
        let missing = ObjectStorage(location, credentials: credentials, client: client)
        let error = await failure { () async throws(ObjectStorageError) in _ = try await missing.ownership(for: "us", noting: "1")
        }
        guard case .refused(404, "NoSuchBucket", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}

/// Keeps the digest of a body.
private final class HashingSink: TransferSink {
    let result = Waiter<[UInt8]?>(nil)
    private let digest = Locked(SHA256())

    func received(_ head: ClientResponseHead) -> SinkDecision { head.status.isSuccessful ? .proceed : .stop }

    func received(_ bytes: RawSpan) -> SinkDecision {
        digest.withLock { $0.update(bytes) }
        return .proceed
    }

    func finished(_ outcome: Result<TransferSummary, ClientError>) {
        let value = (try? outcome.get()) == nil ? [] : digest.withLock { $0.digest() }
        result.update { $0 = value }
    }
}
