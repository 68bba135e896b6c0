internal import DemoUpstream
internal import HTTPClient
internal import HTTPCore
internal import PawlConfiguration
internal import PawlService
internal import System

/// `pawl demo`: the service with an upstream of its own on loopback.
enum DemoCommand {
    /// Where the upstream's port is kept: downloads know it by its address, and shall resume after a restart.
    private static let portFile = "upstream-port"

    /// Runs until a signal comes, and returns the process's exit status.
    static func run(_ configuration: Configuration, log: Log) async -> Int32 {
        do throws(StartError) {
            let portPath = configuration.dataDirectory + "/" + portFile
            let (upstream, url) = try startUpstream(preferring: rememberedPort(portPath), log: log)
            let status = await Service.run(demoConfiguration(configuration, upstream: url), log: log) { service in
                // Not before the data directory is known to be ours.
                remember(url.port, portPath, log)
                let base = service.url + configuration.basePath.text
                StandardStreams.writeError(suggestions(service: base, needsToken: configuration.needsToken))
            }
            await upstream.shutdown()
            return status
        } catch {
            StandardStreams.writeError("pawl: \(error)\n")
            return 1
        }
    }

    /// Points the catalogue to the upstream, but for what an option points elsewhere, and lets downloads reach it: exactly it, not all
    /// of loopback.
    private static func demoConfiguration(_ configuration: Configuration, upstream: HTTPURL) -> Configuration {
        var configuration = configuration
        let standard = Configuration()
        for source in [\Configuration.itunesURL, \.postsURL, \.archiveURL]
        where configuration[keyPath: source] == standard[keyPath: source] {
            configuration[keyPath: source] = upstream
        }
        configuration.allowedDestinations.append(DestinationRule(upstream))
        return configuration
    }

    /// Starts the upstream on the port it had before, if that is free.
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

    private static func rememberedPort(_ path: String) -> Int {
        guard let bytes = try? SmallFile.read(path), let port = Int(String(decoding: bytes, as: UTF8.self)) else { return 0 }
        return (1...65535).contains(port) ? port : 0
    }

    private static func remember(_ port: Int, _ path: String, _ log: Log) {
        guard port != rememberedPort(path) else { return }
        do throws(SmallFile.Failure) {
            try SmallFile.write(Array(String(port).utf8), to: path)
        } catch {
            log.write(.warning, "downloads will not resume after a restart: \(error)")
        }
    }

    /// Three lines worth trying: find a work, download all of it, watch it.
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
