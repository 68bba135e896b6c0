internal import Synchronization
internal import System

/// The state of the process for probes and statistics.
final class ServiceCondition: Sendable {
    /// The name of this instance: a change shows a client that the service was restarted.
    let instanceID: String
    private let started: ContinuousClock.Instant
    private let ready = Atomic<Bool>(false)
    private let downloadsDirectory: String

    init(downloadsDirectory: String, started: ContinuousClock.Instant) {
        self.downloadsDirectory = downloadsDirectory
        self.started = started
        instanceID = String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// Whether the service accepts requests: from the end of its start to the beginning of its end.
    var isReady: Bool {
        get { ready.load(ordering: .acquiring) }
        set { ready.store(newValue, ordering: .releasing) }
    }

    /// The time since the service started.
    func uptime(at now: ContinuousClock.Instant) -> Duration { now - started }

    /// The free bytes on the disk of the downloads; `nil` if the system does not report them.
    var freeBytes: Int64? { try? FileSystemSpace(at: downloadsDirectory).free }
}
