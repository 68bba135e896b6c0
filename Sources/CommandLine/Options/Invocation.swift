internal import Downloads
public import DownloadCore
public import PawlConfiguration
public import System

/// A parsed command line: the command, its operands and its options.
public struct Invocation: Sendable {
    /// The command.
    public var command: CommandName
    /// The options of services. Other commands have some of them as well.
    public var configuration = Configuration()
    /// The options of the commands that talk to a service.
    public var client = ClientOptions()
    /// The names of the options that were given as flags, without `--`.
    public var flags: Set<String> = []
    /// The operands as given, such as URLs, ids and words to search for.
    public var operands: [String] = []
    /// The path of the only file of `get`; `nil` if the name comes from the origin or the URL.
    public var output: String?
    /// The directory into which `get` writes.
    public var directory = "."
    /// The checksum of the only file of `get` or `add`, as `sha-256:<hex>`.
    public var checksum: String?
    /// The header fields of `get` and `add` for the origin of each download. Their values may be secrets.
    public var headers = RequestHeaders()
    /// A file of more URLs for `get` or `add`; `-` is standard input.
    public var listFile: String?
    /// Whether the output is JSON instead of text.
    public var writesJSON = false

    /// Whether `check` repairs faults.
    public var repairs = false
    /// Whether `check` reads all objects of a fleet.
    public var isDeep = false

    /// The command to explain; `help` for all, `nil` for their list.
    public var topic: CommandName?
    /// Warnings about the command line and environment, one line each.
    public var warnings: [String] = []

    /// Opens the default data directory, if no option names another, and keeps it in the configuration: another user
    /// may have created it. `serve` and `demo` create it if it is missing.
    public mutating func openUsualDirectory() throws(PrivateDirectoryError) {
        let (path, makes) = (configuration.downloads.dataDirectory, command == .serve || command == .demo)
        guard makes || command == .backup || command == .check && !configuration.isReplica,
            Self.usualDirectories.contains(path)
        else { return }
        let (folder, name) = SmallFile.parts(of: path)
        configuration.downloads.privateDirectory = try Directory(parentOfPrivate: folder).openPrivateDirectory(
            name, at: path, makes: makes)
    }

    /// Writes the reason why a directory cannot be used to standard error, and returns the process's exit status.
    public func report(_ error: PrivateDirectoryError) -> Int32 {
        StandardStreams.writeError("\(UsageError("pawl: \(error)"))\n")
        if error.isRefusal { return ExitStatus.usage.rawValue }
        return (command == .check ? ExitStatus.unchecked : .failed).rawValue
    }

    static let usualDirectories = [Configuration().downloads.dataDirectory, "./pawl-demo"]

    init(_ command: CommandName, topic: CommandName? = nil) {
        self.command = command
        self.topic = topic
    }
}
