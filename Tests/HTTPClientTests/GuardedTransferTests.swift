import Foundation
import HTTPClient
import HTTPCore
import TestSupport
import Testing

/// The destination guard on connections. Loopback represents the private network.
@Suite(.timeLimit(.minutes(3)))
struct GuardedTransferTests {
    let client: HTTPClient

    init() throws {
        client = try HTTPClient()
    }

    func error(_ url: String, _ destinationGuard: DestinationGuard) async throws -> ClientError? {
        var request = ClientRequest(url: try HTTPClientTests.url(url))
        request.guarding = destinationGuard
        return await client.failure(of: request)
    }

    @Test("Does not connect to forbidden destinations in any spelling")
    func forbiddenDestinationIsNotReached() async throws {
        let origin = try ScriptedOrigin { _ in [.response()] }
        for host in [
            "127.0.0.1", "127.1", "0x7f000001", "017700000001", "2130706433", "localhost", "localhost.", "x.localhost",
            "[::ffff:127.0.0.1]",
        ] {
            let error = try await error("http://\(host):\(origin.port)/", DestinationGuard())
            #expect(error?.kind == "destinationForbidden", "\(host): \(String(describing: error))")
        }
        #expect(origin.connectionCount == 0)
    }

    @Test("Checks a name by its current address", .enabled(if: localName != nil, "no such name in /etc/hosts"))
    func currentAddressCounts() async throws {
        let origin = try ScriptedOrigin { _ in [.response()] }
        // A rule allows the name on another port only, so the address decides when the connection is made.
        let destinationGuard = DestinationGuard(allowsPrivate: false, allowed: [try DestinationRule(parsing: "10.0.0.0/8")])
        let name = try #require(Self.localName)
        let error = try await error("http://\(name):\(origin.port)/", destinationGuard)
        guard case .destinationForbidden(let text, status: nil) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains(name) && text.contains("loopback"))
        #expect(origin.connectionCount == 0)
    }

    /// A name that resolves to a loopback address and is not a `localhost` name.
    static let localName: String? = {
        guard let hosts = try? String(contentsOfFile: "/etc/hosts", encoding: .utf8) else { return nil }
        for line in hosts.split(separator: "\n") {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }.map(String.init)
            guard let first = words.first, first == "::1" || first.hasPrefix("127.") else { continue }
            if let name = words.dropFirst().first(where: { $0 != "localhost" && !$0.hasSuffix(".localhost") }) { return name }
        }
        return nil
    }()

    @Test("Connects to destinations that a rule allows", arguments: ["127.0.0.1", "127.0.0.0/8", "127.0.0.1:PORT"])
    func allowedDestinationIsReached(rule: String) async throws {
        let origin = try ScriptedOrigin { _ in [.response()] }
        let rule = try DestinationRule(parsing: rule.replacing("PORT", with: String(origin.port)))
        #expect(try await error(origin.url(), DestinationGuard(allowsPrivate: false, allowed: [rule])) == nil)
        #expect(try await error(origin.url(), DestinationGuard(allowsPrivate: true)) == nil)
        #expect(origin.requests.count == 2)
    }

    @Test("Does not follow a redirect into the private network")
    func redirectInsideIsNotFollowed() async throws {
        let secret = try ScriptedOrigin { _ in [.response(body: Array("metadata".utf8))] }
        for host in ["127.0.0.1", "localhost", "0x7f.1", "[::1]"] {
            let origin = try ScriptedOrigin { _ in [.redirect(to: "http://\(host):\(secret.port)/latest")] }
            let rule = try DestinationRule(parsing: "127.0.0.1:\(origin.port)")
            let error = try await error(origin.url(), DestinationGuard(allowsPrivate: false, allowed: [rule]))
            guard case .destinationForbidden(_, status: 302) = error else {
                Issue.record("\(host): \(String(describing: error))")
                continue
            }
        }
        #expect(secret.connectionCount == 0)
    }

    @Test(
        "Does not reuse connections that were opened without a guard",
        .enabled(if: localName != nil, "no such name in /etc/hosts"))
    func unguardedConnectionIsNotUsed() async throws {
        let name = try #require(Self.localName)
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        var configuration = ClientConfiguration()
        configuration.threads = 1
        let client = try HTTPClient(configuration: configuration)
        let base = "http://\(name):\(origin.port)/"
        // The name may resolve to ::1 first, where no server listens, and then to 127.0.0.1.
        _ = try await client.fetch(ClientRequest(url: try url(base)), bodyLimit: 10)
        var request = ClientRequest(url: try url(base + "guarded"))
        request.guarding = DestinationGuard()
        #expect(await client.failure(of: request)?.kind == "destinationForbidden")
        #expect(origin.requests.map(\.target) == ["/"])
    }
}
