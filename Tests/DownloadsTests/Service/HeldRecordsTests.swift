import Foundation
import HTTPClient
import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import Downloads

/// A service whose record file another program holds.
@Suite("Records that another program holds", .timeLimit(.minutes(3)))
struct HeldRecordsTests {
    /// Runs a request, and returns its error; nil if it succeeded. It has to end within five seconds; on a busy machine
    /// the test itself is late.
    private static func refusal(_ body: @Sendable () async throws -> Void) async -> DownloadError? {
        let begun = ContinuousClock.now
        defer { #expect(.now - begun < .seconds(10)) }
        do {
            try await body()
            return nil
        } catch {
            return error as? DownloadError
        }
    }

    @Test("Responds to every write within five seconds, and shows later writes later, once")
    func writes() async throws {
        let fixture = try await ServiceFixture(starting: false)
        let service = fixture.service
        let paused = try await fixture.add("size=10&seed=1") { $0.startsPaused = true }
        let cancelled = try await fixture.add("size=10&seed=2")
        _ = try await service.perform(.cancel, on: cancelled.id)
        let url = try fixture.url("size=10&seed=3")
        let batch = try (4..<9).map {
            Result<NewDownload, Problem>.success(NewDownload(url: try fixture.url("size=10&seed=\($0)")))
        }
        let key = RequestKey("k", request: [1])
        #expect(try await service.reserve(key) == nil)

        let other = try SQLiteConnection(path: fixture.directory.path + "/data/pawl.sqlite")
        try other.execute("BEGIN EXCLUSIVE")
        var labels = DownloadChange()
        labels.labels = ["x"]
        let change = labels
        let errors = await withTaskGroup(of: DownloadError?.self) { group in
            let requests: [@Sendable () async throws -> Void] = [
                { _ = try await service.add(NewDownload(url: url), key: key) },
                { _ = try await service.add(batch) }, { _ = try await service.change([.segments: 7]) },
                { _ = try await service.change([.maxPerHost: 7]) }, { _ = try await service.change(paused.id, change) },
                { try await service.remove(cancelled.id, deletingFile: true) },
                { _ = try await service.perform(.retry, on: cancelled.id) },
                { _ = try await service.performOnAll(.cancel) },
                { _ = try await service.removeAll(ListQuery(states: [.cancelled]), deletingFiles: true) },
            ]
            for request in requests { group.addTask { await Self.refusal(request) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(DownloadService.answerLimit < .seconds(5))
        #expect(errors.allSatisfy { $0 == .unconfirmed || $0 == .overloaded }, "\(errors)")
        // The client repeats its request, and waits for the first one.
        await service.release(key, after: .unconfirmed)
        let repeated = Task { try await service.reserve(key) }
        #expect(service.index.downloads(ofURL: url.string).isEmpty)
        try other.execute("COMMIT")

        let outcomes = try #require(await repeated.value)
        let told = try #require(outcomes.outcomes.first).get().download
        #expect(service.index.downloads(ofURL: url.string).map(\.id) == [told.id])
        #expect(try await service.add(NewDownload(url: url)).download.id == told.id)
        let settings = try await service.change([.maxConcurrent: 5])
        #expect(settings.segments == 7 && settings.maxConcurrent == 5)
        #expect(try await service.add(batch).allSatisfy { if case .success(.existing) = $0 { true } else { false } })
        let after = try await fixture.crash(starting: false)
        #expect(after.service.index.downloads(ofURL: url.string).map(\.id) == [told.id])
        #expect(try await after.service.reserve(key)?.outcomes.first?.get().download.id == told.id)
        await after.service.shutdown()
        await service.shutdown()
    }

    @Test("A start ends with one clear line, and a stop in time")
    func startAndStop() async throws {
        let fixture = try await ServiceFixture(starting: false)
        let copy = try fixture.copy()
        let held = try SQLiteConnection(path: copy.path + "/data/pawl.sqlite")
        _ = try held.text("PRAGMA journal_mode = WAL")
        try held.execute("BEGIN EXCLUSIVE")
        let begun = ContinuousClock.now
        let failure = await #expect(throws: DownloadsStartError.self) {
            try await DownloadService(
                configuration: DownloadsConfiguration(
                    dataDirectory: copy.path + "/data", destinationGuard: DestinationGuard(allowsPrivate: true, allowed: [])),
                client: fixture.client, log: { _ in })
        }
        #expect(.now - begun < .seconds(15))
        #expect(failure.map { "\($0)".contains("another program") } == true)
        let other = try SQLiteConnection(path: fixture.directory.path + "/data/pawl.sqlite")
        try other.execute("BEGIN EXCLUSIVE")
        let addition = Task { [url = try fixture.url("size=10&seed=1")] in try await fixture.service.add(NewDownload(url: url)) }
        #expect(await Self.refusal { _ = try await addition.value } == .unconfirmed)
        let stopped = ContinuousClock.now
        await fixture.service.shutdown()
        #expect(.now - stopped < .seconds(10))
    }
}
