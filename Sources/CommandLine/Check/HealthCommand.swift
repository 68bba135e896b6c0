internal import HTTPClient
internal import HTTPCore
internal import HTTPServer
internal import PawlConfiguration
internal import System

/// `pawl health`: checks that the service on this machine responds. For containers, which may not have curl.
///
/// A container's health check does not have the flags of the service beside it. So unless a flag is given, the command
/// asks the service that it finds running.
public enum HealthCommand {
    /// Runs the command. Returns the process's exit status: 0 if the service responded with 200, 1 otherwise.
    public static func run(_ invocation: Invocation) async -> Int32 {
        let server = invocation.configuration.server
        let own = ServiceProcesses.Listener(host: server.host, port: server.port)
        let found = invocation.flags.isEmpty ? ServiceProcesses.listeners(ofCommands: ["serve", "demo"]) : []
        let listeners = listeners(own: own, found: found)
        var failure = ""
        for listener in listeners {
            guard let problem = await problem(with: listener) else { return 0 }
            failure = problem
        }
        if found.count > 1, listeners == [own] { failure += "; \(found.count) services run on this machine: --port selects one" }
        StandardStreams.writeError("pawl: \(failure)\n")
        return 1
    }

    /// The listeners to ask, until one responds.
    /// - Parameters:
    ///   - own: The listener from options and defaults.
    ///   - found: The listeners of each service running on this machine.
    static func listeners(
        own: ServiceProcesses.Listener, found: [[ServiceProcesses.Listener]]
    ) -> [ServiceProcesses.Listener] {
        guard found.count == 1, !found[0].isEmpty else { return [own] }
        let likely = found[0].filter { $0.port == own.port }
        return likely.isEmpty ? found[0] : likely
    }

    /// Sends a request to a service.
    /// - Returns: The problem with its response; `nil` if there is none.
    private static func problem(with listener: ServiceProcesses.Listener) async -> String? {
        var host = listener.host
        // A service bound to all addresses also listens on loopback.
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
