internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON

/// Changing what is there.
extension API {
    /// `PATCH /downloads/{id}`.
    func change(_ id: DownloadID, _ request: borrowing Request) throws(Problem) -> RouteResult {
        let change = try DownloadChange(reading: try RequestBody.json(of: request))
        let fields = request.head.fields
        let (downloads, prefix) = (downloads, request.linkPrefix)
        return .later { () throws(Problem) in
            let download = try await Problem.rethrowing(
                downloads: await downloads.change(id, change) { $0.isMeant(by: .patch, fields, prefix) })
            var response = Response()
            response.forbidStoring()
            response.fill { download.encode(into: &$0, prefix) }
            response.fields.append(.etag, download.entityTag(prefix))
            return response
        }
    }
}

extension Download {
    /// Whether the conditions of a request to change it hold of it as it stands: RFC 9110 §13.1.
    func isMeant(by method: HTTPMethod, _ fields: Fields, _ linkPrefix: PathPrefix) -> Bool {
        guard Preconditions.areAsked(by: fields) else { return true }
        return Preconditions.evaluate(method: method, fields: fields, etag: entityTag(linkPrefix), lastModified: nil) == .proceed
    }

    /// The validator that the response to `GET /downloads/{id}` would have now.
    func entityTag(_ linkPrefix: PathPrefix) -> EntityTag {
        var resting = self
        resting.position = nil
        return ContentTag.of(resting.encoded(linkPrefix))
    }
}
