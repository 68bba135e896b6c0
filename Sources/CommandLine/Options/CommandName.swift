/// The commands of the program. ``CommandTable`` describes them.
public enum CommandName: String, Sendable, CaseIterable {
    /// Runs the service.
    case serve
    /// Runs the service with an embedded upstream.
    case demo
    /// Downloads from the terminal.
    case get
    /// Searches through a service.
    case search
    /// Lists the parts of a work.
    case parts
    /// Adds downloads to a service.
    case add
    /// Lists a service's downloads.
    case list
    /// Displays a service's downloads while they change.
    case watch
    /// Moves a download to another position in the queue.
    case move
    /// Stops downloads, keeping their bytes.
    case pause
    /// Resumes downloads.
    case resume
    /// Cancels downloads.
    case cancel
    /// Starts failed and cancelled downloads again, from their first byte.
    case retry
    /// Removes downloads.
    case rm
    /// Follows a feed or a work.
    case subscribe
    /// Lists a service's subscriptions.
    case subscriptions
    /// Checks subscriptions now.
    case refresh
    /// Ends subscriptions.
    case unsubscribe
    /// Shows or changes a service's settings.
    case settings
    /// Shows a service's addresses for clients of aria2.
    case aria2
    /// Compares a data directory's records with its files.
    case check
    /// Copies a data directory's records.
    case backup
    /// Checks that a running service responds: exit status 0 or 1.
    case health
    /// Writes a script that completes command lines.
    case completions
    /// Writes the manual page.
    case man
    /// Explains the program.
    case help
    /// Names the program's version.
    case version

    /// The commands that run a service.
    package static let services: Set<CommandName> = [.serve, .demo]
    /// The commands that talk to a running service.
    static let clients: Set<CommandName> = [
        .search, .parts, .add, .list, .watch, .move, .pause, .resume, .cancel, .retry, .rm, .subscribe, .subscriptions, .refresh,
        .unsubscribe, .settings, .aria2,
    ]
}
