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
    /// `pawl check` found no fault, but could not look at everything.
    case unchecked = 5

    /// What help says of it.
    var meaning: String {
        switch self {
        case .done: "everything that was asked for is done"
        case .failed: "a download failed, the service refused a request, or a check found a fault; the output says which, and why"
        case .usage:
            "the command line, a variable or a list of URLs is wrong, or other users could exchange files in the working directory; nothing was done"
        case .unreachable: "there is no service at --server, or what responds there is none"
        case .unauthorized: "the service wants a token, or refuses the one it was given"
        case .unchecked: "pawl check could not look: a service uses the directory, there is none, or it cannot be read"
        }
    }

    /// Whether one of these commands can end with it.
    func isOf(_ commands: [CommandName]) -> Bool {
        switch self {
        case .done, .failed, .usage: true
        case .unreachable, .unauthorized: !CommandName.clients.isDisjoint(with: commands)
        case .unchecked: commands.contains(.check)
        }
    }

    /// What help says of the ends that signals bring.
    static let signals = (status: "128 + n", meaning: "signal n ended it: 130 after Ctrl-C; what was begun can be resumed")
}
