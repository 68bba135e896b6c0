internal import DemoUpstream
internal import Downloads
internal import HTTPClient
internal import HTTPCore
internal import PawlConfiguration
internal import PawlService
internal import System

/// `pawl demo`: the service with an embedded upstream on loopback.
enum DemoCommand {
    /// The file that keeps the upstream's port: downloads resume after a restart only if its address is the same.
    private static let portFile = "upstream-port"

    /// Runs until a signal arrives, and returns the process's exit status.
    static func run(_ configuration: Configuration, log: Log) async -> Int32 {
        do throws(StartError) {
            let (upstream, url) = try startUpstream(preferring: rememberedPort(configuration), log: log)
            let status = await Service.run(demoConfiguration(configuration, upstream: url), log: log) { service in
                // The data directory is locked by now.
                remember(url.port, configuration, log)
                let base = service.url + configuration.basePath.text
                log.writeText(suggestions(service: base, needsToken: configuration.needsToken))
            }
            await upstream.shutdown()
            return status
        } catch {
            log.writeText("pawl: \(error)\n")
            return 1
        }
    }

    /// The configuration with the upstream as the base URL of all sources that no option sets. It allows downloads from
    /// the upstream only, not from all of loopback.
    private static func demoConfiguration(_ configuration: Configuration, upstream: HTTPURL) -> Configuration {
        let standard = Configuration()
        var configuration = configuration
        for source in [\Configuration.itunesURL, \.postsURL, \.archiveURL]
        where configuration[keyPath: source] == standard[keyPath: source] {
            configuration[keyPath: source] = upstream
        }
        configuration.downloads.destinationGuard.allowed.append(DestinationRule(upstream))
        return configuration
    }

    /// Starts the upstream on its previous port if that is free, otherwise on another.
    private static func startUpstream(
        preferring port: Int, log: Log
    ) throws(StartError) -> (upstream: DemoUpstream, url: HTTPURL) {
        var reason = ""
        for port in port == 0 ? [0] : [port, 0] {
            let upstream = DemoUpstream(port: port) { log.write(.info, "upstream: " + $0) }
            do {
                if let url = HTTPURL(try upstream.start()) { return (upstream, url) }
            } catch {
                reason = ": \(error)"
            }
        }
        throw StartError("the embedded upstream does not start" + reason)
    }

    private static func directory(_ configuration: Configuration) throws(SystemError) -> Directory {
        if let opened = configuration.downloads.privateDirectory { return opened }
        return try Directory(opening: configuration.downloads.dataDirectory)
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
}
