import HTTPCore
import System
import XML

/// Collects what a document says of a feed and its items, in the order of the document.
struct FeedBuilder {
    /// An item as the document describes it.
    struct Draft {
        var id: String?
        var title: String?
        var page: String?
        /// The address that the id is, which counts if there is no other.
        var permanentPage: String?
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
    /// The positions of the items by time: the item's own date, or the date of the item before it.
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

    /// The elements of HTML whose text is no text.
    static let scripts: Set = ["script", "style"]

    /// Returns the tags, comment or script at the start of a text; `nil` if it begins with a character.
    private static func markup(_ text: Substring.UTF8View) -> Substring.UTF8View? {
        let tag = text.dropFirst()
        if tag.starts(with: "!--".utf8) { return end(of: "-->", in: text).map { text[..<$0] } ?? text }
        guard let first = tag.first, (first | 0x20) &- 0x61 < 26 || first == UInt8(ascii: "/") || first == UInt8(ascii: "!")
        else { return nil }
        guard let close = tag.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let name = String(Substring(tag.prefix { ($0 | 0x20) &- 0x61 < 26 })).asciiLowercased
        guard scripts.contains(name) else { return text[...close] }
        guard let start = end(of: "</\(name)", in: text[close...]) else { return text }
        return text[start...].firstIndex(of: UInt8(ascii: ">")).map { text[...$0] } ?? text
    }

