internal import DownloadCore
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON
internal import PawlConfiguration

/// Requests for the settings that can change while the service runs.
extension API {
    /// `GET /settings`. Only a token of scope `full` sees the default webhooks.
    func showSettings(_ request: borrowing Request, _ caller: Caller) throws(Problem) -> RouteResult {
        let downloads = downloads
        let request = copy request
        let hidesWebhooks = caller.scope != .full
        return .later { () throws(Problem) in
            var response = await downloads.settings.response(hidesWebhooks: hidesWebhooks)
            response.validate(for: request)
            return response
        }
    }

    /// `PATCH /settings`. A member that is `null` changes nothing, like an absent member.
    func changeSettings(_ request: borrowing Request) throws(Problem) -> RouteResult {
        var reader = try ObjectReader(try BodyReader.json(of: request))
        var values: [ServiceSettings.Name: Int64] = [:]
        for name in ServiceSettings.Name.allCases {
            if let value = try reader.integer(name.rawValue, in: name.range) { values[name] = value }
        }
        let schedule = try reader.speedSchedule()
        let webhooks = try reader.webhooks()
        try reader.finish()
        let (downloads, descriptors) = (downloads, descriptors)
        let fields = request.head.fields
        return .later { [values] () throws(Problem) in
            do throws(DownloadError) {
                let settings = try await downloads.change(values, speedSchedule: schedule, webhooks: webhooks) {
                    $0.areMeant(by: fields)
                }
                descriptors.fit(transfers: settings)
                var response = settings.response()
                response.fields.append(.etag, ContentTag.of(response.body))
                return response
            } catch {
                guard error == .preconditionFailed else { throw error.problem }
                throw Problem(
                    .preconditionFailed, "the settings do not meet the condition in If-Match or If-None-Match; read them again")
            }
        }
    }

    /// `POST /settings/webhooks/test`.
    func testWebhooks(_ request: borrowing Request) throws(Problem) -> RouteResult {
        try BodyReader.checkEmpty(request)
        let downloads = downloads
        return .later { () throws(Problem) in
            let tests = await downloads.testWebhooks()
            var response = Response()
            response.forbidStoring()
            response.fill { writer in
                writer.beginObject()
                writer.name("receivers")
                writer.beginArray()
                for test in tests {
                    writer.beginObject()
                    writer.member("url", test.url)
                    writer.member("status", test.status)
                    writer.member("error", test.error)
                    writer.endObject()
                }
                writer.endArray()
                writer.endObject()
            }
            return response
        }
    }
}

extension ServiceSettings {
    /// Whether the conditions of a request to change the settings hold for the current ones (RFC 9110 §13.1).
    fileprivate func areMeant(by fields: Fields) -> Bool {
        guard Preconditions.arePresent(in: fields) else { return true }
        return Preconditions.evaluate(method: .patch, fields: fields, etag: ContentTag.of(response().body), lastModified: nil)
            == .proceed
    }

    /// Returns the response with all settings. The user information of webhooks is in none.
    fileprivate func response(hidesWebhooks: Bool = false) -> Response {
        var response = Response()
        response.forbidStoring()
        response.fill { writer in
            writer.beginObject()
            for name in Name.allCases {
                writer.name(name.rawValue)
                writer.value(self[name])
            }
            writer.name(Self.scheduleName)
            writer.beginArray()
            for entry in speedSchedule.entries { writer.value(entry.text) }
            writer.endArray()
            if !hidesWebhooks {
                writer.name(Self.webhooksName)
                writer.beginArray()
                for webhook in webhooks { writer.value(webhook.withoutUserInfo.string) }
                writer.endArray()
            }
            writer.endObject()
        }
        return response
    }
}

extension ObjectReader {
    /// The schedule; `nil` if the member is absent.
    fileprivate mutating func speedSchedule() throws(Problem) -> SpeedSchedule? {
        let name = ServiceSettings.scheduleName
        guard let texts = try strings(name, count: SpeedSchedule.maximumEntries, limit: SpeedSchedule.longestEntry) else {
            return nil
        }
        var entries: [SpeedSchedule.Entry] = []
        for (index, text) in texts.enumerated() {
            do throws(SpeedScheduleError) {
                entries.append(try SpeedSchedule.Entry(parsing: text))
            } catch {
                throw refusal("\(name)[\(index)]", error.description)
            }
        }
        return SpeedSchedule(entries)
    }

    /// The default webhooks; `nil` if the member is absent.
    fileprivate mutating func webhooks() throws(Problem) -> [HTTPURL]? {
        let name = ServiceSettings.webhooksName
        guard let texts = try strings(name, count: DefaultWebhooks.limit, limit: DownloadLimits.url) else { return nil }
        var urls: [HTTPURL] = []
        for (index, text) in texts.enumerated() { urls.append(try parse("\(name)[\(index)]", text)) }
        return urls
    }
}
