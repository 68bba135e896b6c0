import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore

/// The rows of subscriptions and their items, in SQLite and PostgreSQL.
@Suite("The store of subscriptions", .timeLimit(.minutes(3)))
struct SubscriptionStoreTests {
    private let first = RecordID(value: 1)
    private let second = RecordID(value: 2)

    private func item(_ key: String, _ date: Int64, of subscription: RecordID? = nil, state: String = "taken") -> StoredItem {
        StoredItem(
            subscription: subscription ?? first, key: key, date: date, state: state, reason: "why \(key)",
            url: "https://a.test/\(key)", download: RecordID(value: UInt128(date + 100)), isMade: true, isByHand: key == "a",
            body: Array("{\"name\":\"\(key)\"}".utf8))
    }

    @Test("Keeps subscriptions and items through a crash, and removes them together", arguments: StoreKind.available)
    func roundTrip(kind: StoreKind) async throws {
        let scene = try StoreScene(kind)
        let store = try scene.open()
        _ = try store.load()
        let subscriptions = [first, second].map {
            StoredSubscription(id: $0, body: Array("{\"name\":\"é\"}".utf8), work: "feed:é \($0)")
        }
        func kept() throws -> [[UInt8]] { try scene.contentsAfterCrash().subscriptions.map { Array("\($0.id) ".utf8) + $0.body } }
        func expected(_ subscriptions: [StoredSubscription]) -> [[UInt8]] {
            subscriptions.map { Array("\($0.id) ".utf8) + $0.body }
        }
        try await store.write(
            subscriptions.map { .subscription(.save($0)) } + [
                .subscription(.saveItem(item("a", 1))), .subscription(.saveItem(item("b", 2))),
            ])
        #expect(try kept() == expected(subscriptions))
        #expect(try await store.items(ItemQuery(of: first)) == [item("b", 2), item("a", 1)])

        // An empty body leaves the stored one.
        var changed = item("a", 5, state: "expired")
        (changed.body, changed.reason, changed.download) = ([], nil, nil)
        #expect(try scene.contentsAfterCrash().subscriptions.map(\.items) == [["taken": 2], [:]])
        var renamed = subscriptions[1]
        renamed.body = Array("{}".utf8)
        try await store.write([
            .subscription(.saveItem(changed)), .subscription(.save(renamed)), .subscription(.dropItem(first, key: "b")),
        ])
        changed.body = item("a", 1).body
        #expect(try await store.items(ItemQuery(of: first)) == [changed])
        #expect(try kept() == expected([subscriptions[0], renamed]))

        try await store.write([.subscription(.saveItem(item("a", 1, of: second))), .subscription(.remove(first))])
        // An item of a subscription that is gone is not kept.
        try await store.write([.subscription(.saveItem(item("z", 9)))])
        #expect(try await store.items(ItemQuery(of: first)).isEmpty)
        #expect(try await store.items(ItemQuery(of: second)).count == 1)
        await store.close()
    }

    @Test("Finds items by state and key, page by page, the newest first", arguments: StoreKind.available)
    func queries(kind: StoreKind) async throws {
        let scene = try StoreScene(kind)
        let store = try scene.open()
        _ = try store.load()
        try await store.write(
            [.subscription(.save(StoredSubscription(id: first, body: Array("{}".utf8))))]
                + (0..<10).map {
                    .subscription(.saveItem(item("k\($0)", Int64($0 / 2), state: $0 % 3 == 0 ? "taken" : "skipped")))
                })
        func keys(_ change: (inout ItemQuery) -> Void) async throws -> String {
            var query = ItemQuery(of: first)
            change(&query)
            return try await store.items(query).map { String($0.key.dropFirst()) }.joined()
        }
        #expect(try await keys { _ in } == "9876543210")
        #expect(try await keys { $0.states = ["taken"] } == "9630")
        #expect(try await keys { $0.states = ["taken", "skipped"] } == "9876543210")
        #expect(try await keys { $0.key = "k4" } == "4")
        #expect(try await keys { $0.key = "none" } == "")
        #expect(try await keys { ($0.limit, $0.after) = (3, (date: 3, key: "k7")) } == "654")
        #expect(try await keys { ($0.states, $0.after) = (["taken"], (date: 3, key: "k6")) } == "30")
        var query = ItemQuery(of: first)
        query.includesBodies = false
        #expect(try await store.items(query).allSatisfy { $0.body.isEmpty && $0.isMade })
        await store.close()
    }

    /// An item with a row of 1.4 KB.
    private func large(_ number: Int) -> StoredItem {
        var item = item("k\(number)", Int64(number))
        let padding = String(repeating: "x", count: 1_200)
        item.body = Array(#"{"track":{"name":"\#(padding)","downloadUrl":"https://a.test/k\#(number)"}}"#.utf8)
        return item
    }

    @Test("Items of a removed subscription leave the file in parts, and then their pages do")
    func tidying() throws {
        let scene = try StoreScene()
        let path = scene.temporary.path + "/tidy.sqlite"
        let connection = try SQLiteConnection(path: path)
        try StoreSchema.prepare(connection, path: path)
        let statements = try SQLiteStatements(connection)
        try statements.commit(
            [first, second].map { .subscription(.save(StoredSubscription(id: $0, body: Array("{}".utf8)))) }
                + (0..<4_000).map { .subscription(.saveItem(large($0))) } + [.subscription(.saveItem(item("a", 1, of: second)))])
        func count() throws -> Int64 { try connection.number("SELECT count(*) FROM subscription_items") }
        try statements.commit([.subscription(.remove(first))])
        var left = try count()
        while left > 1 {
            let hasMore = try statements.tidy()
            #expect(hasMore)
            let now = try count()
            #expect(now < left && now >= left - 250)
            left = now
        }
        let before = try connection.number("PRAGMA page_count")
        while try statements.tidy() {}
        #expect(try connection.number("PRAGMA freelist_count") <= 1_024 && connection.number("PRAGMA page_count") < before - 200)
        #expect(try connection.text("PRAGMA integrity_check") == "ok")
        #expect(try statements.items(ItemQuery(of: second)).count == 1)
    }
}
