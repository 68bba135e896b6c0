internal import Catalog
internal import DownloadCore
internal import HTTPCore
internal import JSON
internal import Subscriptions
internal import System

/// The checked body of `POST /downloads`.
struct DownloadRequest: Sendable {
    /// The file to download.
    enum Source: Sendable {
        case url(HTTPURL)
        /// An id from a search, not yet looked up.
        case track(String)
    }

    let source: Source
    /// The prefix of member names in refusals, such as `downloads[3].`.
    let prefix: String
    private var template: DownloadTemplate

    /// Reads the JSON object. `prefix` precedes member names in refusals.
    init(_ value: JSONValue, prefix: String = "") throws(Problem) {
        self.prefix = prefix
        var reader = try ObjectReader(value, prefix: prefix)
        if reader.holds("partsOf") {
            throw reader.refusal(
                "partsOf", "selects the parts of a work; send it to POST /downloads/batch instead of 'downloads'")
        }
        let url = try reader.url("url")
        let trackID = try reader.string("trackId", limit: Catalog.longestID)
        if url != nil, trackID != nil {
            throw reader.refusal("trackId", "is given together with 'url'; a download takes only one of them")
        }
        // The URL of a track is not known yet; a placeholder stands for it.
        guard let placeholder = url ?? HTTPURL("http://invalid/") else { throw reader.refusal("url", "is missing") }
        var new = NewDownload(url: placeholder.withoutUserInfo)
        new.filename = try reader.string("filename", limit: DownloadLimits.filename)
        let folder = try reader.string("folder", limit: DownloadLimits.folder)
        new.folder = folder ?? ""
        new.headers = try Self.headers(&reader)
        if let credentials = url?.basicAuthorization {
            do throws(RequestHeaders.Fault) {
                try new.headers.authorize(credentials)
            } catch {
                throw reader.refusal("url", "has a user name, but 'headers' has Authorization; send only one of them")
            }
        }
        if let text = try reader.string("checksum", limit: 256) {
            do throws(Checksum.ParsingError) {
                new.checksum = try Checksum(parsing: text)
            } catch {
                throw reader.refusal("checksum", "is not valid: \(error)")
            }
        }
        new.mediaType = try Self.mediaType(&reader)
        new.mirrors = try Self.mirrors(&reader)
        if let track = reader.value("track") {
            guard track.members != nil else { throw reader.mismatch("track", track, "an object") }
            let bytes = track.serialized()
            guard bytes.count <= DownloadLimits.track else {
                throw reader.refusal("track", "has \(bytes.count) bytes; it takes at most \(DownloadLimits.track)")
            }
            try Self.check(track: track, reader)
            new.track = bytes
            new.trackName = track["name"]?.string ?? track["trackName"]?.string
        }
        new.position = try reader.integer("position", in: 0...Int.max)
        try new.readSettings(&reader)
        try reader.finish()
        // After unknown members, since one of them may be a misspelt 'url'.
        guard let source = url.map(Source.url) ?? trackID.map(Source.track) else {
            throw reader.refusal("url", "is missing; a download takes either 'url' or 'trackId'")
        }
        self.source = source
        template = DownloadTemplate(new, choosesFolder: folder != nil)
    }

    /// The download of a URL.
    func download(of url: HTTPURL) -> NewDownload {
        template.download(of: url)
    }

    /// The download of a search result at this URL.
    func download(of item: SearchItem, at url: HTTPURL, track: [UInt8]) -> NewDownload {
        template.download(of: item, at: url, track: track)
    }

    /// Checks the members of a track that readers rely on. Its other members are up to the client.
    private static func check(track: JSONValue, _ reader: ObjectReader) throws(Problem) {
        for member in track.members ?? [] where member.value != .null {
            let name = "track.\(member.name)"
            if trackURLs.contains(member.name) {
                // Catalogues leave an unknown URL empty.
                guard let text = member.value.string, text.utf8.count <= DownloadLimits.url, text.isEmpty || HTTPURL(text) != nil
                else {
                    throw reader.refusal(name, "is not an http or https URL of at most \(DownloadLimits.url) bytes")
                }
            } else if trackTexts.contains(member.name) {
                guard let text = member.value.string, text.utf8.count <= trackTextLimit else {
                    throw reader.refusal(name, "is not a string of at most \(trackTextLimit) bytes")
                }
            } else if trackNumbers.contains(member.name) {
                guard member.value.integer != nil || member.value.number != nil else {
                    throw reader.refusal(name, "is not a number")
                }
            }
        }
    }

    /// The maximum number of bytes in a text of a track.
    private static let trackTextLimit = 4096
    private static let trackURLs: Set<String> = ["artworkUrl", "pageUrl", "downloadUrl", "previewUrl", "licenseUrl"]
    private static let trackTexts: Set<String> = [
        "id", "kind", "name", "trackName", "artist", "collection", "genre", "releaseDate", "format", "partOf",
    ]
    private static let trackNumbers: Set<String> = ["durationMs", "number", "partCount", "bytes"]

