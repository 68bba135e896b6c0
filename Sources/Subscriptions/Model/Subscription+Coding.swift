package import DownloadCore
internal import HTTPCore
internal import JSON

/// The stored form of a subscription: a JSON object. Absent members have their defaults.
extension Subscription {
    /// The row of the store.
    var stored: StoredSubscription {
        var writer = JSONWriter()
        writer.beginObject()
        switch source {
        case .feed(let url): writer.member("feed", url.string)
        case .work(let id): writer.member("work", id)
        case .search(let term): writer.member("term", term)
        }
        Self.put(formerAddresses, "formerAddresses", &writer)
        put(headersOrigin, "headersOrigin", &writer)
        encodeSettings(into: &writer)
        writer.member("name", name)
        put(artist, "artist", &writer)
        put(artworkUrl, "artworkUrl", &writer)
        put(pageUrl, "pageUrl", &writer)
        writer.member("key", key.text)
        writer.member("state", state.rawValue)
        put(checkedAt?.millisecondsSinceEpoch, "checkedAt", &writer)
        put(changedAt?.millisecondsSinceEpoch, "changedAt", &writer)
        put(nextCheckAt?.millisecondsSinceEpoch, "nextCheckAt", &writer)
        writer.member("failures", failures)
        put(failure?.code, "failureCode", &writer)
        put(failure?.message, "failureMessage", &writer)
        put(failure?.httpStatus.map(Int64.init), "failureStatus", &writer)
        Self.put(warnings, "warnings", &writer)
        put(hint, "hint", &writer)
        put(validators.entityTag, "entityTag", &writer)
        put(validators.lastModified, "lastModified", &writer)
        for state in ItemState.allCases where items[state] > 0 { writer.member("\(state.rawValue)Items", items[state]) }
        put(listedAt?.millisecondsSinceEpoch, "listedAt", &writer)
        put(nextPage?.string, "nextPage", &writer)
        writer.member("hasListing", hasListing)
        put(horizon?.millisecondsSinceEpoch, "horizon", &writer)
        put(backlogEnd?.millisecondsSinceEpoch, "backlogEnd", &writer)
        writer.member("createdAt", createdAt.millisecondsSinceEpoch)
        writer.member("updatedAt", updatedAt.millisecondsSinceEpoch)
        writer.member("revision", Int64(clamping: revision))
        writer.endObject()
        return StoredSubscription(id: id, body: writer.bytes, version: version, work: source.key)
    }

    /// The row without the secrets that no response shows.
    var shown: StoredSubscription {
        var shown = self
        (shown.settings.options.headers, shown.settings.options.webhook) = (RequestHeaders(), nil)
        return shown.stored
    }

    private func encodeSettings(into writer: inout JSONWriter) {
        writer.member("every", settings.every)
        switch settings.take {
        case .new: break
        case .latest(let count): writer.member("latest", count)
        case .all: writer.member("takesAll", true)
        }
        put(settings.keep.map(Int64.init), "keep", &writer)
        Self.put(settings.filter.include.map(\.text), "include", &writer)
        Self.put(settings.filter.exclude.map(\.text), "exclude", &writer)
        put(settings.filter.minDurationMs, "minDurationMs", &writer)
        put(settings.filter.maxDurationMs, "maxDurationMs", &writer)
        if let naming = settings.naming {
            put(naming.folder, "namingFolder", &writer)
            put(naming.file, "namingFile", &writer)
        }
        for member in settings.options.members { writer.member(member.name, member.value) }
        Self.put(settings.formats, "formats", &writer)
        Self.put(settings.options.headers.flatMap { [$0.name, $0.value] }, "headers", &writer)
    }

    private func put(_ text: String?, _ name: String, _ writer: inout JSONWriter) {
        if let text { writer.member(name, text) }
    }

    private func put(_ number: Int64?, _ name: String, _ writer: inout JSONWriter) {
        if let number { writer.member(name, number) }
    }

    private static func put(_ texts: [String], _ name: String, _ writer: inout JSONWriter) {
        if texts.isEmpty { return }
        writer.name(name)
        writer.beginArray()
        for text in texts { writer.value(text) }
        writer.endArray()
    }

