internal import DownloadCore
internal import Downloads
internal import HTTPServer
internal import ObjectStorage
internal import PawlConfiguration

/// Parses a command line and an environment. It opens no files and prints nothing.
public enum CommandLineParser {
    /// Parses a command with its operands and options.
    ///
    /// An option is a flag (`--max-concurrent 4` or `--max-concurrent=4`, before or after other arguments) or a
    /// variable (`PAWL_MAX_CONCURRENT`). If a flag is given, its variable is not read. If a flag is given twice, the
    /// last value counts, unless the flag is repeatable.
    /// - Parameters:
    ///   - arguments: The arguments without the program's name.
    ///   - environment: The variables by name. An empty variable counts as not set.
    /// - Throws: An error with one line of text that names the mistake and the accepted values.
    public static func parse(_ arguments: [String], environment: [String: String]) throws(UsageError) -> Invocation {
        var arguments = arguments[...]
        guard let first = arguments.popFirst() else { return Invocation(.help) }
        switch first {
        case "help", "--help", "-h", "-?": return try help(arguments.first)
        case "--version", "-V", "version": return Invocation(.version)
        default: break
        }
        guard let command = CommandName(rawValue: first) else { throw unknownCommand(first) }
        return try parse(command, arguments, environment)
    }

    private static func parse(
        _ command: CommandName, _ arguments: ArraySlice<String>, _ environment: [String: String]
    ) throws(UsageError) -> Invocation {
        var invocation = Invocation(command)
        // The terminal displays the progress, so `info` would only repeat it.
        if command == .get { invocation.configuration.logLevel = .warning }
        if command == .demo { invocation.configuration.downloads.dataDirectory = Invocation.usualDirectories[1] }
        let options = OptionTable.options(of: command)
        let flags: [Flag]
        switch try read(arguments, options, into: &invocation) {
        case .instead(let other): return other
        case .flags(let found): flags = found
        }
        let given = Set(flags.map(\.option.name))
        invocation.flags = given
        try readEnvironment(environment, options.filter { !given.contains($0.name) }, into: &invocation)
        invocation.warnings = EnvironmentCheck.warnings(about: environment)
        for flag in flags { try set(flag.option, flag.value, calling: flag.option.flag, in: &invocation) }
        invocation.configuration.downloads.objectCredentials = ObjectCredentials(environment: environment)
        try check(invocation)
        return invocation
    }

    /// A flag with its value.
    private struct Flag {
        let option: Option
        let value: String
    }

    private enum Reading {
        case flags([Flag])
        /// Help or the version, which take precedence over all other arguments.
        case instead(Invocation)
    }

