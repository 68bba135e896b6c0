import HTTPCore
import System
import XML

/// Collects what a document says of a feed and its items, in the order of the document.
struct FeedBuilder {
    /// An item as the document describes it.
    struct Draft {
        var id: String?
        var title: String?
        var page: HTTPURL?
        /// The address that the id is, which counts if there is no other.
        var permanentPage: HTTPURL?
        var date: Timestamp?
        var durationMs: Int64?
        var number: Int?
        var season: Int?
        var explicit: Bool?
        var artwork: HTTPURL?
        /// The enclosures, and those that count if there are no others.
        var enclosures: [Feed.Enclosure] = []
        var media: [Feed.Enclosure] = []
    }

    let address: HTTPURL
    var feed = Feed()
    private var items: [Feed.Item] = []
    /// The positions of the items by time: the item's own date, or that of the item before it.
    private var times: [Timestamp?] = []
    private var lastDate: Timestamp?

    init(_ address: HTTPURL) { self.address = address }

    // MARK: - Values

    /// Returns a text without surrounding and repeated white space, cut to the limit; `nil` if nothing is left.
    static func plain(_ text: String) -> String? {
        let plain = collapsed(text)
        if plain.utf8.count <= Feed.Limits.text { return plain.isEmpty ? nil : plain }
        // A character may have any number of marks.
        let scalars = plain.unicodeScalars.prefix(4 * Feed.Limits.text)
        let cut = String(String.UnicodeScalarView(scalars)).prefix(Feed.Limits.text)
        return cut.utf8.count == plain.utf8.count ? plain : "\(cut)…"
    }

    /// Returns an identifier, which is never cut; `nil` if it is empty.
    static func identifier(_ text: String) -> String? {
        let identifier = collapsed(text)
        return identifier.isEmpty ? nil : identifier
    }

    /// Returns a text without surrounding and repeated white space.
    static func collapsed(_ text: String) -> String {
        if isCollapsed(text.utf8.span) { return text }
        return text.unicodeScalars.split(whereSeparator: isSpace).map(String.init).joined(separator: " ")
    }

    /// Returns whether a text certainly has neither surrounding nor repeated white space.
    private static func isCollapsed(_ text: Span<UInt8>) -> Bool {
        var last: UInt8 = 0x20
        for index in text.indices {
            let byte = text[index]
            switch byte {
            case 0x20 where last == 0x20: return false
            // Controls, and the first bytes of white space outside ASCII.
            case ..<0x20, 0x7F, 0xC2, 0xE1, 0xE2, 0xE3: return false
            default: last = byte
            }
        }
        return last != 0x20
    }

