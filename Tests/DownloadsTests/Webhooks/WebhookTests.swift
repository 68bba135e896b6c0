import Foundation
import HTTPCore
import JSON
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadFiles
@testable import DownloadStore
@testable import Downloads

@Suite("Webhooks", .timeLimit(.minutes(3)))
struct WebhookTests {
    private func fixture(
        directory: TemporaryDirectory? = nil, continuing earlier: ServiceFixture? = nil,
        delay: Duration = .milliseconds(1)
    ) async throws -> ServiceFixture {
        try await ServiceFixture(directory: directory, continuing: earlier) {
            $0.webhookPolicy.firstDelay = delay
            $0.webhookPolicy.longestDelay = delay
        }
    }

    private func url(_ origin: ScriptedOrigin) throws -> HTTPURL { try #require(HTTPURL(origin.url("/hook"))) }

    @Test("Posts the end of a download, and nothing without a webhook")
    func completed() async throws {
        let receiver = try ScriptedOrigin { _ in [.response(200, body: Array("thanks".utf8))] }
        let fixture = try await fixture()
        _ = try await fixture.end(of: fixture.add("size=10&seed=101").id)
        let hook = try url(receiver)
        let made = try await fixture.add("size=10&seed=102") { $0.webhook = hook }
        let request = try #require(try await receiver.requests(atLeast: 1).first)
        #expect(request.target == "/hook")
        let message = try ReceivedMessage(request)
        #expect(message.type == "download.completed")
        #expect(message.data.string == "\(made.id) completed")
        #expect(request["webhook-id"].flatMap(RecordID.init) != nil)
        await fixture.service.shutdown()
        #expect(receiver.requests.count == 1)
    }

    @Test("Failing, cancelling and removing are ends as well")
    func otherEnds() async throws {
        let receiver = try ScriptedOrigin { _ in [.response(200)] }
        let fixture = try await fixture()
        let hook = try url(receiver)
        let failed = try await fixture.add("size=10&seed=103&fault=404") { $0.webhook = hook }
        let cancelled = try await fixture.add("size=10&seed=104") {
            $0.webhook = hook
            $0.startsPaused = true
        }
        let removed = try await fixture.add("size=10&seed=105") {
            $0.webhook = hook
            $0.startsPaused = true
        }
        _ = try await fixture.service.perform(.cancel, on: cancelled.id)
        try await fixture.service.remove(removed.id, deletingFile: false)
        let messages = try await receiver.requests(atLeast: 3).map { try ReceivedMessage($0) }
        #expect(
            Set(messages.map { "\($0.type) \($0.data.string ?? "")" }) == [
                "download.failed \(failed.id) failed", "download.cancelled \(cancelled.id) cancelled",
                "download.cancelled \(removed.id) cancelled",
            ])
        // An ended download ends no second time.
        try await fixture.service.remove(cancelled.id, deletingFile: false)
        await fixture.service.shutdown()
        #expect(receiver.requests.count == 3)
    }

    @Test("Repeats after 5xx and broken connections under the same name, but not after a refusal")
    func retries() async throws {
        let receiver = try ScriptedOrigin { request in
            switch request.number {
            case 0: [.response(503)]
            case 1: [.close]
            default: [.response(request.target == "/hook" ? 200 : 400)]
            }
        }
        let fixture = try await fixture()
        let hook = try url(receiver)
        _ = try await fixture.add("size=10&seed=106") { $0.webhook = hook }
        let names = try await receiver.requests(atLeast: 3).map { $0["webhook-id"] }
        #expect(Set(names).count == 1)
        let other = try #require(HTTPURL(receiver.url("/other")))
        _ = try await fixture.add("size=10&seed=107") { $0.webhook = other }
        _ = try await receiver.requests(atLeast: 4)
        // The message is discarded once its response is evaluated.
        try await until { try await pending(fixture).isEmpty }
        #expect(receiver.requests.count == 4)
        await fixture.service.shutdown()
    }

    @Test("An undelivered message survives a crash, and arrives under the same name")
    func crash() async throws {
        let isUp = Waiter(false)
        let receiver = try ScriptedOrigin { _ in [.response(isUp.value ? 200 : 503)] }
        let before = try await fixture(delay: .seconds(30))
        let hook = try url(receiver)
        let made = try await before.add("size=10&seed=108") { $0.webhook = hook }
        let first = try #require(try await receiver.requests(atLeast: 1).first)
        let copy = try before.copy()
        await before.service.shutdown()
        isUp.update { $0 = true }
        let after = try await fixture(directory: copy, continuing: before)
        let second = try #require(try await receiver.requests(atLeast: 2).last)
        #expect(second["webhook-id"] == first["webhook-id"])
        #expect(second.body == first.body)
        #expect(try ReceivedMessage(second).data.string == "\(made.id) completed")
        try await until { try await pending(after).isEmpty }
        await after.service.shutdown()
    }

    @Test("A hanging receiver delays no transfer, and an orderly end does not wait for it")
    func hanging() async throws {
        let receiver = try ScriptedOrigin { _ in [.stall] }
        let fixture = try await fixture()
        let hook = try url(receiver)
        var made: [Download] = []
        for seed in 110..<116 { made.append(try await fixture.add("size=10&seed=\(seed)") { $0.webhook = hook }) }
        _ = try await receiver.requests(atLeast: 2)
        made.append(try await fixture.add("size=10&seed=116") { $0.webhook = hook })
        for download in made { #expect(try await fixture.end(of: download.id).state == .completed) }
        await fixture.service.shutdown()
        #expect(try await pending(fixture).count == 7)
    }

    @Test("Refuses a webhook that the guard refuses at once")
    func guarded() async throws {
        let receiver = try ScriptedOrigin { _ in [.response(200)] }
        let fixture = try await ServiceFixture(allowsPrivate: false)
        let hook = try url(receiver)
        let somewhere = try #require(HTTPURL("https://example.org/a"))
        await #expect(throws: DownloadError.self) {
            try await fixture.service.add(
                NewDownload(
                    url: somewhere,
                    .with {
                        $0.startsPaused = true
                        $0.webhook = hook
                    }))
        }
        await fixture.service.shutdown()
    }

    /// The messages on disk now.
    private func pending(_ fixture: ServiceFixture) async throws -> [WebhookDelivery] {
        let copy = try TemporaryDirectory()
        try fixture.copyRecords(to: copy.path)
        return try SQLiteRecordWriter(DataDirectory(path: copy.path)).deliveries(from: RecordID(value: 0)) { _ in true }
            .deliveries
    }
}
