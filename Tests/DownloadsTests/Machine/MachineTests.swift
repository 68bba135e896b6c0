import Foundation
import HTTPCore
import System
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import DownloadTransfer
@testable import Downloads

/// Every phase of a download's machine with every event: its actions, and its next phase.
///
/// The table beside this file has the expected results, one on a line. `PAWL_WRITE_TABLE=1 swift test --filter
/// MachineTests` writes it from the machine's behaviour, so that a change appears as a difference.
@Suite("The machine of a download", .timeLimit(.minutes(2)))
struct MachineTests {
    static let url: HTTPURL = {
        guard let url = HTTPURL("http://127.0.0.1/file") else { fatalError("a URL of the tests is none") }
        return url
    }()
    private static let table = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "MachineTable.txt")

    @Test("Each phase reacts to each event as in the table")
    func table() throws {
        var lines: [String] = []
        for phase in MachineWalk.phases {
            let walk = phase.walk()
            var idle: [String] = []
            lines.append("# \(phase.name) (\(walk.machine.record.download.state))")
            for event in MachineWalk.events(for: walk) {
                var next = walk
                let actions = next.send(event).compactMap(\.words)
                if actions.isEmpty, next.machine.phase == walk.machine.phase {
                    idle.append(event.words)
                    continue
                }
                let to = "\(next.machine.record.download.state), \(next.machine.phase.words)"
                lines.append("\(event.words) | \(actions.joined(separator: ", ")) | \(to)")
            }
            lines += ["nothing on: \(idle.joined(separator: ", "))", ""]
        }
        lines += RecoveryRows.all + [""]
        let text = lines.joined(separator: "\n")
        if ProcessInfo.processInfo.environment["PAWL_WRITE_TABLE"] != nil { try Data(text.utf8).write(to: Self.table) }
        let expected = String(decoding: try Data(contentsOf: Self.table), as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(expected.count == lines.count)
        for (found, wanted) in zip(lines, expected) { #expect(found == wanted) }
    }

    @Test(
        "Saves that mirrors are excluded before the following bytes, until a retry, another URL or new mirrors"
    )
    func mirrorsToAvoid() {
        let walk = MachineWalk.receiving().going(
            { .ended($0.number("transfer"), MachineWalk.ending(.whole, MachineWalk.whole, isMixed: true)) })
        #expect(!walk.machine.countsFailures)
        var anew = walk.going({ .verified($0.number("verify"), .differs(expected: "sha-256:00", actual: "sha-256:01")) })
        #expect(anew.machine.phase == .waiting && !anew.machine.countsFailures)
        let saved = anew.actions.compactMap { action -> DownloadRecord? in
            if case .save(_, let record, _) = action { record } else { nil }
        }
        #expect(saved.map(\.distrustsMirrors) == [true] && saved.first?.segments.isEmpty == true)
        anew.send(MachineWalk.command(.pause))
        anew.send(MachineWalk.command(.resume))
        #expect(anew.machine.phase == .waiting && anew.machine.record.distrustsMirrors)

        var mirrors = DownloadChange()
        mirrors.mirrors = [MachineTests.url]
        var url = DownloadChange()
        url.url = HTTPURL("http://127.0.0.1/other")
        for change in [mirrors, url] {
            #expect(!anew.going({ _ in MachineWalk.command(.change(change)) }).machine.record.distrustsMirrors)
        }
        let cancelled = anew.going({ _ in MachineWalk.command(.cancel) })
        #expect(!cancelled.machine.record.distrustsMirrors)
    }

    @Test("Bytes after the exclusion are from one source, even after a restart")
    func distrustAfterRestart() throws {
        let edit = { (distrusts: Bool) in
            { (record: inout DownloadRecord) in
                record.entity = MachineWalk.entity
                record.segments = MachineWalk.half.segments(total: MachineWalk.total)
                record.mirrors = ["http://127.0.0.1/mirror"]
                record.distrustsMirrors = distrusts
            }
        }
        for distrusts in [true, false] {
            let walk = MachineWalk(.queued, edit(distrusts), written: MachineWalk.half).going(
                { _ in .admitted }, { _ in .slotAcquired(obstacle: nil) }, { .partOpened($0.number("open")) },
                { .accepted($0.number("transfer"), MachineWalk.acceptance(MachineWalk.half), name: nil) },
                { .ended($0.number("transfer"), MachineWalk.ending(.whole, MachineWalk.whole)) },
                { .verified($0.number("verify"), .differs(expected: "sha-256:00", actual: "sha-256:01")) })
            // The mirrors may be the wrong sources of mixed bytes. After the own URL, a mirror is asked alone.
            #expect(walk.machine.record.download.state == .queued)
            #expect(walk.machine.record.distrustsMirrors == !distrusts)
            #expect(walk.machine.resume.replacedSources == (distrusts ? [MachineTests.url.string] : []))
        }
    }

    @Test("Discards a completion that the database refuses, without showing, logging or saving it")
    func refusedCompletion() {
        let walk = MachineWalk.phases.first { $0.name == "completing" }?.walk()
        let refused = walk?.going({ .committed($0.number("commit"), .fenced) })
        #expect(refused?.actions.compactMap(\.words) == ["discard file"])
        #expect(refused?.machine.record.download.state == .downloading)
        #expect(refused?.machine.isUnsaved == false)
    }

    /// The ways from the acceptance of a response, whose record is being saved.
    private static let afterAcceptance: [@Sendable (MachineWalk) -> MachineWalk] = [
        { $0 },
        { $0.going({ _ in MachineWalk.command(.pause) }) },
        { $0.going({ .ended($0.number("transfer"), MachineWalk.ending(.whole, MachineWalk.whole)) }) },
        {
            let broken = DownloadFailure(.transferBroken, "broken", retryable: true)
            return $0.going({ .ended($0.number("transfer"), MachineWalk.ending(.failed(broken, retryAfter: nil))) })
        },
        {
            $0.going(
                { .committed($0.number("commit"), nil) },
                { .ended($0.number("transfer"), MachineWalk.ending(.whole, MachineWalk.whole)) },
                { .verified($0.number("verify"), .matches) },
                { .published($0.number("publish"), .success(MachineWalk.file)) })
        },
    ]

    @Test("Drops the origin's values if the database cannot store them, and fails", arguments: afterAcceptance.indices)
    func unstorable(way: Int) {
        let name = DownloadMachine.ResponseName(wanted: "file", reserved: "file")
        let accepted = MachineWalk().going(
            { _ in .admitted }, { _ in .slotAcquired(obstacle: nil) },
            { .accepted($0.number("transfer"), MachineWalk.acceptance(), name: name) })
        var walk = Self.afterAcceptance[way](accepted)
        walk.send(.committed(walk.number("commit"), .unstorable("PostgreSQL error 22P05: a character")))
        if case .stopping = walk.machine.phase { walk.send(.ended(walk.number("transfer"), MachineWalk.ending(.cancelled))) }
        let record = walk.machine.record
        // A download that waits for another attempt goes on waiting.
        #expect(record.download.state == (way == 3 ? .retrying : .failed))
        #expect(record.download.error?.code == (way == 3 ? .transferBroken : .ioError))
        #expect(record.entity == nil && record.download.mediaType == nil && record.download.filename == nil)
        #expect(record.segments.isEmpty && record.download.bytesReceived == 0)
        // Only a save that still fails is repeated after a pause.
        let last = walk.number("commit")
        walk.send(.committed(last, .unstorable("again")))
        #expect(walk.machine.isUnsaved && walk.number("commit") == last)
    }

    @Test("Recorded events lead a new machine to the same actions and state")
    func replay() {
        for phase in MachineWalk.phases {
            var walk = phase.walk()
            for event in MachineWalk.events(for: walk) { walk.send(event) }
            walk.host.expectSameReplay()
        }
    }

    @Test("A late event of an abandoned attempt changes nothing in any phase")
    func late() {
        for phase in MachineWalk.phases {
            for event in MachineWalk.lateEvents {
                var walk = phase.walk()
                // The timer is not late there.
                if walk.machine.isUnsaved, case .timer(.save) = event { continue }
                let before = walk.machine.phase
                let actions = walk.send(event).compactMap(\.words)
                #expect(actions.isEmpty, "\(phase.name), \(event.words)")
                #expect(walk.machine.phase == before, "\(phase.name), \(event.words)")
            }
        }
    }
}

/// Leads a machine into the state that a test needs.
struct MachineWalk {
    /// A phase, and the way into it.
    struct Row: Sendable {
        let name: String
        let walk: @Sendable () -> MachineWalk

        init(_ name: String, _ walk: @escaping @Sendable () -> MachineWalk) {
            self.name = name
            self.walk = walk
        }
    }

    private(set) var host: MachineHost
    /// The actions of the last event.
    private(set) var actions: [DownloadMachine.Action] = []
    /// The number of the last operation of each kind.
    private(set) var operations: [String: DownloadMachine.Operation] = [:]
    private var waiter: DownloadMachine.Waiter = 0

    static let total: Int64 = 4 << 20
    static let half = Coverage(prefix: 2 << 20)
    static let entity = SavedEntity(etag: "\"v1\"", total: total)

    init(_ state: DownloadState = .queued, _ edit: (inout DownloadRecord) -> Void = { _ in }, written: Coverage = Coverage()) {
        let id = RecordID(value: 1 << 100)
        var record = DownloadRecord(Download(id: id, url: MachineTests.url.string, state: state, createdAt: id.createdAt))
        record.webhook = "http://127.0.0.1/hook"
        edit(&record)
        host = MachineHost(
            DownloadMachine(record, url: MachineTests.url, written: written), seed: 1, names: FileNames { _ in false })
    }

    var machine: DownloadMachine { host.machine }

    /// A download with half of its bytes, all of them durable.
    static func halfway(_ state: DownloadState) -> MachineWalk {
        MachineWalk(
            state,
            {
                $0.entity = entity
                $0.segments = half.segments(total: total)
                $0.download.filename = "file"
                $0.download.bytesReceived = half.byteCount
                $0.download.bytesTotal = total
            }, written: half)
    }

    @discardableResult
    mutating func send(_ event: DownloadMachine.Event) -> [DownloadMachine.Action] {
        actions = host.send(event)
        for action in actions {
            switch action {
            case .openPart(let operation, _, _): operations["open"] = operation
            case .start(let operation, _): operations["transfer"] = operation
            case .flush(let operation, _, _): operations["flush"] = operation
            case .verify(let operation, _, _): operations["verify"] = operation
            case .publish(let operation, _): operations["publish"] = operation
            case .save(let operation, _, _), .saveCompletion(let operation, _, _), .saveRemoval(let operation, _):
                operations["commit"] = operation
            case .setTimer(.retry(let operation), _): operations["retry"] = operation
            case .setTimer(.patience(let operation), _): operations["patience"] = operation
            default: break
            }
        }
        return actions
    }

    func going(_ events: (MachineWalk) -> DownloadMachine.Event...) -> MachineWalk {
        var walk = self
        for event in events { walk.send(event(walk)) }
        return walk
    }

    func number(_ kind: String) -> DownloadMachine.Operation { operations[kind] ?? 0 }

    static func command(_ request: DownloadMachine.Command.Request, isExpected: Bool? = nil) -> DownloadMachine.Event {
        var command = DownloadMachine.Command(waiter: 1, request: request)
        if let isExpected { command.isExpected = { _ in isExpected } }
        return .command(command)
    }

    static func acceptance(_ written: Coverage = Coverage(), replacing: Bool = false) -> TransferAcceptance {
        let entity = replacing ? SavedEntity(etag: "\"v2\"", total: total) : entity
        return TransferAcceptance(
            body: ResumeDecision.Body(offset: written.prefix, end: total, entity: entity, isResumable: true), written: written,
            startedOver: replacing, isReplacement: replacing, partGeneration: replacing ? 2 : 1, mediaType: "audio/mp4",
            contentDisposition: nil, finalURL: MachineTests.url)
    }

    static func ending(
        _ outcome: TransferEnding.Outcome, _ written: Coverage = half, isMixed: Bool = false
    ) -> TransferEnding {
        TransferEnding(
            outcome: outcome, written: written, resume: ResumeDecision(), hasMixedSources: isMixed, mirrorDigests: [])
    }

    static let whole = Coverage(prefix: total)
    static let file = PublishedFile(
        path: "file", length: MachineWalk.total, sha256: [UInt8](repeating: 0, count: 32),
        identity: FileIdentity(device: 1, inode: 2, size: total, modified: 3))
    static let away = FileError(.away, "flush incomplete/1.part: transport endpoint is not connected", losesBytes: true)
    static let lost = FileError(.other, "flush incomplete/1.part: input/output error", losesBytes: true)

    // MARK: - Phases

    private static func transferring() -> MachineWalk {
        MachineWalk().going({ _ in .admitted }, { _ in .slotAcquired(obstacle: nil) })
    }

    static func receiving() -> MachineWalk {
        transferring().going(
            { .accepted($0.number("transfer"), acceptance(), name: nil) }, { .committed($0.number("commit"), nil) })
    }

    private static func replacing() -> MachineWalk {
        halfway(.queued).going(
            { _ in .admitted }, { _ in .slotAcquired(obstacle: nil) }, { .partOpened($0.number("open")) },
            { .accepted($0.number("transfer"), acceptance(replacing: true), name: nil) })
    }

    private static func verifying() -> MachineWalk {
        receiving().going({ .ended($0.number("transfer"), ending(.whole, whole)) })
    }

    private static func verifyingDuringFlush() -> MachineWalk {
        receiving().going({ _ in .checkpointDue(half) }, { .ended($0.number("transfer"), ending(.whole, whole)) })
    }

    private static func publishing() -> MachineWalk { verifying().going({ .verified($0.number("verify"), .matches) }) }

    private static func completed() -> MachineWalk {
        publishing().going({ .published($0.number("publish"), .success(file)) }, { .committed($0.number("commit"), nil) })
    }

    static let phases: [Row] = [
        Row("idle, paused") { MachineWalk(.paused) },
        Row("idle, paused halfway") { halfway(.paused) },
        Row("idle, failed") { halfway(.failed) },
        Row("idle, cancelled") { MachineWalk(.cancelled) },
        Row("idle, completed") { completed() },
        Row("idle, failed, not saved") {
            receiving().going(
                {
                    .ended(
                        $0.number("transfer"),
                        ending(.failed(DownloadFailure(.httpStatus, "404", httpStatus: 404), retryAfter: nil), Coverage()))
                }, { .committed($0.number("commit"), .inputOutput("broken")) })
        },
        Row("idle, cancelled, not saved") {
            MachineWalk(.paused).going({ _ in command(.cancel) }, { .committed($0.number("commit"), .inputOutput("broken")) })
        },
        Row("idle, completed, not saved") {
            publishing().going(
                { .published($0.number("publish"), .success(file)) },
                { .committed($0.number("commit"), .inputOutput("broken")) })
        },
        Row("idle, refused the completion") {
            publishing().going(
                { .published($0.number("publish"), .success(file)) }, { .committed($0.number("commit"), .fenced) })
        },
        Row("idle, released while it was interrupted") { MachineWalk(.downloading) },
        Row("waiting") { MachineWalk().going({ _ in .admitted }) },
        Row("delayed") {
            receiving().going(
                {
                    .ended(
                        $0.number("transfer"),
                        ending(.failed(DownloadFailure(.transferBroken, "broken"), retryAfter: nil), Coverage()))
                }, { .committed($0.number("commit"), nil) })
        },
        Row("clearing") { halfway(.paused).going({ _ in command(.cancel) }) },
        Row("clearing to begin again") { halfway(.failed).going({ _ in command(.retry) }) },
        Row("opening") { halfway(.queued).going({ _ in .admitted }, { _ in .slotAcquired(obstacle: nil) }) },
        Row("transferring") { transferring() },
        Row("transferring, placing") { receiving() },
        Row("transferring, recording a replacement") { replacing() },
        Row("transferring, recording a replacement, ended") {
            replacing().going({ .ended($0.number("transfer"), ending(.whole, whole)) })
        },
        Row("stopping to pause") { receiving().going({ _ in command(.pause) }) },
        Row("stopping to cancel") { receiving().going({ _ in command(.cancel) }) },
        Row("stopping for shutdown") { receiving().going({ _ in .shutdown }) },
        Row("stopping for a failure") {
            receiving().going({ _ in .checkpointDue(half) }, { .flushed($0.number("flush"), half, lost) })
        },
        Row("flushing") {
            receiving().going({ _ in command(.pause) }, { .ended($0.number("transfer"), ending(.cancelled)) })
        },
        Row("verifying") { verifying() },
        Row("verifying, a flush under way") { verifyingDuringFlush() },
        Row("verified, a flush under way") { verifyingDuringFlush().going({ .verified($0.number("verify"), .matches) }) },
        Row("publishing") { publishing() },
        Row("publishing, to be withdrawn") { publishing().going({ _ in command(.pause) }) },
        Row("completing") { publishing().going({ .published($0.number("publish"), .success(file)) }) },
        Row("removing") { halfway(.paused).going({ _ in command(.remove(deletingFile: true)) }) },
        Row("removing, the file as well") { completed().going({ _ in command(.remove(deletingFile: true)) }) },
        Row("removing after making room") {
            halfway(.paused).going({ _ in command(.remove(deletingFile: true)) }, { .committed($0.number("commit"), .full) })
        },
        Row("removed") {
            halfway(.paused).going({ _ in command(.remove(deletingFile: true)) }, { .committed($0.number("commit"), nil) })
        },
        Row("flushing, a pause, a move and a cancellation of another version wait") {
            var move = DownloadChange()
            move.position = 0
            return receiving().going(
                { _ in command(.pause) }, { _ in command(.change(move)) }, { _ in command(.cancel, isExpected: false) },
                { .ended($0.number("transfer"), ending(.cancelled)) })
        },
        Row("idle, failed, with a requested name") {
            MachineWalk(.failed, { $0.requestedFilename = "requested" })
        },
    ]

    // MARK: - Events

    /// Every event, about running operations of the phase if there are any.
    static func events(for walk: MachineWalk) -> [DownloadMachine.Event] {
        var url = DownloadChange()
        url.url = HTTPURL("http://127.0.0.1/other")
        var name = DownloadChange()
        name.filename = "other"
        var priority = DownloadChange()
        priority.priority = 3
        var move = DownloadChange()
        move.position = 0
        let transfer = walk.number("transfer")
        let broken = DownloadFailure(.transferBroken, "broken")
        let gone = DownloadFailure(.httpStatus, "404", httpStatus: 404)
        return [
            .admitted, command(.pause), command(.resume), command(.cancel), command(.retry), command(.change(url)),
            command(.change(name)), command(.change(priority)), command(.change(move)), command(.remove(deletingFile: false)),
            command(.remove(deletingFile: true)), command(.noteFile(nil)), .slotAcquired(obstacle: nil),
            .partOpened(walk.number("open")),
            .partUnusable(walk.number("open"), FileError(.missing, "missing")),
            .partUnusable(walk.number("open"), FileError(.transient, "too many open files")),
            .partUnusable(walk.number("open"), away),
            .accepted(transfer, acceptance(), name: nil), .accepted(transfer, acceptance(half), name: nil),
            .accepted(transfer, acceptance(replacing: true), name: nil),
            .ended(transfer, ending(.whole, whole)), .ended(transfer, ending(.cancelled)),
            .ended(transfer, ending(.askAgain(ResumeDecision.Ask()))), .ended(transfer, ending(.failed(broken, retryAfter: nil))),
            .ended(transfer, ending(.failed(broken, retryAfter: .seconds(30)))), .directoryAway, .directoryBack(.missing),
            .ended(transfer, ending(.failed(gone, retryAfter: nil))),
            .ended(transfer, ending(.lostBytes(FileError(.altered, "altered")))),
            .ended(transfer, ending(.fileFailed(FileError(.device, "bad sector")))), .ended(transfer, ending(.fileFailed(away))),
            .ended(transfer, ending(.fileFailed(FileError(.noRoom, "full", neededBytes: 9)))),
            .ended(transfer, ending(.fileFailed(FileError(.full, "full")))),
            .ended(transfer, ending(.fileFailed(FileError(.full, "too large", neededBytes: 9)))), .checkpointDue(half),
            .flushed(walk.number("flush"), half, nil), .flushed(walk.number("flush"), half, lost),
            .flushed(walk.number("flush"), half, FileError(.short, "short")), .flushed(walk.number("flush"), half, away),
            .committed(walk.number("commit"), nil), .committed(walk.number("commit"), .full),
            .committed(walk.number("commit"), .inputOutput("broken")), .verified(walk.number("verify"), .matches),
            .verified(walk.number("verify"), .differs(expected: "a", actual: "b")),
            .verified(walk.number("verify"), .failed(FileError(.short, "short"))),
            .verified(walk.number("verify"), .failed(FileError(.altered, "altered"))),
            .verified(walk.number("verify"), .failed(lost)), .verified(walk.number("verify"), .failed(away)),
            .published(walk.number("publish"), .success(file)),
            .published(walk.number("publish"), .failure(FileError(.other, "link"))),
            .published(walk.number("publish"), .failure(away)),
            .published(walk.number("publish"), .failure(FileError(.noRoom, "full"))), .withdrawn(walk.number("publish")),
            .timer(.retry(walk.number("retry"))), .timer(.patience(walk.number("patience"))), .timer(.save),
            .reassigned(RecordID(value: 1 << 99)), .fileRemoved(nil), .fileRemoved(FileError(.other, "not permitted")),
            .fileRemoved(away), .shutdown,
        ]
    }

    /// Events about operations that were never begun, or ended long ago.
    static let lateEvents: [DownloadMachine.Event] = [
        .partOpened(.max), .partUnusable(.max, FileError(.missing, "missing")), .accepted(.max, acceptance(), name: nil),
        .ended(.max, ending(.whole, whole)),
        .committed(.max, nil), .committed(.max, .full), .verified(.max, .matches),
        .published(.max, .success(file)), .withdrawn(.max), .timer(.retry(.max)), .timer(.patience(.max)), .timer(.save),
    ]
}
