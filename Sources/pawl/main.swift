internal import CommandLine
internal import Glibc
internal import PawlClient
internal import PawlConfiguration
internal import PawlService
internal import System

// First, since a file that is opened now could get the number of a closed standard stream.
guard StandardStreams.openAll() else { exit(ExitStatus.failed.rawValue) }
SignalWatcher.prepare()

do throws(UsageError) {
    var invocation = try CommandLineParser.parse(
        Array(CommandLine.arguments.dropFirst()), environment: ProcessEnvironment.variables(beginningWith: ["PAWL_", "AWS_"]))
    do throws(PrivateDirectoryError) { try invocation.openUsualDirectory() } catch { exit(invocation.report(error)) }
    exit(await run(invocation))
} catch {
    StandardStreams.writeError("\(error)\n")
    exit(ExitStatus.usage.rawValue)
}

/// Runs a command, and returns the process's exit status.
func run(_ invocation: Invocation) async -> Int32 {
    let configuration = invocation.configuration
    let log = Log.queued(level: configuration.logLevel, format: configuration.logFormat)
    for warning in invocation.warnings { log.write(.warning, warning) }
    log.flush(within: .seconds(1))
    defer { log.flush(within: .seconds(1)) }
    switch invocation.command {
    case .serve: return await Service.run(configuration, log: log)
    case .demo: return await DemoCommand.run(configuration, log: log)
    case .get: return await GetCommand.run(invocation)
    case .search, .parts, .add, .list, .watch, .move, .pause, .resume, .cancel, .retry, .rm, .subscribe, .subscriptions,
        .refresh, .unsubscribe, .settings, .aria2:
        return await ClientCommand.run(invocation)
    case .check: return await CheckCommand.run(invocation)
    case .backup: return BackupCommand.run(invocation)
    case .health: return await HealthCommand.run(invocation)
    case .completions: return write(Completions.script(for: invocation.operands.first ?? "") ?? "")
    case .man: return write(ManualPage.text)
    case .help: return write(Help.text(for: invocation.topic))
    case .version: return write("pawl \(Program.version)" + "\n")
    }
}

func write(_ text: String) -> Int32 {
    StandardStreams.writeOutput(text)
    return ExitStatus.done.rawValue
}
