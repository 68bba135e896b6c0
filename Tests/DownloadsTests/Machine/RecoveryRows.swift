import HTTPCore
import System

@testable import DownloadCore
@testable import Downloads

/// The rows of the machine's table about starts of the service: what an earlier instance has left, and what it becomes.
enum RecoveryRows {
    private static let now = Timestamp(millisecondsSinceEpoch: 1_000_000)
    private static let digest = [UInt8](repeating: 7, count: 32)

    static var all: [String] {
        ["# recovered at a start"] + byState.flatMap { state in byFound.map { row(state, $0) } } + crashes
    }

    /// A download with half of its bytes durable, in each state.
    private static let byState: [(words: String, record: DownloadRecord)] = [
        ("queued", record(.queued)), ("downloading", record(.downloading)), ("retrying", record(.retrying)),
        ("retrying, held", record(.retrying) { $0.retryHold = RetryHold(.seconds(60), from: now) }),
        ("paused", record(.paused)), ("failed", record(.failed)), ("cancelled", record(.cancelled)),
    ]

    private static let byFound: [(words: String, found: RecoveredPart)] = [
        ("no part", .missing), ("part", .part(size: MachineWalk.total)), ("part, cut", .part(size: 1 << 20)),
        ("whole part", .whole(size: MachineWalk.total, sha256: digest, generation: 1)),
        ("whole part of another generation", .whole(size: MachineWalk.total, sha256: digest, generation: 2)),
        ("published", published(generation: 1)), ("published of another generation", published(generation: 2)),
    ]

    private static func published(generation: UInt64) -> RecoveredPart {
        let identity = FileIdentity(device: 1, inode: 2, size: MachineWalk.total, modified: 3)
        return .published(path: "folder/other", identity: identity, sha256: digest, generation: generation)
    }

    private static var crashes: [String] {
        var rows: [String] = []
        for state in [DownloadState.downloading, .paused, .failed] {
            for before in [0, 2] {
                for stage in DownloadMachine.Recovery.Interruption.all {
                    let record = record(state) { $0.transferCrashes = before }
                    rows.append(row(("\(state), \(before) crashes", record), ("part", .part(size: MachineWalk.total)), stage))
                }
            }
        }
        return rows
    }

    private static func record(_ state: DownloadState, _ edit: (inout DownloadRecord) -> Void = { _ in }) -> DownloadRecord {
        var record = MachineWalk.halfway(state).machine.record
        record.partGeneration = 1
        edit(&record)
        return record
    }

    private static func row(
        _ saved: (words: String, record: DownloadRecord), _ found: (words: String, found: RecoveredPart),
        _ interruption: DownloadMachine.Recovery.Interruption? = nil
    ) -> String {
        let recovery = DownloadMachine.Recovery(saved.record, finding: found.found, after: interruption, at: now)
        var host = MachineHost(
            DownloadMachine(recovery, url: MachineTests.url), seed: 1, names: FileNames { _ in false })
        let actions = host.send(.admitted).compactMap(\.words)
        let (record, download) = (host.machine.record, host.machine.record.download)
        var outcome = ["\(download.state)", host.machine.phase.words, "\(host.machine.written.byteCount) bytes"]
        if record.entity?.etag != MachineWalk.entity.etag { outcome.append("another entity") }
        if !recovery.isEntitySaved { outcome.append("entity to be saved") }
        if recovery.hasLostBytes { outcome.append("bytes lost") }
        if recovery.publishedName != nil { outcome.append("named \(download.path?.description ?? "")") }
        if interruption != nil {
            outcome.append("\(record.transferCrashes) crashes\(recovery.countsCrash ? ", to be saved" : "")")
        }
        if recovery.isPausedAsSuspect { outcome.append("suspect") }
        let event = [saved.words, found.words] + (interruption.map { [$0.words] } ?? [])
        return "\(event.joined(separator: ", ")) | \(actions.joined(separator: ", ")) | \(outcome.joined(separator: ", "))"
    }
}

extension DownloadMachine.Recovery.Interruption {
    fileprivate static var all: [Self] {
        CrashSuspicion.Stage.allCases.flatMap { stage in [true, false].map { Self(stage: stage, isMarked: $0) } }
    }

    fileprivate var words: String { "transfer \(stage), \(isMarked ? "crash" : "no mark of a crash")" }
}
