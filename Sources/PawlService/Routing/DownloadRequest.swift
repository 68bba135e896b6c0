internal import Downloads
internal import HTTPCore
internal import JSON

/// The body of `POST /downloads`, checked.
struct DownloadRequest: Sendable {
    /// What is to be downloaded.
    enum Source: Sendable {
        case url(HTTPURL)
        /// An identifier from a search, still to be looked up.
        case track(String)
    }

    let source: Source
    /// What precedes the names of its members in refusals, such as `downloads[3].`.
    let prefix: String
    private var template: NewDownload

    /// Bounds of what a request may hold: all of it is kept with the download, so none may be without end.
    enum MemberLimits {
        /// Bytes of a URL: what the request line of most origins takes.
        static let url = 8192
        /// Request fields of its own.
        static let headers = 50
        /// Bytes of one field's value.
        static let headerValue = 8192
        static let mirrors = 16
        static let labels = 32
        /// Bytes of a label.
        static let label = 100
        /// Bytes of the track's JSON.
        static let track = 64 * 1024
        /// Bytes of a folder: eight names, and the slashes between them.
        static let folder = 1607
        /// Connections for one file.
        static let segments: Int64 = 16
        static let priorities: ClosedRange<Int64> = -10...10
    }

    /// Reads the object. `prefix` precedes the names of its members in refusals.
    init(_ value: JSONValue, prefix: String = "") throws(Problem) {
        self.prefix = prefix
        var reader = try ObjectReader(value, prefix: prefix)
        let url = try reader.url("url")
        let trackID = try reader.string("trackId", limit: 256)
        switch (url, trackID) {
        case (let url?, nil): source = .url(url)
        case (nil, let id?): source = .track(id)
        case (nil, nil): throw reader.refusal("url", "is missing; a download takes either 'url' or 'trackId'")
        case (_?, _?): throw reader.refusal("trackId", "is given beside 'url'; a download takes one of them")
        }
        // The URL of a track is not known yet, and takes this one's place.
        guard let placeholder = url ?? HTTPURL("http://invalid/") else { throw reader.refusal("url", "is missing") }
        template = NewDownload(url: placeholder.withoutUserInfo)
        template.filename = try reader.string("filename", limit: 1024)
        template.folder = try reader.string("folder", limit: MemberLimits.folder) ?? ""
        template.headers = try Self.headers(&reader)
        if let credentials = url?.basicAuthorization {
            guard !template.headers.contains(where: { FieldName($0.name) == .authorization }) else {
                throw reader.refusal("url", "carries a user name beside an Authorization header; a download takes one of them")
            }
            template.headers.append((name: "Authorization", value: credentials))
        }
        if let text = try reader.string("checksum", limit: 256) {
            do throws(Checksum.ParsingError) {
                template.checksum = try Checksum(parsing: text)
            } catch {
                throw reader.refusal("checksum", "is not acceptable: \(error)")
            }
        }
        template.mediaType = try Self.mediaType(&reader)
        template.mirrors = try Self.mirrors(&reader)
        template.priority = Int(try reader.integer("priority", in: MemberLimits.priorities) ?? 0)
        template.labels = try Self.labels(&reader)
        template.speedLimit = try reader.integer("speedLimit", in: 0...Int64.max) ?? 0
        template.segments = try reader.integer("segments", in: 1...MemberLimits.segments).map { Int($0) }
        template.startsPaused = try reader.bool("paused") ?? false
        if let track = reader.value("track") {
            guard track.members != nil else { throw reader.mismatch("track", track, "an object") }
            let bytes = track.serialized()
            guard bytes.count <= MemberLimits.track else {
                throw reader.refusal("track", "has \(bytes.count) bytes; it takes at most \(MemberLimits.track)")
            }
            template.track = bytes
            template.trackName = track["name"]?.string ?? track["trackName"]?.string
        }
        template.webhook = try reader.url("webhook")
        template.onDuplicate = try reader.choice("onDuplicate", DuplicatePolicy.self) ?? .returnExisting
        template.position = try reader.integer("position", in: 0...Int64.max).map { Int(clamping: $0) }
        try reader.finish()
    }

