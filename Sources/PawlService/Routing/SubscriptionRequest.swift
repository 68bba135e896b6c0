internal import Catalog
internal import DownloadCore
internal import HTTPCore
internal import JSON
internal import Subscriptions

/// The settings of a subscription in the body of a request.
struct SubscriptionRequest: Sendable {
    /// The source as the request names it.
    enum Source: Sendable {
        case feed(HTTPURL)
        /// A work of a catalogue. A podcast of iTunes stands for its feed.
        case work(String)
        case search(term: String)
    }

    /// The source; `nil` if the request names none.
    private(set) var source: Source?
    /// Whether it gives headers, or a user and password in the address.
    private(set) var givesHeaders = false
    /// The changes of the settings, in the order of the contract.
    private var changes: [@Sendable (inout Subscription.Settings) -> Void] = []

    /// Applies the request to settings.
    func apply(to settings: inout Subscription.Settings) {
        for change in changes { change(&settings) }
    }

    /// Reads the JSON object.
    /// - Parameter isNew: Whether it creates a subscription, and so takes `source`.
    init(_ value: JSONValue, isNew: Bool) throws(Problem) {
        let members = Set((value.members ?? []).filter(\.value.isNull).map(\.name))
        var reader = try ObjectReader(value)
        var credentials: String?
        if isNew, let value = reader.value("source") { source = try Self.source(value) }
        if let text = try reader.string("feedUrl", limit: DownloadLimits.url) {
            guard source == nil else {
                throw reader.refusal("feedUrl", "is given together with 'source'; a subscription takes only one of them")
            }
            guard let url = Catalog.feedAddress(text) else {
                throw reader.refusal(
                    "feedUrl", "is '\(HTTPURL.withoutSecrets(in: text).prefix(200))'; it takes an http or https URL")
            }
            source = .feed(url.withoutUserInfo)
            credentials = url.basicAuthorization
        }
        if let every = try reader.integer(
            "every", in: CheckSchedule.Limits.shortest...CheckSchedule.Limits.longest)
        {
            changes.append { $0.every = every }
        }
        if let take = try Self.take(&reader) { changes.append { $0.take = take } }
        if let keep = try reader.integer("keep", in: 1...SubscriptionService.Limits.items) {
            changes.append { $0.keep = keep }
        } else if members.contains("keep") {
            changes.append { $0.keep = nil }
        }
        try readFilter(&reader, nulls: members)
        if let naming = try reader.naming("naming") {
            changes.append { $0.naming = naming }
        } else if members.contains("naming") {
            changes.append { $0.naming = nil }
        }
        if let folder = try reader.string("folder", limit: DownloadLimits.folder) {
            if let objection = FileNaming.objection(toFolder: folder) { throw Problem(.invalidRequest, objection) }
            changes.append { $0.folder = folder }
        } else if members.contains("folder") {
            changes.append { $0.folder = nil }
        }
        if reader.holds("labels") {
            let labels = try DownloadRequest.labels(&reader)
            changes.append { $0.labels = labels }
        } else {
            _ = reader.value("labels")
        }
        if let priority = try reader.integer("priority", in: DownloadLimits.priorities) {
            changes.append { $0.priority = priority }
        }
        if let limit = try reader.integer("speedLimit", in: 0...Int64.max) { changes.append { $0.speedLimit = limit } }
        if let formats = try reader.strings("formats", count: Catalog.maximumFormats, limit: 200) {
            changes.append { $0.formats = formats }
        }
        if let webhook = try reader.url("webhook") {
            changes.append { $0.webhook = webhook }
        } else if members.contains("webhook") {
            changes.append { $0.webhook = nil }
        }
        if reader.holds("headers") {
            let headers = Array(try DownloadRequest.headers(&reader))
            givesHeaders = true
            changes.append { $0.headers = headers }
        } else {
            _ = reader.value("headers")
        }
        if let credentials {
            let isGiven = givesHeaders
            givesHeaders = true
            changes.append { settings in
                // Headers of the same request win.
                if isGiven, settings.headers.contains(where: { $0.name.lowercased() == "authorization" }) { return }
                settings.authorize(credentials)
            }
        }
        try reader.finish()
        // Last, since a mistyped name of the source is an unknown member.
        if isNew, source == nil {
            throw reader.refusal("source", "is missing; a subscription takes either 'source' or 'feedUrl'")
        }
    }

    private mutating func readFilter(_ reader: inout ObjectReader, nulls: Set<String>) throws(Problem) {
        let names = [reader.holds("include"), reader.holds("exclude")]
        let (include, exclude) = (try reader.patterns("include"), try reader.patterns("exclude"))
        if names[0] { changes.append { $0.filter.include = include } }
        if names[1] { changes.append { $0.filter.exclude = exclude } }
        if let duration = try reader.integer("minDurationMs", in: 0...Int64.max) {
            changes.append { $0.filter.minDurationMs = duration }
        } else if nulls.contains("minDurationMs") {
            changes.append { $0.filter.minDurationMs = nil }
        }
        if let duration = try reader.integer("maxDurationMs", in: 0...Int64.max) {
            changes.append { $0.filter.maxDurationMs = duration }
        } else if nulls.contains("maxDurationMs") {
            changes.append { $0.filter.maxDurationMs = nil }
        }
    }

    private static func source(_ value: JSONValue) throws(Problem) -> Source {
        guard value.members != nil else {
            throw Problem(
                .invalidRequest,
                "'source' is \(value.typeName); it takes an object with 'partsOf' or 'search', and 'feedUrl' takes an address")
        }
        var reader = try ObjectReader(value, prefix: "source.")
        if let search = reader.value("search") {
            var search = try ObjectReader(search, prefix: "source.search.")
            guard try search.string("source") == "archive" else {
                throw search.refusal(
                    "source", "is missing or another one than 'archive', the only source with a newest-first search")
            }
            guard let term = try search.string("term", limit: 200), !term.allSatisfy(\.isWhitespace) else {
                throw search.refusal("term", "is missing; it takes a text to search for")
            }
            try search.finish()
            try reader.finish()
            return .search(term: term)
        }
        guard let id = try reader.string("partsOf", limit: Catalog.longestID) else {
            throw reader.refusal("partsOf", "is missing; a source takes either 'partsOf' or 'search'")
        }
        try reader.finish()
        guard id.hasPrefix("feed:") else { return .work(id) }
        guard let url = Catalog.feedAddress(id) else {
            throw reader.refusal(
                "partsOf", "is '\(HTTPURL.withoutSecrets(in: id).prefix(200))'; after 'feed:' it takes an http or https URL")
        }
        guard !url.hasUserInfo else {
            throw reader.refusal("partsOf", "has a user name; give the address as 'feedUrl', which keeps it secret")
        }
        return .feed(url)
    }

    private static func take(_ reader: inout ObjectReader) throws(Problem) -> BacklogChoice? {
        guard let value = reader.value("take") else { return nil }
        switch value.string {
        case "new": return .new
        case "all": return .all
        default: break
        }
        guard value.members?.count == 1, let count = value["latest"]?.integer,
            (1...Int64(SubscriptionService.Limits.items)).contains(count)
        else {
            throw reader.refusal(
                "take", "takes \"new\", \"all\" or {\"latest\": N} with N from 1 to \(SubscriptionService.Limits.items)")
        }
        return .latest(Int(count))
    }
}

extension Subscription.Settings {
    /// Adds the credentials of an address to the header fields.
    mutating func authorize(_ credentials: String) {
        var fields = RequestHeaders(headers.filter { $0.name.lowercased() != "authorization" })
        try? fields.authorize(credentials)
        headers = Array(fields)
    }
}
