import DownloadCore
import HTTPCore
import System
import Testing

@testable import Subscriptions

@Suite("The index of subscriptions")
struct SubscriptionIndexTests {
    private let index = SubscriptionIndex()
    private let key = FeedKey()

    private func publish(_ number: Int, failures: Int = 0) {
        let id = RecordID(value: UInt128(number))
        var subscription = Subscription(
            id: id, source: .search(term: "x"), settings: .init(), at: Timestamp(millisecondsSinceEpoch: 0))
        subscription.failures = failures
        subscription.key = key
        index.publish(subscription)
    }

    /// The events that a reader has now, as texts, at most `limit`.
    private func read(_ reader: SubscriptionIndex.Reader, limit: Int = .max) -> [String] {
        var texts: [String] = []
        while texts.count < limit, let event = reader.next() {
            switch event {
            case .snapshot:
                var ids: [UInt128] = []
                var last: RecordID?
                while let version = index.following(last) {
                    last = version.subscription.id
                    ids.append(version.subscription.id.value)
                }
                texts.append("\(ids)")
            case .changed(let version): texts.append("\(version.subscription.id.value):\(version.subscription.failures)")
            case .removed(let id): texts.append("-\(id.value)")
            }
        }
        return texts
    }

    @Test("Ids decide the order, not publication")
    func order() {
        for number in [5, 1, 9, 3] { publish(number) }
        #expect(index.all.map(\.subscription.id.value) == [1, 3, 5, 9])
        #expect(index.following(RecordID(value: 4))?.subscription.id.value == 5)
        #expect(index.following(RecordID(value: 5))?.subscription.id.value == 9)
        #expect(index.following(RecordID(value: 9)) == nil)
    }

    @Test("A reader gets a snapshot, then the latest state of each changed subscription in the order of changes")
    func changes() {
        publish(1)
        publish(2)
        let (early, late) = (index.makeReader {}, index.makeReader {})
        #expect(read(early) == ["[1, 2]"])
        publish(2, failures: 1)
        publish(3)
        publish(1, failures: 1)
        // An equal state is no change.
        publish(1, failures: 1)
        #expect(read(early, limit: 1) == ["2:1"])
        publish(3, failures: 2)
        publish(2, failures: 2)
        index.publishRemoval(of: RecordID(value: 1))
        index.publishRemoval(of: RecordID(value: 1))
        #expect(read(early) == ["3:2", "2:2", "-1"])
        #expect(read(early) == [])
        // One that comes back.
        publish(1)
        #expect(read(early) == ["1:0"])
        #expect(read(late) == ["[1, 2, 3]"])
    }

    @Test("A reader that is too far behind gets a snapshot again", arguments: [1, 1_997, 1_998, 5_000])
    func distance(changes: Int) {
        publish(1)
        publish(2)
        let (slow, fast) = (index.makeReader {}, index.makeReader {})
        #expect(read(slow) == ["[1, 2]"])
        for number in 1...changes {
            publish(1, failures: number)
            if number == 1 { #expect(read(fast) == ["[1, 2]"]) }
            if number > 1 { #expect(read(fast) == ["1:\(number)"]) }
        }
        // A removal that the reader cannot learn of.
        index.publishRemoval(of: RecordID(value: 2))
        #expect(read(slow) == (changes < 1_998 ? ["1:\(changes)", "-2"] : ["[1]"]))
        #expect(read(fast) == ["-2"])
    }

    @Test("Readers are woken for each change until they are cancelled")
    func wakes() {
        let woken = Locked(0)
        let reader = index.makeReader { woken.withLock { $0 += 1 } }
        publish(1)
        publish(1)
        publish(1, failures: 1)
        #expect(woken.withLock { $0 } == 2)
        reader.cancel()
        publish(2)
        #expect(woken.withLock { $0 } == 2)
    }
}
