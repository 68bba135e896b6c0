import Foundation
import HTTPCore
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import Downloads

/// The next run's treatment of downloads in transfer at a crash.
@Suite("After crashes", .timeLimit(.minutes(3)))
struct CrashTests {
    /// A crash with or without its mark.
    private func crash(_ fixture: ServiceFixture, isMarked: Bool) async throws -> ServiceFixture {
        try await fixture.crash(damage: { path in
            var bytes = try [UInt8](Data(contentsOf: URL(filePath: fixture.directory.path + "/data/in-transfer")))
            if isMarked { bytes[18] = UInt8(ascii: "!") }
            try Data(bytes).write(to: URL(filePath: path + "/in-transfer"))
        })
    }

    private func journal(_ fixture: ServiceFixture) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: fixture.directory.path + "/data/in-transfer")), as: UTF8.self)
    }

    @Test(
        "A download in transfer at three crashes in a row is paused with the reason, and continues when resumed",
        arguments: [true, false])
    func paused(isMarked: Bool) async throws {
        let answers = Waiter(false)
        let origin = try ScriptedOrigin { _ in answers.value ? [.response(200, body: Array("whole".utf8))] : [.stall] }
        var fixture = try await ServiceFixture()
        let url = try #require(HTTPURL(origin.url("/file.bin")))
        let made = try await fixture.service.add(NewDownload(url: url)).download
        let kept = fixture
        for run in 1...CrashSuspicion.limit {
            _ = try await origin.requests(atLeast: run)
            try await until { try journal(fixture).contains("\(made.id) \(isMarked ? "" : "w")") }
            fixture = try await crash(fixture, isMarked: isMarked)
        }
        let found = try #require(fixture.service.index.download(made.id))
        #expect(found.state == .paused)
        #expect(found.error == DownloadFailure(.transferBroken, CrashSuspicion.message, retryable: false))
        #expect(origin.requests.count == CrashSuspicion.limit)
        answers.update { $0 = true }
        _ = try await fixture.service.perform(.resume, on: made.id)
        #expect(try await fixture.end(of: made.id).state == .completed)
        await fixture.service.shutdown()
        #expect(try !journal(fixture).contains(made.id.description))
        await kept.service.shutdown()
    }

    @Test("A kill does not count against a transfer that had just begun, nor a clean stop against any")
    func killed() async throws {
        let origin = try ScriptedOrigin { _ in [.stall] }
        var fixture = try await ServiceFixture()
        let url = try #require(HTTPURL(origin.url("/file.bin")))
        let made = try await fixture.service.add(NewDownload(url: url)).download
        _ = try await origin.requests(atLeast: 1)
        try await until { try journal(fixture).contains("\(made.id) w") }
        await fixture.service.shutdown()
        for run in 2...6 {
            fixture = try await ServiceFixture(continuing: fixture)
            _ = try await origin.requests(atLeast: run)
            try await until { try journal(fixture).contains("\(made.id)") }
            await fixture.service.shutdown()
        }
        let last = try await ServiceFixture(continuing: fixture)
        #expect(last.service.index.download(made.id)?.state != .paused)
        await last.service.shutdown()
    }
}
