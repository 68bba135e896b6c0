import Foundation
import HTTPCore
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import Downloads

@Suite("Repeated requests and batches", .timeLimit(.minutes(3)))
struct RepetitionTests {
    private let key = RequestKey("k", request: [1, 2, 3])

    @Test("After a crash, a key still means the same, even if the download has changed or is gone")
    func keyOverCrash() async throws {
        let before = try await ServiceFixture(starting: false)
        #expect(try await before.service.reserve(key) == nil)
        let new = NewDownload(url: try before.url("size=10&seed=80"), .with { $0.startsPaused = true })
        let made = try await before.service.add(new, key: key).download
        await before.service.release(key)

        let after = try await before.crash(starting: false)
        let told = ["created \(made.id) paused"]
        #expect(try await after.service.reserve(key).map { kinds($0.outcomes) } == told)
        _ = try await after.service.perform(.cancel, on: made.id)
        #expect(try await after.service.reserve(key).map { kinds($0.outcomes) } == told)
        await #expect(throws: DownloadError.keyMismatch) { _ = try await after.service.reserve(RequestKey("k", request: [1])) }
        try await after.service.remove(made.id, deletingFile: false)
        #expect(try await after.service.reserve(key).map { kinds($0.outcomes) } == told)
        await after.service.shutdown()
        await before.service.shutdown()
    }

    @Test("The second of two requests with one key waits, and runs itself if the first failed")
    func claims() async throws {
        let fixture = try await ServiceFixture(starting: false)
        #expect(try await fixture.service.reserve(key) == nil)
        let second = Task { try await fixture.service.reserve(key) }
        await #expect(throws: DownloadError.keyMismatch) { _ = try await fixture.service.reserve(RequestKey("k", request: [])) }
        // Nothing was stored, as after a failure of the first.
        await fixture.service.release(key)
        #expect(try await second.value == nil)
        _ = try await fixture.service.add(NewDownload(url: fixture.url("size=10&seed=81")), key: key)
        let third = Task { try await fixture.service.reserve(key) }
        await fixture.service.release(key)
        #expect(try await third.value?.outcomes.count == 1)
        await fixture.service.shutdown()
    }

    @Test("A batch is durable together, and reports duplicates within it")
    func batch() async throws {
        let fixture = try await ServiceFixture(starting: false)
        let items: [Result<NewDownload, Problem>] = [
            .success(NewDownload(url: try fixture.url("size=10&seed=82"))),
            .failure(Problem(.notFound, "no")),
            .success(NewDownload(url: try fixture.url("size=10&seed=82"))),
            .success(NewDownload(url: try fixture.url("size=10&seed=82"), .with { $0.onDuplicate = .reject })),
            .success(NewDownload(url: try fixture.url("size=10&seed=82"), .with { $0.onDuplicate = .new })),
            .success(NewDownload(url: try fixture.url("size=10&seed=83"), .with { $0.filename = "../bad" })),
        ]
        #expect(try await fixture.service.reserve(key) == nil)
        let outcomes = try await fixture.service.add(items, key: key)
        await fixture.service.release(key)
        let told = kinds(outcomes)
        #expect(told.map { $0.prefix { $0 != " " } } == ["created", "refused", "existing", "refused", "created", "refused"])

        let after = try await fixture.crash(starting: false)
        #expect(after.service.index.statistics().counts[.queued] == 2)
        #expect(try await after.service.reserve(key).map { kinds($0.outcomes) } == told)
        await after.service.shutdown()
        await fixture.service.shutdown()
    }

    private func kinds(_ outcomes: [Addition.Outcome]) -> [String] {
        outcomes.map { outcome in
            switch outcome {
            case .success(.created(let download)): "created \(download.id) \(download.state.rawValue)"
            case .success(.existing(let download)): "existing \(download.id) \(download.state.rawValue)"
            case .failure(let refusal): "refused \(refusal)"
            }
        }
    }
}
