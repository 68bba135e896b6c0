import Testing

@testable import System

@Suite(.timeLimit(.minutes(3))) struct BlockingExecutorTests {
    @Test("Work returns its value, or throws its error")
    func workGivesValueOrThrows() async throws {
        let executor = BlockingExecutor(name: "test")
        #expect(await executor.run { 7 } == 7)
        await #expect(throws: SystemError(5)) {
            try await executor.run { () throws(SystemError) -> Int in throw SystemError(5) }
        }
    }

    @Test("One thread does its work in order")
    func oneThreadWorksInOrder() async {
        let executor = BlockingExecutor(name: "test", width: 1)
        let done = Locked<[Int]>([])
        for number in 0..<100 { executor.submit { done.withLock { $0.append(number) } } }
        #expect(await executor.run { done.withLock { $0 } } == Array(0..<100))
    }

    @Test("The number of threads limits concurrent work")
    func workIsBoundedByThreads() async {
        let executor = BlockingExecutor(name: "test", width: 2)
        let running = Locked((now: 0, most: 0))
        await withTaskGroup { group in
            for _ in 0..<50 {
                group.addTask {
                    await executor.run {
                        running.withLock { running in
                            running.now += 1
                            running.most = max(running.most, running.now)
                        }
                        running.withLock { $0.now -= 1 }
                    }
                }
            }
        }
        #expect(running.withLock { $0.most } <= 2)
    }
}
