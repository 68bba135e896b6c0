internal import Synchronization

extension Service {
    /// How long an orderly end may take in all; then the process ends as it is.
    private static let endLimit: Duration = .milliseconds(9500)

    /// Runs the service until SIGTERM or SIGINT, and returns the process's exit status: 0 after an orderly end, 1 if it could
    /// not start. `SignalWatcher.prepare()` must have been called.
    /// - Parameters:
    ///   - configuration: what the user asked for.
    ///   - started: called once it listens.
    public static func run(
        _ configuration: Configuration, log: Log, started: (Service) async -> Void = { _ in }
    ) async -> Int32 {
        ProcessEnvironment.raiseDescriptorLimit()
        let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
        SignalWatcher.watch(limit: endLimit) { continuation.yield($0) }
        let service: Service
        do throws(ServiceStartError) {
            service = try await start(configuration, log: log)
        } catch {
            StandardStreams.writeError("pawl: \(error)\n")
            return 1
        }
        StandardStreams.writeOutput("listening on \(service.url)\n")
        await started(service)
        for await _ in signals { break }
        log.write(.info, "stopping")
        await service.stop()
        log.write(.info, "stopped")
        return 0
    }
}
