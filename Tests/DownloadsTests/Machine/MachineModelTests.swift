import DownloadFiles
import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore
@testable import DownloadTransfer
@testable import Downloads

/// Random events in random order, compared with the invariants.
@Suite("Invariants of a download under any events", .timeLimit(.minutes(5)))
@OffPool
struct MachineModelTests {
    @Test("Hundreds of random histories with hundreds of events keep every invariant", arguments: 0..<4)
    func lives(_ family: UInt64) throws {
        for life in 0..<60 {
            var model = MachineModel(seed: family &* 1_000 &+ UInt64(life))
            for _ in 0..<300 { try model.step() }
            try model.settle()
        }
    }

    @Test("A recorded history leads a new machine to the same actions and state", arguments: 0..<8)
    func replay(_ seed: UInt64) throws {
        var model = MachineModel(seed: 10_000 + seed)
        for _ in 0..<300 { try model.step() }
        try model.settle()
        model.host.expectSameReplay()
    }
}

/// A simulated environment: carries out the machine's actions, late, in any order, and with any result.
struct MachineModel {
    /// A broken invariant, and the events before it.
    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    private typealias Machine = DownloadMachine
    private typealias Operation = DownloadMachine.Operation

    private(set) var host: MachineHost
    private var runner = MachineRunner()
    /// The event with which a removal of files ends; the outer `nil`: no removal is under way.
    private var removal: DownloadMachine.Event??
    private var random: SeededRandom
    private let seed: UInt64
    private var trace: [String] = []

    // The running operations of the environment.
    private var transfer: (operation: Operation, isStopped: Bool, hasAccepted: Bool, written: Coverage)?
    private var stragglers: Set<Operation> = []
    private var openings: [Operation] = []
    private var flushes: [(operation: Operation, written: Coverage, generation: UInt64?)] = []
    private var commits: [Pending] = []
    private var verification: Operation?
    private var publication: (operation: Operation, isLinked: Bool)?
    private var timers: Set<DownloadMachine.Timer> = []
    private var hasTurn = false
    private var isQueued = false

    /// A part file: the version of its bytes, and the durable ones among them.
    private struct Part {
        let entity: FieldValue?
        var synced = Coverage()
    }

    // The store, and the part files on the disk by generation.
    private var stored: DownloadRecord
    private var isStored = true
    private var parts: [UInt64: Part] = [:]
    private var lastGeneration: UInt64 = 0

    /// A submission to the store.
    private struct Pending {
        var operation: Operation?
        var record: DownloadRecord?
        var progress: StoredProgress?
        var messages: [EndAnnouncement] = []
    }

    // Ends that readers have seen, and their messages.
    private var ends = 0
    private var shownState = DownloadState.queued
    private var keptMessages: Set<RecordID> = []
    private var deliveredMessages: Set<RecordID> = []
    /// The number of webhooks, which receive a message each about every end.
    private let webhooks: Int

    // The promises.
    private var asked: [DownloadMachine.Waiter: String] = [:]
    private var answered: Set<DownloadMachine.Waiter> = []
    private var lastWaiter: DownloadMachine.Waiter = 0
    private var shownRevision: UInt64 = 0
    private var shownUpdate = Timestamp(millisecondsSinceEpoch: 0)
    private var isRemoved = false
    private var isShutDown = false

