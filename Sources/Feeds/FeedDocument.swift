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
        ("itunes.com", .itunes), ("search.yahoo.com", .media), ("podcastindex.org", .podcast), ("podcast-namespace", .podcast),
        ("rss/1.0/modules/content", .content), ("purl.org/dc/", .dublinCore), ("rss/1.0/modules/syndication", .syndication),
        ("/enc#", .enclosure), ("rss/1.0/modules/", .other), ("atom", .core), ("purl.org/rss/1.0", .core),
        ("netscape.com/rdf", .core),
        ("1999/02/22-rdf-syntax-ns", .core),
    ]

    private static func vocabulary(ofPrefix prefix: String) -> Vocabulary {
        switch prefix {
        case "", "rss", "atom", "a10", "rdf": .core
        case "itunes": .itunes
        case "media": .media
        case "podcast": .podcast
        case "content": .content
        case "dc": .dublinCore
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
            throw Feed.Refusal(finding: "text that is neither a feed nor a page")
        }
        guard root == .start else { throw Feed.Refusal(finding: "text that is neither a feed nor a page") }
        let name = reader.name.asciiLowercased
        guard name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Feed.Refusal(finding: "text that is neither a feed nor a page")
        }
        guard ["rss", "rdf", "feed", "channel"].contains(name) else {
            throw Feed.Refusal(finding: name == "html" ? "a page (HTML)" : "an XML document of another kind (\(name.prefix(40)))")
        }
        noteBase()
        do throws(XMLReader.ParsingError) {
            try readChildren { document, vocabulary, name throws(XMLReader.ParsingError) in
                try document.readPartOfFeed(vocabulary, name)
            }
        } catch {
            builder.feed.isComplete = false
            builder.feed.warnings.append(
                "The document breaks off after \(builder.feed.itemCount) items: \(error.problem).")
        }
        return builder
    }

    /// Reads the children of the innermost open element, and its end.
    /// - Parameter body: Reads a child with a name in lower case, and its end.
    private mutating func readChildren(
        _ body: (inout Self, Vocabulary, String) throws(XMLReader.ParsingError) -> Void
    ) throws(XMLReader.ParsingError) {
        let depth = reader.depth
        while reader.depth >= depth, let token = try reader.next() {
            while let last = bases.last, last.depth > max(reader.depth, 1) { bases.removeLast() }
            guard token == .start else { continue }
            noteBase()
            try body(&self, vocabulary(), reader.name.asciiLowercased)
        }
    }

    /// Reads the text of the element as an address, and its end.
    private mutating func url() throws(XMLReader.ParsingError) -> HTTPURL? {
        builder.url(try reader.readText(), base: base)
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
        FeedBuilder.collapsed(try reader.readText())
    }

    /// Reads a title or name as plain text.
    private mutating func plainText(isHTML: Bool) throws(XMLReader.ParsingError) -> String? {
        let text = try reader.readText()
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
        case (.core, "channel"):
            try readChildren { document, vocabulary, name throws(XMLReader.ParsingError) in
                try document.readPartOfFeed(vocabulary, name)
            }
        case (.core, "item"), (.core, "entry"): try readItem()
        case (.core, "title"):
            let title = try plainText(isHTML: isHTML)
            builder.feed.title = builder.feed.title ?? title
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
        case (.itunes, "author"):
            let author = try plainText(isHTML: true)
            builder.feed.author = author ?? builder.feed.author
        case (.itunes, "image"):
            noteArtwork(builder.url(reader.attribute("href"), base: base), .large)
            try reader.skipElement()
        case (.itunes, "new-feed-url"):
            let url = try self.url()
            builder.feed.newAddress = url
        case (.dublinCore, "creator"):
            let creator = try plainText(isHTML: true)
            builder.feed.author = builder.feed.author ?? creator
        case (.media, "thumbnail"):
            noteArtwork(builder.url(reader.attribute("url"), base: base), .small)
            try reader.skipElement()
        default: try reader.skipElement()
        }
    }

    /// Takes a picture of the feed, unless one of the same or a better kind came before.
    private mutating func noteArtwork(_ url: HTTPURL?, _ kind: Artwork) {
        guard let url, kind.rawValue > artwork?.rawValue ?? 0 else { return }
        (builder.feed.artwork, artwork) = (url, kind)
    }

    private mutating func readLinkOfFeed() throws(XMLReader.ParsingError) {
        if let address = reader.attribute("href") {
            if relation == "alternate" { builder.feed.page = builder.feed.page ?? builder.url(address, base: base) }
            return try reader.skipElement()
        }
        let page = try url()
        builder.feed.page = page ?? builder.feed.page
    }

    private mutating func readImage() throws(XMLReader.ParsingError) {
        try readChildren { document, _, name throws(XMLReader.ParsingError) in
            guard name == "url" else { return try document.reader.skipElement() }
            document.noteArtwork(try document.url(), .usual)
        }
    }

    /// Reads the author: text in RSS, an element with a name in Atom.
    private mutating func readAuthor() throws(XMLReader.ParsingError) -> String? {
        guard isAtom else { return try plainText(isHTML: true) }
        var author: String?
        try readChildren { document, _, name throws(XMLReader.ParsingError) in
            guard name == "name" else { return try document.reader.skipElement() }
            author = try document.plainText(isHTML: false)
        }
        return author
    }

    private mutating func readPeriod() throws(XMLReader.ParsingError) {
        let hours: [String: Int64] = ["hourly": 1, "daily": 24, "weekly": 168, "monthly": 720, "yearly": 8_760]
        if let hours = hours[try text().asciiLowercased] {
            builder.feed.interval = max(builder.feed.interval ?? 0, hours * 3_600)
        }
    }

    // MARK: - Items

    private mutating func readItem() throws(XMLReader.ParsingError) {
        var draft = FeedBuilder.Draft()
        // RSS 1.0 names an item by an attribute.
        draft.id = reader.attribute("rdf:about").flatMap(FeedBuilder.identifier)
        var isAdded = false
        try readChildren { document, vocabulary, name throws(XMLReader.ParsingError) in
            guard vocabulary == .core, ["item", "entry"].contains(name) else {
                return try document.readPartOfItem(vocabulary, name, &draft)
            }
            // The item has no end tag, so that the next ones begin in it.
            if !isAdded { document.builder.add(draft) }
            isAdded = true
            try document.readItem()
        }
        if !isAdded { builder.add(draft) }
    }

    private mutating func readPartOfItem(
        _ vocabulary: Vocabulary, _ name: String, _ draft: inout FeedBuilder.Draft
    ) throws(XMLReader.ParsingError) {
        switch (vocabulary, name) {
        case (.core, "title"):
            let title = try plainText(isHTML: isHTML)
            draft.title = title ?? draft.title
        case (.itunes, "title"), (.media, "title"):
            let title = try plainText(isHTML: true)
            draft.title = draft.title ?? title
        case (.core, "guid"), (.core, "id"):
            let isLink = name == "guid" && reader.attribute("isPermaLink")?.asciiLowercased != "false"
            let id = try text()
            if !id.isEmpty { draft.id = id }
            if isLink { draft.permanentPage = HTTPURL(id) }
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
        case (.core, "pubdate"), (.core, "published"), (.core, "issued"):
            draft.date = FeedDate.parse(try text()) ?? draft.date
        case (.core, "updated"), (.core, "modified"), (.dublinCore, "date"), (.core, "date"):
            let date = FeedDate.parse(try text())
            draft.date = draft.date ?? date
        case (.itunes, "duration"): draft.durationMs = PlayingTime.milliseconds(try text()) ?? draft.durationMs
        case (.itunes, "episode"), (.podcast, "episode"): draft.number = FeedBuilder.number(try text()) ?? draft.number
        case (.itunes, "season"), (.podcast, "season"): draft.season = FeedBuilder.number(try text()) ?? draft.season
        case (.itunes, "explicit"): draft.explicit = FeedBuilder.explicit(try text()) ?? draft.explicit
        case (.itunes, "image"):
            draft.artwork = builder.url(reader.attribute("href"), base: base) ?? draft.artwork
            try reader.skipElement()
        case (.media, "thumbnail"):
            draft.artwork = draft.artwork ?? builder.url(reader.attribute("url"), base: base)
            try reader.skipElement()
        case (.media, "group"), (.media, "content"): try readMedia(name, &draft)
        default: try reader.skipElement()
        }
    }

    private mutating func readLink(_ draft: inout FeedBuilder.Draft) throws(XMLReader.ParsingError) {
        guard let address = reader.attribute("href") else {
            draft.page = try url() ?? draft.page
            return
        }
        switch relation {
        case "enclosure":
            let enclosure = builder.enclosure(
                address, type: reader.attribute("type"), length: reader.attribute("length"), base: base)
            if let enclosure { draft.enclosures.append(enclosure) }
        case "alternate": draft.page = draft.page ?? builder.url(address, base: base)
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
            try document.readPartOfItem(vocabulary == .core ? .other : vocabulary, name, &draft)
        }
    }
}
