/// What the program is asked to do.
public struct Invocation: Sendable {
    /// The command.
    public var command: CommandName
    /// The options that services have, and `get` has in part.
    public var configuration = Configuration()
    /// What `get` is asked to download, as given.
    public var urls: [String] = []
    /// Where `get` writes its one file to; `nil`: a name from the origin or the URL.
    public var output: String?
    /// The directory that `get` writes into.
    public var directory = "."

    /// The command that help is wanted for; `nil` for all.
    public var topic: CommandName?
    /// What is odd but keeps nothing from being done, a line each.
    public var warnings: [String] = []

    init(_ command: CommandName, topic: CommandName? = nil) {
        self.command = command
        self.topic = topic
    }
}

/// The commands of the program.
public enum CommandName: String, Sendable, CaseIterable {
    /// Runs the service.
    case serve
    /// Runs the service with an embedded upstream.
    case demo
    /// Downloads from the terminal.
    case get
    /// Asks a running service whether it lives: exit status 0 or 1.
    case health
    /// Explains the program.
    case help
    /// Names the program's version.
    case version

    /// The commands that run a service.
    static let services: Set<CommandName> = [.serve, .demo]

    /// One line of help.
    var meaning: String {
        switch self {
        case .serve: "run the service"
        case .demo: "run the service with an embedded upstream, so that everything can be tried without a network"
        case .get: "download URLs into the current directory; run it again to resume what was interrupted"
        case .health: "exit with 0 if the service on this machine answers, with 1 otherwise"
        case .help: "explain the program"
        case .version: "print the version"
        }
    }
}
