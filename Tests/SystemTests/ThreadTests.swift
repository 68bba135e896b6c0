import System
import Testing

@Suite(.timeLimit(.minutes(3))) struct ThreadTests {
    @Test("Joining a thread makes its writes visible")
    func joiningSeesWritesOfTheThread() throws {
        let done = Locked(false)
        let thread = try Thread.startJoinable(name: "test") { done.withLock { $0 = true } }
        thread.join()
        #expect(done.withLock { $0 })
        thread.join()
    }

    @Test("A side computation returns its value, and runs beside its caller")
    func sideComputationRunsBesideItsCaller() {
        let input = Monitor(0)
        let side = SideComputation(name: "test") { input.wait { $0 == 0 ? .wait(nil) : .done($0 + 1) } }
        input.withLock { input in
            input = 41
            return ((), wake: true)
        }
        #expect(side.value() == 42)
    }

    @Test("A thread that joins itself continues")
    func threadMayJoinItself() async throws {
        let own = Monitor<JoinableThread?>(nil)
        try await withCheckedThrowingContinuation { reply in
            do throws(SystemError) {
                let thread = try Thread.startJoinable(name: "test") {
                    own.wait { own in own.map(WaitStep.done) ?? .wait(nil) }.join()
                    reply.resume()
                }
                own.withLock { own in
                    own = thread
                    return ((), wake: true)
                }
            } catch {
                reply.resume(throwing: error)
            }
        }
    }
}
