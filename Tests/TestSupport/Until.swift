/// Repeats a check until the condition holds; the suite's time limit bounds the wait.
public func until(
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    while try await !condition() {
        try await nextTurn()
    }
}

/// Lets other tasks run, in a loop that waits for a condition.
/// - Throws: `CancellationError` once the suite's time limit has passed.
public func nextTurn(isolation: isolated (any Actor)? = #isolation) async throws {
    try Task.checkCancellation()
    await Task.yield()
}

/// Repeats a check until the condition holds, on a thread of its own, where no time limit of a suite ends the wait.
/// - Throws: ``WaitTimedOut`` after 90 seconds.
public func untilBlocking(_ condition: () throws -> Bool) throws {
    let limit = Duration.seconds(90)
    let end = ContinuousClock.now + limit
    while try !condition() {
        guard .now < end else { throw WaitTimedOut(limit: limit, value: "false") }
    }
}
