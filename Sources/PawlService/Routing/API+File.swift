internal import Downloads
internal import HTTPCore
internal import HTTPServer

/// The finished files.
extension API {
    /// `GET /downloads/{id}/file`.
    ///
    /// What is in a file is the choice of whoever served it to us. A browser gets it as a download unless asked otherwise, does
    /// not guess its type (`nosniff`, which the server sends always), and shows it in a sandbox without scripts or origin.
    func file(of id: DownloadID, _ request: borrowing Request, _ response: inout Response) throws(Problem) -> Answer {
        var reader = try QueryReader(request.head.target)
        let isInline = try reader.bool("inline") ?? false
        // Checked already, and of no further use.
        _ = try reader.value("ticket")
        try reader.finish()
        guard let download = board.download(id) else { throw Problem(DownloadError.notFound) }
        guard download.state == .completed else { throw Problem(DownloadError.notComplete(download.state)) }
        guard let name = download.filename else { throw Problem(.internalError, "the file's name is not known") }
        let most = descriptors.files
        guard FileHandle.count < most else {
            throw Problem(.unavailable, "\(most) files are being served already; try again in a moment", retryAfter: 1)
        }
        if let file = FileHandle(openingCached: filesDirectory + "/" + name) {
            serve(file, of: download, named: name, isInline: isInline, request, &response)
            return .ready
        }
        let request = copy request
        // Opening a file may have to wait for a disk.
        return .later { [self] () throws(Problem) in
            let file: FileHandle
            do throws(FileHandle.OpenError) {
                file = try FileHandle(opening: filesDirectory + "/" + name)
            } catch {
                // Out of descriptors or memory, a disk that fails: that says nothing of the file.
                if case .failed(let number) = error {
                    throw Problem(.unavailable, "the file cannot be opened now (system error \(number))", retryAfter: 1)
                }
                await downloads.noteMissingFile(id)
                throw Problem(.notFound, "the file is gone from the files directory")
            }
            var response = Response()
            serve(file, of: download, named: name, isInline: isInline, request, &response)
            return response
        }
    }

    private func serve(
        _ file: FileHandle, of download: Download, named name: String, isInline: Bool, _ request: borrowing Request,
        _ response: inout Response
    ) {
        let disposition =
            isInline ? ContentDisposition.inline(filename: name) : ContentDisposition.attachment(filename: name)
        response.fields.append(.contentDisposition, disposition)
        response.fields.append(
            .contentSecurityPolicy,
            "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"
        )
        response.fields.append(.crossOriginResourcePolicy, crossOrigin.isOpen ? "cross-origin" : "same-origin")
        response.fields.append(.cacheControl, "private, no-cache")
        let etag = download.sha256.map { EntityTag(opaque: $0) }
        response.serve(file, for: request, mediaType: download.mediaType ?? "application/octet-stream", etag: etag)
        switch response.status {
        case .preconditionFailed:
            Problem(.preconditionFailed, "the file is not the one that If-Match or If-Unmodified-Since names").fill(&response)
        case .rangeNotSatisfiable:
            Problem(.rangeNotSatisfiable, "the file has \(file.size) bytes").fill(&response)
        default: break
        }
    }
}
