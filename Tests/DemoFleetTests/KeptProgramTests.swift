import System
import TestSupport
import Testing

@testable import DemoFleet

@Suite("Programs that are kept running", .timeLimit(.minutes(2)))
struct KeptProgramTests {
    private func shell(_ script: String) -> ChildProcess.Program {
        ChildProcess.Program("/bin/sh", ["-c", script], environment: [:], directory: "/")
    }

    /// Keeps a program, and notes what happens.
    private func keep(
        _ program: ChildProcess.Program, pause: Duration
    ) async -> (program: KeptProgram, events: Waiter<[KeptProgram.Event]>) {
        let events = Waiter<[KeptProgram.Event]>([])
        let program = KeptProgram(program, pause: pause) { event in events.update { $0.append(event) } }
        await program.start()
        return (program, events)
    }

    @Test("a program that ends is started again, until it is stopped")
    func comesBack() async throws {
        let (program, events) = await keep(shell("echo here; exit 3"), pause: .zero)
        _ = try await events.wait { events in events.count { $0 == .ended("ended with status 3") } >= 3 }
        await program.stop(.terminate, within: .seconds(60))
        let count = events.value.count
        guard case .started(let first) = events.value[0], case .started(let second) = events.value[3] else {
            Issue.record("\(events.value)")
            return
        }
        #expect(first != second)
        #expect(events.value[1] == .line("here"))
        #expect(events.value.count == count)
    }

    @Test("a stop gives a program its signal and waits for it, and kills it when it takes too long")
    func stops() async throws {
        let (willing, said) = await keep(
            shell("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done"), pause: .zero)
        _ = try await said.wait { $0.contains(.line("ready")) }
        await willing.stop(.terminate, within: .seconds(60))
        #expect(said.value.suffix(2) == [.line("bye"), .ended("ended with status 0")])

        let (deaf, events) = await keep(shell("trap '' TERM; echo ready; while :; do sleep 0.01; done"), pause: .zero)
        _ = try await events.wait { $0.contains(.line("ready")) }
        await deaf.stop(.terminate, within: .milliseconds(50))
        #expect(events.value.last == .ended("was ended by signal 9"))
    }

    @Test("a stop does not wait for the pause, and a program that is not there is told of")
    func stopsWhilePausing() async throws {
        let (program, events) = await keep(
            ChildProcess.Program("/nowhere/program", [], environment: [:], directory: "/"), pause: .seconds(3600))
        _ = try await events.wait { !$0.isEmpty }
        await program.stop(.terminate, within: .seconds(60))
        #expect(events.value == [.ended("cannot be started: No such file or directory")])
    }
}
