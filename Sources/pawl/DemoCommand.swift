internal import CommandLine
internal import DemoFleet
internal import DemoUpstream
internal import HTTPClient
internal import HTTPCore
internal import PawlConfiguration
internal import PawlService
internal import System

/// `pawl demo`: the service or a fleet, with an embedded upstream on loopback.
enum DemoCommand {
    /// The file that keeps the upstream's port: downloads resume after a restart only if its address is the same.
    private static let portFile = "upstream-port"

    /// The base URL of a search source: the property of the configuration, and the variable.
    private typealias Source = (property: any WritableKeyPath<Configuration, HTTPURL> & Sendable, variable: String)

    private static let sources: [Source] = [
        (\.itunesURL, "PAWL_ITUNES_URL"), (\.postsURL, "PAWL_POSTS_URL"), (\.archiveURL, "PAWL_ARCHIVE_URL"),
    ]

    /// Runs until a signal arrives, and returns the process's exit status.
    static func run(_ invocation: Invocation, log: Log) async -> Int32 {
        do throws(StartError) {
            let configuration = invocation.configuration
            let (upstream, url) = try startUpstream(preferring: rememberedPort(configuration), log: log)
            // Called once the data directory is locked.
            let started = { remember(url.port, configuration, log) }
            let status =
                invocation.replicas == 1
                ? await runService(invocation.configuration, upstream: url, log: log, started: started)
                : try await runFleet(invocation, upstream: url, log: log, started: started)
            await upstream.shutdown()
            return status
        } catch {
            StandardStreams.writeError("pawl: \(error)\n")
            return 1
        }
    }

    private static func runService(
        _ configuration: Configuration, upstream: HTTPURL, log: Log, started: () -> Void
    ) async -> Int32 {
        await Service.run(demoConfiguration(configuration, upstream: upstream), log: log) { service in
            started()
            let base = service.url + configuration.basePath.text
            StandardStreams.writeError(suggestions(service: base, needsToken: configuration.needsToken))
        }
    }

    private static func runFleet(
        _ invocation: Invocation, upstream: HTTPURL, log: Log, started: () -> Void
    ) async throws(StartError) -> Int32 {
        let configuration = invocation.configuration
        ProcessEnvironment.raiseDescriptorLimit()
        let settings = DemoFleet.Settings(
            host: configuration.host, port: configuration.port, replicas: invocation.replicas,
            dataDirectory: configuration.dataDirectory, claimedDirectory: configuration.claimedDirectory,
            variables: demoVariables(invocation, upstream: upstream),
            namesLines: configuration.logFormat == .text)
        let fleet = try await DemoFleet.start(settings, log: log)
        started()
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        SignalWatcher.watch(limit: DemoFleet.endLimit) { _ in continuation.yield() }
        StandardStreams.writeOutput("listening on \(fleet.url)\n")
        let base = fleet.url + configuration.basePath.text
        StandardStreams.writeError(
            suggestions(service: base, needsToken: configuration.needsToken)
                + fleetSuggestions(await fleet.processes, lease: configuration.lease))
        for await _ in signals { break }
        log.write(.info, "stopping")
        await fleet.stop()
        log.write(.info, "stopped")
        return 0
    }

    /// The configuration with the upstream as the base URL of all sources that no option sets. It allows downloads from
    /// the upstream only, not from all of loopback.
    private static func demoConfiguration(_ configuration: Configuration, upstream: HTTPURL) -> Configuration {
        var configuration = configuration
        for source in missingSources(configuration) { configuration[keyPath: source.property] = upstream }
        configuration.allowedDestinations.append(DestinationRule(upstream))
        return configuration
    }

    /// The changes of `demoConfiguration` as variables for replicas.
    private static func demoVariables(_ invocation: Invocation, upstream: HTTPURL) -> [String: String] {
        var variables = invocation.variables
        for source in missingSources(invocation.configuration) { variables[source.variable] = upstream.description }
        let allowed = "PAWL_ALLOW_DESTINATION"
        variables[allowed] = (variables[allowed].map { $0 + "," } ?? "") + upstream.authority
        // Replicas bind other addresses, so the host that clients use has to be allowed.
        let hosts = "PAWL_ALLOWED_HOST"
        let host = invocation.configuration.host
        if !host.contains(":") { variables[hosts] = (variables[hosts].map { $0 + "," } ?? "") + host }
        return variables
    }

    /// The sources that no option sets.
    private static func missingSources(_ configuration: Configuration) -> [Source] {
        let standard = Configuration()
        return sources.filter { configuration[keyPath: $0.property] == standard[keyPath: $0.property] }
    }

    /// Starts the upstream on its previous port if that is free, otherwise on another.
    private static func startUpstream(
        preferring port: Int, log: Log
    ) throws(StartError) -> (upstream: DemoUpstream, url: HTTPURL) {
        var reason = ""
        for port in port == 0 ? [0] : [port, 0] {
            var settings = DemoUpstream.Configuration()
            settings.port = port
            settings.log = { log.write(.info, "upstream: " + $0) }
            let upstream = DemoUpstream(configuration: settings)
            do {
                if let url = HTTPURL(try upstream.start()) { return (upstream, url) }
            } catch {
                reason = ": \(error)"
            }
        }
        throw StartError("the embedded upstream does not start" + reason)
    }

    private static func directory(_ configuration: Configuration) throws(SystemError) -> Directory {
        if let claimed = configuration.claimedDirectory { return claimed }
        return try Directory(opening: configuration.dataDirectory)
    }

    private static func rememberedPort(_ configuration: Configuration) -> Int {
        guard let bytes = try? directory(configuration).contents(of: portFile),
            let port = Int(String(decoding: bytes, as: UTF8.self))
        else { return 0 }
        return (1...65535).contains(port) ? port : 0
    }

    private static func remember(_ port: Int, _ configuration: Configuration, _ log: Log) {
        guard port != rememberedPort(configuration) else { return }
        do throws(SystemError) {
            try directory(configuration).write(Array(String(port).utf8), to: portFile)
        } catch {
            log.write(.warning, "downloads will not resume after a restart: \(error)")
        }
    }

    /// Three example requests: find a work, download all of it, watch it.
    private static func suggestions(service: String, needsToken: Bool) -> String {
        let token = needsToken ? " -H \"Authorization: Bearer $PAWL_TOKEN\"" : ""
        let work = #"{"partsOf":"archive:tidewater-soundings-2023"}"#
        return """
            curl\(token) '\(service)/search?source=archive&term=soundings'
            curl\(token) \(service)/downloads/batch -H 'Content-Type: application/json' -d '\(work)'
            curl\(token) -N '\(service)/downloads/events'

            """
    }

    /// The members of a fleet, and examples of failures to cause.
    private static func fleetSuggestions(_ members: [DemoFleet.Member], lease: Duration) -> String {
        let width = members.map(\.name.count).max() ?? 0
        var lines = members.map { member in
            let name = member.name + String(repeating: " ", count: width - member.name.count)
            return "\(name)  pid \(member.process ?? 0), 127.0.0.1:\(member.port ?? 0)"
        }
        let replicas = members.filter(\.isReplica).compactMap(\.process)
        if let first = replicas.first, let last = replicas.last {
            let (pause, lease) = (DemoFleet.restartPause.components.seconds, lease.components.seconds)
            lines.append("kill -9 \(first)     # the others answer; it is back in \(pause) s, and goes on from the bytes it had")
            lines.append(
                "kill -STOP \(last)  # after \(lease) s its lease ends, and the others take over what it was downloading")
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
