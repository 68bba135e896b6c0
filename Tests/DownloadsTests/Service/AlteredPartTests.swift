import Foundation
import HTTPCore
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadFiles
@testable import Downloads

/// An earlier state of a part file returns: from a backup, or with a volume that was put back.
@Suite("Earlier states of part files", .timeLimit(.minutes(5)))
struct AlteredPartTests {
    /// The way in which the earlier state gets its place.
    enum Way: CaseIterable {
        case written, writtenWithItsTime, renamed, renamedWithItsTime

        func put(_ bytes: Data, modified: Date, over part: URL) throws {
            switch self {
            case .written, .writtenWithItsTime:
                let file = try FileHandle(forWritingTo: part)
                try file.truncate(atOffset: 0)
                try file.write(contentsOf: bytes)
                try file.close()
            case .renamed, .renamedWithItsTime: try bytes.write(to: part, options: .atomic)
            }
            guard self == .writtenWithItsTime || self == .renamedWithItsTime else { return }
            try FileManager.default.setAttributes([.modificationDate: modified], ofItemAtPath: part.path)
        }
    }

    /// A paused download, and an earlier state of its part file.
    private struct Paused {
        let download: Download
        let bytes: Data
        let modified: Date
    }

    /// The first response brings half of the file, and then no more.
    private static let running = "size=4000000&seed=91&fault=stall@2000000;times=1"

    /// Downloads some bytes, and pauses. The earlier state is made from the present one: a running download's part file has
    /// the file's whole length, with zeros behind the bytes that arrived.
    private func pause(_ fixture: ServiceFixture) async throws -> Paused {
        let made = try await fixture.add(Self.running)
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 1_200_000 }
        let paused = try await fixture.service.perform(.pause, on: made.id)
        let present = try state(of: fixture.part(of: made.id))
        let bytes = present.bytes.prefix(200_000) + Data(count: 4_000_000 - 200_000)
        return Paused(download: paused, bytes: bytes, modified: present.modified.addingTimeInterval(-0.5))
    }

    private func state(of part: URL) throws -> (bytes: Data, modified: Date) {
        let attributes = try FileManager.default.attributesOfItem(atPath: part.path)
        return (try Data(contentsOf: part), try #require(attributes[.modificationDate] as? Date))
    }

    /// Resumes a download, and expects that all its bytes are fetched anew.
    private func expectAnew(_ paused: Paused, _ fixture: ServiceFixture) async throws {
        let id = paused.download.id
        _ = try await fixture.service.perform(.resume, on: id)
        let done = try await fixture.end(of: id)
        #expect(done.state == .completed)
        #expect(try fixture.file(done, is: Self.running))
        #expect(fixture.requests().contains { $0.range == range(continuing: paused.download.bytesReceived) })
        #expect(fixture.requests().last?.range == nil)
        await fixture.service.shutdown()
    }

    @Test("An earlier state of a paused part file is not mixed with later bytes", arguments: Way.allCases)
    func live(_ way: Way) async throws {
        let fixture = try await ServiceFixture { $0.segments = 1 }
        let paused = try await pause(fixture)
        try way.put(paused.bytes, modified: paused.modified, over: fixture.part(of: paused.download.id))
        try await expectAnew(paused, fixture)
    }

    @Test("An earlier state that returns while the service is stopped is not mixed with later bytes", arguments: Way.allCases)
    func stopped(_ way: Way) async throws {
        let before = try await ServiceFixture { $0.segments = 1 }
        let paused = try await pause(before)
        let after = try await before.crash { data in
            let part = URL(filePath: partPath(of: paused.download.id, in: data))
            try way.put(paused.bytes, modified: paused.modified, over: part)
        } configure: {
            $0.segments = 1
        }
        await before.service.shutdown()
        try await expectAnew(paused, after)
    }

    @Test("An earlier state with the time of the present one is noticed as well")
    func forgedTime() async throws {
        let fixture = try await ServiceFixture { $0.segments = 1 }
        let paused = try await pause(fixture)
        let part = fixture.part(of: paused.download.id)
        let present = try state(of: part)
        var status = stat()
        unsafe #expect(stat(part.path, &status) == 0)
        // Of the same length.
        let earlier = paused.bytes.prefix(200_000) + Data(count: present.bytes.count - 200_000)
        let file = try FileHandle(forWritingTo: part)
        try file.write(contentsOf: earlier)
        try file.close()
        unsafe #expect(utimensat(AT_FDCWD, part.path, [status.st_atim, status.st_mtim], 0) == 0)
        try await expectAnew(paused, fixture)
    }

    @Test("An earlier state of several segments is not mixed with later bytes", arguments: [false, true])
    func segments(isShorter: Bool) async throws {
        let query = "size=16000000&seed=92&pace=1000000"
        let fixture = try await ServiceFixture { $0.segments = 4 }
        let made = try await fixture.add(query)
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 800_000 }
        if isShorter { _ = try await fixture.service.perform(.pause, on: made.id) }
        let earlier = try state(of: fixture.part(of: made.id))
        if isShorter { _ = try await fixture.service.perform(.resume, on: made.id) }
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 2_000_000 }
        _ = try await fixture.service.perform(.pause, on: made.id)
        try Way.writtenWithItsTime.put(earlier.bytes, modified: earlier.modified, over: fixture.part(of: made.id))
        _ = try await fixture.service.perform(.resume, on: made.id)
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed)
        #expect(try fixture.file(done, is: query))
        await fixture.service.shutdown()
    }

    @Test("A part file that was copied with all its bytes continues from them", arguments: [false, true])
    func copied(isStopped: Bool) async throws {
        let before = try await ServiceFixture { $0.segments = 1 }
        let paused = try await pause(before)
        func copy(_ part: URL) throws {
            try Way.renamed.put(Data(contentsOf: part), modified: .now, over: part)
        }
        let after =
            if isStopped {
                try await before.crash { data in
                    try copy(URL(filePath: partPath(of: paused.download.id, in: data)))
                }
            } else { before }
        if !isStopped { try copy(after.part(of: paused.download.id)) }
        _ = try await after.service.perform(.resume, on: paused.download.id)
        let done = try await after.end(of: paused.download.id)
        #expect(try after.file(done, is: Self.running))
        #expect(after.requests().last?.range == range(continuing: paused.download.bytesReceived))
        if isStopped { await before.service.shutdown() }
        await after.service.shutdown()
    }
}
