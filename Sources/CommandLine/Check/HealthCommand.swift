internal import HTTPClient
internal import HTTPCore
internal import PawlConfiguration
internal import System

/// `pawl health`: checks that the service on this machine responds. For containers, which need not have curl.
///
/// A container's health check does not know the flags of the service beside it. So unless a flag says where to ask, it asks the service
/// that it finds running.
public enum HealthCommand {
    /// Returns the process's exit status: 0 if it responded with 200, 1 if not.
    public static func run(_ invocation: Invocation) async -> Int32 {
        let configuration = invocation.configuration
        let own = ServiceProcesses.Listener(host: configuration.host, port: configuration.port)
        let found = invocation.flags.isEmpty ? ServiceProcesses.listeners(ofCommands: ["serve", "demo"]) : []
        let listeners = listeners(own: own, found: found)
        var failure = ""
        for listener in listeners {
            guard let problem = await problem(with: listener) else { return 0 }
            failure = problem
        }
        if found.count > 1, listeners == [own] { failure += "; \(found.count) services run here: --port names one of them" }
        StandardStreams.writeError("pawl: \(failure)\n")
        return 1
    }

    /// The listeners to ask, until one responds.
    /// - Parameters:
    ///   - own: what options and defaults say.
    ///   - found: the listeners of each service that runs here.
    static func listeners(
        own: ServiceProcesses.Listener, found: [[ServiceProcesses.Listener]]
    ) -> [ServiceProcesses.Listener] {
        let isBeside = found.contains { $0.contains { $0.port == own.port } }
        guard !isBeside, found.count == 1, !found[0].isEmpty else { return [own] }
        return found[0]
    }

    /// Asks a service.
    /// - Returns: what is wrong with its response; `nil`: nothing.
    private static func problem(with listener: ServiceProcesses.Listener) async -> String? {
        var host = listener.host
        // Bound to all addresses, it is on loopback too.
        if host == "0.0.0.0" { host = "127.0.0.1" }
        if host == "::" { host = "::1" }
        let authority = host.contains(":") ? "[\(host)]" : host
        guard let url = HTTPURL("http://\(authority):\(listener.port)/healthz"), let client = try? HTTPClient() else {
            return "no request can be sent to \(authority)"
        }
        defer { client.shutdown() }
        var request = ClientRequest(url: url)
        request.connectTimeout = .seconds(2)
        request.totalTimeout = .seconds(3)
        do throws(ClientError) {
            let status = try await client.fetch(request, bodyLimit: 4096).head.status
            return status == .ok ? nil : "\(url) responded with \(status)"
        } catch {
            return "\(url): \(error.message)"
        }
    }
}