    /// Decodes a row of the store; `nil` if it has a value that no release writes.
    package init?(_ stored: StoredSubscription) {
        guard let value = try? JSONValue(parsing: stored.body), let source = Self.source(value),
            let created = value["createdAt"]?.integer, let updated = value["updatedAt"]?.integer,
            let state = value["state"]?.string.flatMap(State.init), let name = value["name"]?.string
        else { return nil }
        self.init(
            id: stored.id, source: source, settings: Settings(value),
            at: Timestamp(millisecondsSinceEpoch: created))
        formerAddresses = Self.texts(value, "formerAddresses")
        headersOrigin = value["headersOrigin"]?.string
        self.name = name
        artist = value["artist"]?.string
        artworkUrl = value["artworkUrl"]?.string
        pageUrl = value["pageUrl"]?.string
        key = value["key"]?.string.flatMap(FeedKey.init) ?? key
        self.state = state
        checkedAt = Self.time(value, "checkedAt")
        changedAt = Self.time(value, "changedAt")
        nextCheckAt = Self.time(value, "nextCheckAt")
        failures = Int(clamping: value["failures"]?.integer ?? 0)
        failure = value["failureCode"]?.string.map { code in
            Failure(
                problem: ProblemCode(rawValue: code), message: value["failureMessage"]?.string ?? "",
                httpStatus: value["failureStatus"]?.integer.map { Int(clamping: $0) })
        }
        warnings = Self.texts(value, "warnings")
        hint = value["hint"]?.integer
        validators.entityTag = value["entityTag"]?.string
        validators.lastModified = value["lastModified"]?.string
        for state in ItemState.allCases {
            // The body has the counts of the last save. Items may have changed since, so the store's counts precede.
            let saved = Int(clamping: value["\(state.rawValue)Items"]?.integer ?? 0)
            items[state] = stored.items.map { $0[state.rawValue] ?? 0 } ?? saved
        }
        listedAt = Self.time(value, "listedAt")
        nextPage = value["nextPage"]?.string.flatMap { HTTPURL($0) }
        hasListing = value["hasListing"]?.bool ?? false
        horizon = Self.time(value, "horizon")
        backlogEnd = Self.time(value, "backlogEnd")
        updatedAt = Timestamp(millisecondsSinceEpoch: updated)
        revision = UInt64(clamping: value["revision"]?.integer ?? 1)
        version = stored.version
    }

    private static func source(_ value: JSONValue) -> Source? {
        if let url = value["feed"]?.string.flatMap({ HTTPURL($0) }) { return .feed(url) }
        if let id = value["work"]?.string { return .work(id) }
        return value["term"]?.string.map { .search(term: $0) }
    }

    fileprivate static func texts(_ value: JSONValue, _ name: String) -> [String] {
        (value[name]?.array ?? []).compactMap(\.string)
    }

    private static func time(_ value: JSONValue, _ name: String) -> Timestamp? {
        value[name]?.integer.map { Timestamp(millisecondsSinceEpoch: $0) }
    }
}

extension Subscription.Source {
    /// The work as a text.
    var key: String {
        switch self {
        case .feed(let url): "feed:\(url.string)"
        case .work(let id): "work:\(id)"
        case .search(let term): "search:\(term)"
        }
    }
}

extension Subscription.Settings {
    fileprivate init(_ value: JSONValue) {
        self.init()
        every = value["every"]?.integer ?? every
        if let count = value["latest"]?.integer { take = .latest(Int(clamping: count)) }
        if value["takesAll"]?.bool == true { take = .all }
        keep = value["keep"]?.integer.map { Int(clamping: $0) }
        filter.include = Subscription.texts(value, "include").map { GlobPattern($0) }
        filter.exclude = Subscription.texts(value, "exclude").map { GlobPattern($0) }
        filter.minDurationMs = value["minDurationMs"]?.integer
        filter.maxDurationMs = value["maxDurationMs"]?.integer
        let (namingFolder, namingFile) = (value["namingFolder"]?.string, value["namingFile"]?.string)
        if namingFolder != nil || namingFile != nil {
            naming = try? NamingTemplate(folder: namingFolder, file: namingFile)
        }
        formats = Subscription.texts(value, "formats")
        options = DownloadOptions(members: value)
        let headers = Subscription.texts(value, "headers")
        options.headers = RequestHeaders(
            stride(from: 0, to: headers.count - headers.count % 2, by: 2).map {
                RequestHeader(name: headers[$0], value: headers[$0 + 1])
            })
    }
}