    private static let total: Int64 = 1 << 22

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed)
        let id = RecordID(value: UInt128(seed + 1) << 80)
        var record = DownloadRecord(Download(id: id, url: MachineTests.url.string, createdAt: id.createdAt))
        record.webhook = "http://127.0.0.1/hook"
        stored = record
        host = MachineHost(
            DownloadMachine(record, url: MachineTests.url), seed: seed ^ 0xABCD,
            names: FileNames(
                isTaken: { $0.name.hasPrefix("name-2") && !$0.name.contains("(") },
                obstacle: { $0 == "in-the-way" ? FileError(.other, "it is no directory") : nil }))
        _ = host.names.reserve("name-1", for: RecordID(value: 1))
        webhooks = 1 + Int(seed % 2)
        if webhooks == 2, let url = HTTPURL("http://127.0.0.1/all") { host.context.defaultWebhooks.urls = [url] }
    }

    private var machine: DownloadMachine { host.machine }

    // MARK: - Events

    private mutating func send(_ event: DownloadMachine.Event) throws {
        runner.send(event, to: machine.id)
        try run()
    }

    /// Carries out the steps of the runner, as the service does.
    private mutating func run() throws {
        guard runner.begin() else { return }
        while let step = runner.next() {
            switch step {
            case .handle(let event, _):
                trace.append(event.words)
                let before = machine.record.download.revision
                var actions = host.handle(event)
                runner.add(&actions)
                try check(machine.record.download.revision >= before, "revisions rise")
            case .perform(let actions, _):
                for action in actions {
                    var more = host.perform(action)
                    runner.add(&more)
                    try perform(action)
                }
                runner.recycle(actions)
            case .commit, .end: break
            }
        }
        // The actions after a removal are still to be carried out.
        if removal == nil { try checkMachine() }
    }

    /// Begins a removal of files. Its end comes later.
    private mutating func remove(endingWith event: DownloadMachine.Event? = nil) {
        runner.interrupt()
        removal = .some(event)
    }

    private mutating func finishRemoval() throws {
        guard let event = removal else { return }
        removal = nil
        runner.resume(machine.id, with: RemovedFiles(), then: event)
        try run()
    }

    private mutating func receive(_ result: Result<Download, DownloadError>, of waiter: DownloadMachine.Waiter) throws {
        try check(asked[waiter] != nil && answered.insert(waiter).inserted, "a command is answered once")
        guard case .success(let download) = result else { return }
        if asked[waiter] == "remove" { return }
        try check(
            stored.download.revision >= download.revision || ["resume", "noteFile"].contains(asked[waiter]),
            "nothing is answered before it is durable")
    }

    private func checkMachine() throws {
        try check(machine.activity == machine.currentActivity, "the activity is that of the last event")
        try check(machine.holdsSlot == hasTurn, "a slot is held exactly while there is something to transfer")
        if let transfer, !transfer.isStopped {
            try check(machine.phase.transfer == transfer.operation, "a transfer is its machine's")
        }
        try check(
            isRemoved || isSubset(Coverage(machine.record.segments), part?.synced ?? Coverage()),
            "the bytes that the record counts on have been flushed under this entity")
        try checkCrash()
        let shown = machine.record.download
        if shown.state == .completed { try check(shown.bytesReceived == Self.total, "a completed file has all its bytes") }
        if isRemoved { try check(machine.phase == .removed, "a removed download stays removed") }
        try checkNames()
    }

    /// A download reserves the path of its record, and nothing once it is cancelled, completed or removed.
    private func checkNames() throws {
        let download = machine.record.download
        let hasEnded = isRemoved || download.state == .cancelled || download.state == .completed
        let reserved = host.names.path(of: machine.id)
        try check(
            reserved == (hasEnded ? nil : download.path),
            "\(download.path?.description ?? "nothing") is reserved, and not \(reserved?.description ?? "nothing")")
        // The other download's path is reserved; a folder is reserved without a name, too.
        let isReserved = !hasEnded && (download.filename != nil || !download.folder.isEmpty)
        try check(host.names.reservationCount == (isReserved ? 2 : 1), "a download has one reservation at most")
    }

    /// The part file that the machine relies on.
    private var part: Part? { machine.record.partGeneration.flatMap { parts[$0] } }

    private func isSubset(_ part: Coverage, _ whole: Coverage) -> Bool {
        part.ranges.allSatisfy { range in
            whole.ranges.contains { $0.lowerBound <= range.lowerBound && $0.upperBound >= range.upperBound }
        }
    }

    private func check(_ holds: Bool, _ promise: String) throws {
        if holds { return }
        throw Broken(
            description:
                "broken: \(promise); seed \(seed), \(machine.phase.words), after\n  \(trace.suffix(50).joined(separator: "\n  "))"
        )
    }

    private mutating func perform(_ action: DownloadMachine.Action) throws {
        if let words = action.words { trace.append("    → \(words)") }
        try check(!isRemoved || action.isAfterRemoval, "a removed download has no further actions")
        switch action {
        case .enqueue, .enqueueWithRoom:
            try check(!isQueued && !hasTurn, "it is in the queue once")
            try check(stragglers.isEmpty && transfer == nil, "no download with a transfer enters the queue")
            isQueued = true
        case .leaveQueue:
            isQueued = false
            hasTurn = false
        case .openPart(let operation, _, _): openings.append(operation)
        case .start(let operation, _):
            try check(transfer == nil && stragglers.isEmpty, "there are never two transfers")
            try check(hasTurn, "a transfer has a slot")
            try check(!isShutDown, "no action follows the stop of the service")
            let start = machine.start.written
            transfer = (operation, false, false, start)
        case .stop:
            // During a removal it may have ended, and its event waits.
            try check(transfer != nil || runner.hasWork(for: machine.id), "only running operations are stopped")
            transfer?.isStopped = true
        case .forgetTransfer, .rearrange, .reassign, .setSpeedLimit, .assignName, .log, .abandonVerification: break
        case .query, .reserveFolder, .restoreName, .releaseName: break
        case .saveProgress(let progress): commits.append(Pending(progress: progress))
        case .forgetBytes: break
        case .flush(let operation, let written, _): flushes.append((operation, written, machine.record.partGeneration))
        case .discardNewPart(let generation):
            if let generation { parts[generation] = nil }
            remove()
        case .discardOldParts(let kept):
            try check(stored.partGeneration == kept, "old bytes stay until the store has discarded them")
            parts = parts.filter { $0.key == kept }
            remove()
        case .discardPart:
            parts = [:]
            remove()
        case .verify(let operation, _, _):
            verification = operation
        case .publish(let operation, _): publication = (operation, false)
        case .withdraw(let operation):
            guard let found = publication, found.operation == operation, !found.isLinked else { break }
            publication = nil
            try send(.withdrawn(operation))
        case .finishPublishing:
            try check(
                isRemoved || stored.download.state == .completed,
                "a finished file keeps the name that it is found by until the store has it as completed")
            parts = [:]
            remove()
        case .removeFile:
            let isAway = random.number(below: 3) == 0
            remove(endingWith: .fileRemoved(isAway ? FileError(.away, "the directory is away") : nil))
        case .discardFile: remove()
        case .save(let operation, let record, let messages), .saveCompletion(let operation, let record, let messages):
            try submit(Pending(operation: operation, record: record, messages: messages))
        case .saveRemoval(let operation, let messages): try submit(Pending(operation: operation, messages: messages))
        case .deliver(let messages):
            for message in messages {
                try check(keptMessages.contains(message.id), "a message is delivered once it is durable")
                try check(deliveredMessages.insert(message.id).inserted, "a message is delivered once")
                try check(deliveredMessages.count <= ends * webhooks, "an end is announced once readers see it, and once")
            }
        case .abandonRemoval: break
        case .publishVersion(let download):
            try check(download.revision > shownRevision, "each change that is shown has a revision of its own")
            try check(download.updatedAt > shownUpdate, "each change that is shown is later than the one before")
            (shownRevision, shownUpdate) = (download.revision, download.updatedAt)
            if download.state != shownState, !download.state.isLive { ends += 1 }
            shownState = download.state
        case .publishRemoval:
            isRemoved = true
            if shownState.isLive { ends += 1 }
        case .setTimer(let timer, _): timers.insert(timer)
        case .cancelTimer(let timer): timers.remove(timer)
        case .answer(let waiter, let result): try receive(result, of: waiter)
        }
    }

    private mutating func submit(_ pending: Pending) throws {
        for message in pending.messages {
            try check(!deliveredMessages.contains(message.id), "a delivered message is not written again")
        }
        commits.append(pending)
    }

    // MARK: - Next steps

    mutating func step() throws {
        host.context.now = Timestamp(
            millisecondsSinceEpoch: host.context.now.millisecondsSinceEpoch + Int64(random.number(below: 400)))
        // The clock is set.
        if random.number(below: 40) == 0 {
            let earlier = host.context.now.millisecondsSinceEpoch - Int64(random.number(below: 2_000))
            host.context.now = Timestamp(millisecondsSinceEpoch: earlier)
        }
        switch random.number(below: 16) {
        case 0, 1: try command()
        case 2, 3: try giveTurn()
        case 4, 5, 6: try goOn()
        case 7: if random.number(below: 3) == 0 { try endTransfer() }
        case 8: try finishFlush()
        case 9, 10: try finishCommit()
        case 11: try finishFile()
        case 12: if random.number(below: 4) == 0 { try fireTimer() }
        case 13, 14: try finishRemoval()
        default: if random.number(below: 400) == 0, !isShutDown { try shutDown() }
        }
    }

    /// Lets all running operations end.
    mutating func settle() throws {
        for _ in 0..<400 {
            try finishRemoval()
            try endTransfer()
            try finishFlush()
            try finishCommit(failing: false)
            try finishFile(failing: false)
            for operation in openings { try open(operation) }
            for timer in timers where timer != .save {
                if case .patience = timer { try fire(timer) }
            }
        }
        let open = Set(asked.keys).subtracting(answered)
        try check(open.isEmpty, "every command is answered, \(open.map { asked[$0] ?? "" }) are not")
        if isShutDown { return }
        while timers.contains(.save) || !commits.isEmpty {
            if timers.contains(.save) { try fire(.save) }
            while !commits.isEmpty { try finishCommit(failing: false) }
            try finishRemoval()
        }
        try check(deliveredMessages.count == ends * webhooks, "every end is announced: \(ends), \(deliveredMessages.count)")
    }

    private mutating func command() throws {
        lastWaiter += 1
        let request: DownloadMachine.Command.Request
        var name: String
        switch random.number(below: isRemoved ? 4 : 40) {
        case 0..<9: (request, name) = (.pause, "pause")
        case 9..<20: (request, name) = (.resume, "resume")
        case 20..<24: (request, name) = (.cancel, "cancel")
        case 24..<32: (request, name) = (.retry, "retry")
        case 32..<35:
            var change = DownloadChange()
            change.priority = 1
            if random.number(below: 3) == 0 { change.position = random.number(below: 3) }
            if random.number(below: 2) == 0 { change.filename = "name-\(random.number(below: 3))" }
            if random.number(below: 4) == 0 { change.folder = ["", "folder", "in-the-way"].randomElement(using: &random) }
            (request, name) = (.change(change), "change")
        case 35..<38:
            var change = DownloadChange()
            change.url = HTTPURL("http://127.0.0.1/other-\(random.number(below: 9))")
            (request, name) = (.change(change), "change")
        case 38: (request, name) = (.noteFile(nil), "noteFile")
        default:
            guard random.number(below: 6) == 0 else { return }
            (request, name) = (.remove(deletingFile: random.number(below: 2) == 0), "remove")
        }
        asked[lastWaiter] = name
        let version = random.number(below: 12)
        var command = DownloadMachine.Command(waiter: lastWaiter, request: request)
        if version < 4 { command.isExpected = { _ in version > 0 } }
        try send(.command(command))
    }

    private mutating func giveTurn() throws {
        guard isQueued else { return }
        isQueued = false
        hasTurn = true
        try send(.slotAcquired(obstacle: nil))
    }

    private mutating func goOn() throws {
        if let operation = openings.first { return try open(operation) }
        guard let running = transfer else { return }
        if !running.hasAccepted { return try accept() }
        var written = running.written
        let end = min(Self.total, written.prefix + Int64(random.number(below: 1 << 20)))
        if end > written.prefix { written.insert(written.prefix..<end) }
        transfer?.written = written
        if random.number(below: 2) == 0 { try send(.checkpointDue(written)) }
        if written.prefix == Self.total { try endTransfer() }
    }

    private mutating func open(_ operation: Operation) throws {
        openings.removeAll { $0 == operation }
        switch random.number(below: 12) {
        case 0: try send(.partUnusable(operation, FileError(.missing, "part is gone")))
        case 1: try send(.partUnusable(operation, FileError(.transient, "no descriptors")))
        case 2: try send(.partUnusable(operation, FileError(.away, "volume is away")))
        default: try send(.partOpened(operation))
        }
    }

    private mutating func accept() throws {
        guard let running = transfer else { return }
        let continues = !running.written.ranges.isEmpty && random.number(below: 4) != 0
        let start = continues ? running.written : Coverage()
        let isReplacement = !continues && machine.start.hasRecordedBytes
        transfer?.hasAccepted = true
        transfer?.written = start
        var entity = machine.record.entity ?? SavedEntity(etag: FieldValue("\"\(random.next())\""), total: Self.total)
        if !continues { entity = SavedEntity(etag: FieldValue("\"\(random.next())\""), total: Self.total) }
        var generation = machine.record.partGeneration
        if !continues {
            lastGeneration += 1
            generation = lastGeneration
            if !isReplacement { parts = [:] }
            parts[lastGeneration] = Part(entity: entity.etag)
        }
        try send(
            .accepted(
                running.operation,
                TransferAcceptance(
                    body: ResumeDecision.Body(offset: start.prefix, end: Self.total, entity: entity, isResumable: true),
                    written: start, startedOver: !continues, isReplacement: isReplacement,
                    partGeneration: generation, mediaType: "audio/mp4", contentDisposition: nil,
                    finalURL: MachineTests.url), name: nil))
    }

    private mutating func endTransfer() throws {
        guard let running = transfer else {
            if let operation = stragglers.popFirst() {
                try send(.ended(operation, ending(.cancelled, Coverage())))
            }
            return
        }
        // It may not end for a long time.
        if running.isStopped, random.number(below: 6) == 0 { return }
        transfer = nil
        let outcome: TransferEnding.Outcome
        if running.written.prefix == Self.total, running.hasAccepted {
            outcome = .whole
        } else if running.isStopped {
            outcome = .cancelled
        } else {
            switch random.number(below: 12) {
            case 11:
                let hasRoom = random.number(below: 2) == 0
                outcome = .fileFailed(FileError(hasRoom ? .full : .noRoom, "full", neededBytes: hasRoom ? 0 : 1))
            case 10: outcome = .fileFailed(FileError(.away, "volume is away", losesBytes: true))
            case 9: outcome = .lostBytes(FileError(.altered, "part was altered"))
            case 8: outcome = .awaitRoom(Self.total)
            case 0: outcome = .failed(DownloadFailure(.httpStatus, "404", httpStatus: 404), retryAfter: nil)
            case 1: outcome = .failed(DownloadFailure(.httpStatus, "503", httpStatus: 503), retryAfter: .seconds(1))
            default: outcome = .failed(DownloadFailure(.transferBroken, "broken"), retryAfter: nil)
            }
        }
        try send(.ended(running.operation, ending(outcome, running.written)))
    }

    private func ending(_ outcome: TransferEnding.Outcome, _ written: Coverage) -> TransferEnding {
        TransferEnding(
            outcome: outcome, written: written, resume: ResumeDecision(), hasMixedSources: false, mirrorDigests: [])
    }

    private mutating func finishFlush() throws {
        guard !flushes.isEmpty else { return }
        let (operation, written, flushed) = flushes.remove(at: random.number(below: flushes.count))
        if random.number(below: 10) == 0 {
            try send(.flushed(operation, written, FileError(.other, "sync part", losesBytes: true)))
        } else if random.number(below: 20) == 0 {
            if let flushed { parts[flushed]?.synced = Coverage() }
            try send(.flushed(operation, written, FileError(.short, "part was cut")))
        } else {
            if let flushed { for range in written.ranges { parts[flushed]?.synced.insert(range) } }
            try send(.flushed(operation, written, nil))
        }
    }

    private mutating func finishCommit(failing: Bool = true) throws {
        guard !commits.isEmpty else { return }
        // A store may report a refusal before earlier changes are durable.
        let refused = random.number(below: commits.count)
        if failing, random.number(below: 8) == 0, let operation = commits[refused].operation {
            commits.remove(at: refused)
            try send(.committed(operation, random.number(below: 2) == 0 ? .full : .inputOutput("broken")))
            return
        }
        let pending = commits.removeFirst()
        guard let operation = pending.operation else {
            if let progress = pending.progress {
                stored.segments = progress.segments
                stored.download.bytesReceived = progress.bytesReceived
            }
            return try checkCrash()
        }
        if let record = pending.record { stored = record } else { isStored = false }
        keptMessages.formUnion(pending.messages.map(\.id))
        try checkCrash()
        try send(.committed(operation, nil))
    }

    /// Checks the state after a crash at this moment: the store never relies on bytes of another version, or on bytes
    /// that are not on the disk.
    private func checkCrash() throws {
        guard isStored, !stored.segments.isEmpty, let part = stored.partGeneration.flatMap({ parts[$0] }) else { return }
        try check(stored.entity?.etag == part.entity, "the store relies only on bytes of the version that it knows")
    }

    private mutating func finishFile(failing: Bool = true) throws {
        if let operation = verification {
            verification = nil
            switch failing ? random.number(below: 10) : 9 {
            case 0: try send(.verified(operation, .differs(expected: "a", actual: "b")))
            case 1: try send(.verified(operation, .failed(FileError(.short, "read part"))))
            default:
                if machine.phase == .verifying(operation, matches: false) {
                    let written = machine.start.written
                    if let generation = machine.record.partGeneration { parts[generation]?.synced = written }
                }
                try send(.verified(operation, .matches))
            }
        } else if let found = publication {
            if !found.isLinked {
                publication?.isLinked = true
            } else {
                publication = nil
                let fails = failing && random.number(below: 8) == 0
                let identity = FileIdentity(device: 1, inode: lastGeneration, size: Self.total, modified: 1)
                try send(
                    .published(
                        found.operation,
                        fails
                            ? .failure(FileError(.other, "link part"))
                            : .success(
                                PublishedFile(
                                    path: "file", length: MachineWalk.total, sha256: [UInt8](repeating: 0, count: 32),
                                    identity: identity))))
            }
        }
    }

    private mutating func fireTimer() throws {
        if let timer = timers.randomElement(using: &random) { try fire(timer) }
    }

    private mutating func fire(_ timer: DownloadMachine.Timer) throws {
        timers.remove(timer)
        if case .patience = timer, let running = transfer, running.isStopped {
            // It ends later, if ever.
            stragglers.insert(running.operation)
            transfer = nil
        }
        host.context.now = Timestamp(millisecondsSinceEpoch: host.context.now.millisecondsSinceEpoch + 60_000)
        try send(.timer(timer))
    }

    private mutating func shutDown() throws {
        isShutDown = true
        try send(.shutdown)
    }
}

extension DownloadMachine.Action {
    /// Whether it may still be requested after the record's removal.
    fileprivate var isAfterRemoval: Bool {
        switch self {
        case .answer, .log, .cancelTimer, .forgetTransfer, .deliver: true
        default: false
        }
    }
}

/// Numbers that are the same on every run: SplitMix64.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func number(below bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
