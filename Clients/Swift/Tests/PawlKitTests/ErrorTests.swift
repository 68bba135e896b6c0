import Foundation
import Testing

@testable import PawlKit

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Errors, redirects and what is kept", .surrounded, .timeLimit(.minutes(3)))
struct ErrorTests {
    /// Sends a search to a behaviour of the stub, and returns its error.
    private func failure(of behaviour: String) async throws -> PawlError? {
        let pawl = try Surroundings.client(of: behaviour)
        return await #expect(throws: PawlError.self) { try await pawl.search("a") }
    }

    @Test("No connection, a lost one and no URL of a server are one case")
    func connection() async throws {
        let service = try DemoService()
        service.end()
        for url in [service.url, URL(fileURLWithPath: "/"), try #require(URL(string: "http://name.invalid/"))] {
            let error = await #expect(throws: PawlError.self) { try await Pawl(url).downloads() }
            guard case .noConnection = error else {
                Issue.record("\(url)")
                continue
            }
            await #expect(throws: PawlError.self) { for try await _ in Pawl(url).updates() {} }
        }
        guard case .noConnection = try await failure(of: "cut") else { return _ = Issue.record("a response breaks off") }
    }

    @Test("A status has the problem of the service, or none")
    func status() async throws {
        guard case .http(409, let problem?) = try await failure(of: "refuse") else { return _ = Issue.record("no problem") }
        #expect(problem.code == "duplicate" && problem.title == "A title")
        guard case .http(418, nil) = try await failure(of: "teapot") else { return _ = Issue.record("another error") }
    }

    @Test("Another media type and another body are cases of their own")
    func body() async throws {
        guard case .mediaType("text/html") = try await failure(of: "html") else { return _ = Issue.record("a login page") }
        guard case .undecodable(is DecodingError) = try await failure(of: "nothing") else { return _ = Issue.record("{}") }
    }

    @Test("Cancellation is no error of the service, and ends the request")
    func cancellation() async throws {
        let key = "mute-\(UUID().uuidString)"
        let pawl = try Surroundings.client(of: key)
        let task = Task { try await pawl.search("a") }
        try await wait { try await counts(of: key) == "1 opened, 0 closed" }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await wait { try await counts(of: key) == "1 opened, 1 closed" }
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await pawl.search("a")
        }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @Test("The token follows a redirect within its origin, and no other; a change is not redirected")
    func redirects() async throws {
        for (behaviour, token) in [("near", "Bearer secret" as String?), ("away", nil)] {
            let seen = try await echo(Surroundings.client(of: behaviour, token: "secret").search("a"))
            #expect(seen.target == "/echo/moved" && seen.token == token)
            let pawl = try Surroundings.client(of: behaviour, token: "secret")
            let error = await #expect(throws: PawlError.self) { try await pawl.pause("1") }
            guard case .http(307, nil) = error else { return _ = Issue.record("another error") }
        }
    }

    @Test("No response is cached, and no cookie is kept")
    func memory() async throws {
        let pawl = try Surroundings.client(of: "echo-\(UUID().uuidString)")
        for number in 1...3 {
            let seen = try await echo(pawl.search("a"))
            #expect(seen.count == number && seen.cookie == nil)
        }
    }

    @Test("Any characters are possible in a search and in an id")
    func characters() async throws {
        let pawl = try Surroundings.client(of: "echo/base path")
        let target = try await echo(pawl.search("a+b&c=d/é?#%", source: "feed", limit: 1)).target
        #expect(target == "/echo/base%20path/search?term=a%2Bb%26c%3Dd%2F%C3%A9%3F%23%25&source=feed&limit=1&offset=0")
        let refusing = try Surroundings.client(of: "refuse")
        let error = await #expect(throws: PawlError.self) { try await refusing.cancel("a/../b c?d") }
        guard case .http(_, let problem?) = error else { return _ = Issue.record("no problem") }
        #expect(problem.detail == "/refuse/downloads/a%2F..%2Fb%20c%3Fd/cancel")
    }

    private func echo(_ response: SearchResponse) throws -> (target: String?, token: String?, cookie: String?, count: Int?) {
        let seen = try JSONSerialization.jsonObject(with: Data((response.attribution ?? "").utf8)) as? [Any] ?? []
        try #require(seen.count == 4)
        return (seen[0] as? String, seen[1] as? String, seen[2] as? String, seen[3] as? Int)
    }
}

/// The number of connections with a key that the stub has seen.
func counts(of key: String) async throws -> String? {
    try await Surroundings.client(of: "counts-\(key)").search("a").attribution
}
