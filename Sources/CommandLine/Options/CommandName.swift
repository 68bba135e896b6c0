/// The commands of the program. ``CommandTable`` describes them.
public enum CommandName: String, Sendable, CaseIterable {
    /// Runs the service.
    case serve
    /// Runs the service with an embedded upstream.
    case demo
    /// Downloads from the terminal.
    case get
    /// Searches by way of a service.
    case search
    /// Shows what a work consists of.
    case parts
    /// Gives a service something to download.
    case add
    /// Shows a service's downloads.
    case list
    /// Shows a service's downloads as they go on.
    case watch
    /// Gives a download another place in the queue.
    case move
    /// Stops downloads, keeping their bytes.
    case pause
    /// Continues downloads.
    case resume
    /// Stops downloads for good.
    case cancel
    /// Begins downloads again.
    case retry
    /// Removes downloads.
    case rm
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
    static let services: Set<CommandName> = [.serve, .demo]
    /// The commands that talk to a running service.
    static let clients: Set<CommandName> = [.search, .parts, .add, .list, .watch, .move, .pause, .resume, .cancel, .retry, .rm]
}
