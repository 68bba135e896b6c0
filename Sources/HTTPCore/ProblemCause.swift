/// An error that clients see as a problem.
public protocol ProblemCause: Error {
    /// The problem that a client sees. No other place decides how the error appears.
    var problem: Problem { get }
}

extension ProblemCause {
    /// Does the work, and throws its error as a problem.
    public static func asProblem<Value>(
        _ work: @autoclosure () async throws(Self) -> Value
    ) async throws(Problem) -> Value {
        do throws(Self) {
            return try await work()
        } catch {
            throw error.problem
        }
    }
}
