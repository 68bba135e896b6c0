import HTTPCore
import XML

/// Reads the elements of an RSS or Atom document.
struct FeedDocument {
    private var reader: XMLReader
    private var builder: FeedBuilder
    /// The bases of the open elements (`xml:base`).
    private var bases: [(depth: Int, url: HTTPURL)] = []

    init(_ text: [UInt8], _ builder: FeedBuilder) {
        reader = XMLReader(text, isTolerant: true)
        self.builder = builder
    }

    /// The kinds of pictures, the best last.
    private enum Artwork: Int {
        case small = 1, usual, large
    }

    /// The kind of the feed's picture; `nil` if it has none.
    private var artwork: Artwork?
    /// A title of another vocabulary, which counts if the feed has no other.
    private var otherTitle: String?
    /// The period of updates in seconds, and their number in it.
    private var updates: (period: Int64?, frequency: Int64?)

    /// The vocabularies of feeds, by namespace, or by prefix where the namespace is not declared.
    private enum Vocabulary {
        case core, itunes, media, podcast, content, dublinCore, syndication, enclosure, other
    }

    /// The vocabularies of the first namespaces that have occurred.
    private var known: [(namespace: String, vocabulary: Vocabulary)] = []

    /// The maximum number of namespaces whose vocabularies are kept. Feeds have fewer.
    private static let maximumKnown = 16

    /// Returns the vocabulary of the element that has just started.
    private mutating func vocabulary() -> Vocabulary {
        guard let namespace = reader.namespace, !namespace.isEmpty else { return Self.vocabulary(ofPrefix: reader.prefix) }
        if let (_, vocabulary) = known.first(where: { $0.namespace == namespace }) { return vocabulary }
        let vocabulary = Self.vocabulary(ofNamespace: namespace.asciiLowercased) ?? Self.vocabulary(ofPrefix: reader.prefix)
        if known.count < Self.maximumKnown { known.append((namespace, vocabulary)) }
        return vocabulary
    }

    /// Returns the vocabulary of a namespace in lower case, in one of its many spellings; `nil` if it is unknown.
    private static func vocabulary(ofNamespace namespace: String) -> Vocabulary? {
        namespaces.first { namespace.contains($0.part) }?.vocabulary
    }

    private static let namespaces: [(part: String, vocabulary: Vocabulary)] = [
        ("itunes.com", .itunes), ("search.yahoo.com", .media), ("media-rss", .media), ("podcastindex.org", .podcast),
        ("podcast-namespace", .podcast),
        ("rss/1.0/modules/content", .content), ("purl.org/dc/", .dublinCore), ("rss/1.0/modules/syndication", .syndication),
        ("/enc#", .enclosure), ("rss/1.0/modules/", .other), ("atom", .core), ("purl.org/rss/1.0", .core),
        ("netscape.com/", .core), ("1999/02/22-rdf-syntax-ns", .core), ("userland.com/rss", .core),
        ("harvard.edu/tech/rss", .core), ("rssboard.org/", .core), ("purl.org/net/rss", .core),
    ]

    private static func vocabulary(ofPrefix prefix: String) -> Vocabulary {
        switch prefix {
        case "", "rss", "rss2", "atom", "a10", "rdf": .core
        case "itunes": .itunes
        case "media": .media
        case "podcast": .podcast
        case "content": .content
        case "dc", "dcterms": .dublinCore
        case "sy": .syndication
        case "enc": .enclosure
        default: .other
        }
    }

    private var base: HTTPURL { bases.last?.url ?? builder.address }

