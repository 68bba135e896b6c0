/// The exit statuses of the process.
public enum ExitStatus: Int32, Sendable, CaseIterable {
    /// The command has succeeded.
    case done = 0
    /// A part of the command has failed, or was refused.
    case failed = 1
    /// The command line, a list of URLs or a variable is wrong.
    case usage = 2
    /// The service is unreachable or did not send a valid response.
    case unreachable = 3
    /// The service refuses the token, or requires one.
    case unauthorized = 4
    /// `pawl check` found no fault, but could not check everything.
    case unchecked = 5

    /// The explanation in the help.
    var meaning: String {
        switch self {
        case .done: "the command has succeeded"
        case .failed:
            "a download or the check of a subscription failed, the service refused a request or cannot start, or pawl check found a fault;"
                + " the output names it and the reason"
        case .usage:
            "the command line, a variable or a list of URLs is invalid, or other users could replace files in the working directory; nothing was done"
        case .unreachable: "the service at --server is unreachable or did not send a valid response"
        case .unauthorized: "the service requires a token, or refuses the given one"
        case .unchecked:
            "pawl check could not check everything: a service uses the directory, or the directory is missing or cannot be read"
        }
    }

    /// Whether one of these commands can end with this status.
    func isOf(_ commands: [CommandName]) -> Bool {
        switch self {
        case .done, .failed, .usage: true
        case .unreachable, .unauthorized: !CommandName.clients.isDisjoint(with: commands)
        case .unchecked: commands.contains(.check)
        }
    }

    /// The explanation of signals in the help.
    static let signals = (
        status: "128 + n", meaning: "signal n ended the command (130 after Ctrl-C); interrupted downloads can be resumed"
    )
}
