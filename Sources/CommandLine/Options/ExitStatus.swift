/// The meanings of the process's exit status.
public enum ExitStatus: Int32, Sendable, CaseIterable {
    /// Everything that was asked for is done.
    case done = 0
    /// Something that was asked for did not succeed, or was refused.
    case failed = 1
    /// The command line, a list of URLs or a variable is wrong.
    case usage = 2
    /// The service cannot be reached, or what responds is none.
    case unreachable = 3
    /// The service refuses the token, or wants one.
    case unauthorized = 4

    /// What help says of it.
    var meaning: String {
        switch self {
        case .done: "everything that was asked for is done"
        case .failed: "a download failed, or the service refused a request; standard error says which, and why"
        case .usage: "the command line, a variable or a list of URLs is wrong; nothing was done"
        case .unreachable: "there is no service at --server, or what answers there is none"
        case .unauthorized: "the service wants a token, or refuses the one it was given"
        }
    }

    /// What help says of the ends that signals bring.
    static let signals = (status: "128 + n", meaning: "signal n ended it: 130 after Ctrl-C; what was begun can be resumed")
}
