import Foundation
import HTTPCore
import TestSupport
import Testing

@testable import Downloads

@Suite("Requests that are repeated, and batches", .timeLimit(.minutes(3)))
struct RepetitionTests {
    private let key = RequestKey("k", request: [1, 2, 3])

    @Test("after a crash a key still has its answer, also when the download has changed or is gone")
    func keyOverCrash() async throws {
        let resource: @Sendable (Download) -> [UInt8] = { Array("\($0.id) \($0.state.rawValue) \($0.priority)".utf8) }
        let before = try await ServiceFixture(starting: false) { $0.resource = resource }
        #expect(try await before.service.claim(key) == nil)
        let new = NewDownload(url: try before.url("size=10&seed=80"), startsPaused: true)
        let made = try await before.service.add(new, answering: key).download
        await before.service.release(key)

        let after = try await before.crash(starting: false)
        let told = KeptOutcome.created(made.id, shown: Array("\(made.id) paused 0".utf8))
        #expect(try await after.service.claim(key) == [told])
        _ = try await after.service.perform(.cancel, on: made.id)
        #expect(try await after.service.claim(key) == [told])
        await #expect(throws: DownloadError.keyMismatch) { _ = try await after.service.claim(RequestKey("k", request: [1])) }
        try await after.service.remove(made.id, deletingFile: false)
        #expect(try await after.service.claim(key) == [told])
        await after.service.shutdown()
        await before.service.shutdown()
    }

    @Test("of two with one key, the second waits; it carries the request out itself if the first failed")
    func claims() async throws {
        let fixture = try await ServiceFixture(starting: false)
        #expect(try await fixture.service.claim(key) == nil)
        let second = Task { try await fixture.service.claim(key) }
        await #expect(throws: DownloadError.keyMismatch) { _ = try await fixture.service.claim(RequestKey("k", request: [])) }
        // Nothing was kept: as if the first had failed.
        await fixture.service.release(key)
        #expect(try await second.value == nil)
        _ = try await fixture.service.add(NewDownload(url: fixture.url("size=10&seed=81")), answering: key)
        let third = Task { try await fixture.service.claim(key) }
        await fixture.service.release(key)
        #expect(try await third.value?.count == 1)
        await fixture.service.shutdown()
    }

    @Test("a batch is durable as one, and tells duplicates within itself")
    func batch() async throws {
        let fixture = try await ServiceFixture(starting: false)
        let entries: [BatchEntry] = [
            .new(NewDownload(url: try fixture.url("size=10&seed=82"))),
            .refused(Array("no".utf8)),
            .new(NewDownload(url: try fixture.url("size=10&seed=82"))),
            .new(NewDownload(url: try fixture.url("size=10&seed=82"), onDuplicate: .reject)),
            .new(NewDownload(url: try fixture.url("size=10&seed=82"), onDuplicate: .new)),
            .new(NewDownload(url: try fixture.url("size=10&seed=83"), filename: "../bad")),
        ]
        #expect(try await fixture.service.claim(key) == nil)
        let outcomes = try await fixture.service.add(entries, answering: key) { Array("\($0)".utf8) }
        await fixture.service.release(key)
        #expect(kinds(outcomes) == ["created", "refused", "existing", "refused", "created", "refused"])

        let after = try await fixture.crash(starting: false)
        #expect(after.service.index.statistics().counts[.queued] == 2)
        let again = try #require(try await after.service.claim(key))
        #expect(again.count == outcomes.count)
        for (again, outcome) in zip(again, outcomes) {
            switch (again, outcome) {
            case (.created(let id, _), .created(let download)), (.existing(let id, _), .existing(let download)):
                #expect(id == download.id)
            case (.refused(let words), .refused(let first)): #expect(words == first)
            default: Issue.record("\(outcome) is told again as \(again)")
            }
        }
        await after.service.shutdown()
        await fixture.service.shutdown()
    }

    private func kinds(_ outcomes: [OrderOutcome]) -> [String] {
        outcomes.map { outcome in
            switch outcome {
            case .created: "created"
            case .existing: "existing"
            case .refused: "refused"
            }
        }
    }
}
