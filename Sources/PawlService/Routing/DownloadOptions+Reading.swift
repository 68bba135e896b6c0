internal import DownloadCore
internal import Downloads
internal import HTTPCore
internal import JSON
internal import System

/// The members of requests that are options of downloads.
extension DownloadOptions {
    /// A member of a request, by its name.
    enum Member: String, CaseIterable {
        case filename, folder, headers, checksum, mediaType, mirrors, track, position
        case priority, labels, speedLimit, segments, timeouts, retry, remoteTime, paused, webhook, onDuplicate

        /// The members of `POST /downloads`.
        static let ofDownload = allCases
        /// The members that the parts of a work have in common.
        static let ofWork: [Member] = [
            .headers, .priority, .labels, .speedLimit, .segments, .timeouts, .retry, .remoteTime, .paused, .webhook, .onDuplicate,
        ]
    }

    /// Reads members of an object, in this order. An absent one, or one that is `null`, changes nothing.
    mutating func read(_ members: [Member], _ reader: inout ObjectReader) throws(Problem) {
        for member in members {
            let name = member.rawValue
            switch member {
            case .filename: filename = try reader.string(name, limit: DownloadLimits.filename) ?? filename
            case .folder: folder = try reader.string(name, limit: DownloadLimits.folder) ?? folder
            case .headers: headers = try reader.headers(name) ?? headers
            case .checksum: checksum = try reader.checksum(name) ?? checksum
            case .mediaType: mediaType = try reader.mediaType(name) ?? mediaType
            case .mirrors: mirrors = try reader.mirrors(name) ?? mirrors
            case .track:
                if let found = try reader.track(name) { (track, trackName) = found }
            case .position: position = try reader.integer(name, in: 0...Int.max) ?? position
            case .priority: priority = try reader.integer(name, in: DownloadLimits.priorities) ?? priority
            case .labels: labels = try reader.labels(name) ?? labels
            case .speedLimit: speedLimit = try reader.integer(name, in: 0...Int64.max) ?? speedLimit
            case .segments: segments = try reader.integer(name, in: DownloadLimits.segments) ?? segments
            case .timeouts: timeouts = try reader.timeouts(name) ?? timeouts
            case .retry: retry = try reader.retry(name) ?? retry
            case .remoteTime: remoteTime = try reader.bool(name) ?? remoteTime
            case .paused: startsPaused = try reader.bool(name) ?? startsPaused
            case .webhook: webhook = try reader.url(name) ?? webhook
            case .onDuplicate: onDuplicate = try reader.choice(name, DuplicatePolicy.self) ?? onDuplicate
            }
        }
    }
}

/// The body of `PATCH /downloads/{id}`, checked by the rules of `POST /downloads`.
extension DownloadChange {
    init(reading value: JSONValue) throws(Problem) {
        self.init()
        var reader = try ObjectReader(value)
        try options.read([.priority, .labels, .speedLimit], &reader)
        if let link = try reader.url("url") {
            url = link.withoutUserInfo
            if let credentials = link.basicAuthorization { try? options.headers.authorize(credentials) }
        }
        try options.read([.filename, .folder, .position, .mirrors, .segments, .timeouts, .retry], &reader)
        try reader.finish()
    }
}

// MARK: - Values

extension ObjectReader {
    fileprivate mutating func checksum(_ name: String) throws(Problem) -> Checksum? {
        guard let text = try string(name, limit: 256) else { return nil }
        do throws(Checksum.ParsingError) {
            return try Checksum(parsing: text)
        } catch {
            throw refusal(name, "is not valid: \(error)")
        }
    }

    fileprivate mutating func mediaType(_ name: String) throws(Problem) -> String? {
        guard let text = try string(name, limit: DownloadLimits.mediaType) else { return nil }
        guard DownloadLimits.isMediaTypePattern(text) else {
            throw refusal(name, "is '\(text)'; it takes a media type such as audio/mp4 or audio/*")
        }
        return text
    }

    fileprivate mutating func mirrors(_ name: String) throws(Problem) -> [HTTPURL]? {
        guard let texts = try strings(name, count: DownloadLimits.mirrors, limit: DownloadLimits.url) else { return nil }
        var urls: [HTTPURL] = []
        for (index, text) in texts.enumerated() { urls.append(try parse("\(name)[\(index)]", text).withoutUserInfo) }
        return urls
    }

    fileprivate mutating func labels(_ name: String) throws(Problem) -> [String]? {
        guard let texts = try strings(name, count: DownloadLimits.labels, limit: DownloadLimits.label) else { return nil }
        var labels: [String] = []
        for label in texts {
            guard DownloadLimits.isLabel(label) else {
                throw refusal(name, "has a label that is empty or contains control characters")
            }
            if !labels.containsExactly(label) { labels.append(label) }
        }
        return labels
    }

    /// A search result: the bytes of its JSON object, and its name.
    fileprivate mutating func track(_ name: String) throws(Problem) -> (bytes: [UInt8], name: String?)? {
        guard let track = value(name) else { return nil }
        guard track.members != nil else { throw mismatch(name, track, "an object") }
        let bytes = track.serialized()
        guard bytes.count <= DownloadLimits.track else {
            throw refusal(name, "has \(bytes.count) bytes; it takes at most \(DownloadLimits.track)")
        }
        try check(track: track)
        return (bytes, track["name"]?.string ?? track["trackName"]?.string)
    }

    /// Checks the members of a track that readers rely on. Its other members are up to the client.
    private func check(track: JSONValue) throws(Problem) {
        for member in track.members ?? [] where member.value != .null {
            let name = "track.\(member.name)"
            if Self.trackURLs.contains(member.name) {
                // Catalogues leave an unknown URL empty.
                guard let text = member.value.string, text.utf8.count <= DownloadLimits.url, text.isEmpty || HTTPURL(text) != nil
                else {
                    throw refusal(name, "is not an http or https URL of at most \(DownloadLimits.url) bytes")
                }
            } else if Self.trackTexts.contains(member.name) {
                guard let text = member.value.string, text.utf8.count <= Self.trackTextLimit else {
                    throw refusal(name, "is not a string of at most \(Self.trackTextLimit) bytes")
                }
            } else if Self.trackNumbers.contains(member.name) {
                guard member.value.integer != nil || member.value.number != nil else {
                    throw refusal(name, "is not a number")
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

    mutating func headers(_ name: String) throws(Problem) -> RequestHeaders? {
        guard let value = value(name) else { return nil }
        guard let members = value.members else { throw mismatch(name, value, "an object of strings") }
        guard members.count <= DownloadLimits.headers else {
            throw refusal(name, "has \(members.count) members; it takes at most \(DownloadLimits.headers)")
        }
        var headers = RequestHeaders()
        for member in members {
            guard let name = FieldName(member.name) else { throw refusal(name, Self.badName) }
            if let fault = RequestHeaders.fault(of: name) { throw refusal(name, fault) }
            // The value may be a secret, so refusals do not repeat it.
            guard let text = member.value.string else { throw mismatch("headers.\(name)", member.value, "a string") }
            do throws(RequestHeaders.Fault) {
                try headers.append(name, text)
            } catch {
                throw refusal(name, error)
            }
        }
        return headers
    }

    private static let badName = "has a name that is not a valid header name (RFC 9110 §5.1)"

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
    private func refusal(_ name: FieldName, _ fault: RequestHeaders.Fault) -> Problem {
        switch fault {
        case .longName: refusal("headers", Self.badName)
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
