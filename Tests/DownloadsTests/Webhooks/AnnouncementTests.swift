import Foundation
import HTTPCore
import JSON
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import Downloads

/// Messages about ends whose records could not be saved at first.
@Suite("Announcements of ends while the store fails", .timeLimit(.minutes(3)))
struct AnnouncementTests {
    enum End: String, CaseIterable, Sendable {
        case failed, cancelled, completed
    }

    enum Next: CaseIterable, Sendable {
        case nothing, shutdown, change, cancel, remove, noteFile
    }

    static let cases: [(End, Next)] = End.allCases.flatMap { end in
        Next.allCases.compactMap { next in
            switch (end, next) {
            case (.completed, .cancel), (.failed, .cancel), (.failed, .noteFile), (.cancelled, .noteFile): nil
            default: (end, next)
            }
        }
    }

    @Test("An end that the store saves late is announced once, whatever precedes the timed save", arguments: cases)
    func late(end: End, next: Next) async throws {
        let receiver = try ScriptedOrigin { _ in [.response(200)] }
        let hook = try #require(HTTPURL(receiver.url("/hook")))
        let fixture = try await ServiceFixture()
        fixture.store.refuse { change in End.allCases.contains { change.saves(DownloadState(rawValue: $0.rawValue) ?? .queued) } }
        let made = try await fixture.add("size=10&seed=201\(end == .failed ? "&fault=404" : "")") {
            $0.webhook = hook
            $0.startsPaused = end == .cancelled
        }
        if end == .cancelled {
            await #expect(throws: DownloadError.self) { try await fixture.service.perform(.cancel, on: made.id) }
        }
        #expect(try await fixture.end(of: made.id).state.rawValue == end.rawValue)
        // The next timed save is seconds away.
        try await until { fixture.store.refused >= 3 }
        fixture.store.refuse(nil)
        switch next {
        case .nothing, .shutdown: break
        case .change:
            var change = DownloadChange()
            change.labels = ["later"]
            _ = try await fixture.service.change(made.id, change)
        // The refusal of the last save may not have arrived yet.
        case .cancel: try await until { (try? await fixture.service.perform(.cancel, on: made.id)) != nil }
        case .remove: try await fixture.service.remove(made.id, deletingFile: false)
        case .noteFile:
            for name in try fixture.names(in: "files") {
                try FileManager.default.removeItem(atPath: "\(fixture.directory.path)/data/files/\(name)")
            }
            _ = try? await fixture.service.currentFile(of: made.id)
        }
        if next != .shutdown { _ = try await receiver.requests(atLeast: 1) }
        await fixture.service.shutdown()
        let after = try await ServiceFixture(continuing: fixture)
        _ = try await receiver.requests(atLeast: 1)
        await after.service.shutdown()
        let ends = Set(try receiver.requests.map { try ReceivedMessage($0).data.string })
        #expect(ends == ["\(made.id) \(end.rawValue)"])
        // A stop may precede the response, and then the message is sent again under the same name.
        #expect(Set(receiver.requests.map { $0["webhook-id"] }).count == 1)
    }

    @Test("An announced end is not announced again after a later failed save", arguments: [false, true])
    func announcedOnce(missing: Bool) async throws {
        let receiver = try ScriptedOrigin { _ in [.response(200)] }
        let hook = try #require(HTTPURL(receiver.url("/hook")))
        let fixture = try await ServiceFixture()
        let made = try await fixture.add("size=10&seed=202") { $0.webhook = hook }
        _ = try await receiver.requests(atLeast: 1)
        fixture.store.refuse { $0.saves(.completed) }
        if missing {
            for name in try fixture.names(in: "files") {
                try FileManager.default.removeItem(atPath: "\(fixture.directory.path)/data/files/\(name)")
            }
            _ = try? await fixture.service.currentFile(of: made.id)
        } else {
            var change = DownloadChange()
            change.labels = ["later"]
            await #expect(throws: DownloadError.self) { try await fixture.service.change(made.id, change) }
        }
        try await until { fixture.store.refused >= 1 }
        fixture.store.refuse(nil)
        try await until { await !fixture.service.isUnsaved(made.id) }
        await fixture.service.shutdown()
        let after = try await ServiceFixture(continuing: fixture)
        await after.service.shutdown()
        #expect(Set(receiver.requests.map { $0["webhook-id"] }).count == 1)
    }

    @Test("Each end of a retried download has its own message")
    func severalEnds() async throws {
        let receiver = try ScriptedOrigin { _ in [.response(200)] }
        let hook = try #require(HTTPURL(receiver.url("/hook")))
        let fixture = try await ServiceFixture()
        let made = try await fixture.add("size=10&seed=203&fault=404;times=1") { $0.webhook = hook }
        #expect(try await fixture.end(of: made.id).state == .failed)
        _ = try await receiver.requests(atLeast: 1)
        _ = try await fixture.service.perform(.retry, on: made.id)
        let requests = try await receiver.requests(atLeast: 2)
        #expect(
            try requests.map { try ReceivedMessage($0).data.string } == ["\(made.id) failed", "\(made.id) completed"])
        #expect(Set(requests.map { $0["webhook-id"] }).count == 2)
        await fixture.service.shutdown()
    }

    @Test("Announces each removal of many once, even if it has to make room first")
    func bulk() async throws {
        let receiver = try ScriptedOrigin { _ in [.response(200)] }
        let hook = try #require(HTTPURL(receiver.url("/hook")))
        let fixture = try await ServiceFixture()
        for seed in 210..<230 {
            _ = try await fixture.add("size=10&seed=\(seed)") {
                $0.webhook = hook
                $0.startsPaused = true
            }
        }
        fixture.store.refuse(as: .full) { $0.removes && fixture.store.refused < 3 }
        _ = try? await fixture.service.removeAll(ListQuery(), deletingFiles: false)
        fixture.store.refuse(nil)
        _ = try await fixture.service.removeAll(ListQuery(), deletingFiles: false)
        let requests = try await receiver.requests(atLeast: 20)
        #expect(Set(requests.map { $0["webhook-id"] }).count == 20)
        await fixture.service.shutdown()
        #expect(receiver.requests.count == 20)
    }
}
