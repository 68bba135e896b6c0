internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import System

/// The finished files.
extension API {
    /// `GET /downloads/{id}/file`.
    ///
    /// What is in a file is the choice of whoever served it to us. A browser gets it as a download unless asked otherwise, does
    /// not guess its type (`nosniff`, which the server sends always), and shows it in a sandbox without scripts or origin.
    func file(of id: DownloadID, _ request: borrowing Request, _ response: inout Response) throws(Problem) -> RouteResult {
        let isInline = try Self.asksInline(request.head.target)
        let finished = try finishedFile(of: id)
        let most = descriptors.files
        guard FileHandle.count < most else {
            throw Problem(.unavailable, "\(most) files are being served already; try again in a moment", retryAfter: 1)
        }
        if let identity = finished.identity, let file = downloads.openCachedFile(finished.name, in: finished.folder, as: identity)
        {
            serve(finished, FileHandle(file, identity: identity), isInline: isInline, request, &response)
            return .ready
        }
        let request = copy request
        // Opening a file may have to wait for a disk, and recognising one that was restored from a backup takes longer.
        return .later { [self] () throws(Problem) in
            let (file, identity): (FileDescriptor, FileIdentity)
            do throws(FinishedFileError) {
                (file, identity) = try await downloads.openFile(of: id)
            } catch {
                switch error {
                case .gone: throw Problem(.notFound, "the file is gone from the files directory")
                // Out of descriptors or memory, a disk that fails: that says nothing of the file.
                case .unavailable(let reason):
                    throw Problem(.unavailable, "the file cannot be opened now: \(reason)", retryAfter: 1)
                }
            }
            var response = Response()
            serve(finished, FileHandle(file, identity: identity), isInline: isInline, request, &response)
            return response
        }
    }

    private static func asksInline(_ target: RequestTarget) throws(Problem) -> Bool {
        try QueryReader.read(target) { reader throws(Problem) in
            let isInline = try reader.bool("inline") ?? false
            // Checked already, and of no further use.
            _ = try reader.value("ticket")
            return isInline
        }
    }

    private func finishedFile(of id: DownloadID) throws(Problem) -> FinishedFiles.File {
        if let version = index.version(of: id), let known = files.file(version) { return known }
        guard let download = index.download(id) else { throw Problem(DownloadError.notFound) }
        guard download.state == .completed else { throw Problem(DownloadError.notComplete(download.state)) }
        guard let name = download.filename else { throw Problem(.internalError, "the file's name is not known") }
        return files.file(of: download, named: name)
    }

    private func serve(
        _ finished: FinishedFiles.File, _ handle: FileHandle, isInline: Bool, _ request: borrowing Request,
        _ response: inout Response
    ) {
        response.serve(
            handle, for: request, mediaType: finished.mediaType, etag: finished.etag)
        switch response.status {
        case .preconditionFailed:
            Problem(.preconditionFailed, "the file is not the one that If-Match or If-Unmodified-Since names").fill(&response)
        case .rangeNotSatisfiable:
            Problem(.rangeNotSatisfiable, "the file has \(handle.size) bytes").fill(&response)
        default: response.fields.append(contentsOf: isInline ? finished.inline : finished.attachment)
        }
    }
}
