import Testing

@testable import DownloadCore

@Suite("Progress between replicas", .timeLimit(.minutes(3)))
struct FleetTransfersTests {
    private func transferring(_ number: Int, received: Int64 = 0) -> Download {
        var download = sampleRecord(number, state: .downloading).download
        download.bytesReceived = received
        return download
    }

    @Test("Others show published progress, and unchanged progress is not published again")
    func reported() throws {
        let (own, others) = (FleetTransfers(), FleetTransfers())
        let counters = TransferCounters(received: 10)
        let download = transferring(1)
        own.set(counters, of: download.id)
        let shown = try #require(others.counters(of: download))
        (counters.received, counters.bytesPerSecond, counters.isStalled, counters.connections) = (500, 20, true, 3)
        for message in own.messages() { others.receive(message) }
        #expect(shown.received == 500 && shown.bytesPerSecond == 20 && shown.isStalled && shown.connections == 3)
        #expect(own.messages().isEmpty)
        counters.received = 501
        #expect(own.messages().count == 1)
        own.set(nil, of: download.id)
        #expect(own.messages().isEmpty)
    }

    @Test("Progress without further messages stops after a while")
    func silence() throws {
        let transfers = FleetTransfers()
        let shown = try #require(transfers.counters(of: transferring(1)))
        let told = "\(transferring(1).id) 500 20 0 1\n"
        transfers.receive(told)
        for _ in 0..<3 { transfers.tick() }
        #expect(shown.bytesPerSecond == 20 && !shown.isStalled)
        transfers.receive(told)
        for _ in 0..<3 { transfers.tick() }
        #expect(shown.bytesPerSecond == 20)
        transfers.tick()
        #expect(shown.bytesPerSecond == 0 && shown.isStalled && shown.received == 500)
        transfers.receive(told)
        #expect(shown.bytesPerSecond == 20 && !shown.isStalled)
    }

    @Test("A replica reads its own counters instead of others' messages")
    func own() {
        let transfers = FleetTransfers()
        let counters = TransferCounters(received: 10)
        transfers.set(counters, of: transferring(1).id)
        #expect(transfers.counters(of: transferring(1)) === counters)
        transfers.receive("\(transferring(1).id) 99 1 0 1\n")
        #expect(counters.received == 10)
    }

    @Test("A transfer that ended has no counters, and starts again from its record")
    func ended() throws {
        let transfers = FleetTransfers()
        let first = try #require(transfers.counters(of: transferring(1, received: 7)))
        #expect(first.received == 7)
        #expect(transfers.counters(of: sampleRecord(1, state: .queued).download) == nil)
        #expect(try #require(transfers.counters(of: transferring(1))).received == 0)
        transfers.forget(transferring(1).id)
        transfers.receive("\(transferring(1).id) 99 1 0 1\n")
        #expect(try #require(transfers.counters(of: transferring(1))).received == 0)
    }

    @Test("A message fits PostgreSQL's limit with any number of transfers")
    func sizes() {
        let transfers = FleetTransfers()
        for number in 0..<1_000 { transfers.set(TransferCounters(received: .max), of: sampleRecord(number).id) }
        let messages = transfers.messages()
        #expect(messages.allSatisfy { $0.utf8.count < 8_000 })
        #expect(messages.reduce(0) { $0 + $1.split(separator: "\n").count } == 1_000)
    }

    @Test("Invalid messages change nothing", arguments: ["", "\n\n", "x", "1 2 3 4 5", "00000000000000000000000007 a b c d"])
    func nonsense(_ text: String) {
        FleetTransfers().receive(text)
    }
}