    /// Returns the index behind the first occurrence of a lowercase text, in any case.
    private static func end(of wanted: String, in text: Substring.UTF8View) -> Substring.UTF8View.Index? {
        var rest = text
        while let start = rest.firstIndex(of: wanted.utf8.first ?? 0) {
            rest = rest[start...]
            let piece = rest.prefix(wanted.utf8.count)
            let isFound = piece.elementsEqual(wanted.utf8) { $0 == $1 || $0 | 0x20 == $1 && $1 &- 0x61 < 26 }
            if isFound { return piece.endIndex }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Removes tags, comments and scripts. A `<` that begins none stays.
    private static func withoutTags(_ html: String) -> String {
        guard html.utf8.contains(UInt8(ascii: "<")) else { return html }
        let last = html.utf8.lastIndex(of: UInt8(ascii: ">")) ?? html.startIndex
        var result = ""
        var rest = html.utf8[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            result += Substring(rest[..<start])
            rest = rest[start...]
            guard start < last || rest.starts(with: "<!--".utf8) else { break }
            let tag = rest.dropFirst()
            if let markup = markup(rest) {
                // Words on both sides of a line break stay apart.
                if tag.starts(with: "br".utf8) || tag.starts(with: "p".utf8) || tag.starts(with: "/p".utf8) { result += " " }
                rest = rest[markup.endIndex...]
            } else {
                result += "<"
                rest = tag
            }
        }
        return result + Substring(rest)
    }

    /// Returns the name of a person from HTML: without an address of mail in front of it, behind it or in brackets, unless
    /// there is nothing else.
    static func person(_ html: String) -> String? {
        guard let text = plainText(ofHTML: html) else { return nil }
        let marks: Set<Character> = ["(", ")", "<", ">", "[", "]", ",", ";"]
        let words = text.split(separator: " ")
        let others = words.filter { word in
            let bare = word.drop { marks.contains($0) }.prefix { !marks.contains($0) }
            let parts = bare.split(separator: "@", omittingEmptySubsequences: false)
            return parts.count != 2 || parts[0].isEmpty || parts[0].contains("/") || !parts[1].contains(".")
        }
        guard !others.isEmpty, others.count < words.count else { return text }
        var name = others.joined(separator: " ")
        while let last = name.last, ",;:-–—|".contains(last) || last == " " { name.removeLast() }
        guard !name.isEmpty else { return text }
        let inner = name.dropFirst().dropLast()
        let isBracketed = name.hasPrefix("(") && name.hasSuffix(")") && !inner.contains { $0 == "(" || $0 == ")" }
        return plain(isBracketed ? String(inner) : name)
    }

    /// Returns an address; `nil` if the text is not one of http or https.
    func url(_ text: String?, base: HTTPURL? = nil) -> HTTPURL? {
        guard let text, text.utf8.count <= Feed.Limits.address else { return nil }
        let trimmed = text.unicodeScalars.drop(while: Self.isSpace)
        guard let end = trimmed.lastIndex(where: { !Self.isSpace($0) }) else { return nil }
        return (base ?? address).resolving(String(trimmed[...end]))
    }

    /// Returns the address of a page with its fragment, and without a user; `nil` if the text is not one of http or https.
    func page(_ text: String?, base: HTTPURL? = nil) -> String? {
        guard let text, let page = url(text, base: base)?.withoutUserInfo.string else { return nil }
        guard let hash = text.utf8.firstIndex(of: UInt8(ascii: "#")) else { return page }
        let fragment = Self.collapsed(String(text[hash...].dropFirst()))
        return fragment.isEmpty ? page : "\(page)#\(PercentEncoding.encodeFragment(fragment))"
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
        add(item)
    }

    private mutating func add(_ item: Feed.Item) {
        lastDate = item.date ?? lastDate
        items.append(item)
        times.append(lastDate)
        if items.count >= 2 * Feed.Limits.items { keepNewest() }
    }

    /// Creates a feed with the description of its first page, and the items of both pages.
    init(_ feed: Feed, _ page: Feed, at address: HTTPURL) {
        self.init(address)
        self.feed = feed
        self.feed.cut = [feed.cut, page.cut].compactMap(\.self).max()
        self.feed.itemCount += page.itemCount
        self.feed.warnings += page.warnings.filter { !feed.warnings.contains($0) }
        for item in feed.items + page.items { add(item) }
    }

    /// Keeps the newest items, the newest first.
    private mutating func keepNewest() {
        // Items in front of the first dated one are as new as it.
        let first = times.lazy.compactMap(\.self).first
        let order = times.indices.sorted { left, right in
            guard let a = times[left] ?? first, let b = times[right] ?? first, a != b else { return left < right }
            return a > b
        }
        if order.count > Feed.Limits.items {
            let cut = order.dropFirst(Feed.Limits.items).compactMap { times[$0] }.max()
            feed.cut = [feed.cut, cut].compactMap(\.self).max()
            let warning = "The feed has more than \(Feed.Limits.items) episodes; only the newest count."
            if !feed.warnings.contains(warning) { feed.warnings.append(warning) }
        }
        keep(order.prefix(Feed.Limits.items))
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
    ///
    /// The query of a file's address may be a token, or name the item. It is left out if no other item has the same path, and an
    /// item with a query has another path. A feed with one item gives no such evidence.
    private mutating func identify() {
        var counts: [String: Int] = [:]
        var queried: Set<String> = []
        for item in items where item.isNamedByAddress {
            let bare = Self.withoutQuery(item.enclosure.url)
            counts[bare, default: 0] += 1
            if item.enclosure.url.query != nil { queried.insert(bare) }
        }
        var seen: Set<String> = []
        seen.reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            let bare = Self.withoutQuery(item.enclosure.url)
            let isBare = item.isNamedByAddress && counts[bare] == 1 && queried.contains { $0 != bare }
            items[index].identity = isBare ? bare : item.guid ?? item.enclosure.url.string
        }
        keep(items.indices.filter { seen.insert(items[$0].identity).inserted })
    }

    private static func withoutQuery(_ url: HTTPURL) -> String {
        String(Substring(url.string.utf8.prefix { $0 != UInt8(ascii: "?") }))
    }
}

extension Feed.Item {
    fileprivate var isNamedByAddress: Bool { Feed.isAddress(guid, of: enclosure.url) }

    /// The first 32 hexadecimal digits of the SHA-256 of the identity, which identify the item in its feed.
    public var key: String {
        String(Hexadecimal.encode(SHA256.digest(of: Array(identity.utf8))).prefix(32))
    }
}
