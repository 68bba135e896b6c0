internal import HTTPClient
internal import HTTPCore
public import PawlConfiguration
internal import System

/// `pawl health`: checks that the service on this machine responds. For containers, which need not have curl.
public enum HealthCommand {
    /// Returns the process's exit status: 0 if it responded with 200, 1 if not.
    public static func run(_ configuration: Configuration) async -> Int32 {
        var host = configuration.host
        // Bound to all addresses, it is on loopback too.
        if host == "0.0.0.0" { host = "127.0.0.1" }
        if host == "::" { host = "::1" }
        let authority = host.contains(":") ? "[\(host)]" : host
        guard let url = HTTPURL("http://\(authority):\(configuration.port)/healthz"), let client = try? HTTPClient() else {
            return 1
        }
        defer { client.shutdown() }
        var request = ClientRequest(url: url)
        request.connectTimeout = .seconds(2)
        request.totalTimeout = .seconds(3)
        do throws(ClientError) {
            let status = try await client.fetch(request, bodyLimit: 4096).head.status
            if status == .ok { return 0 }
            StandardStreams.writeError("pawl: \(url) responded with \(status)\n")
        } catch {
            StandardStreams.writeError("pawl: \(url): \(error.message)\n")
        }
        return 1
    }
}
