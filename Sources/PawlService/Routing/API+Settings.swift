internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON

/// What can be changed about the service while it runs.
extension API {
    /// `GET /settings`.
    func showSettings(_ request: borrowing Request) throws(Problem) -> Answer {
        try QueryReader(request.head.target).finish()
        let downloads = downloads
        return .later { () throws(Problem) in await downloads.settings.response }
    }

    /// `PATCH /settings`. A member that is `null` changes nothing, as one that is absent.
    func changeSettings(_ request: borrowing Request) throws(Problem) -> Answer {
        try QueryReader(request.head.target).finish()
        var reader = try ObjectReader(try RequestBody.json(of: request))
        var values: [ServiceSettings.Name: Int64] = [:]
        for name in ServiceSettings.Name.allCases {
            if let value = try reader.integer(name.rawValue, in: name.range) { values[name] = value }
        }
        try reader.finish()
        let (downloads, descriptors) = (downloads, descriptors)
        return .later { [values] () throws(Problem) in
            do throws(DownloadError) {
                let settings = try await downloads.change(values)
                descriptors.fit(transfers: settings)
                return settings.response
            } catch {
                throw Problem(error)
            }
        }
    }
}

extension ServiceSettings {
    /// All of them as an answer.
    fileprivate var response: Response {
        var response = Response()
        response.forbidStoring()
        response.fill { writer in
            writer.beginObject()
            for name in Name.allCases {
                writer.name(name.rawValue)
                writer.value(self[name])
            }
            writer.endObject()
        }
        return response
    }
}
