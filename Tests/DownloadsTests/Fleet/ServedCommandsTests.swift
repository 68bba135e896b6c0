import Testing

@testable import Downloads

@Suite("Commands that were taken", .timeLimit(.minutes(1)))
struct ServedCommandsTests {
    private func words(_ verdict: ServedCommands.Verdict) -> String {
        switch verdict {
        case .new: "new"
        case .taken: "taken"
        case .answered(let answer):
            switch answer.result {
            case nil: "not mine"
            case .success: "done"
            case .failure(let error): "\(error)"
            }
        }
    }

    @Test("a command is new once, and answered again as it was")
    func again() {
        var served = ServedCommands()
        #expect(words(served.take(1, from: 7)) == "new")
        #expect(words(served.take(1, from: 7)) == "taken")
        // Numbers are a sender's own.
        #expect(words(served.take(1, from: 8)) == "new")
        served.keep(FleetLetter.Answer(number: 1, result: .failure(.notFound)), to: 7)
        #expect(words(served.take(1, from: 7)) == "\(DownloadError.notFound)")
        served.keep(FleetLetter.Answer(number: 1, result: nil), to: 8)
        #expect(words(served.take(1, from: 8)) == "not mine")
        // What was never taken has no answer.
        served.keep(FleetLetter.Answer(number: 2, result: nil), to: 7)
        #expect(words(served.take(2, from: 7)) == "new")
    }

    @Test("what is forgotten is not carried out again, and its answer does not come back")
    func forgotten() {
        var served = ServedCommands(capacity: 3)
        for number in 1...10 as ClosedRange<UInt64> { #expect(words(served.take(number, from: 7)) == "new") }
        served.keep(FleetLetter.Answer(number: 1, result: nil), to: 7)
        for number in 1...10 as ClosedRange<UInt64> { #expect(words(served.take(number, from: 7)) == "taken") }
        #expect(words(served.take(11, from: 7)) == "new")
        #expect(words(served.take(1, from: 8)) == "new")
    }
}
