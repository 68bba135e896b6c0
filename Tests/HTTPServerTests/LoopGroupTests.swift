import Synchronization
import Testing

@testable import HTTPServer

@Suite struct LoopGroupTests {
    @Test(
        "Moves a connection to a loop with clearly fewer",
        arguments: [
            ([0, 0], 0), ([4, 0], 0), ([5, 0], 1), ([100, 95], 0), ([100, 80], 1), ([100, 80, 60], 2), ([7], 0), ([0, 1000], 0),
        ])
    func aConnectionIsHandedOver(counts: [Int], expected: Int) throws {
        let group = try LoopGroup(loops: counts.count, limits: ServerLimits())
        for (member, count) in zip(group.members, counts) { member.connections.store(count, ordering: .relaxed) }
        #expect(group.connectionCount == counts.reduce(0, +))
        #expect(group.member(for: group.members[0]) === group.members[expected])
    }

    @Test("A closed mailbox discards its input")
    func aMailboxThatIsClosed() throws {
        let mailbox = try Mailbox()
        let id = ConnectionID(slot: 1, generation: 2)
        #expect(mailbox.post(.wake(id)))
        #expect(mailbox.close().count == 1)
        let stream = TestStream()
        var response = Response()
        response.content = .stream(stream, length: nil)
        #expect(!mailbox.post(.response(id, request: 1, response)))
        #expect(stream.state.current.closed == 1)
    }

    @Test("A connection's name survives conversion to a number")
    func aConnectionsNameFitsInto() {
        let id = ConnectionID(slot: .max - 7, generation: 12)
        #expect(ConnectionID(token: id.token) == id)
    }

    @Test("Generated request ids are unique")
    func generatedRequestIdentifiersDontRepeat() {
        var identifiers = IdentifierSource()
        let names = Set((0..<10_000).map { _ in identifiers.next().description })
        #expect(names.count == 10_000)
        #expect(names.allSatisfy { $0.utf8.count == 13 })
    }
}
