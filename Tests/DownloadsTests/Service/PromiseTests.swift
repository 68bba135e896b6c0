import Foundation
import HTTPCore
import JSON
import System
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadFiles
@testable import Downloads

/// The service's promises despite careless origins, disks and users.
@Suite("Promises under all conditions", .timeLimit(.minutes(5)))
struct PromiseTests {
    private static let slow = "size=4000000&seed=70&fault=stall@1500000;times=1"

    // MARK: - The part file

    enum Damage: CaseIterable {
        case removed, cut, replacedByALink, replacedByADirectory
    }

    @Test("Does not trust a part file that was damaged during a pause", arguments: Damage.allCases)
    func damagedPart(_ damage: Damage) async throws {
        let fixture = try await ServiceFixture()
        let query = "size=4000000&seed=71&fault=stall@1500000;times=1"
        let content = try #require(TestUpstream.content(of: "/entity?" + query)?.bytes)
        let made = try await fixture.add(query) {
            $0.checksum = try? Checksum(parsing: "sha-256:" + SHA256.hexadecimal(of: content))
        }
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 200_000 }
        _ = try await fixture.service.perform(.pause, on: made.id)
        let part = fixture.part(of: made.id)
        let elsewhere = fixture.directory.path + "/elsewhere"
        switch damage {
        case .removed: try FileManager.default.removeItem(at: part)
        case .cut: try FileHandle(forWritingTo: part).truncate(atOffset: 1000)
        case .replacedByALink:
            try FileManager.default.moveItem(atPath: part.path, toPath: elsewhere)
            try FileManager.default.createSymbolicLink(atPath: part.path, withDestinationPath: elsewhere)
        case .replacedByADirectory:
            try FileManager.default.removeItem(at: part)
            try FileManager.default.createDirectory(at: part, withIntermediateDirectories: false)
        }
        let untouched = try? Data(contentsOf: URL(filePath: elsewhere))
        _ = try await fixture.service.perform(.resume, on: made.id)
        let ended = try await fixture.end(of: made.id)
        #expect(ended.state == .completed)
        #expect(try fixture.file(ended, is: query))
        #expect(fixture.requests().last?.range == nil)
        #expect((try? Data(contentsOf: URL(filePath: elsewhere))) == untouched)
        await fixture.service.shutdown()
    }

    @Test("Does not trust a part file that was cut during its transfer, even if it grew again", arguments: [0, 100_000])
    func cutDuringTransfer(length: UInt64) async throws {
        let fixture = try await ServiceFixture { $0.segments = 1 }
        let query = "size=4000000&seed=72&pace=2000000"
        let made = try await fixture.add(query)
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 400_000 }
        try FileHandle(forWritingTo: fixture.part(of: made.id)).truncate(atOffset: length)
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed)
        #expect(try fixture.file(done, is: query))
        #expect(fixture.requests().last?.range == nil)
        await fixture.service.shutdown()
    }

    @Test("A part file that a user has named is not taken for the file")
    func linkedPart() async throws {
        let fixture = try await ServiceFixture()
        let query = "size=4000000&seed=71&fault=stall@1500000;times=1"
        let made = try await fixture.add(query)
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 200_000 }
        _ = try await fixture.service.perform(.pause, on: made.id)
        try FileManager.default.linkItem(
            atPath: fixture.part(of: made.id).path, toPath: fixture.directory.path + "/data/files/linked")
        let after = try await fixture.crash()
        _ = try await after.service.perform(.resume, on: made.id)
        let done = try await after.end(of: made.id)
        #expect(try after.file(done, is: query))
        await after.service.shutdown()
        await fixture.service.shutdown()
    }

    @Test("A download that was paused while its file was verified keeps no descriptor, and goes on")
    func pausedWhileFinishing() async throws {
        let disk = SlowDisk()
        let fixture = try await ServiceFixture(disk: disk)
        let query = "size=3000000&seed=81"
        let made = try await fixture.add(query)
        try await disk.isReached.wait { $0 }
        let part = fixture.part(of: made.id).path
        #expect(try descriptors(of: part) == 1)
        #expect(try await fixture.service.perform(.pause, on: made.id).state == .paused)
        disk.gate.open()
        while try descriptors(of: part) > 0 { try await nextTurn() }
        _ = try await fixture.service.perform(.resume, on: made.id)
        #expect(try fixture.file(try await fixture.end(of: made.id), is: query))
        await fixture.service.shutdown()
    }

    // MARK: - Names

    @Test("A touched or copied finished file is deleted with its record")
    func touchedFile() async throws {
        let fixture = try await ServiceFixture()
        let done = try await fixture.end(of: fixture.add("size=1000&seed=72") { $0.filename = "a.bin" }.id)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: fixture.directory.path + "/data/files/a.bin")
        do {
            try await fixture.service.remove(done.id, deletingFile: true)
        } catch DownloadError.unconfirmed {
            // It may have to wait for a processor; its result is known the second time.
            try await fixture.service.remove(done.id, deletingFile: true)
        }
        #expect(try fixture.names(in: "files") == [])
        await fixture.service.shutdown()
    }

    @Test("A name that another download has published no longer belongs to the first")
    func takenName() async throws {
        let fixture = try await ServiceFixture()
        let first = try await fixture.end(of: fixture.add("size=1000&seed=72") { $0.filename = "a.bin" }.id)
        try FileManager.default.moveItem(
            atPath: fixture.directory.path + "/data/files/a.bin", toPath: fixture.directory.path + "/moved")
        let second = try await fixture.end(of: fixture.add("size=1000&seed=73") { $0.filename = "a.bin" }.id)
        #expect(second.filename == "a.bin")
        // Its record has it without a request for the file.
        while fixture.service.index.download(first.id)?.fileMissing != true { try await nextTurn() }
        await #expect(throws: FinishedFileError.gone) { _ = try await fixture.service.openFile(of: first.id) }
        // The same URL again is a new download, not the one without a file.
        let again = try await fixture.add("size=1000&seed=72")
        #expect(again.id != first.id)
        _ = try await fixture.end(of: again.id)
        try await fixture.service.remove(first.id, deletingFile: true)
        #expect(try fixture.file(second, is: "size=1000&seed=73"))
        _ = try await fixture.service.openFile(of: second.id)
        await fixture.service.shutdown()
    }

    @Test("An addition of a URL checks its file: an exchanged one does not count, a restored one does")
    func exchangedFile() async throws {
        let fixture = try await ServiceFixture()
        let first = try await fixture.end(of: fixture.add("size=1000&seed=74") { $0.filename = "b.bin" }.id)
        let path = fixture.directory.path + "/data/files/b.bin"
        let content = try Data(contentsOf: URL(filePath: path))
        // A restored backup: another file with the same bytes.
        try FileManager.default.removeItem(atPath: path)
        try content.write(to: URL(filePath: path))
        #expect(try await fixture.service.add(NewDownload(url: fixture.url("size=1000&seed=74"))).download.id == first.id)
        try Data(repeating: 1, count: 1000).write(to: URL(filePath: path))
        #expect(try await fixture.service.add(NewDownload(url: fixture.url("size=1000&seed=74"))).download.id != first.id)
        #expect(fixture.service.index.download(first.id)?.fileMissing == true)
        await fixture.service.shutdown()
    }

    // MARK: - Time

    @Test("An origin's Retry-After applies over a restart, a pause and a resumption; cancelling and retrying end it")
    func retryAfter() async throws {
        let before = try await ServiceFixture()
        let query = "size=1000&seed=75&fault=503x1,retry-after=3600"
        let made = try await before.add(query)
        _ = try await before.follow(made.id) { $0.state == .retrying }
        try await before.settle()
        let asked = before.requests().count
        let after = try await before.crash()
        #expect(after.service.index.download(made.id)?.state == .retrying)
        _ = try await after.service.perform(.pause, on: made.id)
        #expect(try await after.service.perform(.resume, on: made.id).state == .queued)
        _ = try await after.follow(made.id) { $0.state == .retrying }
        #expect(after.requests().count == asked)
        _ = try await after.service.perform(.cancel, on: made.id)
        _ = try await after.service.perform(.retry, on: made.id)
        #expect(try await after.end(of: made.id).state == .completed)
        await after.service.shutdown()
        await before.service.shutdown()
    }

    @Test("An origin's Retry-After applies to the resumption of a download that failed by it")
    func retryAfterFailure() async throws {
        let fixture = try await ServiceFixture { $0.retryDelay = (.milliseconds(1), .milliseconds(1)) }
        let origin = try ScriptedOrigin { request in
            [.response(503, [("Retry-After", request.number < 7 ? "0" : "3600")])]
        }
        let url = try #require(HTTPURL(origin.url("/file.bin")))
        let made = try await fixture.service.add(NewDownload(url: url)).download
        #expect(try await fixture.end(of: made.id).state == .failed)
        let asked = try await origin.requests(atLeast: 8).count
        _ = try await fixture.service.perform(.resume, on: made.id)
        _ = try await fixture.follow(made.id) { $0.state == .retrying }
        #expect(origin.requests.count == asked)
        await fixture.service.shutdown()
    }

    // MARK: - Versions

    /// The origin's response to a range: the same tag with another date, or with other bytes.
    enum Whole: CaseIterable {
        case otherDate, otherBytes
    }

    @Test(
        "A 200 to a range with another date is another version, and never written over hashed bytes",
        arguments: Whole.allCases)
    func wholeForARange(_ whole: Whole) async throws {
        let old = (0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 6) }
        let new = old.map { $0 ^ 0x55 }
        let origin = try ScriptedOrigin { request in
            let date =
                request.number > 0 && whole == .otherDate ? "Tue, 03 Jan 2023 00:00:00 GMT" : "Mon, 02 Jan 2023 00:00:00 GMT"
            let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nLast-Modified: \(date)\r\nContent-Length: \(old.count)\r\n\r\n"
            return request.number == 0
                ? [.send(Array(head.utf8)), .send(Array(old[..<500_000])), .stall] : [.send(Array(head.utf8)), .send(new)]
        }
        let fixture = try await ServiceFixture()
        let url = try #require(HTTPURL(origin.url("/file.bin")))
        let made = try await fixture.service.add(NewDownload(url: url)).download
        _ = try await fixture.follow(made.id) { $0.bytesReceived == 500_000 }
        _ = try await fixture.service.perform(.pause, on: made.id)
        _ = try await fixture.service.perform(.resume, on: made.id)
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed)
        // Other bytes under one tag start over as well.
        let content = try fixture.file(done)
        #expect(Bytes(content) == Bytes(new))
        #expect(done.sha256Bytes == SHA256.digest(of: content))
        await fixture.service.shutdown()
    }

    // MARK: - Commands

    @Test("A command's response has the transfer state that readers see")
    func progressInAnswers() async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add(Self.slow)
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 1_000_000 }
        var change = DownloadChange()
        change.priority = 3
        let changed = try await fixture.service.change(made.id, change)
        #expect(changed.state == .downloading && changed.bytesReceived > 1_000_000)
        #expect(changed.receivedRanges.isEmpty == false)
        #expect(try await fixture.service.perform(.resume, on: made.id).bytesReceived > 1_000_000)
        await fixture.service.shutdown()
    }

    @Test("Responds to each command in time with its result, whatever the disk does during verification")
    func slowDisk() async throws {
        for command in ["pause", "cancel", "remove", "change", "url"] {
            let disk = SlowDisk()
            let fixture = try await ServiceFixture(disk: disk)
            let made = try await fixture.add("size=3000000&seed=76")
            try await disk.isReached.wait { $0 }
            let begun = ContinuousClock.now
            switch command {
            case "pause":
                let paused = try await fixture.service.perform(.pause, on: made.id)
                #expect(paused.state == .paused && paused.bytesReceived == 3_000_000)
            case "cancel": #expect(try await fixture.service.perform(.cancel, on: made.id).state == .cancelled)
            case "remove": try await fixture.service.remove(made.id, deletingFile: true)
            case "change":
                var change = DownloadChange()
                change.labels = ["new"]
                let changed = try await fixture.service.change(made.id, change)
                #expect(changed.labels == ["new"] && changed.bytesReceived == 3_000_000)
                #expect(fixture.service.index.download(made.id)?.bytesReceived == 3_000_000)
            default:
                var change = DownloadChange()
                change.url = try fixture.url("size=3000000&seed=76&fresh=1")
                #expect(try await fixture.service.change(made.id, change).state == .queued)
            }
            #expect(ContinuousClock.now - begun < .seconds(5), "\(command)")
            disk.gate.open()
            await fixture.service.shutdown()
            #expect(try fixture.names(in: "files").count <= (command == "change" || command == "url" ? 1 : 0))
        }
    }

    @Test("Commands of many clients for one download have an order that explains every response", arguments: 0..<6)
    func linearizability(_ seed: Int) async throws {
        let fixture = try await ServiceFixture { $0.maxConcurrent = 1 }
        let made = try await fixture.add("size=300000&seed=\(200 + seed)&fault=stall@100000")
        let history = await withTaskGroup(of: [Answer].self) { group in
            for client in 0..<8 {
                group.addTask {
                    var random = SeededRandom(seed: UInt64(seed * 100 + client))
                    var answers: [Answer] = []
                    for _ in 0..<12 {
                        let command = DownloadCommand.allCases[random.number(below: 4)]
                        let asked = ContinuousClock.now
                        let result = try? await fixture.service.perform(command, on: made.id)
                        answers.append(Answer(command: command, asked: asked, answered: .now, download: result))
                    }
                    return answers
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        try Answer.check(history)
        await fixture.service.shutdown()
    }

    // MARK: - Readers and receivers

    @Test("A webhook reports an end only after it is visible")
    func webhookAfterAll() async throws {
        let service = Waiter<DownloadService?>(nil)
        let early = Waiter(0)
        let receiver = try ScriptedOrigin { request in
            let id = (try? ReceivedMessage(request))?.data.string.flatMap { RecordID(String($0.prefix(26))) }
            if let service = service.value, service.index.download(id ?? RecordID(value: 0))?.state != .completed {
                early.update { $0 += 1 }
            }
            return [.response(204)]
        }
        let fixture = try await ServiceFixture()
        service.update { $0 = fixture.service }
        let hook = try #require(HTTPURL(receiver.url("/hook")))
        for seed in 0..<40 { _ = try await fixture.add("size=1000&seed=\(300 + seed)") { $0.webhook = hook } }
        _ = try await receiver.requests(atLeast: 40)
        #expect(early.value == 0)
        service.update { $0 = nil }
        await fixture.service.shutdown()
    }

    // MARK: - New URLs

    @Test("Requests a new URL even if every byte is present", arguments: [true, false])
    func newLinkForWholeFile(isSame: Bool) async throws {
        let disk = SlowDisk()
        let fixture = try await ServiceFixture(disk: disk)
        let made = try await fixture.add("size=3000000&seed=77")
        try await disk.isReached.wait { $0 }
        let other = "size=3000000&seed=\(isSame ? 77 : 78)"
        var change = DownloadChange()
        change.url = try fixture.url(other + "&fresh=1")
        _ = try await fixture.service.change(made.id, change)
        disk.gate.open()
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed)
        #expect(try fixture.file(done, is: other))
        let last = try #require(fixture.requests().first { $0.target.contains("fresh=1") })
        #expect(last.range == range(continuing: 3_000_000) && last.ifRange != nil)
        await fixture.service.shutdown()
    }

    // MARK: - The store

    @Test("A client that leaves takes nothing that the download still needs")
    func lettingGo() async throws {
        let disk = SlowDisk()
        disk.gate.open()
        let fixture = try await ServiceFixture(disk: disk)
        disk.keepsNames.withLock { ($0 = true, wake: false) }
        let made = try await fixture.add("size=700&seed=60")
        try await disk.isReached.wait { $0 }
        try await fixture.service.pinOnce([made.id])
        disk.keepsNames.withLock { ($0 = false, wake: true) }
        #expect(try await fixture.end(of: made.id).state == .completed)
        await fixture.service.shutdown()
    }

    @Test("Saves a completion soon that could not be saved")
    func completionSavedLater() async throws {
        let fixture = try await ServiceFixture()
        fixture.store.refuse { $0.saves(.completed) }
        let done = try await fixture.end(of: fixture.add("size=1000&seed=79").id)
        #expect(await fixture.service.isUnsaved(done.id))
        fixture.store.refuse(nil)
        while try fixture.names(in: "incomplete") != [] { try await nextTurn() }
        #expect(await !fixture.service.isUnsaved(done.id))
        let after = try await fixture.crash(starting: false)
        #expect(after.service.index.download(done.id)?.state == .completed)
        await after.service.shutdown()
        await fixture.service.shutdown()
    }

    @Test("Does not rely on a new version that the store does not know")
    func unsavedVersion() async throws {
        let before = try await ServiceFixture()
        let query = "size=4000000&seed=80&fault=stall@400000;times=1,change;times=1"
        before.store.refuse { change in
            if case .save(let record) = change { record.entity != nil } else { false }
        }
        let made = try await before.add(query)
        _ = try await before.follow(made.id) { $0.bytesReceived >= 400_000 }
        let after = try await before.crash()
        let done = try await after.end(of: made.id)
        #expect(try after.edition(done, of: query) != nil)
        #expect(done.sha256 == SHA256.hexadecimal(of: try after.file(done)))
        await after.service.shutdown()
        before.store.refuse(nil)
        await before.service.shutdown()
    }

    @Test(
        "A bulk command runs in groups, each durable together, and ended downloads need no machine"
    )
    func bulk() async throws {
        let fixture = try await ServiceFixture(starting: false)
        try await fixture.addMany(1200)
        #expect(try await fixture.service.performOnAll(.cancel) == 1200)
        #expect(fixture.service.index.statistics().counts[.cancelled] == 1200)
        #expect(await fixture.service.machineCount == 0)
        let after = try await fixture.crash(starting: false)
        #expect(after.service.index.statistics().counts[.cancelled] == 1200)
        #expect(await after.service.machineCount == 0)
        #expect(try await after.service.performOnAll(.retry, states: [.cancelled]) == 1200)
        await after.service.shutdown()
        await fixture.service.shutdown()
    }

    @Test(
        "A bulk command starts no download that waits for a slot", arguments: [DownloadCommand.pause, .cancel, nil],
        [false, true])
    func bulkOfWaiting(_ command: DownloadCommand?, _ isRunningTheNewest: Bool) async throws {
        let fixture = try await ServiceFixture { $0.maxConcurrent = 1 }
        let first = try await fixture.add("size=4000000&seed=1&fault=stall@1000000")
        _ = try await fixture.follow(first.id) { $0.bytesReceived > 0 }
        try await fixture.addMany(1200)
        if isRunningTheNewest {
            let urgent = try await fixture.add("size=4000000&seed=2&fault=stall@1000000") { $0.priority = 10 }
            _ = try await fixture.service.perform(.cancel, on: first.id)
            try await fixture.service.remove(first.id, deletingFile: false)
            _ = try await fixture.follow(urgent.id) { $0.bytesReceived > 0 }
        }
        let requests = fixture.upstream.requests.count
        if let command {
            #expect(try await fixture.service.performOnAll(command) == 1201)
        } else {
            #expect(try await fixture.service.removeAll(ListQuery(), deletingFiles: false) == 1201)
        }
        await fixture.service.shutdown()
        #expect(fixture.upstream.requests.count == requests)
    }

    @Test("Of bulk commands that overlap, one counts a download with a slot", arguments: [DownloadCommand.pause, .cancel])
    func overlappingBulk(_ command: DownloadCommand) async throws {
        let fixture = try await ServiceFixture()
        for seed in 1...4 {
            let made = try await fixture.add("size=4000000&seed=\(seed)&fault=stall@1000000")
            _ = try await fixture.follow(made.id) { $0.bytesReceived > 0 }
        }
        let service = fixture.service
        async let first = service.performOnAll(command)
        async let second = service.performOnAll(command)
        async let third = service.performOnAll(command)
        #expect(try await first + second + third == 4)
        #expect(service.index.statistics().counts[command == .pause ? .paused : .cancelled] == 4)
        await service.shutdown()
    }

    @Test("A bulk resume starts the first download of the queue")
    func bulkResume() async throws {
        let fixture = try await ServiceFixture { $0.maxConcurrent = 1 }
        try await fixture.addMany(1200, paused: true)
        let urgent = try await fixture.add("size=4000000&seed=2&fault=stall@1000000") { new in
            (new.priority, new.startsPaused) = (10, true)
        }
        #expect(try await fixture.service.performOnAll(.resume) == 1201)
        _ = try await fixture.follow(urgent.id) { $0.bytesReceived > 0 }
        #expect(fixture.service.index.statistics().counts[.queued] == 1200)
        await fixture.service.shutdown()
    }
}

/// A response to a command, with the times of request and response.
private struct Answer: Sendable {
    let command: DownloadCommand
    let asked: ContinuousClock.Instant
    let answered: ContinuousClock.Instant
    /// Nil for a refusal.
    let download: Download?

    /// The effect of a command on a download.
    private var made: Set<DownloadState> {
        switch command {
        case .pause: [.paused]
        case .cancel: [.cancelled]
        case .retry: [.queued]
        // Unchanged if it runs already.
        case .resume: [.queued, .downloading, .retrying]
        }
    }

    /// Checks that an order of the responses fits the times and the effects of the commands. Revisions are that order:
    /// each change of the download has its own.
    static func check(_ history: [Answer]) throws {
        let taken = history.filter { $0.download != nil }
        for answer in taken {
            guard let download = answer.download else { continue }
            #expect(answer.made.contains(download.state), "\(answer.command) was answered with \(download.state)")
        }
        for earlier in taken {
            for later in taken where earlier.answered < later.asked {
                guard let first = earlier.download, let second = later.download else { continue }
                #expect(first.revision <= second.revision, "\(later.command) was answered from before \(earlier.command)")
            }
        }
        // Two changes cannot have the same revision.
        let changes = taken.compactMap { $0.download }
        for (revision, same) in Dictionary(grouping: changes, by: \.revision) {
            #expect(Set(same.map(\.state)).count == 1, "revision \(revision) was in two states")
        }
    }
}

/// A disk that blocks until its gate is opened.
final class SlowDisk: Sendable {
    let gate = Gate()
    /// Whether a caller waits for it.
    let isReached = Waiter(false)
    /// Its free bytes; by default the real disk's.
    let free = Locked<Int64?>(nil)
    /// Its size in bytes, if its free bytes are given; 0: unknown.
    let size = Locked<Int64>(0)
    /// Whether names of part files stay for now.
    let keepsNames = Monitor(false)
    /// Whether no finished file can be removed.
    let keepsFiles = Locked(false)
    /// The number of requests for a finished file.
    let looks = Locked(0)
}

extension SlowDisk {
    /// Opens the files of a directory on this disk.
    func files(in directory: DataDirectory) -> (PartFiles, any FinishedFiles) {
        var operations = PartFiles.Operations()
        operations.space = { [free, size] (directory) throws(SystemError) in
            if let free = free.withLock({ $0 }) { return FileSystemSpace(size: size.withLock { $0 }, free: free) }
            return try directory.space()
        }
        operations.verify = { [self] verification in
            if gate.isOpen { return verification.begin() }
            isReached.update { $0 = true }
            gate.whenOpen { verification.begin() }
        }
        let partFiles = PartFiles(directory, operations: operations)
        return (partFiles, SlowFinishedFiles(LocalFinishedFiles(partFiles), self))
    }
}

/// Finished files on a slow disk.
final class SlowFinishedFiles: FinishedFiles {
    private let real: LocalFinishedFiles
    private let disk: SlowDisk

    init(_ real: LocalFinishedFiles, _ disk: SlowDisk) {
        self.real = real
        self.disk = disk
    }

    func begin(_ publication: Publication) { real.begin(publication) }
    func finishPublishing(_ id: RecordID, then handler: @escaping @Sendable (FileError?) -> Void) {
        BlockingExecutor.disk.submit { [real, disk] in
            disk.keepsNames.wait { keepsNames in
                if keepsNames { disk.isReached.update { $0 = true } }
                return keepsNames ? .wait(nil) : .done(())
            }
            real.finishPublishing(id, then: handler)
        }
    }
    func settle() async {}
    func tryPublishing(isHidden: Bool) throws(FileError) { try real.tryPublishing(isHidden: isHidden) }
    func isTaken(_ path: FilePath) -> Bool { real.isTaken(path) }
    func obstacle(to folder: String) -> FileError? { real.obstacle(to: folder) }
    var keepsObjects: Bool { false }
    var isStorageAway: Bool { false }
    func finishedBytes() throws(FileError) -> Int128 { try real.finishedBytes() }
    func has(_ file: PublishedFile) -> Bool {
        disk.looks.withLock { $0 += 1 }
        return real.has(file)
    }
    func isGone(_ file: PublishedFile) -> Bool { real.isGone(file) }
    func open(_ file: PublishedFile) throws(FileError) -> FileDescriptor { try real.open(file) }
    func openCached(_ path: FilePath, as identity: FileIdentity) -> FileDescriptor? { real.openCached(path, as: identity) }
    func address(
        of id: RecordID, as identity: FileIdentity, isHead: Bool, disposition: String?, mediaType: String, validFor seconds: Int
    ) -> String? { nil }
    func remove(_ file: PublishedFile) throws(FileError) -> RemovedFiles {
        if disk.keepsFiles.withLock(\.self) { throw FileError(.device, "remove \(file.path): input/output error") }
        return try real.remove(file)
    }
    func recognise(_ file: PublishedFile, of id: RecordID, isHashed: Bool) async throws(FileError) -> FileRecognition {
        disk.looks.withLock { $0 += 1 }
        return try await real.recognise(file, of: id, isHashed: isHashed)
    }
}

extension DownloadService {
    /// Reads downloads as if for a command.
    fileprivate func pinOnce(_ ids: [RecordID]) async throws {
        unpin(try await pin(ids))
    }
}
