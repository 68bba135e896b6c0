import Foundation
import HTTPClient
import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadFiles
@testable import DownloadStore
@testable import Downloads

/// Hanging receivers, and more messages than memory holds.
@Suite("Deliveries to many receivers", .timeLimit(.minutes(3)))
struct WebhookDispatcherTests {
    /// A sender whose receivers hang if their host begins with `dead`.
    private final class Receivers: WebhookSender {
        let sent = Waiter<[RecordID]>([])
        let hanging = Waiter(0)

        func send(_ delivery: WebhookDelivery) async throws(ClientError) -> Int {
            guard delivery.url.hasPrefix("http://dead") else {
                sent.update { $0.append(delivery.id) }
                return 200
            }
            hanging.update { $0 += 1 }
            // Until the attempt is abandoned.
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
            throw .cancelled
        }

        func resource(of download: Download) -> [UInt8] { Array("{}".utf8) }
    }

    private func delivery(_ number: Int, to host: String) -> WebhookDelivery {
        WebhookDelivery(
            id: RecordID(value: UInt128(number) << 80), url: "http://\(host)/hook", subject: nil, body: Array("{}".utf8),
            due: Timestamp(millisecondsSinceEpoch: 0))
    }

    @Test("Hanging receivers, with any number of messages, delay no others", arguments: [4, 70, 150])
    func hanging(dead: Int) async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let receivers = Receivers()
        let dispatcher = WebhookDispatcher(sender: receivers, store: store, policy: WebhookPolicy(), log: { _ in })
        await dispatcher.start()
        var number = 0
        for _ in 0..<40 {
            for host in 0..<dead {
                number += 1
                await dispatcher.post(delivery(number, to: "dead\(host).example"))
            }
        }
        _ = try await receivers.hanging.wait { $0 >= min(dead, WebhookQueue.Limits().unproven) }
        for _ in 0..<40 {
            number += 1
            await dispatcher.post(delivery(number, to: "healthy.example"))
        }
        #expect(try await receivers.sent.wait { $0.count >= 40 }.count == 40)
        await dispatcher.stop()
        await store.close()
    }

    @Test("A message that is read from the store is delivered once the end is published that it tells of")
    func settled() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        try await store.write([.keepDelivery(delivery(1, to: "h.example"))])
        let receivers = Receivers()
        let dispatcher = WebhookDispatcher(sender: receivers, store: store, policy: WebhookPolicy(), log: { _ in })
        let (isRead, isPublished) = (Gate(), Gate())
        await dispatcher.start {
            isRead.open()
            try? await isPublished.wait()
        }
        try await isRead.wait()
        // A message that is posted is delivered at once, since its end is published.
        await dispatcher.post(delivery(2, to: "h.example"))
        #expect(try await receivers.sent.wait { !$0.isEmpty } == [delivery(2, to: "h.example").id])
        isPublished.open()
        #expect(try await receivers.sent.wait { $0.count == 2 }.last == delivery(1, to: "h.example").id)
        await dispatcher.stop()
        await store.close()
    }

    @Test("Messages beyond the limits stay in the store, and each is delivered once", arguments: [false, true])
    func overflow(restarting: Bool) async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        var all: [WebhookDelivery] = []
        for number in 1...1_000 { all.append(delivery(number, to: number % 50 == 0 ? "dead.example" : "h\(number % 7).example")) }
        try await store.write(all.map(StoreChange.keepDelivery))
        let wanted = Set(all.filter { !$0.url.hasPrefix("http://dead") }.map(\.id))
        let receivers = Receivers()
        let dispatcher = WebhookDispatcher(
            sender: receivers, store: store, policy: WebhookPolicy(),
            limits: WebhookQueue.Limits(concurrent: 20, keptPerHost: 8, kept: 30), log: { _ in })
        await dispatcher.start()
        if !restarting { for delivery in all { await dispatcher.post(delivery) } }
        let sent = try await receivers.sent.wait { $0.count >= wanted.count }
        await dispatcher.stop()
        #expect(Set(sent) == wanted && sent.count == wanted.count)
        await store.close()
        #expect(try scene.deliveriesAfterCrash().count == all.count - wanted.count)
    }

    @Test("Reports unreadable messages once, even behind the first page, and delivers the others")
    func unreadable() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let count = DeliveryRow.pageSize + 100
        try await store.write((1...count).map { .keepDelivery(delivery($0, to: $0 == 1 ? "dead.example" : "h.example")) })
        try SQLiteConnection(path: scene.path + "/pawl.sqlite").execute(
            """
            UPDATE webhook_deliveries SET attempts = -1
            WHERE id IN (SELECT id FROM webhook_deliveries ORDER BY id DESC LIMIT 50) OR id = '\(delivery(2, to: "").id)'
            """)
        let receivers = Receivers()
        let lines = Waiter<[String]>([])
        let dispatcher = WebhookDispatcher(
            sender: receivers, store: store, policy: WebhookPolicy(),
            // The store is read repeatedly.
            limits: WebhookQueue.Limits(concurrent: 20, keptPerHost: 400, kept: 500)
        ) { event in
            if case .warning(let text) = event { lines.update { $0.append(text) } }
        }
        await dispatcher.start()
        #expect(try await receivers.sent.wait { $0.count >= count - 52 }.count == count - 52)
        await dispatcher.read(from: RecordID(value: 0))
        let told = try await lines.wait { $0.count >= 21 }
        await dispatcher.stop()
        #expect(told.count { $0.contains("a message to a webhook cannot be read (id '") } == 20)
        #expect(told.last == "31 more rows of webhook_deliveries are refused; pawl check names them")
        #expect(lines.value.count == 21)
        await store.close()
    }

    @Test("Discards a message in delivery at three crashes, but not at a kill", arguments: [true, false])
    func crashes(isMarked: Bool) async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let directory = try TemporaryDirectory()
        let path = directory.path + "/in-transfer"
        let message = delivery(1, to: "dead.example")
        try await store.write([.keepDelivery(message)])
        for _ in 0..<CrashSuspicion.limit {
            let journal = try TransferJournal(in: Directory(opening: directory.path))
            journal.clear()
            let receivers = Receivers()
            let dispatcher = WebhookDispatcher(
                sender: receivers, store: store, policy: WebhookPolicy(), journal: journal, log: { _ in })
            await dispatcher.start()
            _ = try await receivers.hanging.wait { $0 == 1 }
            var left = try [UInt8](Data(contentsOf: URL(filePath: path)))
            await dispatcher.stop()
            if isMarked { left[18] = UInt8(ascii: "!") }
            try Data(left).write(to: URL(filePath: path))
        }
        let receivers = Receivers()
        let dispatcher = WebhookDispatcher(
            sender: receivers, store: store, policy: WebhookPolicy(),
            journal: try TransferJournal(in: Directory(opening: directory.path)), log: { _ in })
        await dispatcher.start()
        if isMarked {
            try await until { try scene.deliveriesAfterCrash().isEmpty }
        } else {
            _ = try await receivers.hanging.wait { $0 == 1 }
        }
        await dispatcher.stop()
        await store.close()
        #expect(try scene.deliveriesAfterCrash().count == (isMarked ? 0 : 1))
    }

    // MARK: - Decisions

    @Test("Responding receivers come first, then untried ones, and each gets its share")
    func order() {
        let start = ContinuousClock.now
        var queue = WebhookQueue(limits: .init(concurrent: 6, unproven: 4, failing: 1, perHost: 2))
        func sent() -> [Int] { queue.startable(at: start + .seconds(1)).map { Int($0.id.value >> 80) } }
        func add(_ number: Int, to host: String) {
            queue.add(delivery(number, to: "\(host).example"), due: start + .milliseconds(number))
        }
        func id(_ number: Int) -> RecordID { RecordID(value: UInt128(number) << 80) }
        // Second attempts leave room for first ones.
        for number in 1...4 { add(number, to: "a") }
        #expect(sent() == [1, 2])
        for number in 5...7 { add(number, to: "b") }
        add(8, to: "c")
        #expect(sent() == [5, 8])
        // A fifth receiver waits; a responding one does not.
        add(9, to: "d")
        #expect(sent() == [])
        queue.note(id(8), .refused)
        queue.remove(id(8))
        #expect(sent() == [9])
        add(10, to: "c")
        add(11, to: "c")
        #expect(sent() == [10, 11])
        // Only one attempt at failing ones, even if there is room.
        queue.note(id(1), .silent)
        queue.note(id(5), .silent)
        for number in [1, 2, 5, 9] { queue.remove(id(number)) }
        #expect(sent() == [3])
        queue.remove(id(3))
        #expect(sent() == [6])
        queue.remove(id(6))
        #expect(sent() == [4])
    }

    @Test("The longest hanging attempt ends for an untried receiver only")
    func hangingEnds() {
        let start = ContinuousClock.now
        var queue = WebhookQueue(limits: .init(concurrent: 3, unproven: 2, failing: 2, perHost: 1))
        func id(_ number: Int) -> RecordID { RecordID(value: UInt128(number) << 80) }
        func begin(_ number: Int, at offset: Duration) -> Int {
            queue.add(delivery(number, to: "\(number).example"), due: start)
            return queue.startable(at: start + offset).count
        }
        let begun: [Int] = [begin(1, at: .zero), begin(2, at: .seconds(1))]
        #expect(begun == [1, 1])
        // No other receiver waits.
        func end(at offset: Duration) -> RecordID? { queue.endHanging(at: start + offset) }
        #expect(queue.nextEnding == nil && end(at: .seconds(60)) == nil)
        let waiting: [Int] = [begin(3, at: .seconds(2)), begin(4, at: .seconds(2))]
        #expect(waiting == [0, 0])
        #expect(queue.nextEnding == start + .seconds(5) && end(at: .seconds(4)) == nil)
        #expect(end(at: .seconds(5)) == id(1))
        #expect(queue.nextEnding == start + .seconds(6) && queue.isEnding(id(1)) && !queue.isEnding(id(2)))
        // A responding receiver keeps its attempt.
        queue.note(id(2), .refused)
        #expect(queue.nextEnding == nil)
        queue.note(id(1), .silent)
        queue.remove(id(1))
        #expect(!queue.isEnding(id(1)))
    }

    @Test("A message without room is noted, and found again")
    func noted() {
        let start = ContinuousClock.now
        var queue = WebhookQueue(limits: .init(keptPerHost: 2))
        func id(_ number: Int) -> RecordID { RecordID(value: UInt128(number) << 80) }
        func add(_ number: Int) -> Bool { queue.add(delivery(number, to: "a.example"), due: start) }
        #expect(add(1) && add(2) && !add(3) && !add(4))
        // A receiver without messages has room.
        let hasRoom = queue.add(delivery(5, to: "b.example"), due: start)
        #expect(hasRoom)
        func begin() -> RecordID? { queue.beginLoading()?.from }
        #expect(begin() == nil)
        queue.remove(id(1))
        #expect(begin() == id(3))
        #expect(begin() == nil)
        #expect(add(3))
        // One arrives while the store is read.
        #expect(!add(4) && !add(6))
        queue.endLoading("http://a.example:80", next: nil)
        queue.remove(id(2))
        queue.remove(id(3))
        #expect(begin() == id(4))
        queue.endLoading("http://a.example:80", next: nil)
        #expect(begin() == nil)
    }
}
