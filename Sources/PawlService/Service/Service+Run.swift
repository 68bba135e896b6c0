internal import HTTPServer
public import PawlConfiguration
internal import System

extension Service {
    /// The maximum duration of an orderly end; after it the process exits anyway.
    private static let endLimit: Duration = .milliseconds(9500)

    /// The delay before a replica tries again to join its fleet.
    private static let rejoinPause: Duration = .seconds(1)

    /// The action of a signal.
    private enum SignalAction: Sendable {
        case end
        case reload
        /// The replica has lost its lease: the service starts again as another instance.
        case restart
        /// The records are not those any more that the path leads to: the service ends in order to start anew.
        case fail
    }

    /// Runs the service until SIGTERM or SIGINT. SIGHUP reads the files of secrets again; without such files, it ends
    /// the service as well. `SignalWatcher.prepare()` must have been called.
    /// - Parameters:
    ///   - configuration: The user's configuration.
    ///   - log: The log.
    ///   - started: Called once the service listens.
    /// - Returns: The process's exit status: 0 after an orderly end, 1 if the service could not start or go on.
    public static func run(
        _ configuration: Configuration, log: Log, started: (Service) async -> Void = { _ in }
    ) async -> Int32 {
        if let objection = TimeZoneCheck.objection {
            log.writeText("pawl: \(StartError(objection))\n")
            return 1
        }
        ProcessEnvironment.raiseDescriptorLimit()
        HeapTrimmer.prepare()
        let (signals, continuation) = AsyncStream.makeStream(of: SignalAction.self)
        let drainDelay = Duration.seconds(configuration.drainDelay)
        let reload: @Sendable () -> Void = { continuation.yield(.reload) }
        let files = [
            configuration.tokenFile, configuration.tokensFile, configuration.webhookSecretFile, configuration.netrcFile,
            configuration.cookieFile, configuration.headerFile,
        ]
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
                service = try await start(
                    configuration, log: log, losses: losses, fenced: { continuation.yield(.restart) },
                    displaced: { continuation.yield(.fail) })
            } catch {
                if isFirst {
                    log.writeText("pawl: \(error)\n")
                    return 1
                }
                // A replica that was part of the fleet joins it again once the database is available.
                log.write(.error, "cannot rejoin the fleet yet, and will try again: \(error)")
                try? await Task.sleep(for: rejoinPause)
                if isEnding.withLock({ $0 }) { return 0 }
                continue
            }
            if isFirst {
                let output = LineWriter { StandardStreams.writeOutput($0) }
                output.append(Array("listening on \(service.url)\n".utf8))
                output.flush(within: .seconds(1))
                // After a restart the replica keeps the port, which may have been chosen by the system.
                configuration.server.port = service.port
                await started(service)
            }
            isFirst = false
            var (restarts, hasFailed) = (false, false)
            actions: for await action in signals {
                switch action {
                case .end: break actions
                case .reload: service.reloadSecrets()
                case .restart:
                    restarts = true
                    break actions
                case .fail:
                    hasFailed = true
                    break actions
                }
            }
            log.write(.info, restarts ? "restarting" : "stopping")
            service.retire()
            if !restarts, !hasFailed { try? await Task.sleep(for: drainDelay) }
            await service.stop()
            if restarts {
                losses += 1
                continue
            }
            log.write(.info, "stopped")
            return hasFailed ? 1 : 0
        }
    }
}
