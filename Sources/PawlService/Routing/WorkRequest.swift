internal import Catalog
internal import DownloadCore
internal import HTTPCore
internal import Subscriptions

/// A request for parts of a work, checked as far as possible before the parts are known.
struct WorkRequest: Sendable {
    /// The work's id.
    let id: String
    /// Names of formats; empty for those that the source prefers.
    let formats: [String]
    /// The selection among the parts in these formats.
    let filter: ItemFilter
    /// The fields for the first host of each part. Of a feed, its origin alone gets those that may be secret.
    let headers: RequestHeaders
    /// The other options of the downloads.
    private let options: DownloadOptions
    private let naming: NamingTemplate?

    /// Reads the members of the JSON object.
    init(_ reader: inout ObjectReader) throws(Problem) {
        guard let id = try reader.string("partsOf", limit: Catalog.longestID) else {
            throw reader.refusal("partsOf", "is missing; it takes the id of a search result that has parts")
        }
        self.id = id
        formats = try reader.strings("formats", count: Catalog.maximumFormats, limit: 200) ?? []
        var filter = ItemFilter()
        filter.include = try reader.patterns("include") ?? []
        filter.exclude = try reader.patterns("exclude") ?? []
        self.filter = filter
        naming = try reader.naming("naming")
        var options = DownloadOptions()
        try options.read(DownloadOptions.Member.ofWork, &reader)
        headers = options.headers
        options.headers = RequestHeaders()
        self.options = options
        guard reader.value("downloads") == nil else {
            throw reader.refusal("downloads", "is given together with 'partsOf'; a batch takes only one of them")
        }
        try reader.finish()
    }

    /// Returns the download of a part at this URL.
    func download(of item: SearchItem, at url: HTTPURL, track: [UInt8]) -> NewDownload {
        var new = NewDownload(of: item, at: url, track: track, options, naming: naming)
        let isForeign = feed.map { !url.hasOrigin(of: $0) } ?? false
        for header in headers where !isForeign || header.isHarmless {
            guard let name = FieldName(header.name) else { continue }
            try? new.options.headers.append(name, header.value)
        }
        return new
    }

    /// The address of the feed; `nil` for another work.
    private var feed: HTTPURL? { id.hasPrefix("feed:") ? Catalog.feedAddress(id) : nil }
}

extension ObjectReader {
    /// The patterns of a list; `nil` if the member is absent.
    mutating func patterns(_ name: String) throws(Problem) -> [GlobPattern]? {
        guard let texts = try strings(name, count: ItemFilter.maximumPatterns, limit: ItemFilter.longestPattern) else {
            return nil
        }
        guard !texts.contains(where: { $0.allSatisfy(\.isWhitespace) }) else {
            throw refusal(name, "has an empty pattern, which no name matches; '*' matches every name")
        }
        return texts.map { GlobPattern($0) }
    }

    /// The names of a work's parts; `nil` if the member is absent.
    mutating func naming(_ name: String) throws(Problem) -> NamingTemplate? {
        guard let value = value(name) else { return nil }
        var members = try ObjectReader(value, prefix: "\(name).")
        let folder = try members.string("folder", limit: DownloadLimits.folder)
        let file = try members.string("file", limit: DownloadLimits.filename)
        try members.finish()
        do throws(NamingTemplate.Fault) {
            return try NamingTemplate(folder: folder, file: file)
        } catch {
            throw members.refusal(error.member, error.reason)
        }
    }
}
