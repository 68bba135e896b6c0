internal import DownloadCore
internal import DownloadIndex
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import System

/// Requests for finished files.
extension API {
    /// `GET /downloads/{id}/file`.
    ///
    /// The origin controls the contents of a file. So a browser saves the file unless the request asks for display, and
    /// then displays it in a sandbox without scripts or origin. It does not guess the type, since the server always
    /// sends `nosniff`.
    ///
    /// For a file in object storage, the response redirects to a URL of the storage that is valid as long as the
    /// ticket, and for 12 hours with a token or key. Conditions are evaluated here.
    func file(of id: RecordID, _ request: borrowing Request, _ response: inout Response) throws(Problem) -> RouteResult {
        let isInline = try Self.requestsInline(request.head.target)
        let finished = try finishedFile(of: id)
        if let identity = finished.identity, redirect(to: finished, id, identity, isInline: isInline, request, &response) {
            return .ready
        }
        let maximum = descriptors.files
        guard FileHandle.count < maximum else {
            throw Problem(.unavailable, "\(maximum) files are being served already; try again in a moment", retryAfter: 1)
        }
        if let identity = finished.identity, let file = downloads.openCachedFile(finished.name, in: finished.folder, as: identity)
        {
            serve(finished, FileHandle(file, identity: identity), isInline: isInline, request, &response)
            return .ready
        }
        let request = copy request
        // Opening a file may wait for a disk; identifying a file restored from a backup takes longer.
        return .later { [self] () throws(Problem) in
            let (file, identity): (FileDescriptor?, FileIdentity)
            do throws(FinishedFileError) {
                (file, identity) = try await downloads.openFile(of: id)
            } catch {
                throw error.problem
            }
            var response = Response()
            guard let file else {
                guard redirect(to: finished, id, identity, isInline: isInline, request, &response) else {
                    throw FinishedFileError.gone.problem
                }
                return response
            }
            serve(finished, FileHandle(file, identity: identity), isInline: isInline, request, &response)
            return response
        }
    }

    /// Redirects the client to the object storage unless a condition of the request decides otherwise.
    /// - Returns: Whether the response is filled in; `false` if the file is not in object storage.
    private func redirect(
        to finished: FileFields.File, _ id: RecordID, _ identity: FileIdentity, isInline: Bool,
        _ request: borrowing Request, _ response: inout Response
    ) -> Bool {
        guard downloads.keepsObjects else { return false }
        let left = access.ticketEnd(of: request).map {
            ($0.millisecondsSinceEpoch - Timestamp.now().millisecondsSinceEpoch) / 1000
        }
        // The storage does not send the sandbox policy.
        let fields = isInline && finished.isHarmless ? finished.inline : finished.attachment
        let address = downloads.address(
            of: id, as: identity, isHead: request.head.method == .head, disposition: fields[.contentDisposition],
            mediaType: finished.mediaType, validFor: Int(min(max(left ?? .max, 1), Self.addressLifetime)))
        guard let address else { return false }
        let (now, second) = (SystemTime.sinceEpoch, Int64(1_000_000_000))
        let lastModified = HTTPDate(secondsSinceEpoch: identity.modified / second)
        let outcome = Preconditions.evaluate(
            method: request.head.method, fields: request.head.fields, etag: finished.etag, lastModified: lastModified,
            now: HTTPDate(secondsSinceEpoch: now / second))
        switch outcome {
        case .notModified:
            response.status = .notModified
            response.fields.append(contentsOf: fields)
        case .failed: Self.conditionFailed.fill(&response)
        // The storage serves the ranges.
        case .proceed, .partial, .unsatisfiable:
            response.status = .found
            response.fields.append(.location, address)
            // The address works for every holder. The ticket in this request's URL must not reach the
            // storage.
            response.fields.append(.cacheControl, "no-store")
            response.fields.append(.referrerPolicy, "no-referrer")
            return true
        }
        if let etag = finished.etag { response.fields.append(.etag, etag) }
        response.fields.append(.lastModified, lastModified)
        return true
    }

    /// The longest validity of an address in the storage, in seconds. Players send the ranges of a later jump to the same address.
    private static let addressLifetime: Int64 = 12 * 3600

    private static var conditionFailed: Problem {
        Problem(.preconditionFailed, "the file is not the one that If-Match or If-Unmodified-Since names")
    }

    private static func requestsInline(_ target: RequestTarget) throws(Problem) -> Bool {
        guard target.rawQuery != nil else { return false }
        return try QueryReader.read(target) { reader throws(Problem) in
            let isInline = try reader.bool("inline") ?? false
            // Already checked; taken so that they are not refused as unknown.
            _ = try (reader.value("ticket"), reader.value("key"))
            return isInline
        }
    }

    private func finishedFile(of id: RecordID) throws(Problem) -> FileFields.File {
        if let version = index.version(of: id), let known = files.file(version) { return known }
        guard let download = index.download(id) else { throw DownloadError.notFound.problem }
        guard download.state == .completed else { throw DownloadError.notComplete(download.state).problem }
        guard let name = download.filename else { throw Problem(.internalError, "the file's name is not known") }
        return files.file(of: download, named: name)
    }

    private func serve(
        _ finished: FileFields.File, _ handle: FileHandle, isInline: Bool, _ request: borrowing Request,
        _ response: inout Response
    ) {
        // Most requests ask for the whole file. Their fields are known.
        if !isInline, handle.size > 0, handle.identity == finished.identity, !Preconditions.arePresent(in: request.head.fields) {
            response.fields.append(contentsOf: finished.whole)
            response.content = .parts([.file(FileSection(file: handle, offset: 0, length: handle.size))])
            return
        }
        response.serve(
            handle, for: request, mediaType: finished.mediaType, etag: finished.etag)
        switch response.status {
        case .preconditionFailed:
            Self.conditionFailed.fill(&response)
        case .rangeNotSatisfiable:
            Problem(.rangeNotSatisfiable, "the file has \(handle.size) bytes").fill(&response)
        default: response.fields.append(contentsOf: isInline ? finished.inline : finished.attachment)
        }
    }
}
