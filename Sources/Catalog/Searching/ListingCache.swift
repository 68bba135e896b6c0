/// A cache of listings, limited in number and bytes. The least recently used listing is removed first.
struct ListingCache: Sendable {
    struct Entry: Sendable {
        let listing: Listing
        let expires: ContinuousClock.Instant
        fileprivate(set) var lastUse: UInt64 = 0
    }

    private let maximumEntries: Int
    private let maximumBytes: Int
    private let timeToLive: Duration
    private var entries: [String: Entry] = [:]
    private var uses: UInt64 = 0
    /// The total bytes of all entries.
    private(set) var bytes = 0

    init(maximumEntries: Int, maximumBytes: Int, timeToLive: Duration) {
        self.maximumEntries = maximumEntries
        self.maximumBytes = maximumBytes
        self.timeToLive = timeToLive
    }

    /// The entry for the key; `nil` if there is none or it has expired.
    mutating func entry(_ key: String, at now: ContinuousClock.Instant) -> Entry? {
        guard var entry = entries[key] else { return nil }
        guard entry.expires > now else {
            remove(key)
            return nil
        }
        uses += 1
        entry.lastUse = uses
        entries[key] = entry
        return entry
    }

    /// Inserts a listing, unless it is larger than the cache. Returns the time until which it is current.
    mutating func insert(_ listing: Listing, key: String, at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        let expires = now.advanced(by: timeToLive)
        remove(key)
        guard maximumEntries > 0, listing.cost <= maximumBytes else { return expires }
        for (key, entry) in entries where entry.expires <= now { remove(key) }
        // Visiting all entries is cheap compared with the request that brought the new one.
        while entries.count >= maximumEntries || bytes > maximumBytes - listing.cost,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
        {
            remove(oldest)
        }
        uses += 1
        entries[key] = Entry(listing: listing, expires: expires, lastUse: uses)
        bytes += listing.cost
        return expires
    }

    /// All current entries with this key prefix.
    func entries(prefix: String, at now: ContinuousClock.Instant) -> [Entry] {
        entries.compactMap { $0.key.hasPrefix(prefix) && $0.value.expires > now ? $0.value : nil }
    }

    private mutating func remove(_ key: String) {
        if let entry = entries.removeValue(forKey: key) { bytes -= entry.listing.cost }
    }
}
