import DownloadCore
import HTTPCore
import Testing

@testable import Subscriptions

/// Random feeds, pauses, edits and crashes against a simple description of what must hold.
@Suite("The model of subscriptions")
struct SubscriptionModelTests {
    /// A feed whose items come, go, change their order, dates and addresses.
    private struct Feed {
        var items: [ListedItem] = []
        var published = 0

        mutating func change(_ random: inout some RandomNumberGenerator) {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3:
                published += 1
                items.insert(
                    ListedItem(
                        key: "k\(published)", name: Bool.random(using: &random) ? "show \(published)" : "advert \(published)",
                        date: Bool.random(using: &random) ? Timestamp(millisecondsSinceEpoch: Int64(published) * 1_000) : nil,
                        url: "https://a.test/\(published)"), at: 0)
            case 4: items.shuffle(using: &random)
            case 5:
                if let index = items.indices.randomElement(using: &random) { items[index].url? += "?x" }
            case 6:
                if let index = items.indices.randomElement(using: &random) {
                    items[index].date = Timestamp(millisecondsSinceEpoch: Int64.random(in: 0...1_000_000, using: &random))
                }
            default: if items.count > 5 { items.removeLast() }
            }
        }
    }

    @Test("No order of listings, crashes and edits takes an item twice, or loses one", arguments: 0..<400)
    func exactlyOnce(seed: UInt64) {
        var random = Seeded(state: seed)
        var feed = Feed()
        for _ in 0..<Int.random(in: 0...10, using: &random) { feed.change(&random) }
        var known: [String: KnownItem] = [:]
        var downloads: [String: Int] = [:]
        var rules = ListingDecision.Rules(
            take: [.new, .latest(2), .all].randomElement(using: &random) ?? .new, isFirst: true)
        var exclusive = ItemFilter()
        exclusive.exclude = [GlobPattern("advert*")]
        let first = Set(feed.items.map(\.key))
        /// The items that were listed by a check of an active subscription whose filter accepts them.
        var owed: Set<String> = []
        for turn in 0..<60 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: rules.isPaused.toggle()
            case 1: rules.filter = Bool.random(using: &random) ? exclusive : ItemFilter()
            default: feed.change(&random)
            }
            let decision = ListingDecision(
                of: feed.items, known: known, rules, now: Timestamp(millisecondsSinceEpoch: Int64(turn)))
            // A crash: nothing of the check is durable, since its changes are one commit.
            if Int.random(in: 0..<4, using: &random) == 0 { continue }
            for (_, item) in decision.kept { known[item.key] = item }
            for offset in decision.taken {
                let item = feed.items[offset]
                downloads[item.key, default: 0] += 1
                known[item.key] = KnownItem(
                    key: item.key, date: item.date ?? Timestamp(millisecondsSinceEpoch: 0), state: .taken, url: item.url)
            }
            for offset in decision.moved { known[feed.items[offset].key]?.url = feed.items[offset].url }
            if !rules.isFirst {
                for item in feed.items where !first.contains(item.key) {
                    if known[item.key]?.state == .taken { owed.insert(item.key) }
                }
            }
            for item in feed.items { #expect(known[item.key] != nil, "\(item.key) was listed and has no record") }
            if !rules.isPaused { #expect(!feed.items.contains { known[$0.key]?.state == .new }) }
            rules.isFirst = false
        }
        #expect(downloads.values.allSatisfy { $0 == 1 })
        for key in owed { #expect(downloads[key] == 1) }
        for item in feed.items where known[item.key]?.state == .skipped {
            let isBacklog = known[item.key]?.reason == .backlog
            #expect(isBacklog || item.name.hasPrefix("advert"), "\(item) was left out")
        }
    }
}

/// A generator with a seed: SplitMix64.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
