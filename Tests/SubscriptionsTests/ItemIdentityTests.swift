import HTTPCore
import Testing

@testable import Subscriptions

@Suite("The identity of items")
struct ItemIdentityTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The items of the last listing and of the present one: `key date name address`, with `-` for no date, and `*` behind
        /// the key of an item that only its address names.
        let former: [String]
        let present: [String]
        /// The keys of the present items afterwards.
        let expected: String
    }

    private static func item(_ text: String) -> ListedItem {
        let parts = text.split(separator: " ").map(String.init)
        var item = ListedItem(
            key: parts[0].replacing("*", with: ""), name: parts[2],
            date: Int64(parts[1]).map { Timestamp(millisecondsSinceEpoch: $0 * 1000) }, url: "https://\(parts[3])")
        item.isNamedByAddress = parts[0].hasSuffix("*")
        return item
    }

    @Test(
        "An item is the same if its date, name and address show it, and no other item does",
        arguments: [
            Row(
                testDescription: "new ids and new tokens", former: ["1 10 One a.test/1.mp3?t=x", "2 20 Two a.test/2.mp3?t=x"],
                present: ["n2 20 Two a.test/2.mp3?t=y", "n1 10 One a.test/1.mp3?t=y"], expected: "2 1"),
            Row(
                testDescription: "another host and port", former: ["1* 10 One a.test/1.mp3", "2* 20 Two a.test/2.mp3"],
                present: ["n2* 20 Two b.test:8443/2.mp3", "n1* 10 One b.test:8443/1.mp3"], expected: "2 1"),
            Row(
                testDescription: "a corrected title", former: ["1 10 One a.test/1.mp3?t=x", "2 20 Two a.test/2.mp3?t=x"],
                present: ["n2 20 Two a.test/2.mp3?t=y", "n1 10 First a.test/1.mp3?t=y"], expected: "2 1"),
            Row(
                testDescription: "a corrected title and another host", former: ["1 10 One a.test/1.mp3"],
                present: ["n1 10 First b.test/1.mp3"], expected: "1"),
            Row(
                testDescription: "another token for the same date and title", former: ["1* 10 One a.test/1.mp3?t=x"],
                present: ["n1* 10 One a.test/1.mp3?t=y"], expected: "1"),
            Row(
                testDescription: "a script in a feed that lists its newest item", former: ["1* 10 One a.test/listen?e=1"],
                present: ["n2* 20 Two a.test/listen?e=2"], expected: "n2"),
            Row(
                testDescription: "a script and another title of the day", former: ["1* 10 One a.test/listen?e=1"],
                present: ["n2* 10 Two a.test/listen?e=2"], expected: "n2"),
            Row(
                testDescription: "a script and another date", former: ["1* 10 News a.test/listen?e=1"],
                present: ["n2* 20 News a.test/listen?e=2"], expected: "n2"),
            Row(
                testDescription: "a script beside another file",
                former: ["1* 10 One a.test/listen?e=1", "t* 1 T a.test/trailer.mp3"],
                present: ["n2* 10 Two a.test/listen?e=2", "t* 1 T a.test/trailer.mp3"], expected: "n2 t"),
            Row(
                testDescription: "bulletins with queries", former: ["1* 10 News a.test/n.mp3?1", "s1* 10 Sport a.test/s.mp3?1"],
                present: ["n2* 20 News a.test/n.mp3?2", "s2* 20 Sport a.test/s.mp3?2"], expected: "n2 s2"),
            Row(
                testDescription: "a date in the future, another id and path", former: ["1 500 One a.test/old/1.mp3"],
                present: ["n1 500 One a.test/new/x.mp3"], expected: "1"),
            Row(
                testDescription: "no date, another token", former: ["1* - One a.test/1.mp3?t=x"],
                present: ["n1* - One a.test/1.mp3?t=y"], expected: "1"),
            Row(
                testDescription: "no date, no title, other tokens",
                former: ["1* - 1.mp3 a.test/1.mp3?t=x", "2* - 2.mp3 a.test/2.mp3?t=x"],
                present: ["n2* - 2.mp3 a.test/2.mp3?t=y", "n1* - 1.mp3 a.test/1.mp3?t=y"], expected: "2 1"),
            Row(
                testDescription: "no date, no title, a script", former: ["1* - listen a.test/listen?e=1"],
                present: ["n2* - listen a.test/listen?e=2"], expected: "n2"),
            Row(
                testDescription: "other ids and addresses", former: ["1 10 One a.test/1.mp3", "2 20 Two a.test/2.mp3"],
                present: ["n2 20 Two b.test/x", "n1 10 One b.test/y"], expected: "2 1"),
            Row(
                testDescription: "a script with tokens and dates of days",
                former: ["1 10 One a.test/play?id=1", "2 10 Two a.test/play?id=2"],
                present: ["n2 10 Two a.test/play?x=2", "n1 10 One a.test/play?x=1"], expected: "2 1"),
            Row(
                testDescription: "a script that plays another item of the day",
                former: ["1 10 One a.test/play?id=1", "2 9 Two a.test/play?id=2"],
                present: ["n3 10 Three a.test/play?id=3", "2 9 Two a.test/play?id=2"], expected: "n3 2"),
            Row(
                testDescription: "an item that is still listed", former: ["1 10 One a.test/1.mp3"],
                present: ["n1 10 One a.test/1.mp3?t=y", "1 10 One a.test/1.mp3"], expected: "n1 1"),
            Row(
                testDescription: "a name that several have", former: ["1 10 News a.test/1.mp3", "2 10 News a.test/2.mp3"],
                present: ["n3 10 News a.test/3.mp3", "2 10 News a.test/2.mp3"], expected: "n3 2"),
            Row(
                testDescription: "two that may be the same", former: ["1 10 News a.test/1.mp3", "2 10 News a.test/2.mp3"],
                present: ["n3 10 News a.test/3.mp3", "n4 10 News a.test/4.mp3"], expected: "n3 n4"),
            Row(
                testDescription: "a bulletin at one address", former: ["1 10 News a.test/latest.mp3?1"],
                present: ["n2 20 News a.test/latest.mp3?2"], expected: "n2"),
            Row(
                testDescription: "no date, no id, another host", former: ["1* - One a.test/1.mp3"],
                present: ["n1* - One b.test/1.mp3"], expected: "1"),
            Row(
                testDescription: "no date, another id", former: ["1 - News a.test/latest.mp3?1"],
                present: ["n2 - News a.test/latest.mp3?2"], expected: "n2"),
            Row(
                testDescription: "another title and path", former: ["1 10 One a.test/1.mp3"],
                present: ["n1 10 Two a.test/2.mp3"], expected: "n1"),
        ])
    func identity(row: Row) {
        let former = row.former.map(Self.item)
        var known: [String: KnownItem] = [:]
        for item in former {
            let check = Timestamp(millisecondsSinceEpoch: 99_001)
            known[item.key] = KnownItem(
                key: item.key, date: min(item.date ?? check, check), state: .taken, url: item.url)
        }
        var identity = ItemIdentity(of: row.present.map(Self.item), known: known)
        let suspects = identity.suspects
        identity.resolve(former.filter { suspects.contains($0.key) })
        #expect(identity.listing.map(\.key).joined(separator: " ") == row.expected)
    }

    @Test("A listing without unknown items needs no properties of others")
    func suspects() {
        let date = Timestamp(millisecondsSinceEpoch: 10_000)
        let known = KnownItem(key: "1", date: date, state: .taken, url: "https://a.test/1.mp3")
        let listing = ["2 20 Two a.test/2.mp3"].map(Self.item)
        #expect(ItemIdentity(of: listing, known: ["1": known]).suspects.isEmpty)
        #expect(ItemIdentity(of: [], known: ["1": known]).suspects.isEmpty)
    }
}
