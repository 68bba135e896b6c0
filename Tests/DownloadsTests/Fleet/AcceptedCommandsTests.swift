import Testing

@testable import DownloadCore
@testable import DownloadFiles
@testable import DownloadStore
@testable import Downloads

@Suite("Accepted remote commands", .timeLimit(.minutes(1)))
struct AcceptedCommandsTests {
    private func words(_ verdict: AcceptedCommands.Verdict) -> String {
        switch verdict {
        case .new: "new"
        case .known: "known"
        case .replied(let reply):
            switch reply.result {
            case nil: "not mine"
            case .success: "done"
            case .failure(let error): "\(error)"
            }
        }
    }

    @Test("A command is new once, and its reply is repeated")
    func again() {
        var accepted = AcceptedCommands()
        #expect(words(accepted.accept(1, from: 7)) == "new")
        #expect(words(accepted.accept(1, from: 7)) == "known")
        // Each sender has its own numbers.
        #expect(words(accepted.accept(1, from: 8)) == "new")
        accepted.keep(RemoteMessage.Reply(number: 1, result: .failure(.notFound)), to: 7)
        #expect(words(accepted.accept(1, from: 7)) == "\(DownloadError.notFound)")
        accepted.keep(RemoteMessage.Reply(number: 1, result: nil), to: 8)
        #expect(words(accepted.accept(1, from: 8)) == "not mine")
        // A command that was never accepted has no reply.
        accepted.keep(RemoteMessage.Reply(number: 2, result: nil), to: 7)
        #expect(words(accepted.accept(2, from: 7)) == "new")
    }

    @Test("A forgotten command is not carried out again, and its reply is not repeated")
    func forgotten() {
        var accepted = AcceptedCommands(capacity: 3)
        for number in 1...10 as ClosedRange<UInt64> { #expect(words(accepted.accept(number, from: 7)) == "new") }
        accepted.keep(RemoteMessage.Reply(number: 1, result: nil), to: 7)
        for number in 1...10 as ClosedRange<UInt64> { #expect(words(accepted.accept(number, from: 7)) == "known") }
        #expect(words(accepted.accept(11, from: 7)) == "new")
        #expect(words(accepted.accept(1, from: 8)) == "new")
    }
}
