public import PawlConfiguration
internal import System

extension Service {
    /// How long an orderly end may take in all, before the process exits anyway.
    private static let endLimit: Duration = .milliseconds(9500)

    /// How long a replica waits before it tries again to join its fleet.
    private static let rejoinPause: Duration = .seconds(1)

    /// What a signal makes the service do.
    private enum SignalAction: Sendable {
        case end
        case reload
        /// Other replicas have taken over: it begins anew as another one.
        case restart
    }

    /// Runs the service until SIGTERM or SIGINT, and returns the process's exit status: 0 after an orderly end, 1 if it could
    /// not start. SIGHUP has the files of secrets read again; without any, it ends the service as well. `SignalWatcher.prepare()` must
    /// have been called.
    /// - Parameters:
    ///   - configuration: what the user chose.
    ///   - started: called once it listens.
    public static func run(
        _ configuration: Configuration, log: Log, started: (Service) async -> Void = { _ in }
    ) async -> Int32 {
        if let objection = TimeZoneCheck.objection {
            StandardStreams.writeError("pawl: \(StartError(objection))\n")
            return 1
        }
        ProcessEnvironment.raiseDescriptorLimit()
        let (signals, continuation) = AsyncStream.makeStream(of: SignalAction.self)
        let drainDelay = Duration.seconds(configuration.drainDelay)
        let reload: @Sendable () -> Void = { continuation.yield(.reload) }
        let files = [configuration.tokenFile, configuration.tokensFile, configuration.webhookSecretFile]
        let hasSecretFiles = files.contains { $0 != nil }
        let isEnding = Locked(false)
        SignalWatcher.watch(limit: endLimit + drainDelay, reload: hasSecretFiles ? reload : nil) { _ in
            isEnding.withLock { $0 = true }
            continuation.yield(.end)
        }
        var configuration = configuration
        var isFirst = true
        var losses: UInt64 = 0
        while true {
            let service: Service
            do throws(StartError) {
                service = try await start(configuration, log: log, losses: losses) { continuation.yield(.restart) }
            } catch {
                if isFirst {
                    StandardStreams.writeError("pawl: \(error)\n")
                    return 1
                }
                // It was a replica once, and will be one again when the database is back.
                log.write(.error, "cannot join the fleet again yet: \(error)")
                try? await Task.sleep(for: rejoinPause)
                if isEnding.withLock({ $0 }) { return 0 }
                continue
            }
            if isFirst {
                StandardStreams.writeOutput("listening on \(service.url)\n")
                // A replica that begins anew is where it was told to be.
                configuration.port = service.port
                await started(service)
            }
            isFirst = false
            var restarts = false
            actions: for await action in signals {
                switch action {
                case .end: break actions
                case .reload: service.reloadSecrets()
                case .restart:
                    restarts = true
                    break actions
                }
            }
            log.write(.info, restarts ? "restarting" : "stopping")
            service.retire()
            if !restarts { try? await Task.sleep(for: drainDelay) }
            await service.stop()
            if restarts {
                losses += 1
                continue
            }
            log.write(.info, "stopped")
            return 0
        }
    }
}