    /// Reads the document.
    /// - Throws: `Feed.Refusal` if it is no feed.
    mutating func read() throws(Feed.Refusal) -> FeedBuilder {
        let root: XMLReader.Token?
        do {
            root = try reader.next()
        } catch {
            throw Feed.Refusal.unknown
        }
        guard root == .start else { throw Feed.Refusal.unknown }
        let name = reader.name.asciiLowercased
        guard name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Feed.Refusal.unknown
        }
        guard Self.feeds.contains(name) else {
            throw Feed.Refusal(finding: name == "html" ? "a page (HTML)" : "an XML document of another kind (\(name.prefix(40)))")
        }
        if let namespace = reader.namespace, !namespace.isEmpty, Self.vocabulary(ofNamespace: namespace.asciiLowercased) == nil {
            known.append((namespace, .core))
        }
        noteBase()
        do throws(XMLReader.ParsingError) {
            try readFeed()
        } catch {
            guard builder.feed.itemCount > 0 else {
                throw Feed.Refusal(finding: "a feed that breaks off before its first item: \(error.problem)")
            }
            builder.feed.isComplete = false
            builder.feed.warnings.append(
                "The document breaks off after \(builder.feed.itemCount) items: \(error.problem).")
        }
        builder.feed.title = builder.feed.title ?? otherTitle
        if updates.period != nil || updates.frequency != nil {
            // Without a period, it is a day (https://web.resource.org/rss/1.0/modules/syndication/).
            let interval = (updates.period ?? 86_400) / (updates.frequency ?? 1)
            builder.feed.interval = max(builder.feed.interval ?? 1, interval)
        }
        return builder
    }

    private mutating func readFeed() throws(XMLReader.ParsingError) {
        try readChildren(mayBeItems: true) { document, vocabulary, name throws(XMLReader.ParsingError) in
            try document.readPartOfFeed(vocabulary, name)
        }
    }

    /// Reads the children of the innermost open element, and its end. An element whose end tag is missing or misspelt ends
    /// before the next item.
    /// - Parameters:
    ///   - mayBeItems: Whether the element contains items.
    ///   - body: Reads a child with a name in lower case, and its end.
    private mutating func readChildren(
        mayBeItems: Bool = false, _ body: (inout Self, Vocabulary, String) throws(XMLReader.ParsingError) -> Void
    ) throws(XMLReader.ParsingError) {
        let depth = reader.depth
        while reader.depth >= depth, let token = try reader.next() {
            while let last = bases.last, last.depth > max(reader.depth, 1) { bases.removeLast() }
            guard token == .start else { continue }
            let (vocabulary, name) = (vocabulary(), reader.name.asciiLowercased)
            if !mayBeItems, vocabulary == .core, Self.items.contains(name) { return reader.endElements(below: depth - 1) }
            noteBase()
            try body(&self, vocabulary, name)
        }
    }

    private static let items: Set = ["item", "entry"]
    private static let feeds: Set = ["rss", "rdf", "feed", "channel"]
    /// The elements that no text and no description contains.
    private static let parts: Set = ["item", "entry", "guid", "pubdate", "enclosure"]
    /// Elements that contain others of these vocabularies.
    private static let containers: Set = [
        "source", "textinput", "items", "owner", "category", "liveitem", "alternateenclosure", "value", "valuetimesplit",
        "podroll",
    ]
    /// The elements that no text contains.
    private static let neighbours: Set = [
        "author", "category", "channel", "comments", "copyright", "description", "docs", "generator", "id", "language",
        "lastbuilddate", "link", "managingeditor", "published", "rights", "subtitle", "title", "ttl", "updated", "webmaster",
    ]

    /// Reads the text of the innermost open element, and its end. An element whose end tag is missing or misspelt ends
    /// before the next element of the feed. Scripts are no text.
    private mutating func readText() throws(XMLReader.ParsingError) -> String {
        let outer = reader.depth - 1
        var result = ""
        while reader.depth > outer, let token = try reader.next() {
            if token == .text, result.utf8.count < XMLReader.Limits().text { result += reader.text }
            guard token == .start else { continue }
            let (vocabulary, name) = (vocabulary(), reader.name.asciiLowercased)
            let isNeighbour = Self.parts.contains(name) || Self.neighbours.contains(name)
            if vocabulary == .core ? isNeighbour : vocabulary != .other {
                reader.endElements(below: outer)
                return result
            }
            if FeedBuilder.scripts.contains(name) { try reader.skipElement() }
        }
        return result
    }

    /// Skips the innermost open element, and its end. An element whose end tag is missing or misspelt ends before the next
    /// item, and one of text before the next element that only feeds have.
    private mutating func skip(_ vocabulary: Vocabulary, _ name: String) throws(XMLReader.ParsingError) {
        let isContainer = Self.containers.contains(name)
        let isText = !isContainer && vocabulary != .other && vocabulary != .media
        let outer = reader.depth - 1
        while reader.depth > outer, let token = try reader.next() {
            guard token == .start else { continue }
            let (vocabulary, name) = (self.vocabulary(), reader.name.asciiLowercased)
            if vocabulary == .core, Self.feeds.contains(name), outer > 1 {
                // A feed within the element has items of its own.
                try reader.skipElement()
            } else if vocabulary == .core
                ? (isContainer ? Self.items : Self.parts).contains(name) || name == "channel" : isText && vocabulary != .other
            {
                return reader.endElements(below: outer)
            }
        }
    }

    /// Reads the text of the element as an address, and its end.
    private mutating func url() throws(XMLReader.ParsingError) -> HTTPURL? {
        builder.url(try readText(), base: base)
    }

    /// Reads the text of the element as the address of a page, and its end.
    private mutating func page() throws(XMLReader.ParsingError) -> String? {
        builder.page(try readText(), base: base)
    }

    private mutating func noteBase() {
        if let text = reader.attribute("xml:base"), let url = builder.url(text, base: base),
            url.string.utf8.count <= Feed.Limits.base
        {
            bases.append((reader.depth, url))
        }
    }

    /// Reads the text of the element, and its end.
    private mutating func text() throws(XMLReader.ParsingError) -> String {
        FeedBuilder.collapsed(try readText())
    }

    /// Reads a title or name as plain text.
    private mutating func plainText(isHTML: Bool) throws(XMLReader.ParsingError) -> String? {
        let text = try readText()
        return isHTML ? FeedBuilder.plainText(ofHTML: text) : FeedBuilder.plain(text)
    }

    /// Whether the present element's text is HTML. In RSS it always may be; in Atom only if `type` says so.
    private var isHTML: Bool {
        switch reader.attribute("type")?.asciiLowercased {
        case nil: !isAtom
        case "text", "text/plain": false
        // Its tags are elements, unless Atom 0.3 says otherwise.
        case "xhtml", "application/xhtml+xml": reader.attribute("mode")?.asciiLowercased == "escaped"
        default: true
        }
    }

    private var isAtom: Bool { reader.namespace?.asciiLowercased.contains("atom") ?? false }

    // MARK: - The feed

    private mutating func readPartOfFeed(_ vocabulary: Vocabulary, _ name: String) throws(XMLReader.ParsingError) {
        switch (vocabulary, name) {
        case (.core, "channel"): try readFeed()
        case (.core, "item"), (.core, "entry"): try readItem()
        case (.core, "title"):
            let title = try plainText(isHTML: isHTML)
            builder.feed.title = builder.feed.title ?? title
        case (.dublinCore, "title"), (.itunes, "title"):
            let title = try plainText(isHTML: true)
            otherTitle = otherTitle ?? title
        case (.core, "link"): try readLinkOfFeed()
        case (.core, "image"): try readImage()
        case (.core, "logo"): noteArtwork(try url(), .usual)
        case (.core, "icon"): noteArtwork(try url(), .small)
        case (.core, "author"):
            let author = try readAuthor()
            builder.feed.author = builder.feed.author ?? author
        case (.core, "ttl"):
            let minutes = Int64(try text().prefix(9))
            if let minutes, minutes > 0 { builder.feed.interval = max(builder.feed.interval ?? 0, minutes * 60) }
        case (.syndication, "updateperiod"): try readPeriod()
        case (.syndication, "updatefrequency"):
            if let times = FeedBuilder.number(try text()) { updates.frequency = Int64(times) }
        case (.itunes, "author"):
            let author = try person()
            builder.feed.author = author ?? builder.feed.author
        case (.itunes, "image"):
            noteArtwork(builder.url(reader.attribute("href") ?? reader.attribute("url"), base: base), .large)
            try reader.skipElement()
        case (.itunes, "new-feed-url"):
            let url = try self.url()
            builder.feed.newAddress = url
        case (.dublinCore, "creator"), (.dublinCore, "author"):
            let creator = try person()
            builder.feed.author = builder.feed.author ?? creator
        case (.media, "thumbnail"):
            noteArtwork(builder.url(reader.attribute("url"), base: base), .small)
            try reader.skipElement()
        default: try skip(vocabulary, name)
        }
    }

    /// Reads the name of a person as plain text.
    private mutating func person() throws(XMLReader.ParsingError) -> String? {
        FeedBuilder.person(try readText())
    }

    /// Takes a picture of the feed, unless one of the same or a better kind came before.
    private mutating func noteArtwork(_ url: HTTPURL?, _ kind: Artwork) {
        guard let url, kind.rawValue > artwork?.rawValue ?? 0 else { return }
        (builder.feed.artwork, artwork) = (url, kind)
    }

    private mutating func readLinkOfFeed() throws(XMLReader.ParsingError) {
        if let address = reader.attribute("href") {
            switch relation {
            case "alternate": builder.feed.page = builder.feed.page ?? builder.page(address, base: base)
            case "next": builder.feed.next = builder.url(address, base: base)
            case "prev-archive": builder.feed.next = builder.feed.next ?? builder.url(address, base: base)
            default: break
            }
            return try reader.skipElement()
        }
        let page = try page()
        builder.feed.page = page ?? builder.feed.page
    }

    private mutating func readImage() throws(XMLReader.ParsingError) {
        try readChildren { document, _, name throws(XMLReader.ParsingError) in
            guard name == "url" else { return try document.skip(.other, name) }
            document.noteArtwork(try document.url(), .usual)
        }
    }

    /// Reads the author: text in RSS, an element with a name in Atom.
    private mutating func readAuthor() throws(XMLReader.ParsingError) -> String? {
        guard isAtom else { return try person() }
        var author: String?
        try readChildren { document, _, name throws(XMLReader.ParsingError) in
            guard name == "name" else { return try document.skip(.other, name) }
            author = try document.plainText(isHTML: false)
        }
        return author
    }

    private mutating func readPeriod() throws(XMLReader.ParsingError) {
        let hours: [String: Int64] = ["hourly": 1, "daily": 24, "weekly": 168, "monthly": 720, "yearly": 8_760]
        if let hours = hours[try text().asciiLowercased] { updates.period = max(updates.period ?? 0, hours * 3_600) }
    }

    // MARK: - Items

    private mutating func readItem() throws(XMLReader.ParsingError) {
        var draft = FeedBuilder.Draft()
        // RSS 1.0 names an item by an attribute.
        draft.id = reader.attribute("rdf:about").flatMap(FeedBuilder.identifier)
        try readChildren { document, vocabulary, name throws(XMLReader.ParsingError) in
            try document.readPartOfItem(vocabulary, name, &draft)
        }
        builder.add(draft)
    }

    private mutating func readPartOfItem(
        _ vocabulary: Vocabulary, _ name: String, _ draft: inout FeedBuilder.Draft
    ) throws(XMLReader.ParsingError) {
        switch (vocabulary, name) {
        case (.core, "title"):
            let title = try plainText(isHTML: isHTML)
            draft.title = title ?? draft.title
        case (.itunes, "title"), (.media, "title"), (.dublinCore, "title"):
            let title = try plainText(isHTML: true)
            draft.title = draft.title ?? title
        case (.core, "guid"), (.core, "id"):
            let isPermanent = name == "guid" ? reader.attribute("isPermaLink")?.asciiLowercased : "false"
            let id = try text()
            if !id.isEmpty { draft.id = id }
            // By default every guid is an address, but many programs write other texts.
            if isPermanent != "false", isPermanent == "true" || id.hasPrefix("/") || HTTPURL(id) != nil {
                draft.permanentPage = builder.page(id, base: base)
            }
        case (.core, "link"): try readLink(&draft)
        case (.core, "enclosure"):
            let enclosure = builder.enclosure(
                reader.attribute("url") ?? reader.attribute("href"), type: reader.attribute("type"),
                length: reader.attribute("length"), base: base)
            if let enclosure { draft.enclosures.append(enclosure) }
            try reader.skipElement()
        case (.enclosure, "enclosure"):
            let enclosure = builder.enclosure(
                reader.attribute("rdf:resource") ?? reader.attribute("resource") ?? reader.attribute("enc:url"),
                type: reader.attribute("enc:type"), length: reader.attribute("enc:length"), base: base)
            if let enclosure { draft.enclosures.append(enclosure) }
            try reader.skipElement()
        case (.core, "pubdate"), (.core, "published"), (.core, "issued"), (.dublinCore, "issued"):
            draft.date = FeedDate.parse(try text()) ?? draft.date
        case (.core, "updated"), (.core, "modified"), (.core, "created"), (.core, "date"), (.dublinCore, "date"),
            (.dublinCore, "created"), (.dublinCore, "modified"), (.dublinCore, "available"):
            let date = FeedDate.parse(try text())
            draft.date = draft.date ?? date
        case (.itunes, "duration"): draft.durationMs = PlayingTime.milliseconds(try text()) ?? draft.durationMs
        case (.itunes, "episode"), (.podcast, "episode"): draft.number = FeedBuilder.number(try text()) ?? draft.number
        case (.itunes, "season"), (.podcast, "season"): draft.season = FeedBuilder.number(try text()) ?? draft.season
        case (.itunes, "explicit"): draft.explicit = FeedBuilder.explicit(try text()) ?? draft.explicit
        case (.itunes, "image"):
            draft.artwork = builder.url(reader.attribute("href") ?? reader.attribute("url"), base: base) ?? draft.artwork
            try reader.skipElement()
        case (.media, "thumbnail"):
            draft.artwork = draft.artwork ?? builder.url(reader.attribute("url"), base: base)
            try reader.skipElement()
        case (.media, "group"), (.media, "content"): try readMedia(name, &draft)
        default: try skip(vocabulary, name)
        }
    }

    private mutating func readLink(_ draft: inout FeedBuilder.Draft) throws(XMLReader.ParsingError) {
        guard let address = reader.attribute("href") else {
            draft.page = try page() ?? draft.page
            return
        }
        switch relation {
        case "enclosure":
            let enclosure = builder.enclosure(
                address, type: reader.attribute("type"), length: reader.attribute("length"), base: base)
            if let enclosure { draft.enclosures.append(enclosure) }
        case "alternate": draft.page = draft.page ?? builder.page(address, base: base)
        default: break
        }
        try reader.skipElement()
    }

    /// The relation of a link without its prefix (RFC 4287 §4.2.7.2), in lower case.
    private var relation: String {
        let text = FeedBuilder.collapsed(reader.attribute("rel") ?? "alternate").asciiLowercased
        let prefix = "http://www.iana.org/assignments/relation/"
        return text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    }

    /// Reads `media:content`, alone or in a group.
    private mutating func readMedia(_ name: String, _ draft: inout FeedBuilder.Draft) throws(XMLReader.ParsingError) {
        if name == "content", let address = reader.attribute("url") {
            let duration = reader.attribute("duration").flatMap(PlayingTime.milliseconds)
            let type = reader.attribute("type") ?? reader.attribute("medium").map { "\($0)/*" }
            let enclosure = builder.enclosure(
                address, type: type, length: reader.attribute("fileSize"), durationMs: duration, base: base)
            if let enclosure { draft.media.append(enclosure) }
        }
        try readChildren { document, vocabulary, name throws(XMLReader.ParsingError) in
            let isForeign = vocabulary == .core && !Self.parts.contains(name)
            try document.readPartOfItem(isForeign ? .other : vocabulary, name, &draft)
        }
    }
}
