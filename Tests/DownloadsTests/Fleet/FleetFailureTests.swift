import Foundation
import HTTPCore
import System
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadFiles
@testable import DownloadStore
@testable import DownloadTransfer
@testable import Downloads

/// The test loads the machine for half a minute, which would affect concurrent tests.
private let isAskedFor = ProcessInfo.processInfo.environment["PAWL_FLEET_TESTS"] != nil

/// Three replicas whose connections to the database break, stall or discard bytes for longer than a lease, and clients
/// that use any of them. Afterwards all promises must hold. A seed decides the faults: `PAWL_FLEET_SEED` and
/// `PAWL_FLEET_SECONDS` select another and a longer run.
@Suite(
    "A fleet under faults", .timeLimit(.minutes(40)), .enabled(if: isAskedFor, "PAWL_FLEET_TESTS is not set"))
struct FleetFailureTests {
    private static let seed = ProcessInfo.processInfo.environment["PAWL_FLEET_SEED"].flatMap { UInt64($0) } ?? 1
    private static let seconds = ProcessInfo.processInfo.environment["PAWL_FLEET_SECONDS"].flatMap { Int($0) } ?? 12

    /// The equipment of a replica: a data directory, a connection to the database, and the current replica.
    final class Seat: Sendable {
        let relay: FaultyRelay
        let directory: TemporaryDirectory
        private let scene: FleetScene
        private let current: Locked<Replica>

        init(_ scene: FleetScene) async throws {
            self.scene = scene
            relay = try FaultyRelay(to: scene.database.server.port)
            directory = try TemporaryDirectory()
            current = Locked(try await Self.start(scene, directory, relay))
        }

        var replica: Replica { current.withLock { $0 } }

        private static func start(
            _ scene: FleetScene, _ directory: TemporaryDirectory, _ relay: FaultyRelay
        ) async throws -> Replica {
            try await scene.replica(in: directory) {
                $0.database = scene.database.conninfo(port: relay.port)
                $0.maxConcurrent = 3
                $0.maxPerHost = 5
            }
        }

        /// Ends the replica and starts another on its directory.
        func restart() async throws {
            await replica.service.shutdown()
            let next = try await Self.start(scene, directory, relay)
            current.withLock { $0 = next }
        }

        /// The same after it has lost its lease.
        func restartIfFenced() async throws {
            if await replica.service.isFenced { try await restart() }
        }
    }

    /// The promises to clients.
    private struct Promises {
        /// Downloads by the key of their request.
        var made: [String: RecordID] = [:]
        var removed: Set<RecordID> = []
        /// Removals without a response.
        var maybeRemoved: Set<RecordID> = []
    }