    static func headers(_ reader: inout ObjectReader) throws(Problem) -> RequestHeaders {
        var headers = RequestHeaders()
        guard let value = reader.value("headers") else { return headers }
        guard let members = value.members else { throw reader.mismatch("headers", value, "an object of strings") }
        guard members.count <= DownloadLimits.headers else {
            throw reader.refusal("headers", "has \(members.count) members; it takes at most \(DownloadLimits.headers)")
        }
        for member in members {
            guard let name = FieldName(member.name) else { throw reader.refusal("headers", badName) }
            if let fault = RequestHeaders.fault(of: name) { throw reader.refusal(name, fault) }
            // The value may be a secret, so refusals do not repeat it.
            guard let text = member.value.string else { throw reader.mismatch("headers.\(name)", member.value, "a string") }
            do throws(RequestHeaders.Fault) {
                try headers.append(name, text)
            } catch {
                throw reader.refusal(name, error)
            }
        }
        return headers
    }

    fileprivate static let badName = "has a name that is not a valid header name (RFC 9110 §5.1)"

    private static func mediaType(_ reader: inout ObjectReader) throws(Problem) -> String? {
        guard let text = try reader.string("mediaType", limit: DownloadLimits.mediaType) else { return nil }
        guard DownloadLimits.isMediaTypePattern(text) else {
            throw reader.refusal("mediaType", "is '\(text)'; it takes a media type such as audio/mp4 or audio/*")
        }
        return text
    }

    static func mirrors(_ reader: inout ObjectReader) throws(Problem) -> [HTTPURL] {
        var urls: [HTTPURL] = []
        for (index, text) in (try reader.strings("mirrors", count: DownloadLimits.mirrors, limit: DownloadLimits.url) ?? [])
            .enumerated()
        {
            urls.append(try reader.parse("mirrors[\(index)]", text).withoutUserInfo)
        }
        return urls
    }

    static func labels(_ reader: inout ObjectReader) throws(Problem) -> [String] {
        var labels: [String] = []
        for label in try reader.strings("labels", count: DownloadLimits.labels, limit: DownloadLimits.label) ?? [] {
            guard DownloadLimits.isLabel(label) else {
                throw reader.refusal("labels", "has a label that is empty or contains control characters")
            }
            if !labels.containsExactly(label) { labels.append(label) }
        }
        return labels
    }
}

extension NewDownload {
    /// Reads the members that a single download and the parts of a work have in common.
    mutating func readSettings(_ reader: inout ObjectReader) throws(Problem) {
        priority = try reader.integer("priority", in: DownloadLimits.priorities) ?? 0
        labels = try DownloadRequest.labels(&reader)
        speedLimit = try reader.integer("speedLimit", in: 0...Int64.max) ?? 0
        segments = try reader.integer("segments", in: DownloadLimits.segments)
        timeouts = try reader.timeouts("timeouts") ?? Timeouts()
        retry = try reader.retry("retry") ?? RetryChoice()
        remoteTime = try reader.bool("remoteTime")
        startsPaused = try reader.bool("paused") ?? false
        webhook = try reader.url("webhook")
        onDuplicate = try reader.choice("onDuplicate", DuplicatePolicy.self) ?? .returnExisting
    }
}

extension ObjectReader {
    /// An `http` or `https` URL; `nil` if the member is absent.
    mutating func url(_ name: String) throws(Problem) -> HTTPURL? {
        guard let text = try string(name, limit: DownloadLimits.url) else { return nil }
        return try parse(name, text)
    }

    /// The time limits of a download's requests; `nil` if the member is absent.
    mutating func timeouts(_ name: String) throws(Problem) -> Timeouts? {
        guard let value = value(name) else { return nil }
        var members = try ObjectReader(value, prefix: "\(prefix)\(name).")
        let timeouts = Timeouts(
            connect: try members.integer("connect", in: DownloadLimits.timeouts),
            response: try members.integer("response", in: DownloadLimits.timeouts),
            stall: try members.integer("stall", in: DownloadLimits.timeouts))
        try members.finish()
        return timeouts
    }

    /// The choice of when failed attempts are repeated; `nil` if the member is absent.
    mutating func retry(_ name: String) throws(Problem) -> RetryChoice? {
        guard let value = value(name) else { return nil }
        do throws(RetryChoice.Fault) {
            return try RetryChoice(json: value)
        } catch {
            throw refusal(error.member.isEmpty ? name : "\(name).\(error.member)", error.text)
        }
    }

    /// The problem of a header field that a download cannot send.
    fileprivate func refusal(_ name: FieldName, _ fault: RequestHeaders.Fault) -> Problem {
        switch fault {
        case .longName: refusal("headers", DownloadRequest.badName)
        case .belongsToConnection: refusal("headers", "may not set \(name): the service sets it for each connection")
        case .belongsToResuming: refusal("headers", "may not set \(name): the service sets it to resume the download")
        case .badValue:
            refusal(
                "headers.\(name)",
                "takes at most \(DownloadLimits.headerValue) bytes without line breaks or other control characters")
        // Names that differ only in case are the same field (RFC 9110 §5.1), so the value would be ambiguous.
        case .repeated: refusal("headers", "has the name \(name) twice; upper and lower case count as equal")
        case .tooMany: refusal("headers", "takes at most \(DownloadLimits.headers) members")
        }
    }

    func parse(_ name: String, _ text: String) throws(Problem) -> HTTPURL {
        guard let url = HTTPURL(text) else {
            throw refusal(name, HTTPURL.fault(of: text))
        }
        return url
    }
}
