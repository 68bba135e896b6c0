internal import Downloads
public import PawlConfiguration
public import System

/// A command line, parsed: the command, its operands and its options.
public struct Invocation: Sendable {
    /// The command.
    public var command: CommandName
    /// The options that services have, and other commands in part.
    public var configuration = Configuration()
    /// The options of the commands that talk to a service.
    public var client = ClientOptions()
    /// The names of the options that were given as flags, without `--`.
    public var flags: Set<String> = []
    /// What stands on the command line besides options, as given: URLs, identifiers, words to search for.
    public var operands: [String] = []
    /// Where `get` writes its one file to; `nil`: a name from the origin or the URL.
    public var output: String?
    /// The directory that `get` writes into.
    public var directory = "."
    /// The digest that the one file of `get` or `add` must have: `sha-256:<hex>`.
    public var checksum: String?
    /// A file of more URLs for `get` or `add`; `-` is standard input.
    public var listFile: String?
    /// Whether JSON is written rather than text for people.
    public var writesJSON = false

    /// How many replicas `demo` runs behind a balancer, 1…9; with 1 it is a service without a fleet.
    public var replicas = 1
    /// The service's options that `demo` was given, flags too, as variables: for its replicas, which get the same.
    public var variables: [String: String] = [:]

    /// Whether `check` repairs what it finds.
    public var repairs = false

    /// The command that help is wanted for; `nil` for all.
    public var topic: CommandName?
    /// What is odd but keeps nothing from being done, a line each.
    public var warnings: [String] = []

    /// Opens the directory that commands use when no option names one, and keeps it in the configuration: another user may have made
    /// it. `serve` and `demo` make it if it is missing.
    public mutating func claimUsualDirectory() throws(ClaimError) {
        let (path, makes) = (configuration.dataDirectory, command == .serve || command == .demo)
        guard makes || command == .backup || command == .check && !configuration.isReplica,
            Self.usualDirectories.contains(path)
        else { return }
        let (folder, name) = SmallFile.parts(of: path)
        configuration.claimedDirectory = try Directory(claimingIn: folder).claimDirectory(name, at: path, makes: makes)
    }

    /// Writes why a directory cannot be used to standard error, and returns the process's exit status.
    public func report(_ error: ClaimError) -> Int32 {
        StandardStreams.writeError("\(UsageError("pawl: \(error)"))\n")
        if error.isRefusal { return ExitStatus.usage.rawValue }
        return (command == .check ? ExitStatus.unchecked : .failed).rawValue
    }

    static let usualDirectories = [Configuration().dataDirectory, "./pawl-demo"]

    init(_ command: CommandName, topic: CommandName? = nil) {
        self.command = command
        self.topic = topic
    }
}
