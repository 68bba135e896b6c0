/// Repeats a check until the condition holds; the suite's time limit bounds the wait.
public func until(
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    while try await !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
