internal import Downloads
internal import HTTPCore
internal import JSON

/// The body of `PATCH /downloads/{id}`, checked by the rules of `POST /downloads`. A member that is `null` changes
/// nothing, like an absent member.
extension DownloadChange {
    init(reading value: JSONValue) throws(Problem) {
        self.init()
        var reader = try ObjectReader(value)
        priority = try reader.integer("priority", in: DownloadRequest.MemberLimits.priorities).map { Int($0) }
        let hasLabels = reader.holds("labels")
        let given = try DownloadRequest.labels(&reader)
        if hasLabels { labels = given }
        speedLimit = try reader.integer("speedLimit", in: 0...Int64.max)
        if let link = try reader.url("url") {
            url = link.withoutUserInfo
            authorization = link.basicAuthorization
        }
        filename = try reader.string("filename", limit: 1024)
        folder = try reader.string("folder", limit: DownloadRequest.MemberLimits.folder)
        position = try reader.integer("position", in: 0...Int64.max).map { Int(clamping: $0) }
        let hasMirrors = reader.holds("mirrors")
        let others = try DownloadRequest.mirrors(&reader)
        if hasMirrors { mirrors = others }
        segments = try reader.integer("segments", in: 1...DownloadRequest.MemberLimits.segments).map { Int($0) }
        try reader.finish()
    }
}
