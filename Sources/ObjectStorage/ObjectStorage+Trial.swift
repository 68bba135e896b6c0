internal import HTTPClient
internal import System

extension ObjectStorage {
    /// Stores a small object in parts, reads it back, and removes it. Also learns how the service checks contents. Large
    /// files are stored in parts, which some permissions and services refuse.
    /// - Parameter key: A key that is not used. If the connection breaks, an object or an upload may be left.
    public func tryUpload(to key: String) async throws(ObjectStorageError) {
        let content = Array(key.utf8)
        let digests = ContentDigests.of(content)
        let comparesSHA256 = try await refusesWrongDigest(of: content, at: key)
        let uploadID = try await beginUpload(to: key)
        var tag = ""
        do throws(ObjectStorageError) {
            var request = StorageRequest("PUT", key: key, query: Self.part(1, of: uploadID), body: .bytes(content))
            request.set(digests)
            tag = Self.tag(try await send(request))
            try await complete([UploadedPart(number: 1, tag: tag)], length: Int64(content.count), key: key, uploadID: uploadID)
        } catch {
            await abortQuietly(key, uploadID: uploadID)
            try? await remove(key)
            throw error == .contentMismatch ? Self.changesBytes : error
        }
        let stored = try await send(StorageRequest("GET", key: key)).body
        try await remove(key)
        guard stored == content else { throw Self.changesBytes }
        service.withLock { [tag] traits in
            traits.comparesSHA256 = comparesSHA256
            traits.tagsAreMD5 = digests.md5.map(Hexadecimal.encode) == tag
        }
    }

    /// Whether the service refuses content that does not have the stated SHA-256.
    private func refusesWrongDigest(of content: [UInt8], at key: String) async throws(ObjectStorageError) -> Bool {
        var request = StorageRequest("PUT", key: key, body: .bytes(content))
        request.digest = Hexadecimal.encode(SHA256.digest(of: content + [0]))
        do throws(ObjectStorageError) {
            _ = try await send(request)
            return false
        } catch .contentMismatch {
            return true
        } catch .refused {
            return true
        }
    }

    private static let changesBytes = ObjectStorageError.unavailable("bytes change on the way to it or back")

    /// Reads all bytes of an object, and returns their SHA-256.
    /// - Parameter length: Its length in bytes.
    /// - Returns: `nil` if there is no such object.
    public func sha256(of key: String, length: Int64) async throws(ObjectStorageError) -> [UInt8]? {
        var digest = SHA256()
        for start in stride(from: 0, to: length, by: Self.pieceLength) {
            var request = StorageRequest("GET", key: key)
            let range = start..<min(start + Int64(Self.pieceLength), length)
            request.range = range
            do throws(ObjectStorageError) {
                let bytes = try await send(request).body
                guard bytes.count == range.count else {
                    throw .invalidResponse("it returned \(bytes.count) bytes of an object in the place of \(range.count)")
                }
                digest.update(bytes)
            } catch .refused(status: 404, _, _) {
                return nil
            }
        }
        return digest.digest()
    }

    /// The number of bytes that are read at once, less than a response may have.
    private static let pieceLength = 4 << 20
}
