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
    /// The user and password in the address, as a header field's value; `nil` for none.
    private var credentials: String?
    private let body: JSONValue

    /// Whether it gives headers, or a user and password in the address.
    var givesHeaders: Bool { credentials != nil || body["headers"]?.isNull == false }

    /// Applies the request to settings.
    func apply(to settings: inout Subscription.Settings) {
        guard var reader = try? ObjectReader(body) else { return }
        try? settings.read(&reader)
        guard let credentials else { return }
        // Headers of the same request win.
        if body["headers"]?.isNull == false, settings.options.headers.contains(.authorization) { return }
        settings.authorize(credentials)
    }

    /// Reads the JSON object.
    /// - Parameter isNew: Whether it creates a subscription, and so takes `source`.
    init(_ value: JSONValue, isNew: Bool) throws(Problem) {
        body = value
        var reader = try ObjectReader(value)
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
        var settings = Subscription.Settings()
        try settings.read(&reader)
        if let objection = settings.options.folder.flatMap({ FileNaming.objection(toFolder: $0) }) {
            throw Problem(.invalidRequest, objection)
        }
        try reader.finish()
        // Last, since a mistyped name of the source is an unknown member.
        if isNew, source == nil {
            throw reader.refusal("source", "is missing; a subscription takes either 'source' or 'feedUrl'")
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
}

extension Subscription.Settings {
    /// Adds the credentials of an address to the header fields.
    mutating func authorize(_ credentials: String) {
        options.headers = RequestHeaders(options.headers.filter { $0.name.lowercased() != "authorization" })
        try? options.headers.authorize(credentials)
    }

    /// Reads the settings of a request. An absent member changes nothing, and `null` takes a choice back.
    fileprivate mutating func read(_ reader: inout ObjectReader) throws(Problem) {
        if reader.isNull("keep") { keep = nil }
        if reader.isNull("minDurationMs") { filter.minDurationMs = nil }
        if reader.isNull("maxDurationMs") { filter.maxDurationMs = nil }
        if reader.isNull("naming") { naming = nil }
        if reader.isNull("folder") { options.folder = nil }
        if reader.isNull("webhook") { options.webhook = nil }
        every = try reader.integer("every", in: CheckSchedule.Limits.shortest...CheckSchedule.Limits.longest) ?? every
        take = try reader.take("take") ?? take
        keep = try reader.integer("keep", in: 1...SubscriptionService.Limits.items) ?? keep
        filter.include = try reader.patterns("include") ?? filter.include
        filter.exclude = try reader.patterns("exclude") ?? filter.exclude
        filter.minDurationMs = try reader.integer("minDurationMs", in: 0...Int64.max) ?? filter.minDurationMs
        filter.maxDurationMs = try reader.integer("maxDurationMs", in: 0...Int64.max) ?? filter.maxDurationMs
        naming = try reader.naming("naming") ?? naming
        try options.read([.folder, .labels, .priority, .speedLimit], &reader)
        formats = try reader.strings("formats", count: Catalog.maximumFormats, limit: 200) ?? formats
        try options.read([.webhook, .headers], &reader)
    }
}

extension ObjectReader {
    fileprivate mutating func take(_ name: String) throws(Problem) -> BacklogChoice? {
        guard let value = value(name) else { return nil }
        switch value.string {
        case "new": return .new
        case "all": return .all
        default: break
        }
        guard value.members?.count == 1, let count = value["latest"]?.integer,
            (1...Int64(SubscriptionService.Limits.items)).contains(count)
        else {
            throw refusal(
                name, "takes \"new\", \"all\" or {\"latest\": N} with N from 1 to \(SubscriptionService.Limits.items)")
        }
        return .latest(Int(count))
    }
}
