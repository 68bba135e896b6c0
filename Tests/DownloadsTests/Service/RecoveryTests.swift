import Foundation
import HTTPCore
import System
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import Downloads

/// The takeover of a crash's state: a copy of the data directory of a running service represents the crash.
@Suite("Starts after a crash", .timeLimit(.minutes(3)))
struct RecoveryTests {
    /// An entity whose first transfer stops in the middle.
    static let slow = "size=4000000&seed=40&fault=stall@1500000;times=1"

    @Test("A paused download is still paused with the same bytes, and continues from them")
    func paused() async throws {
        let before = try await ServiceFixture()
        let made = try await before.add(Self.slow)
        _ = try await before.follow(made.id) { $0.bytesReceived > 200_000 }
        let paused = try await before.service.perform(.pause, on: made.id)

        let after = try await before.crash()
        let found = try #require(after.service.index.download(made.id))
        #expect(found.state == .paused)
        #expect(found.bytesReceived == paused.bytesReceived)
        _ = try await after.service.perform(.resume, on: made.id)
        let done = try await after.end(of: made.id)
        #expect(try after.file(done, is: Self.slow))
        #expect(after.requests().last?.range == range(continuing: paused.bytesReceived))
        await after.service.shutdown()
        await before.service.shutdown()
    }

    @Test("Does not trust bytes beyond the recorded offset")
    func garbage() async throws {
        let before = try await ServiceFixture()
        let made = try await before.add(Self.slow)
        _ = try await before.follow(made.id) { $0.bytesReceived > 200_000 }
        let paused = try await before.service.perform(.pause, on: made.id)

        let after = try await before.crash { data in
            let handle = try #require(FileHandle(forWritingAtPath: partPath(of: made.id, in: data)))
            try handle.seek(toOffset: UInt64(paused.bytesReceived))
            try handle.write(contentsOf: Data(repeating: 0x55, count: 100_000))
            try handle.close()
        }
        #expect(after.service.index.download(made.id)?.bytesReceived == paused.bytesReceived)
        _ = try await after.service.perform(.resume, on: made.id)
        let done = try await after.end(of: made.id)
        #expect(try after.file(done, is: Self.slow))
        await after.service.shutdown()
        await before.service.shutdown()
    }

    @Test("Does not trust a cut or missing part file after a crash", arguments: [0, 1, 100_000])
    func truncated(_ kept: Int) async throws {
        let before = try await ServiceFixture()
        let made = try await before.add(Self.slow)
        _ = try await before.follow(made.id) { $0.bytesReceived > 200_000 }
        _ = try await before.service.perform(.pause, on: made.id)

        let after = try await before.crash { data in
            let path = partPath(of: made.id, in: data)
            if kept == 0 {
                try FileManager.default.removeItem(atPath: path)
            } else {
                let handle = try #require(FileHandle(forWritingAtPath: path))
                try handle.truncate(atOffset: UInt64(kept))
            }
        }
        #expect(after.service.index.download(made.id)?.bytesReceived == 0)
        _ = try await after.service.perform(.resume, on: made.id)
        let done = try await after.end(of: made.id)
        #expect(try after.file(done, is: Self.slow))
        await after.service.shutdown()
        await before.service.shutdown()
    }

    @Test("A paused download keeps its bytes and no further space")
    func room() async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add(Self.slow)
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 200_000 }
        let paused = try await fixture.service.perform(.pause, on: made.id)
        #expect(try Data(contentsOf: fixture.part(of: made.id)).count == Int(paused.bytesReceived))
        _ = try await fixture.service.perform(.resume, on: made.id)
        let done = try await fixture.end(of: made.id)
        #expect(try fixture.file(done, is: Self.slow))
        await fixture.service.shutdown()
    }

    @Test("Queued and running downloads continue from synced bytes without a command")
    func running() async throws {
        let before = try await ServiceFixture { $0.maxConcurrent = 1 }
        let query = "size=8000000&seed=42&fault=stall@3000000;times=1"
        let first = try await before.add(query)
        let second = try await before.add("size=1000&seed=41")
        _ = try await before.follow(first.id) { $0.bytesReceived > 200_000 }

        // A checkpoint takes as long as the disk: the crash follows the first of them.
        try await before.store.synced.wait { $0[first.id, default: 0] > 0 }
        // Earlier submissions to the store are written when this one is.
        try await before.settle()
        let after = try await before.crash(starting: false)
        let found = try #require(after.service.index.download(first.id))
        #expect(found.state == .queued)
        await after.service.start()
        #expect(try await after.end(of: second.id).state == .completed)
        let done = try await after.end(of: first.id)
        #expect(try after.file(done, is: query))
        #expect(after.requests().contains { $0.range == range(continuing: found.bytesReceived) })
        await after.service.shutdown()
        await before.service.shutdown()
    }

    @Test("Removes leftovers that no record knows, and nothing that is not Pawl's")
    func orphans() async throws {
        let before = try await ServiceFixture()
        let after = try await before.crash { data in
            for name in ["01JD6Z00000000000000000000.part", "rubbish", "01JD6Z00000000000000000000.part.next"] {
                try Data("x".utf8).write(to: URL(filePath: "\(data)/incomplete/\(name)"))
            }
            for name in ["@eaDir", "lost+found"] {
                try FileManager.default.createDirectory(atPath: "\(data)/incomplete/\(name)", withIntermediateDirectories: false)
            }
        }
        #expect(try after.names(in: "incomplete").sorted() == ["@eaDir", "lost+found", "rubbish"])
        await after.service.shutdown()
        await before.service.shutdown()
    }

    @Test("Completes a file that was published just before the crash, without fetching it again")
    func published() async throws {
        let before = try await ServiceFixture()
        let made = try await before.add(Self.slow) { $0.filename = "kept.bin" }
        _ = try await before.follow(made.id) { $0.bytesReceived > 200_000 }
        _ = try await before.service.perform(.pause, on: made.id)
        let content = try #require(TestUpstream.content(of: "/entity?" + Self.slow)?.bytes)

        let after = try await before.crash { data in
            // As left by publishing: whole, synced, and with its second name.
            try makeWhole(made.id, content, in: data, linkedAs: "kept.bin")
        }
        let requests = after.requests().count
        _ = try await after.service.perform(.resume, on: made.id)
        let done = try await after.end(of: made.id)
        #expect(done.state == .completed)
        #expect(done.filename == "kept.bin")
        #expect(done.sha256 == SHA256.hexadecimal(of: content))
        #expect(try after.names(in: "files") == ["kept.bin"])
        #expect(after.requests().count == requests)
        await after.service.shutdown()
        await before.service.shutdown()
    }

    @Test("Refuses a directory that another service holds in one line")
    func locked() async throws {
        let before = try await ServiceFixture()
        await #expect(throws: DownloadsStartError.self) {
            _ = try await ServiceFixture(directory: before.directory, continuing: before)
        }
        await before.service.shutdown()
    }

    @Test("An orderly end keeps every byte")
    func shutdown() async throws {
        let before = try await ServiceFixture()
        let made = try await before.add(Self.slow)
        _ = try await before.follow(made.id) { $0.bytesReceived > 200_000 }
        await before.service.shutdown()
        let after = try await before.crash(starting: false)
        let found = try #require(after.service.index.download(made.id))
        #expect(found.bytesReceived > 200_000)
        await after.service.shutdown()
    }
}
