import Foundation
import System
import TestSupport
import Testing

@testable import Postgres

@Suite(.enabled(if: PrivatePostgres.isWanted, "\(PrivatePostgres.whySkipped)"), .timeLimit(.minutes(3)))
@OffPool struct NotificationTests {
    @Test("Receives notifications in order, also during other commands")
    func arriving() throws {
        let database = try PrivatePostgres.database()
        let (listener, sender) = (try database.connect(), try database.connect())
        try listener.execute("LISTEN news", within: patience)
        #expect(try listener.notifications(within: .zero).isEmpty)
        let notify = PostgresStatement("notify", "SELECT pg_notify('news', $1)")
        try sender.run(["1", "2 ü", ""].map { PostgresCommand(notify, [.text($0)]) }, within: patience)
        var arrived: [PostgresNotification] = []
        while arrived.count < 3 { arrived += try listener.notifications(within: patience) }
        #expect(
            arrived == ["1", "2 ü", ""].map { PostgresNotification(channel: "news", payload: $0, processID: sender.processID) })
        // The connection's own notification arrives with the result.
        try listener.run([PostgresCommand(notify, ["own"])], within: patience)
        #expect(
            try listener.notifications(within: patience)
                == [PostgresNotification(channel: "news", payload: "own", processID: listener.processID)])
    }

    @Test("A wait ends after its time, with a notification, or by a wake-up")
    func waiting() throws {
        let database = try PrivatePostgres.database()
        let (listener, sender) = (try database.connect(), try database.connect())
        try listener.execute("LISTEN news", within: patience)
        let clock = ContinuousClock.now
        #expect(try listener.notifications(within: .milliseconds(50)).isEmpty)
        #expect(clock.duration(to: .now) >= .milliseconds(50))

        let pipe = Pipe()
        try System.Thread.start(name: "wake") { try? pipe.fileHandleForWriting.write(contentsOf: Data([1])) }
        let wake = pipe.fileHandleForReading.fileDescriptor
        #expect(try listener.notifications(within: .seconds(3600), interruptedBy: wake).isEmpty)
        // The wake-up loses no received notification.
        try sender.execute("NOTIFY news, 'late'", within: patience)
        var arrived: [PostgresNotification] = []
        while arrived.isEmpty { arrived = try listener.notifications(within: .seconds(3600), interruptedBy: wake) }
        #expect(arrived.map(\.payload) == ["late"])
    }

    @Test("The end of the connection ends a wait")
    func cut() throws {
        let database = try PrivatePostgres.database()
        let relay = try FaultyRelay(to: database.server.port)
        let listener = try database.connect(database.conninfo(port: relay.port))
        try listener.execute("LISTEN news", within: patience)
        try System.Thread.start(name: "cut") { relay.cut() }
        let error = #expect(throws: PostgresError.self) { while true { _ = try listener.notifications(within: .seconds(3600)) } }
        #expect(error?.unavailable != nil, "\(String(describing: error))")
        #expect(listener.isBroken)
    }
}
