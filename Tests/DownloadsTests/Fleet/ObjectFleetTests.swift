import Foundation
import HTTPClient
import HTTPCore
import Postgres
import System
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadFiles
@testable import DownloadStore
@testable import Downloads
@testable import ObjectStorage

@Suite(
    "A fleet with its files in object storage", .timeLimit(.minutes(5)),
    .enabled(if: ObjectScene.isWanted, "\(ObjectScene.whySkipped)"))
struct ObjectFleetTests {
    @Test("Every replica serves a file whole and by range; its removal leaves nothing", arguments: [0, 100_000, 65 << 20])
    func filesOfAll(size: Int64) async throws {
        let scene = try await ObjectScene()
        let (first, second) = try await (scene.replica(), scene.replica())
        let added = try await first.service.add(try scene.fleet.new("size=\(size)&seed=1")).download
        let content = try #require(TestUpstream.content(of: "/entity?size=\(size)&seed=1"))
        let middle = size / 3..<size / 2
        for replica in [first, second] {
            let done = try await replica.follow(added.id) { !$0.state.isLive }
            #expect(done.state == .completed && done.attempts == 1)
            let whole = try await scene.get(added.id, from: replica)
            #expect(whole.head.status.code == 200 && whole.body == content.bytes(in: 0..<size))
            #expect(whole.head.fields[.contentType] == "audio/x-test")
            if middle.isEmpty { continue }
            let part = try await scene.get(added.id, from: replica, range: "bytes=\(middle.lowerBound)-\(middle.upperBound - 1)")
            #expect(part.head.status.code == 206 && part.body == content.bytes(in: middle))
        }
        let again = try await second.service.add(try scene.fleet.new("size=\(size)&seed=1"))
        #expect(again.download.id == added.id)
        // The part file is removed.
        for replica in [first, second] {
            let parts = try FileManager.default.contentsOfDirectory(atPath: replica.directory.path + "/data/incomplete")
            #expect(parts == [])
        }
        #expect(try await scene.keys().count == 1)
        // Only objects of records exist.
        #expect(try await scene.collector(second).sweepOnce(olderThan: .zero) == 0)
        try await second.service.remove(added.id, deletingFile: false)
        try await until { try await scene.keys().isEmpty }
        while try scene.garbage() > 0 { try await nextTurn() }
        await first.service.shutdown()
        await second.service.shutdown()
        #expect(first.warnings.withLock { $0 } + second.warnings.withLock { $0 } == [])
    }

    @Test("While the storage is unreachable, files wait without a slot or an attempt")
    func storageAway() async throws {
        let scene = try await ObjectScene()
        let replica = try await scene.replica { $0.maxConcurrent = 1 }
        scene.relay.set(.refuse)
        var ids: [RecordID] = []
        for seed in 1...3 {
            ids.append(try await replica.service.add(try scene.fleet.new("size=\(seed * 20_000)&seed=\(seed)")).download.id)
        }
        try await replica.away.wait { $0 == 1 }
        for id in ids { try await until { await replica.service.isPublishing(id) } }
        #expect(try await scene.keys() == [])
        for id in ids { try await until { replica.service.index.download(id)?.waitingFor == .storage } }
        scene.relay.set(.relay)
        for (id, seed) in zip(ids, 1...) {
            let done = try await replica.follow(id) { !$0.state.isLive }
            #expect(done.state == .completed && done.attempts == 1 && done.error == nil && done.waitingFor == nil)
            #expect(scene.requests(seed) == 1)
        }
        #expect(replica.away.value == 1)
        await replica.service.shutdown()
    }

