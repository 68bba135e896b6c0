import Foundation
import HTTPClient
import HTTPCore
import ObjectStorage
import System
import TestSupport
import Testing

/// A file of a test with the digest of its bytes.
struct Upload {
    let directory: TemporaryDirectory
    let file: FileDescriptor
    let length: Int64
    let sha256: [UInt8]

    /// A file of these bytes.
    init(_ bytes: [UInt8]) throws {
        directory = try TemporaryDirectory()
        file = try FileDescriptor(opening: directory.path + "/file", .creating)
        unsafe try file.write(bytes.span.bytes, at: 0)
        length = Int64(bytes.count)
        sha256 = SHA256.digest(of: bytes)
    }

    /// A sparse file with some bytes at each of these offsets.
    init(sparse length: Int64, marks: [Int64]) throws {
        directory = try TemporaryDirectory()
        file = try FileDescriptor(opening: directory.path + "/file", .creating)
        try file.truncate(to: length)
        for mark in marks { unsafe try file.write(Array("mark \(mark)".utf8).span.bytes, at: mark) }
        self.length = length
        var digest = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var offset: Int64 = 0
        while offset < length {
            let count = try file.read(into: &buffer, count: Int(min(length - offset, 1 << 20)), at: offset)
            digest.update(Array(buffer[..<count]))
            offset += Int64(count)
        }
        sha256 = digest.digest()
    }
}

extension ObjectStorage {
    /// Objects at an origin of the test, without pauses between attempts.
    convenience init(
        _ origin: ScriptedOrigin, prefix: String = "p", client: HTTPClient, change: (inout ObjectStorageLimits) -> Void = { _ in }
    ) throws {
        var limits = ObjectStorageLimits()
        limits.firstPause = .milliseconds(1)
        change(&limits)
        let location = try ObjectLocation(parsing: "s3://bucket/\(prefix)?endpoint=http://127.0.0.1:\(origin.port)")
        let credentials = try #require(ObjectCredentials(accessKeyID: "id", secretAccessKey: "secret"))
        self.init(location, credentials: credentials, client: client, limits: limits)
    }

    @discardableResult
    func upload(_ upload: Upload, to key: String, mediaType: String? = nil) async throws(ObjectStorageError) -> ObjectDescription
    {
        try await self.upload(upload.file, length: upload.length, sha256: upload.sha256, to: key, mediaType: mediaType)
    }
}

/// The error of a call; nil if it succeeds.
func failure(of body: () async throws(ObjectStorageError) -> Void) async -> ObjectStorageError? {
    do throws(ObjectStorageError) {
        try await body()
        return nil
    } catch {
        return error
    }
}
