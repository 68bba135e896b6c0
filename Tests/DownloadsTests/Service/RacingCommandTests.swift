import Foundation
import System
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import Downloads

/// Commands for one download that arrive together, at unfavourable moments of its transfer.
@Suite("Concurrent commands", .timeLimit(.minutes(5)))
struct RacingCommandTests {
    @Test("A pause returns although the download is resumed before its transfer has stopped")
    func pauseAndResumeAtOnce() async throws {
        let fixture = try await ServiceFixture { $0.maxConcurrent = 1 }
        // Each transfer stalls: a caller that waited for the end of a later one would wait forever.
        let made = try await fixture.add("size=40000000&seed=50&fault=stall@65536")
        let perform = { @Sendable (command: DownloadCommand) async throws -> Bool in
            do throws(DownloadError) {
                _ = try await fixture.service.perform(command, on: made.id)
                return true
            } catch {
                if error == .unconfirmed { return false }
                throw error
            }
        }
        var late = 0
        for _ in 0..<40 {
            async let resumed = perform(.resume)
            async let paused = perform(.pause)
            async let again = perform(.resume)
            if try await [resumed, paused, again].contains(false) { late += 1 }
        }
        // A machine that stands still for seconds delays one round.
        #expect(late < 3)
        #expect(try await fixture.service.perform(.cancel, on: made.id).state == .cancelled)
        #expect(try fixture.names(in: "incomplete") == [])
        // The slot is free.
        #expect(try await fixture.end(of: fixture.add("size=1000&seed=51").id).state == .completed)
        await fixture.service.shutdown()
    }

    @Test("Concurrent cancels, retries and pauses leave one state, and the file is exact")
    func everythingAtOnce() async throws {
        let fixture = try await ServiceFixture {
            $0.maxConcurrent = 1
            $0.stallTimeout = .seconds(2)
        }
        let query = "size=300000&seed=52&fault=stall@100000;times=12"
        let made = try await fixture.add(query)
        for _ in 0..<20 {
            await withTaskGroup(of: Void.self) { group in
                for command in [DownloadCommand.cancel, .retry, .pause, .resume, .cancel, .retry] {
                    group.addTask { _ = try? await fixture.service.perform(command, on: made.id) }
                }
            }
        }
        _ = try? await fixture.service.perform(.resume, on: made.id)
        _ = try? await fixture.service.perform(.retry, on: made.id)
        let done = try await fixture.follow(made.id) { $0.state == .completed }
        #expect(try fixture.file(done, is: query))
        #expect(done.sha256 == SHA256.hexadecimal(of: try fixture.file(done)))
        #expect(try fixture.names(in: "incomplete") == [])
        await fixture.service.shutdown()
    }

    @Test("A record that is removed during a resume stays removed, and its slot is free")
    func removeAndResumeAtOnce() async throws {
        let fixture = try await ServiceFixture { $0.maxConcurrent = 1 }
        for seed in 60..<80 {
            let made = try await fixture.add("size=400000&seed=\(seed)&fault=stall@100000") { $0.startsPaused = seed % 2 == 0 }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await fixture.service.remove(made.id, deletingFile: false) }
                for command in [DownloadCommand.resume, .pause, .resume] {
                    group.addTask { _ = try? await fixture.service.perform(command, on: made.id) }
                }
            }
            #expect(fixture.service.index.download(made.id) == nil)
        }
        let last = try await fixture.end(of: fixture.add("size=1000&seed=81").id)
        #expect(last.state == .completed)
        await fixture.service.shutdown()

        let next = try await ServiceFixture(continuing: fixture)
        #expect(next.service.index.page(ListQuery()).items.map(\.id) == [last.id])
        #expect(try next.names(in: "incomplete") == [])
        await next.service.shutdown()
    }

    @Test("A record that is removed while its next attempt waits is not restored by it")
    func removeBeforeRetry() async throws {
        let fixture = try await ServiceFixture { $0.retryDelay = (.seconds(60), .seconds(60)) }
        let made = try await fixture.add("size=1000&seed=90&fault=503")
        _ = try await fixture.follow(made.id) { $0.state == .retrying }
        try await fixture.service.remove(made.id, deletingFile: false)
        #expect(fixture.service.index.download(made.id) == nil)
        await #expect(throws: DownloadError.notFound) { try await fixture.service.perform(.resume, on: made.id) }
        await fixture.service.shutdown()
    }

    @Test("A pause right after the first bytes keeps them, repeatedly", arguments: 0..<12)
    func pauseAfterFirstBytes(_ seed: Int) async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add("size=4000000&seed=\(100 + seed)&fault=stall@500000")
        let seen = try await fixture.follow(made.id) { $0.bytesReceived > 0 }
        let paused = try await fixture.service.perform(.pause, on: made.id)
        #expect(paused.state == .paused)
        #expect(paused.bytesReceived >= seen.bytesReceived)
        await fixture.service.shutdown()
    }
}