    /// Splits the arguments into flags and operands, which are added to the invocation.
    private static func read(
        _ arguments: ArraySlice<String>, _ options: [Option], into invocation: inout Invocation
    ) throws(UsageError) -> Reading {
        var rest = arguments
        var flags: [Flag] = []
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-"), argument != "-" else {
                try take(argument, into: &invocation)
                continue
            }
            if argument == "--" {
                for argument in rest { try take(argument, into: &invocation) }
                break
            }
            if argument == "--help" || argument == "-h" { return .instead(Invocation(.help, topic: invocation.command)) }
            if argument == "--version" { return .instead(Invocation(.version)) }
            let (flag, inlineValue) = split(argument, options)
            guard let option = options.first(where: { $0.flags.contains(flag) }) else {
                throw unknownFlag(flag, of: invocation.command, options)
            }
            if let inlineValue {
                flags.append(Flag(option: option, value: inlineValue))
            } else if option.placeholder == nil {
                flags.append(Flag(option: option, value: "true"))
            } else if let alone = option.valueAlone, !takes(option, rest.first, invocation) {
                flags.append(Flag(option: option, value: alone))
            } else if let next = rest.popFirst() {
                flags.append(Flag(option: option, value: next))
            } else {
                throw UsageError("pawl: \(flag) needs a value: it takes \(option.accepts)")
            }
        }
        return .flags(flags)
    }

    /// Whether an argument is a value of an option.
    private static func takes(_ option: Option, _ argument: String?, _ invocation: Invocation) -> Bool {
        var trial = invocation
        return argument.map { option.apply(&trial, $0) } ?? false
    }

    /// Parses `pawl help`, with or without a topic.
    private static func help(_ topic: String?) throws(UsageError) -> Invocation {
        guard let topic, !topic.hasPrefix("-") else { return Invocation(.help, topic: .help) }
        guard let command = CommandName(rawValue: topic) else { throw unknownCommand(topic) }
        return Invocation(.help, topic: command)
    }

    private static func readEnvironment(
        _ environment: [String: String], _ options: [Option], into invocation: inout Invocation
    ) throws(UsageError) {
        for option in options {
            guard let name = option.variable, let text = environment[name], !text.isEmpty else { continue }
            // Kubernetes sets PAWL_PORT=tcp://10.0.0.1:8080 in the pods beside a service named "pawl".
            if option.name == "port", text.hasPrefix("tcp://") { continue }
            guard option.isRepeatable else {
                try set(option, text, calling: name, in: &invocation)
                continue
            }
            for part in text.split(separator: option.separator) {
                let value = part.trimmed
                if !value.isEmpty { try set(option, value, calling: name, in: &invocation) }
            }
        }
    }

    private static func set(
        _ option: Option, _ value: String, calling name: String, in invocation: inout Invocation
    ) throws(UsageError) {
        guard option.apply(&invocation, value) else {
            let shown = option.isSecret ? "" : " '\(value)'"
            throw UsageError("pawl: bad value\(shown) for \(name): it takes \(option.accepts)")
        }
        if let setting = option.setting { invocation.configuration.downloads.explicitSettings.insert(setting) }
    }

    private static func take(_ argument: String, into invocation: inout Invocation) throws(UsageError) {
        guard CommandTable.command(invocation.command).operands != .none else {
            throw UsageError("pawl: unexpected argument '\(argument)': pawl \(invocation.command.rawValue) takes options only")
        }
        invocation.operands.append(argument)
    }

    /// Checks the combination of options.
    private static func check(_ invocation: Invocation) throws(UsageError) {
        let configuration = invocation.configuration
        if CommandName.services.contains(invocation.command) {
            let isGuarded = configuration.needsToken || configuration.allowsAnonymous
            guard isGuarded || !configuration.servesOtherMachines else {
                throw UsageError(
                    "pawl: --host \(configuration.server.host) serves other machines: give --token TOKEN, --token-file PATH or --tokens-file PATH, or --no-auth"
                        + " to serve them without a token")
            }
            do throws(StartError) {
                try configuration.checkToken()
            } catch {
                throw UsageError("pawl: bad value for --token: \(error)")
            }
            do throws(DownloadError) {
                try configuration.downloads.checkWebhooks()
            } catch {
                throw UsageError("pawl: bad value for --webhook: \(error)")
            }
        }
        try checkFleet(configuration)
        try OperandCheck.check(invocation)
    }

    /// Checks that a shared database and shared storage are given together.
    private static func checkFleet(_ configuration: Configuration) throws(UsageError) {
        switch (configuration.isReplica, configuration.downloads.objects) {
        case (false, nil): return
        case (true, nil): throw UsageError("pawl: --store needs --files as well: it takes \(ObjectLocation.form)")
        case (false, .some): throw UsageError("pawl: --files needs --store or --store-file as well: it takes a postgres:// URL")
        case (true, .some):
            guard configuration.downloads.objectCredentials != nil else {
                throw UsageError(
                    "pawl: --files needs the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, of visible ASCII characters without spaces"
                )
            }
        }
    }

    /// Splits `--flag=value`, and `-xvalue` if `-x` takes a value.
    private static func split(_ argument: String, _ options: [Option]) -> (flag: String, value: String?) {
        if argument.hasPrefix("--") {
            guard let equals = argument.firstIndex(of: "=") else { return (argument, nil) }
            return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
        }
        let short = String(argument.prefix(2))
        let takesValue = options.contains { $0.placeholder != nil && $0.flags.contains(short) }
        return argument.count > 2 && takesValue ? (short, String(argument.dropFirst(2))) : (argument, nil)
    }

    private static func unknownCommand(_ name: String) -> UsageError {
        let names = CommandName.allCases.map(\.rawValue)
        let isFlag = name.hasPrefix("-")
        return UsageError(
            "pawl: unknown \(isFlag ? "option" : "command") '\(name)'\(suggestion(for: name, among: names)): pawl takes one of "
                + names.joined(separator: ", ") + (isFlag ? ", and options after it" : ""))
    }

    private static func unknownFlag(_ flag: String, of command: CommandName, _ options: [Option]) -> UsageError {
        let flags = options.map(\.flag)
        return UsageError(
            "pawl: unknown option '\(flag)'\(suggestion(for: flag, among: flags)): pawl \(command.rawValue) takes "
                + flags.joined(separator: ", "))
    }

    private static func suggestion(for word: String, among candidates: [String]) -> String {
        guard let nearest = Spelling.nearest(to: word, among: candidates) else { return "" }
        return " (did you mean \(nearest)?)"
    }
}

extension Substring {
    /// The text without surrounding white space.
    var trimmed: String {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