    @Test("Commands are carried out while a file waits", arguments: [FaultyRelay.Mode.refuse, .swallow])
    func commands(mode: FaultyRelay.Mode) async throws {
        let scene = try await ObjectScene()
        let replica = try await scene.replica()
        scene.relay.set(mode)
        var ids: [RecordID] = []
        for seed in 1...4 {
            ids.append(try await replica.service.add(try scene.fleet.new("size=50000&seed=\(seed)")).download.id)
        }
        for id in ids { try await until { await replica.service.isPublishing(id) } }
        #expect(try await replica.service.perform(.cancel, on: ids[0]).state == .cancelled)
        try await replica.service.remove(ids[1], deletingFile: true)
        let paused = try await replica.service.perform(.pause, on: ids[2])
        #expect(paused.state == .paused && paused.bytesReceived == 50_000)
        let begun = ContinuousClock.now
        await replica.service.shutdown()
        #expect(begun.duration(to: .now) < DownloadService.shutdownLimit)
        scene.relay.set(.relay)
        let again = try await scene.replica(in: replica.directory)
        _ = try await again.service.perform(.resume, on: ids[2])
        for (id, seed) in [(ids[2], 3), (ids[3], 4)] {
            #expect(try await again.follow(id) { !$0.state.isLive }.state == .completed)
            #expect(scene.requests(seed) == 1)
            #expect(try await scene.get(id, from: again).body.count == 50_000)
        }
        #expect(again.service.index.download(ids[0])?.state == .cancelled)
        #expect(again.service.index.download(ids[1]) == nil)
        await again.service.shutdown()
    }

    @Test("Removes a stored object whose completion was abandoned before the reply")
    func abandonedBeforeReply() async throws {
        let scene = try await ObjectScene()
        let replica = try await scene.replica()
        scene.relay.set(.answers(0))
        let id = try await replica.service.add(try scene.fleet.new("size=50000&seed=5")).download.id
        try await until { try await !scene.keys().isEmpty }
        scene.relay.set(.relay)
        #expect(try await replica.service.perform(.pause, on: id).state == .paused)
        // And once more later: a service may continue a request behind the one that removes it.
        try await until { try scene.garbage() == 1 }
        try await until { try await scene.keys().isEmpty && scene.garbage() == 0 }
        await replica.service.shutdown()
    }

    /// A replica that has lost its lease, and another that is too busy to continue its downloads.
    private func fenced(_ scene: ObjectScene) async throws -> (first: Replica, second: Replica, busy: RecordID) {
        let second = try await scene.replica { $0.maxConcurrent = 1 }
        let busy = try await second.service.add(scene.fleet.slow(seed: 1)).download.id
        _ = try await second.follow(busy) { $0.state == .downloading }
        return (try await scene.replica(), second, busy)
    }

    @Test("Removes an object of a replica without a lease at once, without completing the download")
    func storedAfterRemoval() async throws {
        let scene = try await ObjectScene()
        let (first, second, busy) = try await fenced(scene)
        scene.relay.set(.refuse)
        let id = try await first.service.add(try scene.fleet.new("size=50000&seed=2")).download.id
        try await until { await first.service.isPublishing(id) }
        let thaw = try await first.freeze()
        _ = try await second.next(of: id) { $0.state == .queued }
        scene.relay.set(.relay)
        try await until { await first.service.isCompleting(id) }
        #expect(try await scene.keys().count == 1)
        thaw()
        try await until { await first.service.isFenced }
        try await until { try await scene.keys().isEmpty }
        try await until { await first.service.busyCounts.busy == 0 }
        #expect(first.newsAfterFence.isEmpty, "\(first.newsAfterFence)")
        let discarded = first.events.withLock { events in
            events.compactMap { event in if case .discarded(let id) = event { id } else { nil } }
        }
        #expect(discarded == [id])
        await first.service.shutdown()
        // The other one fetches it again.
        _ = try await second.service.perform(.pause, on: busy)
        #expect(try await second.follow(id) { !$0.state.isLive }.state == .completed)
        #expect(try await scene.get(id, from: second).body.count == 50_000)
        #expect(try await scene.keys().count == 1)
        await second.service.shutdown()
    }

    @Test("Notes an upload for removal that was abandoned by the stop after the lease was lost")
    func abandonedByStop() async throws {
        let scene = try await ObjectScene()
        let (first, second, _) = try await fenced(scene)
        scene.relay.set(.answers(0))
        let id = try await first.service.add(try scene.fleet.new("size=50000&seed=3")).download.id
        try await until { try await !scene.keys().isEmpty }
        let thaw = try await first.freeze()
        _ = try await second.next(of: id) { $0.state == .queued }
        thaw()
        try await until { await first.service.isFenced }
        await first.service.shutdown()
        #expect(try scene.garbage() == 1)
        scene.relay.set(.relay)
        try await until { try await scene.keys().isEmpty && scene.garbage() == 0 }
        await second.service.shutdown()
    }