    /// The download of a URL; with what the source says of the track, unless the request brought its own.
    func download(of url: HTTPURL, track: [UInt8]? = nil, named name: String? = nil) -> NewDownload {
        var new = template
        new.url = url.withoutUserInfo
        if new.track == nil {
            new.track = track
            new.trackName = name
        }
        return new
    }

    private static func headers(_ reader: inout ObjectReader) throws(Problem) -> [(name: String, value: String)] {
        guard let value = reader.value("headers") else { return [] }
        guard let members = value.members else { throw reader.mismatch("headers", value, "an object of strings") }
        guard members.count <= MemberLimits.headers else {
            throw reader.refusal("headers", "has \(members.count) members; it takes at most \(MemberLimits.headers)")
        }
        var headers: [(name: String, value: String)] = []
        for member in members {
            guard let name = FieldName(member.name), member.name.utf8.count <= 256 else {
                throw reader.refusal("headers", "has a name that no header can have (RFC 9110 §5.1)")
            }
            if let reason = reasonToRefuse(name) {
                throw reader.refusal("headers", "may not set \(name): \(reason)")
            }
            // The value may be a secret: refusals do not repeat it.
            guard let text = member.value.string else {
                throw reader.mismatch("headers.\(name)", member.value, "a string")
            }
            guard text.utf8.count <= MemberLimits.headerValue, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
            else {
                throw reader.refusal(
                    "headers.\(name)", "takes at most \(MemberLimits.headerValue) bytes without line breaks and other controls")
            }
            // Names that differ in case are one (RFC 9110 §5.1): which value is meant would be a guess.
            guard !headers.contains(where: { FieldName($0.name) == name }) else {
                throw reader.refusal("headers", "has the name \(name) twice, letters compared without case")
            }
            headers.append((name: name.canonical, value: text))
        }
        return headers
    }

    /// Fields that decide about framing, connection or resuming are the transfer's own.
    private static func reasonToRefuse(_ name: FieldName) -> String? {
        switch name.lowercased {
        case "host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "keep-alive", "expect",
            "proxy-connection", "proxy-authorization", "content-type", "content-encoding":
            "it belongs to the connection"
        case "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "accept-encoding":
            "resuming relies on it"
        default: nil
        }
    }

    private static func mediaType(_ reader: inout ObjectReader) throws(Problem) -> String? {
        guard let text = try reader.string("mediaType", limit: 256) else { return nil }
        guard text == "*/*" || MediaType(parsing: text.hasSuffix("/*") ? text.dropLast() + "x" : text) != nil else {
            throw reader.refusal("mediaType", "is '\(text)'; it takes a media type such as audio/mp4 or audio/*")
        }
        return text
    }

    static func mirrors(_ reader: inout ObjectReader) throws(Problem) -> [HTTPURL] {
        var urls: [HTTPURL] = []
        for (index, text) in (try reader.strings("mirrors", count: MemberLimits.mirrors, limit: MemberLimits.url) ?? [])
            .enumerated()
        {
            urls.append(try reader.parse("mirrors[\(index)]", text).withoutUserInfo)
        }
        return urls
    }

    static func labels(_ reader: inout ObjectReader) throws(Problem) -> [String] {
        var labels: [String] = []
        for label in try reader.strings("labels", count: MemberLimits.labels, limit: MemberLimits.label) ?? [] {
            guard !label.isEmpty, label.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
            else {
                throw reader.refusal("labels", "has a label that is empty or holds control characters")
            }
            if !labels.contains(label) { labels.append(label) }
        }
        return labels
    }
}

extension ObjectReader {
    /// An http or https URL.
    mutating func url(_ name: String) throws(Problem) -> HTTPURL? {
        guard let text = try string(name, limit: DownloadRequest.MemberLimits.url) else { return nil }
        return try parse(name, text)
    }

    func parse(_ name: String, _ text: String) throws(Problem) -> HTTPURL {
        guard let url = HTTPURL(text) else {
            throw refusal(name, "is not a URL that can be used; it takes an absolute http or https URL")
        }
        return url
    }
}
