internal import Synchronization
internal import System

/// What probes and statistics show of the process as a whole.
final class ServiceCondition: Sendable {
    /// Names this run of the service: a client that sees it change knows that there was a restart.
    let instanceID: String
    private let started: ContinuousClock.Instant
    private let ready = Atomic<Bool>(false)
    private let downloadsDirectory: String

    init(downloadsDirectory: String, started: ContinuousClock.Instant) {
        self.downloadsDirectory = downloadsDirectory
        self.started = started
        instanceID = String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// Whether requests are welcome: from when everything is loaded until the end begins.
    var isReady: Bool {
        get { ready.load(ordering: .acquiring) }
        set { ready.store(newValue, ordering: .releasing) }
    }

    /// How long the process has been serving.
    func uptime(at now: ContinuousClock.Instant) -> Duration { now - started }

    /// Bytes that downloads may still take; `nil` if the system does not say.
    var freeBytes: Int64? { try? FileSystemSpace(at: downloadsDirectory).free }
}
