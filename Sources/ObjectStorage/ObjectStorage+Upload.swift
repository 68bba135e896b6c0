internal import HTTPClient
internal import HTTPCore
internal import XML
public import System

extension ObjectStorage {
    /// Stores the first `length` bytes of a file under a key. When it returns, the service has confirmed the object.
    ///
    /// The file is not kept in memory. The service checks the SHA-256 of a single request, and of each part. Digests of
    /// parts that are not known are computed here, together with the file's, which is then checked before the
    /// upload is completed. If the service is not known to check them (``tryUpload(to:)``), the bytes are read once more
    /// before they are sent, compared with their SHA-256, and sent with their MD5. A tag that is an MD5 is compared, too.
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
        let range = 0..<max(0, length)
        let digests = try await digests(of: range, in: file, sha256)
        var request = StorageRequest("PUT", key: key)
        request.fields = fields
        request.set(file: file, range, digests)
        // Repeating it after a lost response stores the same bytes again.
        let tag = try await sendContent(request, digests)
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
        let uploadID = try await beginUpload(to: key, fields: fields)
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

    /// Begins an upload in parts.
    /// - Returns: The service's id of the upload.
    func beginUpload(to key: String, fields: [(name: String, value: String)] = []) async throws(ObjectStorageError) -> String {
        var request = StorageRequest("POST", key: key, query: [QueryItem(name: "uploads", value: "")], body: [])
        request.fields = fields
        // Services give the root different names.
        let document = try Self.document(try await send(request))
        guard let uploadID = document.holder(of: "UploadId")?["UploadId"]?.text, !uploadID.isEmpty else {
            throw .invalidResponse("an upload has no id")
        }
        return uploadID
    }

    /// Sends all parts, a few at a time. If their digests are not known, the next one is hashed at the same time.
    private func sendParts(
        of file: FileDescriptor, _ plan: UploadPlan, sha256: [UInt8], _ known: [[UInt8]]?, to key: String, uploadID: String
    ) async -> Result<[UploadedPart], ObjectStorageError> {
        await withTaskGroup(of: Result<UploadedPart, ObjectStorageError>.self) { group in
            var parts: [UploadedPart] = []
            var failure: ObjectStorageError?
            var running = 0
            var whole: SHA256? = known == nil ? SHA256() : nil
            for number in 1...max(1, plan.count) {
                let range = plan.range(ofPart: number)
                let digests: ContentDigests
                do throws(ObjectStorageError) {
                    digests = try await self.digests(of: range, in: file, known?[number - 1], &whole)
                } catch {
                    failure = error
                    break
                }
                if running >= limits.parallelParts, let result = await group.next() {
                    running -= 1
                    Self.note(result, &parts, &failure)
                }
                if failure != nil { break }
                running += 1
                group.addTask { await self.sendPart(number, range, of: file, digests, to: key, uploadID: uploadID) }
            }
            if failure == nil, let whole, whole.digest() != sha256 { failure = .contentMismatch }
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
        _ number: Int, _ range: Range<Int64>, of file: FileDescriptor, _ digests: ContentDigests, to key: String, uploadID: String
    ) async -> Result<UploadedPart, ObjectStorageError> {
        var request = StorageRequest("PUT", key: key, query: Self.part(number, of: uploadID))
        request.set(file: file, range, digests)
        do throws(ObjectStorageError) {
            let tag = try await sendContent(request, digests)
            return tag.isEmpty
                ? .failure(.invalidResponse("a part has no tag")) : .success(UploadedPart(number: number, tag: tag))
        } catch {
            return .failure(error)
        }
    }

    /// The query of a request that stores a part.
    static func part(_ number: Int, of uploadID: String) -> [QueryItem] {
        [QueryItem(name: "partNumber", value: String(number)), QueryItem(name: "uploadId", value: uploadID)]
    }

    /// Sends a request with content.
    /// - Returns: The tag of what was stored; empty if there is none.
    private func sendContent(
        _ request: StorageRequest, _ digests: ContentDigests
    ) async throws(ObjectStorageError) -> String {
        let tag = Self.tag(try await send(request))
        if !tag.isEmpty, service.withLock({ $0.contradicts(tag, digests) }) { throw .contentMismatch }
        return tag
    }

    /// Completes the upload: combines the parts into an object.
    @discardableResult
    func complete(
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
    func abortQuietly(_ key: String, uploadID: String) async {
        let hurried = hurried(within: limits.abortTimeout)
        await Task { try? await hurried.abort(key, uploadID: uploadID) }.value
    }

    /// The digests that a range of a file is sent with. The bytes are read if their SHA-256 is not known, or if the service
    /// is not known to compare it.
    /// - Parameters:
    ///   - known: The SHA-256 that the bytes must have; `nil` if it is not known.
    ///   - whole: The digest of the file, to which the bytes are added; `nil` if it is not needed.
    private func digests(
        of range: Range<Int64>, in file: FileDescriptor, _ known: [UInt8]?, _ whole: inout SHA256?
    ) async throws(ObjectStorageError) -> ContentDigests {
        let comparesSHA256 = service.withLock { $0.comparesSHA256 }
        if let known, comparesSHA256 { return ContentDigests(sha256: known) }
        var hasher = RangeHasher(after: whole, computesMD5: !comparesSHA256)
        try await hasher.add(range, of: file)
        whole = hasher.whole
        if let known, hasher.digests.sha256 != known { throw .contentMismatch }
        return hasher.digests
    }

    private func digests(
        of range: Range<Int64>, in file: FileDescriptor, _ known: [UInt8]
    ) async throws(ObjectStorageError) -> ContentDigests {
        var whole: SHA256?
        return try await digests(of: range, in: file, known, &whole)
    }
}
