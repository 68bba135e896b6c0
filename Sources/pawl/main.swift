internal import Glibc
internal import PawlService

SignalWatcher.prepare()

do throws(UsageError) {
    let invocation = try CommandLineParser.parse(
        Array(CommandLine.arguments.dropFirst()), environment: ProcessEnvironment.variables())
    exit(await run(invocation))
} catch {
    StandardStreams.writeError("\(error)\n")
    exit(2)
}

/// Carries out a command, and returns the process's exit status.
func run(_ invocation: Invocation) async -> Int32 {
    let configuration = invocation.configuration
    let log = Log(level: configuration.logLevel, format: configuration.logFormat)
    for warning in invocation.warnings { log.write(.warning, warning) }
    switch invocation.command {
    case .serve: return await Service.run(configuration, log: log)
    case .demo: return await DemoCommand.run(configuration, log: log)
    case .get: return await GetCommand.run(invocation)
    case .health: return await HealthCommand.run(configuration)
    case .help:
        StandardStreams.writeOutput(Help.text(for: invocation.topic))
        return 0
    case .version:
        StandardStreams.writeOutput(Help.versionLine + "\n")
        return 0
    }
}