    /// Returns whether a character is white space or a control character.
    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value <= 0x20 || scalar.value == 0x7F }
        return scalar.properties.isWhitespace || scalar.properties.generalCategory == .control
    }

    /// Returns the text of HTML: without its tags, with its references replaced.
    static func plainText(ofHTML html: String) -> String? {
        plain(HTMLEntities.decoded(withoutTags(html)))
    }

    /// Removes tags. A `<` that begins none stays.
    private static func withoutTags(_ html: String) -> String {
        guard html.utf8.contains(UInt8(ascii: "<")) else { return html }
        var result = ""
        var rest = html.utf8[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            result += Substring(rest[..<start])
            let tag = rest[start...].dropFirst()
            if let first = tag.first, (first | 0x20) &- 0x61 < 26 || first == UInt8(ascii: "/") || first == UInt8(ascii: "!") {
                guard let end = tag.firstIndex(of: UInt8(ascii: ">")) else { return result + Substring(rest[start...]) }
                // Words on both sides of a line break stay apart.
                if tag.starts(with: "br".utf8) || tag.starts(with: "p".utf8) || tag.starts(with: "/p".utf8) { result += " " }
                rest = tag[end...].dropFirst()
            } else {
                result += "<"
                rest = tag
            }
        }
        return result + Substring(rest)
    }

    /// Returns an address; `nil` if the text is not one of http or https.
    func url(_ text: String?, base: HTTPURL? = nil) -> HTTPURL? {
        guard let text, text.utf8.count <= Feed.Limits.address else { return nil }
        let trimmed = text.unicodeScalars.drop(while: Self.isSpace)
        guard let end = trimmed.lastIndex(where: { !Self.isSpace($0) }) else { return nil }
        return (base ?? address).resolving(String(trimmed[...end]))
    }

    /// Returns an enclosure; `nil` if its address is unusable.
    func enclosure(
        _ address: String?, type: String?, length: String?, durationMs: Int64? = nil, base: HTTPURL? = nil
    ) -> Feed.Enclosure? {
        guard let url = url(address, base: base) else { return nil }
        return Feed.Enclosure(
            url: url, type: type.flatMap { MediaType(parsing: $0)?.essence },
            length: length.flatMap { Int64($0) ?? Int64($0.filter { $0 != "," && $0 != " " }) }.flatMap { $0 > 0 ? $0 : nil },
            durationMs: durationMs)
    }

    /// Returns whether a text marks something as explicit; `nil` if it says neither.
    static func explicit(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "yes", "true", "explicit", "1": true
        case "no", "false", "clean", "0": false
        default: nil
        }
    }

    /// Returns a number from 1; `nil` for other texts.
    static func number(_ text: String) -> Int? {
        Int(text.prefix(9)).flatMap { $0 > 0 ? $0 : nil }
    }

    // MARK: - Items

    /// Adds an item. Only one with an enclosure counts as a part.
    mutating func add(_ draft: Draft) {
        feed.itemCount += 1
        let all = draft.enclosures.isEmpty ? draft.media : draft.enclosures
        let isPlayable = { (enclosure: Feed.Enclosure) in
            enclosure.type.map { $0.hasPrefix("audio/") || $0.hasPrefix("video/") } ?? false
        }
        guard let enclosure = all.first(where: isPlayable) ?? all.first else { return }
        var item = Feed.Item(enclosure: enclosure)
        item.guid = draft.id
        item.title = draft.title
        item.date = draft.date
        item.durationMs = draft.durationMs ?? enclosure.durationMs
        item.number = draft.number
        item.season = draft.season
        item.explicit = draft.explicit
        item.artwork = draft.artwork
        item.page = draft.page ?? draft.permanentPage
        lastDate = draft.date ?? lastDate
        items.append(item)
        times.append(lastDate)
        if items.count >= 2 * Feed.Limits.items { keepNewest() }
    }

    /// Keeps the newest items, the newest first.
    private mutating func keepNewest() {
        // Items in front of the first dated one are as new as it.
        let first = times.lazy.compactMap(\.self).first
        let order = times.indices.sorted { left, right in
            guard let a = times[left] ?? first, let b = times[right] ?? first, a != b else { return left < right }
            return a > b
        }
        keep(order.prefix(Feed.Limits.items))
        if order.count > Feed.Limits.items {
            let warning = "The feed has more than \(Feed.Limits.items) episodes; only the newest count."
            if !feed.warnings.contains(warning) { feed.warnings.append(warning) }
        }
    }

    /// Keeps the items at these offsets, in this order.
    private mutating func keep(_ offsets: some Collection<Int>) {
        // Most feeds are in order, and have every item once.
        if offsets.elementsEqual(items.indices) { return }
        items = offsets.map { items[$0] }
        times = offsets.map { times[$0] }
    }

    /// Returns the feed, with its items in order.
    mutating func finish() -> Feed {
        identify()
        keepNewest()
        feed.items = items
        return feed
    }

    /// Gives each item its identity, and drops later items with the same one.
    private mutating func identify() {
        var counts: [String: Int] = [:]
        for item in items where item.guid == nil { counts[Self.withoutQuery(item.enclosure.url), default: 0] += 1 }
        var seen: Set<String> = []
        seen.reserveCapacity(items.count)
        for index in items.indices { items[index].identity = Self.identity(of: items[index], counts) }
        keep(items.indices.filter { seen.insert(items[$0].identity).inserted })
    }

    private static func identity(of item: Feed.Item, _ counts: [String: Int]) -> String {
        if let id = item.guid { return id }
        let bare = withoutQuery(item.enclosure.url)
        return counts[bare] == 1 ? bare : item.enclosure.url.string
    }

    private static func withoutQuery(_ url: HTTPURL) -> String {
        String(Substring(url.string.utf8.prefix { $0 != UInt8(ascii: "?") }))
    }
}

extension Feed.Item {
    /// The first 32 hexadecimal digits of the SHA-256 of the identity, which identify the item in its feed.
    public var key: String {
        String(Hexadecimal.encode(SHA256.digest(of: Array(identity.utf8))).prefix(32))
    }
}
