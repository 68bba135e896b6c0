internal import DownloadCore
internal import HTTPCore
internal import JSON

/// The body of `PATCH /downloads/{id}`, checked by the rules of `POST /downloads`. A member that is `null` changes
/// nothing, like an absent member.
extension DownloadChange {
    init(reading value: JSONValue) throws(Problem) {
        self.init()
        var reader = try ObjectReader(value)
        priority = try reader.integer("priority", in: DownloadLimits.priorities)
        let hasLabels = reader.holds("labels")
        let given = try DownloadRequest.labels(&reader)
        if hasLabels { labels = given }
        speedLimit = try reader.integer("speedLimit", in: 0...Int64.max)
        if let link = try reader.url("url") {
            url = link.withoutUserInfo
            if let credentials = link.basicAuthorization { try? headers.authorize(credentials) }
        }
        filename = try reader.string("filename", limit: DownloadLimits.filename)
        folder = try reader.string("folder", limit: DownloadLimits.folder)
        position = try reader.integer("position", in: 0...Int.max)
        let hasMirrors = reader.holds("mirrors")
        let others = try DownloadRequest.mirrors(&reader)
        if hasMirrors { mirrors = others }
        segments = try reader.integer("segments", in: DownloadLimits.segments)
        timeouts = try reader.timeouts("timeouts")
        retry = try reader.retry("retry")
        try reader.finish()
    }
}
