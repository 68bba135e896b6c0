import HTTPClient
import HTTPCore
import TestSupport
import Testing

@testable import Catalog

/// The sharing and cancellation of requests.
@Suite(.timeLimit(.minutes(3)))
struct FlightTests {
    private typealias Searching = Task<Result<SearchResponse, CatalogError>, Never>

    private static let song = FakeClient.Outcome.success(.with(Fixture.song()))

    /// Starts a search, and continues when the source has received `requests` requests.
    private func begin(_ text: String, on bench: Bench, requests: Int) async throws -> Searching {
        let task = try start(text, on: bench)
        try await bench.client.requests.wait { $0.count >= requests }
        return task
    }

    private func start(_ text: String, on bench: Bench) throws -> Searching {
        let search = try query(text)
        return Task { () async -> Result<SearchResponse, CatalogError> in
            do throws(CatalogError) {
                return .success(try await bench.catalog.search(search))
            } catch {
                return .failure(error)
            }
        }
    }

    private func error(of task: Searching) async -> CatalogError? {
        if case .failure(let error) = await task.value { error } else { nil }
    }

    @Test("Equal concurrent searches share one request")
    func equalSearchesInFlightShareOneRequest() async throws {
        let bench = Bench()
        let first = try await begin("term=a", on: bench, requests: 1)
        // They differ only in a parameter that is not sent to the source.
        var others: [Searching] = []
        for number in 0..<50 { others.append(try start("term=a&limit=50&session=\(number)&include=raw", on: bench)) }
        try await bench.waitForWaiters(51, "term=a")
        bench.client.respond(0, Self.song)
        for task in [first] + others { #expect(try await task.value.get().items.count == 1) }
        #expect(bench.client.count == 1)
        #expect(bench.catalog.isIdle)
    }

    @Test("A failure reaches all waiters of the request")
    func failuresReachAllWaiters() async throws {
        let bench = Bench()
        let first = try await begin("term=a", on: bench, requests: 1)
        let second = try start("term=a", on: bench)
        try await bench.waitForWaiters(2, "term=a")
        bench.client.respond(0, .failure(.timedOut("x")))
        #expect(await error(of: first)?.kind == "upstreamTimeout")
        #expect(await error(of: second)?.kind == "upstreamTimeout")
        #expect(bench.catalog.isIdle)
    }

    @Test("Different searches do not share a request")
    func differentSearchesDoNotShare() async throws {
        let bench = Bench { _ in Self.song }
        for text in ["term=a", "term=A", "term=a&limit=49", "term=a&country=DE", "term=a&offset=1"] {
            _ = try await bench.catalog.search(try query(text))
        }
        #expect(bench.client.count == 5)
    }

    @Test("A cancelled waiter leaves the request to the others")
    func aWaiterThatIsCancelledLeavesTheOthersTheirRequest() async throws {
        let bench = Bench()
        let first = try await begin("term=a", on: bench, requests: 1)
        let second = try start("term=a", on: bench)
        try await bench.waitForWaiters(2, "term=a")
        first.cancel()
        #expect(await error(of: first) == .cancelled)
        #expect(bench.client.cancelled.value.isEmpty)
        bench.client.respond(0, Self.song)
        #expect(try await second.value.get().items.count == 1)
        #expect(bench.catalog.isIdle)
    }

    @Test("Cancels a request without waiters")
    func requestsWithoutWaitersAreCancelled() async throws {
        let bench = Bench()
        let first = try await begin("term=a", on: bench, requests: 1)
        let second = try start("term=a", on: bench)
        try await bench.waitForWaiters(2, "term=a")
        first.cancel()
        second.cancel()
        try await bench.client.cancelled.wait { $0 == [0] }
        #expect(await error(of: first) == .cancelled)
        #expect(await error(of: second) == .cancelled)

        // No search joins a request that is being cancelled.
        let third = try await begin("term=a", on: bench, requests: 2)
        bench.client.respond(1, Self.song)
        #expect(try await third.value.get().items.count == 1)
        #expect(bench.catalog.isIdle)
    }

    @Test("A task cancelled before its search sends no request")
    func aTaskThatIsCancelledBeforeItSearchesAsksNothing() async throws {
        let bench = Bench()
        let search = try query("term=a")
        let task = Task { () async -> CatalogError? in
            while !Task.isCancelled { await Task.yield() }
            return await failure { () async throws(CatalogError) in try await bench.catalog.search(search) }
        }
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(bench.client.count == 0)
        #expect(bench.catalog.isIdle)
    }

    @Test("A newer search of the session replaces the older one and cancels its request")
    func aNewerSearchOfTheSessionReplacesTheOlderAndItsRequest() async throws {
        let bench = Bench()
        let older = try await begin("term=a&session=s", on: bench, requests: 1)
        let newer = try await begin("term=ab&session=s", on: bench, requests: 2)
        // At once: the newer search has no response yet.
        #expect(await error(of: older) == .superseded)
        try await bench.client.cancelled.wait { $0 == [0] }
        bench.client.respond(1, Self.song)
        #expect(try await newer.value.get().items.count == 1)
        #expect(bench.catalog.isIdle)
    }

    @Test("A replaced search keeps a request with other waiters")
    func aReplacedSearchLeavesARequestThatOthersWaitFor() async throws {
        let bench = Bench()
        let older = try await begin("term=a&session=s", on: bench, requests: 1)
        let other = try start("term=a&session=t", on: bench)
        try await bench.waitForWaiters(2, "term=a")
        let newer = try await begin("term=ab&session=s", on: bench, requests: 2)
        #expect(await error(of: older) == .superseded)
        bench.client.respond(0, Self.song)
        bench.client.respond(1, Self.song)
        #expect(try await other.value.get().items.count == 1)
        #expect(try await newer.value.get().items.count == 1)
        #expect(bench.client.cancelled.value.isEmpty)
    }

    @Test("An equal search of the session takes over the request")
    func anEqualSearchOfTheSessionTakesTheRequestOver() async throws {
        let bench = Bench()
        let older = try await begin("term=a&session=s", on: bench, requests: 1)
        let newer = try start("term=a&session=s", on: bench)
        #expect(await error(of: older) == .superseded)
        bench.client.respond(0, Self.song)
        #expect(try await newer.value.get().items.count == 1)
        #expect(bench.client.count == 1)
        #expect(bench.client.cancelled.value.isEmpty)
    }

    @Test("A session includes all sources")
    func aSessionSpansTheSources() async throws {
        let bench = Bench()
        let older = try await begin("term=a&session=s", on: bench, requests: 1)
        let newer = try await begin("term=a&source=posts&session=s", on: bench, requests: 2)
        #expect(await error(of: older) == .superseded)
        newer.cancel()
        #expect(await error(of: newer) == .cancelled)
    }

    @Test("A search does not replace searches without a session or of another one")
    func searchesWithoutASessionOrInAnotherAreLeftAlone() async throws {
        let bench = Bench()
        let plain = try await begin("term=a", on: bench, requests: 1)
        let other = try await begin("term=b&session=t", on: bench, requests: 2)
        let newer = try await begin("term=c&session=s", on: bench, requests: 3)
        for number in 0..<3 { bench.client.respond(number, Self.song) }
        for task in [plain, other, newer] { #expect(try await task.value.get().items.count == 1) }
    }

    @Test("Sessions that look alike are different")
    func sessionsThatOnlyLookAlikeAreTwo() async throws {
        let bench = Bench()
        let first = try await begin("term=a&session=caf%C3%A9", on: bench, requests: 1)
        let second = try await begin("term=b&session=cafe%CC%81", on: bench, requests: 2)
        for number in 0..<2 { bench.client.respond(number, Self.song) }
        for task in [first, second] { #expect(try await task.value.get().items.count == 1) }
    }

    @Test("A cached response replaces the older search as well", arguments: [true, false])
    func anAnswerFromMemoryReplacesTheOlderSearchToo(peeks: Bool) async throws {
        let bench = Bench { request in request.url.string.contains("term=kept") ? Self.song : nil }
        _ = try await bench.catalog.search(try query("term=kept"))
        let older = try await begin("term=a&session=s", on: bench, requests: 2)
        let search = try query("term=kept&session=s")
        if peeks {
            #expect(bench.catalog.cached(search) != nil)
        } else {
            _ = try await bench.catalog.search(search)
        }
        #expect(await error(of: older) == .superseded)
        try await bench.client.cancelled.wait { $0.count == 1 }
        #expect(bench.catalog.isIdle)
    }

    @Test("Removes a session when its search ends")
    func aSessionIsForgottenWhenItsSearchIsAnswered() async throws {
        let bench = Bench { _ in Self.song }
        for number in 0..<15 { _ = try await bench.catalog.search(try query("term=a\(number)&session=\(number)")) }
        #expect(bench.catalog.isIdle)
    }

    @Test("Every client gets a response as many come and go")
    func allClientsGetResponses() async throws {
        let bench = Bench { _ in Self.song }
        let search = try query("term=a")
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                let task = Task { await failure { () async throws(CatalogError) in try await bench.catalog.search(search) } }
                if number % 3 == 0 { task.cancel() }
                group.addTask {
                    let error = await task.value
                    #expect(error == nil || error == .cancelled)
                }
            }
        }
        #expect(bench.catalog.isIdle)
        #expect(bench.catalog.cached(search) != nil)
    }
}
