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
