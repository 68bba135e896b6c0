internal import HTTPCore

/// Decides which unknown items of a listing are known ones whose identity has changed.
///
/// Feeds get other ids, addresses with renewed tokens, and other hosts. An item whose identity is gone and one that is
/// unknown are the same if they agree in enough of date, name and address, and no other item does.
struct ItemIdentity {
    /// The items. A known item has the key of its record.
    private(set) var listing: [ListedItem]
    private let known: [String: KnownItem]
    /// The keys that the listing has.
    private var listed: Set<String>

    /// Gives items the keys of the records with the same address, if that is all of their identity, or if they have the
    /// same date as well.
    ///
    /// If an item with an id has the date of the record as well, its feed has given it another id.
    init(of listing: [ListedItem], known: [String: KnownItem]) {
        self.listing = listing
        self.known = known
        listed = Set(listing.map(\.key))
        let unknown = unknown
        if unknown.isEmpty { return }
        var byAddress: [String: String] = [:]
        var byDate: [String: String] = [:]
        for item in known.values {
            guard let url = item.url, !listed.contains(item.key) else { continue }
            byAddress[url] = item.key
            byDate["\(url) \(item.date)"] = item.key
        }
        for offset in unknown {
            let item = listing[offset]
            guard let url = item.url,
                let key = item.isNamedByAddress ? byAddress[url] : item.date.flatMap({ byDate["\(url) \($0)"] })
            else { continue }
            rename(offset, key)
        }
    }

    /// The offsets of the items without a record.
    private var unknown: [Int] { listing.indices.filter { known[listing[$0].key] == nil } }

    private mutating func rename(_ offset: Int, _ key: String) {
        guard listed.insert(key).inserted else { return }
        listing[offset].key = key
    }

    /// The keys of the records that the listing has no more, and that unknown items may be. Their properties are needed for
    /// ``resolve(_:)``.
    var suspects: Set<String> {
        let unknown = unknown.map { listing[$0] }
        if unknown.isEmpty { return [] }
        let dates = Set(unknown.compactMap { $0.date.map(Self.second) })
        let paths = Set(unknown.compactMap { Self.path($0.url) })
        return Set(
            known.values.lazy.filter { item in
                guard !listed.contains(item.key) else { return false }
                // The time of a check stands for a date in the future.
                let isCheck = item.date.millisecondsSinceEpoch % 1000 != 0 && !dates.isEmpty
                return isCheck || dates.contains(Self.second(item.date)) || Self.path(item.url).map(paths.contains) ?? false
            }.map(\.key))
    }

    /// Gives unknown items the keys of those that agree with them.
    ///
    /// The query of an address may be a token, or name the episode. Two items with the same date and name are the same,
    /// with any queries. Items with other dates are not. Those with other names are if the path names the episode.
    /// - Parameter suspects: The items of ``suspects``, as the last listings had them.
    mutating func resolve(_ suspects: [ListedItem]) {
        pair(suspects) { item in Self.text(item.date, Self.path(item.url), item.name) }
        let paths = namingPaths
        func isNaming(_ item: ListedItem) -> Bool { Self.path(item.url).map(paths.contains) ?? false }
        pair(suspects) { item in
            Self.text(item.date, isNaming(item) ? Self.path(item.url) : Self.path(item.url, withQuery: true), "")
        }
        pair(suspects) { item in Self.text(item.date, "", item.name) }
        pair(suspects) { item in
            // An item without a title is called like its file.
            let isTitled = item.name != item.url.flatMap { HTTPURL($0) }?.lastPathComponent
            guard item.date == nil, item.isNamedByAddress, isTitled || isNaming(item) else { return nil }
            return Self.text(Self.epoch, Self.path(item.url), item.name)
        }
    }

    /// Pairs the items that no other item agrees with in a text.
    private mutating func pair(_ suspects: [ListedItem], by text: (ListedItem) -> String?) {
        var absent: [String: [String]] = [:]
        for item in suspects where !listed.contains(item.key) {
            if let text = text(item) { absent[text, default: []].append(item.key) }
        }
        if absent.isEmpty { return }
        var offsets: [String: [Int]] = [:]
        for (offset, item) in listing.enumerated() { if let text = text(item) { offsets[text, default: []].append(offset) } }
        for (text, offsets) in offsets where offsets.count == 1 && known[listing[offsets[0]].key] == nil {
            guard let keys = absent[text], keys.count == 1 else { continue }
            rename(offsets[0], keys[0])
        }
    }

    /// The paths that name an item, so that its query does not: each belongs to one item of the listing and to one record, and
    /// items with a query have others.
    private var namingPaths: Set<String> {
        var queried: Set<String> = []
        func counts(_ urls: some Sequence<String?>) -> [String: Int] {
            urls.reduce(into: [:]) { counts, url in
                guard let path = Self.path(url) else { return }
                counts[path, default: 0] += 1
                if Self.path(url, withQuery: true) != path { queried.insert(path) }
            }
        }
        let (present, recorded) = (counts(listing.lazy.map(\.url)), counts(known.values.lazy.map(\.url)))
        return Set(
            present.keys.filter { path in
                present[path] == 1 && recorded[path] == 1 && queried.contains { $0 != path }
            })
    }

    // MARK: - Properties

    private static let epoch = Timestamp(millisecondsSinceEpoch: 0)

    private static func second(_ date: Timestamp) -> Int64 { date.millisecondsSinceEpoch / 1000 }

    /// Returns the path of an address; `nil` for none, and for the root.
    private static func path(_ url: String?, withQuery: Bool = false) -> String? {
        guard let url = url.flatMap({ HTTPURL($0) }), url.path.utf8.count > 1 else { return nil }
        return url.path + (withQuery ? url.query.map { "?\($0)" } ?? "" : "")
    }

    /// Returns a text that is the same for items that agree in these properties; `nil` if one is missing.
    private static func text(_ date: Timestamp?, _ path: String?, _ name: String) -> String? {
        guard let date, let path, !path.isEmpty || !name.isEmpty else { return nil }
        return "\(second(date)) \(path) \(name)"
    }
}
