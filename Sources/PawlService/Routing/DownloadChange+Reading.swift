internal import Downloads
internal import HTTPCore
internal import JSON

/// The body of `PATCH /downloads/{id}`, checked by the rules of `POST /downloads`. A member that is `null` changes nothing, as
/// one that is absent.
extension DownloadChange {
    init(reading value: JSONValue) throws(Problem) {
        self.init()
        var reader = try ObjectReader(value)
        priority = try reader.integer("priority", in: DownloadOrder.Limits.priorities).map { Int($0) }
        if reader.holds("labels") { labels = try DownloadOrder.labels(&reader) }
        speedLimit = try reader.integer("speedLimit", in: 0...Int64.max)
        if let given = try reader.url("url") {
            url = given.withoutUserInfo
            authorization = given.basicAuthorization
        }
        filename = try reader.string("filename", limit: 1024)
        try reader.finish()
    }
}
