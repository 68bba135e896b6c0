import HTTPClient
import HTTPCore
import Synchronization
import System
import TestSupport
import Testing

@testable import ObjectStorage

/// Faults of services and networks. Each test decides the origin's responses.
@Suite(.timeLimit(.minutes(3)))
struct FaultTests {
    typealias Step = ScriptedOrigin.Step

    let client: HTTPClient

    init() throws {
        client = try HTTPClient()
    }

    static func fault(_ status: Int, _ code: String, _ fields: [(String, String)] = []) -> Step {
        let body = "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>why\n\(code)</Message></Error>"
        return .response(status, fields.map { (name: $0.0, value: $0.1) }, body: Array(body.utf8))
    }

    static func document(_ text: String) -> Step { .response(200, body: Array(text.utf8)) }

    @Test("Repeats a request after a transient failure, whole and signed again")
    func requestIsSentAgain() async throws {
        let origin = try ScriptedOrigin { request in
            switch request.number {
            case 0: [Self.fault(503, "SlowDown")]
            case 1: [.reset]
            case 2: [.text("HTTP/1.1 200 O"), .close]
            default: [.response(200, [("ETag", "\"tag\"")])]
            }
        }
        let storage = try ObjectStorage(origin, client: client)
        let upload = try Upload(Array("content".utf8))
        let object = try await storage.upload(upload, to: "a b/ü", mediaType: "text/plain; charset=utf-8")
        #expect(object == ObjectDescription(length: 7, tag: "tag"))
        #expect(origin.requests.count == 4)
        for request in origin.requests {
            #expect(request.method == "PUT")
            #expect(request.target == "/bucket/p/a%20b/%C3%BC")
            #expect(request.body == Array("content".utf8))
            #expect(request["Content-Type"] == "text/plain; charset=utf-8")
            #expect(request["x-amz-content-sha256"] == Hexadecimal.encode(upload.sha256))
            #expect(
                request["Authorization"]?.contains("SignedHeaders=content-md5;content-type;host;x-amz-content-sha256;x-amz-date,")
                    == true)
        }
    }

    @Test("A file that ends too early is an error")
    func shortFileIsReported() async throws {
        let origin = try Self.service { _ in nil }
        let storage = try ObjectStorage(origin, client: client)
        let upload = try Upload([1, 2, 3])
        let error = await failure { () async throws(ObjectStorageError) in
            try await storage.upload(upload.file, length: 4, sha256: upload.sha256, to: "k", mediaType: nil)
        }
        #expect(error == .unreadableFile("it ends before byte 4"))
        #expect(origin.requests.isEmpty)
    }

    @Test("Omits an invalid media type", arguments: ["text/plain\r\nX: y", "text/ü", "a\0"])
    func mediaTypeIsChecked(mediaType: String) async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, [("ETag", "\"tag\"")])] }
        try await ObjectStorage(origin, client: client).upload(Upload([1]), to: "k", mediaType: mediaType)
        #expect(origin.requests.map { $0["Content-Type"] } == [nil])
        #expect(origin.requests.map { $0["X"] } == [nil])
    }

    @Test("Requests the metadata of an object if the service does not return them", arguments: [true, false])
    func namelessUpload(isThere: Bool) async throws {
        let origin = try ScriptedOrigin { request in
            if request.method == "PUT" { return [.response(200)] }
            return [.text("HTTP/1.1 \(isThere ? 200 : 404) -\r\nContent-Length: 1\r\nETag: \"tag\"\r\n\r\n")]
        }
        let storage = try ObjectStorage(origin, client: client)
        let error = await failure { () async throws(ObjectStorageError) in
            let file: Upload
            do { file = try Upload([1]) } catch { throw .unreadableFile("\(error)") }
            try await storage.upload(file.file, length: 1, sha256: SHA256.digest(of: [1]), to: "k", mediaType: nil)
        }
        #expect((error == nil) == isThere)
        #expect(origin.requests.map(\.method) == ["PUT", "HEAD"])
    }

    @Test("Limits the number of attempts")
    func triesAreBounded() async throws {
        let origin = try ScriptedOrigin { _ in [Self.fault(500, "InternalError")] }
        let storage = try ObjectStorage(origin, client: client)
        let error = await failure { () async throws(ObjectStorageError) in try await storage.mark(for: "us", noting: "") }
        #expect(error == .unavailable("500 InternalError: why InternalError"))
        #expect(origin.requests.count == 4)
        let closed = try ClosedPort()
        let location = try ObjectLocation(parsing: "s3://bucket?endpoint=http://127.0.0.1:\(closed.number)")
        let nowhere = ObjectStorage(location, credentials: try Self.credentials(), client: client, limits: Self.hasty)
        guard
            case .unavailable = await failure(of: { () async throws(ObjectStorageError) in
                try await nowhere.mark(for: "us", noting: "")
            })
        else {
            Issue.record("a service that is not there is not available")
            return
        }
    }

    static func credentials() throws -> ObjectCredentials {
        try #require(ObjectCredentials(accessKeyID: "id", secretAccessKey: "secret"))
    }

    static var hasty: ObjectStorageLimits {
        var limits = ObjectStorageLimits()
        limits.firstPause = .milliseconds(1)
        return limits
    }

    @Test(
        "Reports permanent failures at once with their kind",
        arguments: [
            (
                403, "SignatureDoesNotMatch", [],
                .refused(status: 403, code: "SignatureDoesNotMatch", message: "why SignatureDoesNotMatch")
            ),
            (404, "NoSuchBucket", [], .refused(status: 404, code: "NoSuchBucket", message: "why NoSuchBucket")),
            (403, "RequestTimeTooSkewed", [], .clockSkew("why RequestTimeTooSkewed")),
            (301, "PermanentRedirect", [("x-amz-bucket-region", "eu-west-1")], .otherRegion("eu-west-1")),
            (307, "TemporaryRedirect", [("Location", "http://127.0.0.1:1/"), ("x-amz-bucket-region", "r")], .otherRegion("r")),
            (400, "XAmzContentSHA256Mismatch", [], .contentMismatch),
        ] as [(Int, String, [(String, String)], ObjectStorageError)])
    func lastingFaultIsReported(status: Int, code: String, fields: [(String, String)], expected: ObjectStorageError) async throws
    {
        let origin = try ScriptedOrigin { _ in [Self.fault(status, code, fields)] }
        let storage = try ObjectStorage(origin, client: client)
        let upload = try Upload([1])
        let error = await failure { () async throws(ObjectStorageError) in try await storage.upload(upload, to: "k") }
        #expect(error == expected)
        #expect(error?.message.contains("\n") == false)
        // The refusal of a time may show the right one.
        #expect(origin.requests.count == (code == "RequestTimeTooSkewed" ? 2 : 1))
    }

    @Test("HEAD and DELETE accept 404")
    func missingObjectIsNoFault() async throws {
        let origin = try ScriptedOrigin { request in
            request.method == "HEAD" ? [.text("HTTP/1.1 404 No\r\n\r\n")] : [Self.fault(404, "NoSuchKey")]
        }
        let storage = try ObjectStorage(origin, client: client)
        let object = try await storage.head("k")
        #expect(object == nil)
        try await storage.remove("k")
    }

    @Test(
        "Refuses inconsistent lists",
        arguments: [
            "", "<ListBucketResult>", "<Other/>", "<ListBucketResult><Contents><Key>p/a</Key></Contents></ListBucketResult>",
            "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", "<!DOCTYPE a><ListBucketResult/>",
            item(key: "elsewhere/a", size: "1"), item(key: "p/a", size: "-1"), item(key: "p/%zz", size: "1"),
        ])
    func senselessListIsRefused(text: String) async throws {
        let origin = try ScriptedOrigin { _ in [Self.document(text)] }
        let storage = try ObjectStorage(origin, client: client)
        guard
            case .invalidResponse = await failure(of: { () async throws(ObjectStorageError) in _ = try await storage.list() })
        else {
            Issue.record("it was taken")
            return
        }
        let uploads = await failure { () async throws(ObjectStorageError) in _ = try await storage.unfinishedUploads() }
        #expect(uploads != nil)
    }

    static func item(key: String, size: String) -> String {
        "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>\(key)</Key><Size>\(size)</Size>"
            + "<LastModified>2026-11-23T00:00:00.000Z</LastModified></Contents></ListBucketResult>"
    }

    @Test("Reads a list and its escapes, and sends the expected query")
    func listIsRead() async throws {
        let origin = try ScriptedOrigin { _ in
            [
                Self.document(
                    Self.item(key: "p/a+b%20c%2B%C3%A9", size: "5").replacing(
                        "<Contents>", with: "<IsTruncated>true</IsTruncated><Contents>"))
            ]
        }
        let page = try await ObjectStorage(origin, client: client).list(prefix: "a", after: "a&b")
        #expect(page.items.map(\.key) == ["a b c+é"])
        #expect(page.items.map(\.length) == [5])
        #expect(page.next == "a b c+é")
        #expect(
            origin.requests.first?.target
                == "/bucket?encoding-type=url&list-type=2&max-keys=1000&prefix=p%2Fa&start-after=p%2Fa%26b")
    }

    /// Responses of radosgw of Ceph 16.2: with escapes on request, and always without EncodingType.
    @Test("Reads a list of uploads without a declared encoding")
    func uploadsAreRead() async throws {
        let origin = try ScriptedOrigin { request in
            let key = request.target.contains("encoding-type") ? "p%C3%A4%20%2B%25/1/a%20b" : "pä +%/1/a b"
            return [
                Self.document(
                    "<ListMultipartUploadsResult><Prefix>pä +%/1</Prefix><IsTruncated>true</IsTruncated><Upload><Key>\(key)</Key>"
                        + "<UploadId>2~u</UploadId><Initiated>2026-11-23T00:00:00.000Z</Initiated></Upload></ListMultipartUploadsResult>"
                )
            ]
        }
        let storage = try ObjectStorage(origin, prefix: "p%C3%A4%20+%25", client: client)
        let page = try await storage.unfinishedUploads(prefix: "1")
        #expect(page.items.map(\.key) == ["1/a b"])
        #expect(page.items.map(\.uploadID) == ["2~u"])
        _ = try await storage.unfinishedUploads(after: page.next)
        let prefix = "prefix=p%C3%A4%20%2B%25%2F"
        #expect(
            origin.requests.map(\.target) == [
                "/bucket?max-uploads=1000&\(prefix)1&uploads=",
                "/bucket?key-marker=p%C3%A4%20%2B%25%2F1%2Fa%20b&max-uploads=1000&\(prefix)&upload-id-marker=2~u&uploads=",
            ])
    }

    @Test("Refuses a response that is too large")
    func largeAnswerIsRefused() async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, body: [UInt8](repeating: 0x20, count: 2000))] }
        let storage = try ObjectStorage(origin, client: client) { $0.answerBytes = 1000 }
        guard
            case .invalidResponse = await failure(of: { () async throws(ObjectStorageError) in _ = try await storage.list() })
        else {
            Issue.record("it was taken")
            return
        }
    }

    // MARK: - Uploads in parts

    /// A file of 10 parts of 1,000 bytes, except the last one of 1 byte.
    static let content = (0..<9001).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }

    /// Responds as a service does, unless `special` has another response.
    static func service(special: @escaping @Sendable (ScriptedOrigin.Request) -> [Step]?) throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            if let steps = special(request) { return steps }
            switch (request.method, request.target.split(separator: "?").last ?? "") {
            case ("POST", "uploads="):
                return [document("<InitiateMultipartUploadResult><UploadId>u/1</UploadId></InitiateMultipartUploadResult>")]
            case ("POST", "uploadId=u%2F1"):
                return [document("<CompleteMultipartUploadResult><ETag>&quot;x&quot;</ETag></CompleteMultipartUploadResult>")]
            case ("PUT", _):
                return [.response(200, [("ETag", "\"\(md5(request.body))\"")])]
            case ("HEAD", _):
                return [.text("HTTP/1.1 200 OK\r\nContent-Length: 9001\r\nETag: \"\(wholeTag)\"\r\n\r\n")]
            case ("DELETE", _): return [.response(204)]
            default: return [fault(400, "InvalidRequest")]
            }
        }
    }

    static func md5(_ bytes: [UInt8]) -> String { Hexadecimal.encode(digest(bytes)) }

    static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var digest = MessageDigest(.md5)
        unsafe digest.update(bytes.span.bytes)
        return digest.digest()
    }

    static var wholeTag: String {
        let digests = stride(from: 0, to: content.count, by: 1000).flatMap {
            digest(Array(content[$0..<min($0 + 1000, content.count)]))
        }
        return "\(md5(digests))-10"
    }

    func storage(_ origin: ScriptedOrigin) throws -> ObjectStorage {
        try ObjectStorage(origin, client: client) {
            $0.singleUpload = 1000
            $0.partLength = 1000
        }
    }

    @Test("Sends parts, and joins them in order")
    func partsAreSent() async throws {
        let origin = try Self.service { _ in nil }
        let object = try await storage(origin).upload(Upload(Self.content), to: "k", mediaType: "audio/mpeg")
        #expect(object == ObjectDescription(length: 9001, tag: Self.wholeTag))
        #expect(origin.requests.first?["Content-Type"] == "audio/mpeg")
        let parts = origin.requests.filter { $0.method == "PUT" }
        let sorted = parts.sorted {
            $0.target.count == $1.target.count ? $0.target < $1.target : $0.target.count < $1.target.count
        }
        #expect(sorted.flatMap(\.body) == Self.content)
        let document = String(
            decoding: try #require(origin.requests.first { $0.target.hasSuffix("?uploadId=u%2F1") }).body, as: UTF8.self)
        let numbers = document.split(separator: "<PartNumber>").dropFirst().compactMap { $0.split(separator: "<").first }
        #expect(numbers == (1...10).map { Substring(String($0)) })
        #expect(!origin.requests.contains { $0.method == "DELETE" })
    }

    @Test("Signs parts with known digests", arguments: [1000, 500])
    func knownDigestsAreSent(partLength: Int64) async throws {
        let origin = try Self.service { _ in nil }
        var limits = ObjectStorageLimits()
        limits.partLength = partLength
        var (parts, whole) = (PartDigests(limits: limits), SHA256())
        for start in stride(from: 0, to: Self.content.count, by: 1700) {
            let piece = Array(Self.content[start..<min(start + 1700, Self.content.count)])
            unsafe parts.update(piece.span.bytes, with: &whole)
        }
        #expect(whole.digest() == SHA256.digest(of: Self.content))
        // A false digest of the file shows whether the file is hashed again, as it is if the parts have another length.
        let upload = try Upload(Self.content)
        let sha256 = [UInt8](repeating: 1, count: 32)
        let storage = try storage(origin)
        let error = await failure { () async throws(ObjectStorageError) in
            try await storage.upload(
                upload.file, length: upload.length, sha256: sha256, parts: parts.digests, to: "k", mediaType: nil)
        }
        #expect(error == (partLength == 1000 ? nil : .contentMismatch))
        for request in origin.requests where request.method == "PUT" {
            #expect(request["x-amz-content-sha256"] == Hexadecimal.encode(SHA256.digest(of: request.body)))
        }
    }

    @Test("A file with more parts than the maximum has only a digest of its own", arguments: [9, 10])
    func surplusPartsAreHashed(maximum: Int64) {
        var limits = ObjectStorageLimits()
        (limits.partLength, limits.maximumParts) = (1000, maximum)
        var (parts, whole) = (PartDigests(limits: limits), SHA256())
        unsafe parts.update(Self.content.span.bytes, with: &whole)
        #expect(whole.digest() == SHA256.digest(of: Self.content))
        #expect(parts.digests?.count == (maximum == 10 ? 10 : nil))
    }

    @Test(
        "A response with status 200 and an error is an error",
        arguments: [("InternalError", true), ("AccessDenied", false), ("", true)])
    func lateErrorIsNoticed(code: String, passes: Bool) async throws {
        let completions = Atomic(0)
        let origin = try Self.service { request in
            guard request.method == "POST", request.target.hasSuffix("?uploadId=u%2F1"),
                completions.add(1, ordering: .relaxed).newValue == 1
            else { return nil }
            // A service that fails, or one that breaks off.
            return [code.isEmpty ? Self.document("   <?xml version=\"1.0\"?><Compl") : Self.fault(200, code)]
        }
        let storage = try storage(origin)
        let upload = try Upload(Self.content)
        let error = await failure { () async throws(ObjectStorageError) in try await storage.upload(upload, to: "k") }
        #expect(error == (passes ? nil : .refused(status: 200, code: code, message: "why \(code)")))
        #expect(completions.load(ordering: .relaxed) == (passes ? 2 : 1))
        #expect(origin.requests.contains { $0.method == "DELETE" && $0.target.hasSuffix("?uploadId=u%2F1") } == !passes)
    }

    @Test("Verifies the object's length and tag after a lost response to the completion", arguments: [true, false])
    func lostCompletionIsProved(isProved: Bool) async throws {
        let completions = Atomic(0)
        let origin = try Self.service { request in
            switch request.method {
            case "POST" where request.target.hasSuffix("?uploadId=u%2F1"):
                completions.add(1, ordering: .relaxed).newValue == 1 ? [.reset] : [Self.fault(404, "NoSuchUpload")]
            case "HEAD" where !isProved: [.text("HTTP/1.1 200 OK\r\nContent-Length: 9001\r\nETag: \"other-10\"\r\n\r\n")]
            default: nil
            }
        }
        let storage = try storage(origin)
        let upload = try Upload(Self.content)
        let error = await failure { () async throws(ObjectStorageError) in try await storage.upload(upload, to: "k") }
        #expect(completions.load(ordering: .relaxed) == 2)
        guard !isProved else {
            #expect(error == nil)
            return
        }
        guard case .unavailable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("A part that cannot be sent aborts the upload")
    func failedPartEndsUpload() async throws {
        let origin = try Self.service { request in
            request.method == "PUT" && request.target.contains("partNumber=3&") ? [Self.fault(403, "AccessDenied")] : nil
        }
        let storage = try storage(origin)
        let upload = try Upload(Self.content)
        let error = await failure { () async throws(ObjectStorageError) in try await storage.upload(upload, to: "k") }
        #expect(error == .refused(status: 403, code: "AccessDenied", message: "why AccessDenied"))
        #expect(origin.requests.last?.method == "DELETE")
        #expect(!origin.requests.contains { $0.method == "POST" && $0.target.hasSuffix("?uploadId=u%2F1") })
    }

    @Test("Does not complete a file with another digest or too few bytes", arguments: [true, false])
    func changedFileIsNotCompleted(isShort: Bool) async throws {
        let origin = try Self.service { _ in nil }
        let storage = try storage(origin)
        let upload = try Upload(Self.content)
        let length = upload.length + (isShort ? 1 : 0)
        let error = await failure { () async throws(ObjectStorageError) in
            try await storage.upload(
                upload.file, length: length, sha256: [UInt8](repeating: 1, count: 32), to: "k", mediaType: nil)
        }
        #expect(error == (isShort ? .unreadableFile("it ends before byte 9002") : .contentMismatch))
        #expect(origin.requests.last?.method == "DELETE")
        #expect(!origin.requests.contains { $0.method == "POST" && $0.target.hasSuffix("?uploadId=u%2F1") })
    }

    @Test("A cancelled upload is aborted before it returns")
    func cancelledUploadIsAborted() async throws {
        let stalled = Gate()
        let origin = try Self.service { request in
            request.method == "PUT" && request.target.contains("partNumber=2&") ? [.open(stalled), .stall] : nil
        }
        let storage = try storage(origin)
        let upload = try Upload(Self.content)
        let task = Task { await failure { () async throws(ObjectStorageError) in try await storage.upload(upload, to: "k") } }
        try await stalled.wait()
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(origin.requests.last?.method == "DELETE")
        #expect(origin.requests.last?.target == "/bucket/p/k?uploadId=u%2F1")
    }
}
