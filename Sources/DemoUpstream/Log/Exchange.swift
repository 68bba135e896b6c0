internal import HTTPCore
internal import System

/// A request on its way through the server; the log shows it while it is being answered.
final class Exchange: Sendable {
    private struct State {
        var status: Int
        var bytesSent: Int64 = 0
        var isFinished = false
    }

    let method: String
    let target: String
    let fields: Fields
    private let state: Locked<State>
    private let report: (@Sendable (String) -> Void)?

    init(method: String, target: String, fields: Fields, status: Int, report: (@Sendable (String) -> Void)?) {
        self.method = method
        self.target = target
        self.fields = fields
        self.report = report
        state = Locked(State(status: status))
    }

    var logged: LoggedRequest {
        let state = state.withLock { $0 }
        return LoggedRequest(
            method: method, target: target, fields: fields, status: state.status, bytesSent: state.bytesSent,
            isFinished: state.isFinished)
    }

    func send(_ count: Int) {
        state.withLock { $0.bytesSent += Int64(count) }
    }

    /// Ends it, once, and reports its line.
    func finish() {
        let wasFinished = state.withLock { state in
            defer { state.isFinished = true }
            return state.isFinished
        }
        if !wasFinished, let report { report(logged.description) }
    }
}
