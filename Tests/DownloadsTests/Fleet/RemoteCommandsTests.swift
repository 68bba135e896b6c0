import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import DownloadTransfer
@testable import Downloads

@Suite("Remote commands", .timeLimit(.minutes(1)))
struct RemoteCommandsTests {
    private static let id = RecordID(value: 7)

    private static func pending(_ waiter: UInt64) -> RemoteCommands.PendingCommand {
        RemoteCommands.PendingCommand(waiter: waiter, id: id, request: .pause, isExpected: nil, deadline: .now)
    }

    private enum Step {
        /// The command of this wait is sent to the owner.
        case send(UInt64, to: Int64)
        /// A second passes; the results of these waits are awaited. The messages that are repeated then.
        case tick(awaited: Set<UInt64>, [String])
        /// A reply comes, with this consequence.
        case reply(UInt64, Result<Download, DownloadError>?, String)
        /// Another replica sends the commands with these numbers; those to carry out.
        case accept([UInt64], from: Int64, [UInt64])
        case answer(DownloadError?, to: UInt64, from: Int64)
        /// The messages to send are taken: for each instance, its commands and replies.
        case take([String])
    }

    private static let rows: [(String, [Step])] = [
        (
            "the commands for one owner are one message",
            [.send(1, to: 5), .send(2, to: 5), .send(3, to: 6), .take(["5: commands 1 2", "6: commands 3"]), .take([])]
        ),
        (
            "a command is repeated under its number after a second without a reply, for the same instance",
            [
                .send(1, to: 5), .take(["5: commands 1"]), .tick(awaited: [1], []),
                .tick(awaited: [1], ["5: commands 1 repeated"]), .tick(awaited: [1], ["5: commands 1 repeated"]),
            ]
        ),
        (
            "a command whose result is not awaited any more is forgotten",
            [.send(1, to: 5), .tick(awaited: [], []), .tick(awaited: [1], []), .reply(1, .failure(.notFound), "nothing")]
        ),
        ("a reply ends the wait once", [.send(9, to: 5), .reply(1, .failure(.notFound), "9 ended"), .reply(1, nil, "nothing")]),
        ("an unknown reply has no effect", [.reply(1, nil, "nothing")]),
        (
            "a command that the recipient does not carry out is sent again at once",
            [.send(9, to: 5), .reply(1, nil, "9 missed")]
        ),
        (
            "a command that the recipient is too busy for is sent again after a pause",
            [.send(9, to: 5), .reply(1, .failure(.overloaded), "9 missed, pause")]
        ),
        (
            "a command that is sent again gets another number",
            [.send(9, to: 5), .send(9, to: 6), .take(["5: commands 1", "6: commands 2"])]
        ),
        (
            "a repeated command of another replica is not carried out again, and its reply is repeated",
            [
                .accept([1, 2], from: 5, [1, 2]), .accept([1], from: 5, []), .take([]),
                .answer(.notFound, to: 1, from: 5), .take(["5: replies 1"]),
                .accept([1, 2, 3], from: 5, [3]), .take(["5: replies 1"]),
            ]
        ),
        (
            "another replica's numbers are its own",
            [.accept([1], from: 5, [1]), .accept([1], from: 6, [1]), .answer(nil, to: 1, from: 6), .take(["6: replies 1"])]
        ),
    ]

    @Test("Commands and replies are sent and repeated", arguments: rows.indices)
    func row(_ number: Int) {
        let (name, steps) = Self.rows[number]
        var commands = RemoteCommands(instance: 0)
        for (offset, step) in steps.enumerated() {
            let place = Comment(rawValue: "\(name), step \(offset)")
            switch step {
            case .send(let waiter, let owner): commands.send(Self.pending(waiter), to: owner, revision: nil)
            case .tick(let awaited, let expected):
                #expect(Self.words(commands.repetitions { awaited.contains($0) }) == expected, place)
            case .reply(let number, let result, let expected):
                #expect(Self.words(commands.receive(RemoteMessage.Reply(number: number, result: result))) == expected, place)
            case .accept(let numbers, let sender, let expected):
                let received = numbers.map {
                    RemoteMessage.Command(number: $0, id: Self.id, request: .pause, revision: nil)
                }
                #expect(commands.accept(received, from: sender).map(\.number) == expected, place)
            case .answer(let error, let number, let sender):
                commands.reply(error.map { .failure($0) }, to: number, from: sender)
            case .take(let expected): #expect(Self.words(commands.takeMessages()) == expected, place)
            }
        }
    }

    @Test("A reply to an earlier instance on the same data directory is for no command of the next one")
    func earlierInstance() throws {
        func sent(by instance: Int64) throws -> (commands: RemoteCommands, number: UInt64) {
            var commands = RemoteCommands(instance: instance)
            commands.send(Self.pending(9), to: 5, revision: nil)
            guard case .fleet(.send(let text, _))? = commands.takeMessages().first else { throw CancellationError() }
            return (commands, try #require(RemoteMessage(text).commands.first).number)
        }
        let number = try sent(by: 331_376_778_171_734_168).number
        for instance in [7_398_037_545_084_848_365, .min, .max, -1] as [Int64] {
            var next = try sent(by: instance)
            let late = RemoteMessage.Reply(number: number, result: .failure(.notFound))
            #expect(Self.words(next.commands.receive(late)) == "nothing", "\(instance)")
            let reply = RemoteMessage.Reply(number: next.number, result: .failure(.notFound))
            #expect(Self.words(next.commands.receive(reply)) == "9 ended", "\(instance)")
        }
    }

    @Test("A command that is missed again and again is sent after a pause")
    func pauses() {
        var (commands, pending) = (RemoteCommands(instance: 0), Self.pending(9))
        for attempt in 1...8 as ClosedRange<UInt64> {
            commands.send(pending, to: 5, revision: nil)
            guard case .missed(let next, let pauses)? = commands.receive(RemoteMessage.Reply(number: attempt, result: nil)) else {
                Issue.record("attempt \(attempt) has no consequence")
                return
            }
            #expect(pauses == (attempt > 5), "attempt \(attempt)")
            pending = next
        }
    }

    private static func words(_ outcome: RemoteCommands.Outcome?) -> String {
        switch outcome {
        case nil: "nothing"
        case .ended(let waiter, _): "\(waiter) ended"
        case .missed(let pending, let pauses): "\(pending.waiter) missed" + (pauses ? ", pause" : "")
        }
    }

    private static func words(_ changes: [StoreChange]) -> [String] {
        changes.compactMap { change in
            guard case .fleet(.send(let text, let instance)) = change else { return nil }
            let message = RemoteMessage(text)
            let commands = message.commands.isEmpty ? "" : " commands \(numbers(message.commands.map(\.number)))"
            let replies = message.replies.isEmpty ? "" : " replies \(numbers(message.replies.map(\.number)))"
            return "\(instance):\(commands)\(replies)" + (message.repeatedFor == instance ? " repeated" : "")
        }.sorted()
    }

    private static func numbers(_ numbers: [UInt64]) -> String { numbers.map(String.init).joined(separator: " ") }
}
