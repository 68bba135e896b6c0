internal import DownloadCore
internal import Downloads
internal import HTTPCore
internal import HTTPServer

/// Changes of existing downloads.
extension API {
    /// `PATCH /downloads/{id}`.
    func change(_ id: RecordID, _ request: borrowing Request) throws(Problem) -> RouteResult {
        let change = try DownloadChange(reading: try BodyReader.json(of: request))
        let fields = request.head.fields
        let (downloads, prefix) = (downloads, request.linkPrefix)
        return .later { () throws(Problem) in
            let download = try await DownloadError.asProblem(
                await downloads.change(id, change, if: Self.condition(of: .patch, fields, prefix)))
            var response = Response()
            response.forbidStoring()
            response.fill { download.encode(into: &$0, prefix) }
            response.fields.append(.etag, download.entityTag(prefix))
            return response
        }
    }

    /// The conditions of a request to change a download (RFC 9110 §13.1); `nil` if it has none and means any version.
    static func condition(
        of method: HTTPMethod, _ fields: Fields, _ linkPrefix: PathPrefix
    ) -> (@Sendable (Download) -> Bool)? {
        guard Preconditions.arePresent(in: fields) else { return nil }
        return { download in
            let etag = download.entityTag(linkPrefix)
            return Preconditions.evaluate(method: method, fields: fields, etag: etag, lastModified: nil) == .proceed
        }
    }
}

extension Download {
    /// The validator that a response to `GET /downloads/{id}` would have now.
    func entityTag(_ linkPrefix: PathPrefix) -> EntityTag {
        var version = self
        version.position = nil
        return ContentTag.of(version.encoded(linkPrefix))
    }
}