    @Test("Acknowledged changes hold, indexes are equal, and no download is stuck under faults")
    func faults() async throws {
        let scene = try FleetScene()
        let seats = try await [Seat(scene), Seat(scene), Seat(scene)]
        let promises = Locked(Promises())
        let end = ContinuousClock.now + .seconds(Self.seconds)
        try await withThrowingTaskGroup { group in
            for client in 0..<4 {
                group.addTask { try await Self.client(client, seats, scene, promises, until: end) }
            }
            group.addTask { try await Self.disturb(seats, until: end) }
            try await group.waitForAll()
        }
        for seat in seats {
            seat.relay.set(.relay)
            try await seat.restartIfFenced()
        }
        // Paused downloads are resumed.
        for seat in seats { _ = try? await seat.replica.service.performOnAll(.resume) }
        try await settle(seats)

        let promised = promises.withLock { $0 }
        let boards = seats.map { Self.board($0.replica) }
        let kept = Set(try await Self.contents(scene).map(\.id))
        for (key, id) in promised.made where !promised.removed.contains(id) && !promised.maybeRemoved.contains(id) {
            #expect(kept.contains(id), "\(key) was acknowledged as \(id) and is gone")
        }
        for id in promised.removed { #expect(!kept.contains(id), "\(id) was removed and is there") }
        #expect(boards[0] == boards[1] && boards[1] == boards[2])
        #expect(Set(boards[0].map(\.id)) == kept)
        #expect(boards[0].allSatisfy { !$0.state.isLive || $0.state == .paused })
        try await Self.checkChanges(scene)
        for seat in seats { await seat.replica.service.shutdown() }
        let warnings = seats.flatMap { $0.replica.warnings.withLock { $0 } }
        #expect(warnings.isEmpty, "\(warnings.prefix(3))")
    }

    /// Adds downloads and sends random requests; repeats those without a response at another replica with the same key.
    private static func client(
        _ number: Int, _ seats: [Seat], _ scene: FleetScene, _ promises: Locked<Promises>, until end: ContinuousClock.Instant
    ) async throws {
        var random = SeededRandom(seed: seed &* 100 &+ UInt64(number))
        var known: [RecordID] = []
        var count = 0
        // On a slow machine, the faults end before enough downloads are made.
        func goesOn() -> Bool { ContinuousClock.now < end || promises.withLock { $0.made.count } <= 20 }
        while goesOn() {
            let service = seats[Int.random(in: 0..<3, using: &random)].replica.service
            let id = known.randomElement(using: &random)
            switch (Int.random(in: 0..<8, using: &random), id) {
            case (0, let id?):
                promises.withLock { _ = $0.maybeRemoved.insert(id) }
                do {
                    try await service.remove(id, deletingFile: true)
                    promises.withLock { _ = $0.removed.insert(id) }
                    known.removeAll { $0 == id }
                } catch {}
            case (1, let id?): _ = try? await service.perform(.pause, on: id)
            case (2, let id?): _ = try? await service.perform(.resume, on: id)
            case (3, let id?): _ = try? await service.perform(.cancel, on: id)
            case (4, let id?): _ = try? await service.perform(.retry, on: id)
            default:
                count += 1
                let name = "\(number)-\(count)"
                let key = RequestKey(name, request: [UInt8(number)])
                var new = try scene.new("size=\(Int.random(in: 1...200_000, using: &random))&seed=\(name)")
                if count % 10 == 0 { new.speedLimit = 200_000 }
                while goesOn() {
                    let service = seats[Int.random(in: 0..<3, using: &random)].replica.service
                    guard let id = try? await addOnce(new, key, service) else { continue }
                    let earlier = promises.withLock { promises in
                        defer { promises.made[name] = id }
                        return promises.made[name]
                    }
                    #expect(earlier == nil || earlier == id)
                    known.append(id)
                    break
                }
            }
        }
    }

    private static func addOnce(_ new: NewDownload, _ key: RequestKey, _ service: DownloadService) async throws -> RecordID {
        if let kept = try await service.reserve(key) { return try kept.outcomes[0].get().download.id }
        do {
            let id = try await service.add(new, key: key).download.id
            await service.release(key)
            return id
        } catch {
            await service.release(key)
            throw error
        }
    }

    /// One fault after another.
    private static func disturb(_ seats: [Seat], until end: ContinuousClock.Instant) async throws {
        var random = SeededRandom(seed: seed)
        while ContinuousClock.now < end {
            let seat = seats[Int.random(in: 0..<3, using: &random)]
            let pause = Duration.milliseconds(Int.random(in: 50...1_500, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: seat.relay.cut()
            case 1:
                seat.relay.set(.cutAnswers)
                try await Task.sleep(for: pause / 4)
            case 2:
                seat.relay.set(.swallow)
                try await Task.sleep(for: pause)
                seat.relay.cut()
            case 3:
                let release = try await seat.replica.freeze()
                try await Task.sleep(for: .seconds(4))
                release()
            case 4: try await seat.restart()
            default: break
            }
            seat.relay.set(.relay)
            try await Task.sleep(for: pause)
            for seat in seats { try await seat.restartIfFenced() }
        }
    }

    /// Waits until nothing is active, and all replicas show it.
    private func settle(_ seats: [Seat]) async throws {
        let limit = ContinuousClock.now + .seconds(90)
        while ContinuousClock.now < limit {
            for seat in seats { try await seat.restartIfFenced() }
            let boards = seats.map { Self.board($0.replica) }
            if boards[0] == boards[1], boards[1] == boards[2], boards[0].allSatisfy({ !$0.state.isLive }) { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        let live = seats.map { seat in
            Self.board(seat.replica).filter(\.state.isLive).map { "\($0.id) \($0.state) \($0.revision)" }
        }
        Issue.record("nothing happens any more, and these are left: \(live)")
    }

    private struct Row: Equatable, Sendable {
        let id: RecordID
        let state: DownloadState
        let revision: UInt64
    }

    private static func board(_ replica: Replica) -> [Row] {
        let view = replica.service.index.view()
        return view.entries.rows.compactMap { view.entries[$0] }
            .map { Row(id: $0.download.id, state: $0.download.state, revision: $0.download.revision) }
            .sorted { $0.id < $1.id }
    }

    private static func contents(_ scene: FleetScene) async throws -> [DownloadRecord] {
        let store = try FleetStore(
            PostgresRecordWriter.Options(database: scene.database.conninfo, node: "a look"),
            in: DataDirectory(path: TemporaryDirectory().path + "/look"))
        defer { Task { await store.close() } }
        return try Array(store.load().records)
    }

    /// The changes have no gap, and the revisions of a download rise in them.
    private static func checkChanges(_ scene: FleetScene) async throws {
        let writer = try PostgresRecordWriter(
            PostgresRecordWriter.Options(database: scene.database.conninfo, node: "another look"))
        defer { writer.close() }
        var last: UInt64 = 0
        var revisions: [RecordID: UInt64] = [:]
        writer.changeLog.follower = { changes in
            for change in changes {
                #expect(change.sequence == last + 1)
                last = change.sequence
                guard let download = change.download else {
                    revisions[change.id] = nil
                    continue
                }
                #expect(
                    download.revision > revisions[change.id] ?? 0 || revisions[change.id] == nil,
                    "\(change.sequence): \(change.id) went from \(revisions[change.id] ?? 0) to \(download.revision)")
                revisions[change.id] = download.revision
            }
        }
        try writer.changeLog.follow()
    }
}
