public import PawlConfiguration
internal import System

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

    /// Makes or checks the directory that `serve` and `demo` use when no option names one: another user may have made it.
    /// - Throws: why it must not be used.
    public func claimUsualDirectory() throws(UsageError) {
        guard command == .serve || command == .demo, Self.usualDirectories.contains(configuration.dataDirectory) else { return }
        // What fails otherwise fails again when the directory is opened, and is told then.
        let objection = (try? SmallFile.claimDirectory(configuration.dataDirectory)) ?? nil
        if let objection { throw UsageError("pawl: \(objection)") }
    }

    static let usualDirectories = [Configuration().dataDirectory, "./pawl-demo"]

    init(_ command: CommandName, topic: CommandName? = nil) {
        self.command = command
        self.topic = topic
    }
}