    @Test("An object that a record names is not taken for a refused one")
    func recordedAfterAll() async throws {
        let scene = try await ObjectScene()
        let replica = try await scene.replica()
        let id = try await replica.service.add(try scene.fleet.new("size=50000&seed=4")).download.id
        let done = try await replica.follow(id) { $0.state == .completed }
        let fleet = try #require(replica.service.fleet)
        await FleetCoordination.removeUnrecorded(
            try #require(done.published), of: id, fleet, replica.service.objects, log: { _ in })
        #expect(try await scene.get(id, from: replica).body.count == 50_000)
        #expect(try scene.garbage() == 0)
        await replica.service.shutdown()
    }

    @Test(
        "A file that waits, or is being uploaded, survives a crash, and is not fetched again",
        arguments: [(FaultyRelay.Mode.refuse, 50_000), (.swallow, 50_000), (.swallow, 3 << 20)])
    func crashWhileWaiting(mode: FaultyRelay.Mode, size: Int) async throws {
        let scene = try await ObjectScene()
        let replica = try await scene.replica()
        scene.relay.set(mode)
        let id = try await replica.service.add(try scene.fleet.new("size=\(size)&seed=5")).download.id
        let (data, copy) = (replica.directory.path + "/data", try TemporaryDirectory())
        let files = FileManager.default
        func whole() -> String? {
            try? files.contentsOfDirectory(atPath: data + "/incomplete").first { PartName($0)?.sha256 != nil }
        }
        try await until { whole() != nil }
        // The state after a crash: the same files, for another process.
        try files.createDirectory(atPath: copy.path + "/data/incomplete", withIntermediateDirectories: true)
        for name in try files.contentsOfDirectory(atPath: data) where !["incomplete", "files"].contains(name) {
            try files.copyItem(atPath: "\(data)/\(name)", toPath: "\(copy.path)/data/\(name)")
        }
        for name in [try #require(whole())] {
            try files.linkItem(atPath: "\(data)/incomplete/\(name)", toPath: "\(copy.path)/data/incomplete/\(name)")
        }
        let again = try await scene.replica(in: copy)
        scene.relay.set(.relay)
        #expect(try await again.follow(id) { !$0.state.isLive }.state == .completed)
        #expect(scene.requests(5) == 1)
        await again.service.shutdown()
        await replica.service.shutdown()
    }

    @Test("A value that PostgreSQL refuses ends its download with an error", arguments: [50_000, 9 << 20])
    func refusedValue(size: Int) async throws {
        let scene = try await ObjectScene()
        let (replica, other) = try await (scene.replica(), scene.replica())
        let connection = try PostgresConnection(scene.fleet.database.conninfo, application: "test", within: .seconds(10))
        defer { connection.close() }
        try connection.execute("ALTER TABLE pawl.downloads ADD CHECK (filename IS NULL)", within: .seconds(10))
        let id = try await replica.service.add(try scene.fleet.new("size=\(size)&seed=9")).download.id
        for replica in [replica, other] {
            let failed = try await replica.follow(id) { !$0.state.isLive }
            #expect(failed.state == .failed && failed.error?.code == .ioError)
            #expect(failed.error?.message.contains("PostgreSQL error 23514") == true)
        }
        try await until { try await scene.keys().isEmpty }
        // The replica is not stuck, and a later attempt succeeds.
        try connection.execute(
            "ALTER TABLE pawl.downloads DROP CONSTRAINT downloads_filename_check", within: .seconds(10))
        _ = try await other.service.perform(.retry, on: id)
        _ = try await replica.follow(id) { $0.state == .completed }
        await replica.service.shutdown()
        await other.service.shutdown()
    }

    @Test("Removes the object of a crash between upload and record, and stores the file again")
    func orphans() async throws {
        let scene = try await ObjectScene()
        let other = try await scene.replica { $0.maxConcurrent = 1 }
        let busy = try await other.service.add(scene.fleet.slow(seed: 7)).download
        _ = try await other.follow(busy.id) { $0.state == .downloading }
        let store = Locked<FailingStore?>(nil)
        let first = try await scene.replica(store: { real in
            let failing = FailingStore(real)
            failing.refuse { $0.savedRecord?.download.state == .completed }
            store.withLock { $0 = failing }
            return failing
        })
        let id = try await first.service.add(try scene.fleet.new("size=30000&seed=6")).download.id
        while store.withLock({ $0?.refused ?? 0 }) == 0 { try await nextTurn() }
        let orphan = try await scene.keys()
        #expect(orphan.count == 1)
        await first.service.shutdown()
        let collector = try await scene.collector(other)
        #expect(try await collector.sweepOnce(olderThan: .seconds(3600)) == 0)
        #expect(try await collector.sweepOnce(olderThan: .zero) == 1)
        #expect(try await scene.keys() == [])
        let again = try await scene.replica(in: first.directory)
        #expect(try await other.follow(id) { !$0.state.isLive }.state == .completed)
        #expect(try await scene.get(id, from: other).body.count == 30_000)
        let keys = try await scene.keys()
        #expect(keys.count == 1 && keys != orphan)
        #expect(try await collector.sweepOnce(olderThan: .zero) == 0)
        await again.service.shutdown()
        await other.service.shutdown()
    }

    @Test("Removes old unfinished uploads, and keeps others' uploads")
    func unfinishedUploads() async throws {
        let scene = try await ObjectScene()
        let replica = try await scene.replica()
        let id = RecordID(value: 77)
        for key in ["\(id)/5", "others/5"] {
            let begin = StorageRequest("POST", key: key, query: [QueryItem(name: "uploads", value: "")], body: [])
            _ = try await scene.storage.send(begin)
            _ = try await scene.storage.send(StorageRequest("PUT", key: "\(key)0", body: []))
        }
        let collector = try await scene.collector(replica)
        #expect(try await collector.sweepOnce(olderThan: .seconds(3600)) == 0)
        #expect(try await collector.sweepOnce(olderThan: .zero) == 2)
        #expect(try await scene.storage.unfinishedUploads().items.map(\.key) == ["others/5"])
        #expect(try await scene.keys() == ["others/50"])
        await replica.service.shutdown()
    }

    /// The reason why a replica does not start.
    private func refusal(
        _ scene: ObjectScene, prefix: String = "some/prefix", place: ObjectLocation? = nil
    ) async -> String? {
        do {
            let location =
                try place
                ?? ObjectLocation(
                    parsing: "s3://\(scene.storage.location.bucket)/\(prefix)?endpoint=http://127.0.0.1:\(scene.relay.port)")
            let replica = try await scene.replica { $0.objects = location }
            await replica.service.shutdown()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("A fleet has one location for its files, not shared with another fleet or a copy")
    func onePlace() async throws {
        let scene = try await ObjectScene()
        #expect(await refusal(scene) == nil)
        let mark = try await scene.mark()
        let name = String(mark.dropFirst(".pawl/".count))
        #expect(await refusal(scene) == nil)
        #expect(await refusal(scene, prefix: "some/prefiks")?.contains("this fleet has its files at") == true)
        // Moved, with the mark.
        let moved = ObjectStorage(
            try ObjectLocation(
                parsing: "s3://\(scene.storage.location.bucket)/moved?endpoint=\(try await PrivateStorage.shared().endpoint)"),
            credentials: scene.objects.credentials, client: scene.fleet.client)
        try await moved.mark(for: name, noting: "")
        #expect(await refusal(scene, prefix: "moved") == nil)
        #expect(await refusal(scene) == nil)
        // The records of another database have these files.
        try await scene.storage.mark(for: name, noting: "1-1")
        #expect(await refusal(scene)?.contains("a database that this one is a copy of") == true)
        await #expect(throws: DownloadsStartError.self) {
            let database = scene.fleet.database.conninfo
            let check = try FleetCheck(database: database, objects: scene.objects, client: scene.fleet.client)
            _ = try await check.run(repairing: true)
        }
        // Restored from a backup, it finds its files once the other one releases them.
        let database = try PostgresConnection(scene.fleet.database.conninfo, application: "test", within: .seconds(10))
        defer { database.close() }
        try database.execute("UPDATE pawl.meta SET value = '1-1 else/where' WHERE name = 'files_location'", within: .seconds(10))
        #expect(await refusal(scene)?.contains("remove the object \(mark)") == true)
        try await scene.storage.remove(mark)
        #expect(await refusal(scene) == nil)
        #expect(await refusal(scene, prefix: "some/prefiks")?.contains("this fleet has its files at") == true)
    }

    @Test(
        "Of replicas with different locations that start together, one keeps its own; of fleets with one location, at most one")
    func racingForPlaces() async throws {
        for _ in 0..<3 {
            let (scene, one, two) = try await (ObjectScene(), ObjectScene(), ObjectScene())
            async let first = refusal(scene)
            async let second = refusal(scene, prefix: "another")
            let results = await [first, second]
            #expect(results.filter { $0 == nil }.count == 1, "\(results)")
            let shared = try ObjectLocation(
                parsing: "s3://\(scene.storage.location.bucket)/shared?endpoint=http://127.0.0.1:\(scene.relay.port)")
            async let third = refusal(one, place: shared)
            async let fourth = refusal(two, place: shared)
            let more = await [third, fourth]
            #expect(more.filter { $0 == nil }.count <= 1, "\(more)")
        }
    }

    @Test("A start without the storage does not change another fleet's location")
    func placeOfAnother() async throws {
        let scene = try await ObjectScene()
        try await scene.storage.mark(for: "them", noting: "1")
        scene.relay.set(.refuse)
        let replica = try await scene.replica()
        let id = try await replica.service.add(try scene.fleet.new("size=20000&seed=1")).download.id
        scene.relay.set(.relay)
        try await until { replica.service.index.download(id)?.waitingFor == .storage }
        #expect(await replica.service.storeCondition().degraded == [.objectsAway])
        // Left over, and unknown to this database.
        let stray = ObjectKey(id: id, upload: 7).description
        try await scene.storage.mark(for: "them", noting: "1")
        let store = try #require(replica.service.fleet)
        let place = try #require(replica.service.objects?.place)
        try await store.noteUnusedObject(stray)
        let collector = ObjectCollector(fleet: store, storage: scene.storage, isOwn: { place.isOwn }, log: { _ in })
        #expect(await collector.collectOnce() == 0)
        #expect(try await scene.keys() == [])
        // It does not start downloads that it cannot finish: others can.
        try await until { place.isRefused }
        let next = try await replica.service.add(try scene.fleet.new("size=20000&seed=2")).download.id
        #expect(try await replica.service.perform(.pause, on: next).state == .paused)
        #expect(try await replica.service.perform(.resume, on: next).state == .queued)
        #expect(scene.requests(2) == 0)
        try await scene.storage.remove(".pawl/them")
        for id in [id, next] { #expect(try await replica.follow(id) { !$0.state.isLive }.state == .completed) }
        try await until { await replica.service.storeCondition().degraded == [] }
        await replica.service.shutdown()
    }

    @Test("One replica sweeps per hour")
    func sweepIsAcquired() async throws {
        let scene = try await ObjectScene()
        let (first, second) = try await (scene.replica(), scene.replica())
        var sweeps = 0
        for replica in [first, second, first] {
            if try await replica.service.fleet?.acquireSweep(every: .seconds(3600)) == true { sweeps += 1 }
        }
        #expect(sweeps == 1)
        #expect(try await second.service.fleet?.acquireSweep(every: .zero) == true)
        await first.service.shutdown()
        await second.service.shutdown()
    }

    @Test("A missing object is noticed on a request, and its record can be removed")
    func missingObject() async throws {
        let scene = try await ObjectScene()
        let replica = try await scene.replica()
        let id = try await replica.service.add(try scene.fleet.new("size=1000&seed=8")).download.id
        let done = try await replica.follow(id) { !$0.state.isLive }
        let objects = try #require(replica.service.objects)
        let file = try #require(done.published)
        #expect(try await objects.recognise(file, of: id) == .identical)
        let longer = PublishedFile(path: file.path, length: 1001, sha256: file.sha256, identity: file.identity)
        #expect(try await objects.recognise(longer, of: id) == .different)
        for key in try await scene.keys() { try await scene.storage.remove(key) }
        #expect(try await objects.recognise(file, of: id) == .missing)
        try await replica.service.remove(id, deletingFile: true)
        while try scene.garbage() > 0 { try await nextTurn() }
        await replica.service.shutdown()
    }
}
