import Foundation
import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadFiles
@testable import Downloads
@testable import ObjectStorage

@Suite(
    "The check of a fleet's records and objects", .timeLimit(.minutes(5)),
    .enabled(if: ObjectScene.isWanted, "\(ObjectScene.whySkipped)"))
struct FleetCheckTests {
    /// The faults, and the number of repaired ones.
    private func check(
        _ scene: ObjectScene, repairing: Bool = false, deep: Bool = false
    ) async throws -> (faults: [DirectoryFault], repaired: Int) {
        let check = try FleetCheck(database: scene.fleet.database.conninfo, objects: scene.objects, client: scene.fleet.client)
        check.orphanAge = .zero
        var told: [DirectoryFault] = []
        let report = try await check.run(repairing: repairing, deep: deep) { told.append($0) }
        #expect(told == report.faults)
        return (told, report.repaired)
    }

    @Test("Reports faults, and repairs them while replicas run; the replicas notice")
    func faults() async throws {
        let scene = try await ObjectScene()
        let replica = try await scene.replica()
        var keys: [RecordID: String] = [:]
        for seed in 1...4 {
            let added = try await replica.service.add(try scene.fleet.new("size=20000&seed=\(seed)")).download
            let done = try await replica.follow(added.id) { !$0.state.isLive }
            keys[added.id] = done.file.flatMap { ObjectKey(done.id, $0) }?.description
        }
        let ids = keys.keys.sorted()
        #expect(try await check(scene).faults == [])
        let (gone, cut, stray) = (ids[0], ids[1], ObjectKey(id: ids[2], upload: 7).description)
        try await scene.storage.remove(try #require(keys[gone]))
        let directory = try TemporaryDirectory()
        let short = directory.path + "/short"
        try Data([1, 2, 3]).write(to: URL(filePath: short))
        for key in [try #require(keys[cut]), stray] {
            try await scene.storage.upload(
                try FileDescriptor(opening: short), length: 3, sha256: SHA256.digest(of: [1, 2, 3]), to: key, mediaType: nil)
        }
        let (found, _) = try await check(scene)
        #expect(Set(found.map(\.kind)) == [.missingFile, .wrongFile, .orphan] && found.count == 3)
        #expect(found.filter { $0.id != nil }.map(\.id) == [gone, cut])
        #expect(try await scene.keys().contains(stray))
        #expect(replica.service.index.download(gone)?.fileMissing == false)

        let (again, repaired) = try await check(scene, repairing: true)
        #expect(again == found && repaired == 3)
        _ = try await replica.follow(gone) { $0.fileMissing }
        let failed = try await replica.follow(cut) { $0.state == .failed }
        #expect(failed.error?.code == .checksumMismatch)
        try await until { try await scene.keys().count <= 2 }
        #expect(try await check(scene).faults == [])
        // The download can be retried, and a returned file is recognised.
        _ = try await replica.service.perform(.retry, on: cut)
        _ = try await replica.follow(cut) { $0.state == .completed }
        await replica.service.shutdown()
    }

    @Test("A deep check finds and repairs an object with other bytes of the same length")
    func otherBytes() async throws {
        let scene = try await ObjectScene()
        let replica = try await scene.replica()
        var keys: [RecordID: String] = [:]
        for seed in 1...2 {
            let added = try await replica.service.add(try scene.fleet.new("size=20000&seed=\(seed)")).download
            let done = try await replica.follow(added.id) { !$0.state.isLive }
            keys[added.id] = done.file.flatMap { ObjectKey(done.id, $0) }?.description
        }
        let changed = try #require(keys.keys.min())
        let directory = try TemporaryDirectory()
        let content = [UInt8](repeating: 7, count: 20_000)
        try Data(content).write(to: URL(filePath: directory.path + "/other"))
        try await scene.storage.upload(
            try FileDescriptor(opening: directory.path + "/other"), length: 20_000, sha256: SHA256.digest(of: content),
            to: try #require(keys[changed]), mediaType: nil)
        #expect(try await check(scene).faults == [])
        let (found, repaired) = try await check(scene, repairing: true, deep: true)
        #expect(found.map(\.kind) == [.wrongFile] && found.map(\.id) == [changed] && repaired == 1)
        #expect(found.first?.detail.contains("SHA-256") == true)
        let failed = try await replica.follow(changed) { $0.state == .failed }
        #expect(failed.error?.code == .checksumMismatch)
        #expect(try await check(scene, deep: true).faults == [])
        await replica.service.shutdown()
    }

    @Test("A location without a fleet's files, or with another's, does not make files missing", arguments: [nil, "other"])
    func wrongPlace(owner: String?) async throws {
        let scene = try await ObjectScene()
        let replica = try await scene.replica()
        let added = try await replica.service.add(try scene.fleet.new("size=20000&seed=1")).download
        _ = try await replica.follow(added.id) { $0.state == .completed }
        try await scene.storage.remove(try await scene.mark())
        if let owner { try await scene.storage.mark(for: owner, noting: "") }
        await #expect(throws: DownloadsStartError.self) { _ = try await check(scene, repairing: true) }
        #expect(replica.service.index.download(added.id)?.fileMissing == false)
        await replica.service.shutdown()
    }

    @Test("Refuses a database without a fleet, and leaves it empty")
    func noFleet() async throws {
        let scene = try await ObjectScene()
        for _ in 0..<2 {
            #expect(throws: DownloadsStartError.self) {
                _ = try FleetCheck(database: scene.fleet.database.conninfo, objects: scene.objects, client: scene.fleet.client)
            }
        }
    }
}
