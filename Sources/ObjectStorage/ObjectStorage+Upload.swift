internal import HTTPClient
internal import HTTPCore
internal import XML
public import System

extension ObjectStorage {
    /// Stores the first `length` bytes of a file under a key. When it returns, the service has confirmed the object.
    ///
    /// The file is not kept in memory. The service checks the digest of a single request, and of each part. Digests of
    /// parts that are not known are computed here, together with that of the file, which is then checked before the
    /// upload is completed.
    ///
    /// If a response is lost, a single request is sent again. For an upload in parts, the object's length and tag show
    /// whether it was completed. The tag only proves that where it is computed from the MD5 digests of the parts (AWS
    /// without SSE-KMS, MinIO, Ceph). Elsewhere the upload counts as failed, and must be repeated.
    ///
    /// A cancelled or failed upload is abandoned. The file is not read any more after this function returns or throws.
    /// - Parameters:
    ///   - sha256: The digest of these bytes.
    ///   - parts: The digests of the parts by ``PartDigests`` with the same limits; `nil` if they are not known.
    ///   - mediaType: The default Content-Type of the object; ignored if it is not visible ASCII.
    /// - Returns: The properties of the stored object.
    @discardableResult
    public func upload(
        _ file: FileDescriptor, length: Int64, sha256: [UInt8], parts: [[UInt8]]? = nil, to key: String, mediaType: String?
    ) async throws(ObjectStorageError) -> ObjectDescription {
        var fields: [(name: String, value: String)] = []
        if let mediaType, mediaType.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
            fields.append((name: "Content-Type", value: mediaType))
        }
        guard length <= limits.singleUpload else {
            return try await uploadParts(of: file, length: length, sha256: sha256, parts, to: key, fields: fields)
        }
        var request = StorageRequest("PUT", key: key)
        request.fields = fields
        request.set(file: file, 0..<max(0, length), sha256: sha256)
        // Repeating it after a lost response stores the same bytes again.
        let tag = Self.tag(try await send(request))
        if !tag.isEmpty { return ObjectDescription(length: length, tag: tag) }
        // A response without a tag does not prove that the object was stored.
        guard let object = try await head(key), object.length == length else {
            throw .invalidResponse("it accepted a file, but does not have it")
        }
        return object
    }

    private func uploadParts(
        of file: FileDescriptor, length: Int64, sha256: [UInt8], _ parts: [[UInt8]]?, to key: String,
        fields: [(name: String, value: String)]
    ) async throws(ObjectStorageError) -> ObjectDescription {
        var request = StorageRequest("POST", key: key, query: [QueryItem(name: "uploads", value: "")], body: [])
        request.fields = fields
        let root = try Self.document(try await send(request))
        guard root.name == "InitiateMultipartUploadResult", let uploadID = root["UploadId"]?.text, !uploadID.isEmpty else {
            throw .invalidResponse("an upload has no id")
        }
        let plan = UploadPlan(length: length, limits: limits)
        let known = parts?.count == plan.count ? parts : nil
        let result = await sendParts(of: file, plan, sha256: sha256, known, to: key, uploadID: uploadID)
        do throws(ObjectStorageError) {
            return try await complete(try result.get(), length: length, key: key, uploadID: uploadID)
        } catch {
            await abortQuietly(key, uploadID: uploadID)
            throw error
        }
    }

    /// Sends all parts, a few at a time. If their digests are not known, the next one is hashed meanwhile.
    private func sendParts(
        of file: FileDescriptor, _ plan: UploadPlan, sha256: [UInt8], _ known: [[UInt8]]?, to key: String, uploadID: String
    ) async -> Result<[UploadedPart], ObjectStorageError> {
        await withTaskGroup(of: Result<UploadedPart, ObjectStorageError>.self) { group in
            var parts: [UploadedPart] = []
            var failure: ObjectStorageError?
            var running = 0
            var whole = SHA256()
            for number in 1...max(1, plan.count) {
                let range = plan.range(ofPart: number)
                let digest: Result<[UInt8], ObjectStorageError>
                if let known {
                    digest = .success(known[number - 1])
                } else {
                    digest = await Self.digest(of: range, in: file, &whole)
                }
                switch digest {
                case .success(let digest):
                    if running >= limits.parallelParts, let result = await group.next() {
                        running -= 1
                        Self.note(result, &parts, &failure)
                    }
                    if failure == nil {
                        running += 1
                        group.addTask {
                            await self.sendPart(
                                number, range, of: file, sha256: digest, to: key, uploadID: uploadID)
                        }
                    }
                case .failure(let error):
                    failure = error
                }
                if failure != nil { break }
            }
            if failure == nil, known == nil, whole.digest() != sha256 { failure = .contentMismatch }
            if failure != nil { group.cancelAll() }
            while let result = await group.next() {
                Self.note(result, &parts, &failure)
                if failure != nil { group.cancelAll() }
            }
            if let failure { return .failure(failure) }
            return .success(parts.sorted { $0.number < $1.number })
        }
    }

    private static func note(
        _ result: Result<UploadedPart, ObjectStorageError>, _ parts: inout [UploadedPart], _ failure: inout ObjectStorageError?
    ) {
        switch result {
        case .success(let part): parts.append(part)
        // Later failures are cancellations because of the first.
        case .failure(let error): failure = failure ?? error
        }
    }

    private func sendPart(
        _ number: Int, _ range: Range<Int64>, of file: FileDescriptor, sha256: [UInt8], to key: String, uploadID: String
    ) async -> Result<UploadedPart, ObjectStorageError> {
        let query = [QueryItem(name: "partNumber", value: String(number)), QueryItem(name: "uploadId", value: uploadID)]
        var request = StorageRequest("PUT", key: key, query: query)
        request.set(file: file, range, sha256: sha256)
        do throws(ObjectStorageError) {
            let tag = Self.tag(try await send(request))
            return tag.isEmpty
                ? .failure(.invalidResponse("a part has no tag")) : .success(UploadedPart(number: number, tag: tag))
        } catch {
            return .failure(error)
        }
    }

    /// Completes the upload: combines the parts into an object.
    private func complete(
        _ parts: [UploadedPart], length: Int64, key: String, uploadID: String
    ) async throws(ObjectStorageError) -> ObjectDescription {
        var request = StorageRequest("POST", key: key, query: [QueryItem(name: "uploadId", value: uploadID)])
        request.set(bytes: UploadedPart.document(of: parts))
        request.failsLate = true
        var lost: ObjectStorageError?
        do throws(ObjectStorageError) {
            _ = try await send(request)
        } catch {
            switch error {
            // An earlier try may have completed it, with its response lost.
            case .unavailable, .refused(_, code: "NoSuchUpload", _): lost = error
            default: throw error
            }
        }
        let object = try await head(key)
        guard let lost else {
            guard let object, object.length == length else {
                throw .invalidResponse("the object has \(object?.length ?? 0) bytes of \(length)")
            }
            return object
        }
        guard let object, object.length == length, let tag = UploadedPart.tag(of: parts), object.tag == tag else {
            if case .unavailable = lost { throw lost }
            throw .unavailable("the upload disappeared before its completion: \(lost.message)")
        }
        return object
    }

    /// Aborts the upload as far as possible, even if the task has been cancelled.
    private func abortQuietly(_ key: String, uploadID: String) async {
        let query = [QueryItem(name: "uploadId", value: uploadID)]
        let task = Task { [limits] in
            _ = try? await send(StorageRequest("DELETE", key: key, query: query), tries: 1, timeout: limits.abortTimeout)
        }
        await task.value
    }

    /// The digest of a part, which is also added to the digest of the file. Computed outside Swift's thread pool.
    private static func digest(
        of range: Range<Int64>, in file: FileDescriptor, _ whole: inout SHA256
    ) async -> Result<[UInt8], ObjectStorageError> {
        var digests = (part: SHA256(), whole: whole)
        var offset = range.lowerBound
        while offset < range.upperBound {
            // Pieces let other work run in between, and let a cancelled task end.
            let piece = offset..<min(offset + longestPiece, range.upperBound)
            guard !Task.isCancelled else { return .failure(.cancelled) }
            let before = digests
            let result = await BlockingExecutor.hashing.run { hash(piece, of: file, into: before) }
            switch result {
            case .success(let after): digests = after
            case .failure(let error): return .failure(error)
            }
            offset = piece.upperBound
        }
        whole = digests.whole
        return .success(digests.part.digest())
    }

    /// The number of bytes that are hashed at once.
    private static let longestPiece: Int64 = 64 << 20

    private static func hash(
        _ range: Range<Int64>, of file: FileDescriptor, into digests: (part: SHA256, whole: SHA256)
    ) -> Result<(part: SHA256, whole: SHA256), ObjectStorageError> {
        var digests = digests
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        var offset = range.lowerBound
        while offset < range.upperBound {
            do throws(SystemError) {
                let wanted = Int(min(Int64(buffer.count), range.upperBound - offset))
                let count = try file.read(into: &buffer, count: wanted, at: offset)
                guard count == wanted else { return .failure(.unreadableFile("it ends before byte \(range.upperBound)")) }
                let bytes = unsafe buffer.span.bytes.extracting(0..<count)
                SHA256.update(&digests.part, &digests.whole, with: bytes)
                offset += Int64(count)
            } catch {
                return .failure(.unreadableFile(error.description))
            }
        }
        return .success(digests)
    }
}
