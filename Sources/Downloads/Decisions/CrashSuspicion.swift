/// Decides which downloads may have crashed the service, by what was in transfer when a run ended without a clean stop.
///
/// A run that left the mark of a crash counts against each transfer. A run that ends by SIGKILL, power loss or a full memory leaves none, and
/// looks almost like a crash: it counts only against a transfer that had waited in vain.
enum CrashSuspicion {
    /// How many crashes in a row pause a download.
    static let limit = 3
    /// How long a transfer has to wait for its first byte to be suspect without a mark.
    static let patience: Duration = .seconds(1)
    /// The time that a transfer which brings bytes runs before the next suspect begins.
    static let probation: Duration = .seconds(10)
    /// Sentence for users of a download that was paused for it.
    static let message =
        "the service crashed \(limit) times in a row while this download was in transfer; resume tries again"

    /// How far a transfer has come since it began.
    enum Stage: UInt8, Sendable, CaseIterable {
        /// It has begun.
        case begun = 0x62
        /// Nothing has come for ``CrashSuspicion/patience``.
        case waiting = 0x77
        /// It has brought bytes and run for ``CrashSuspicion/probation``.
        case proven = 0x70
    }

    /// The stage of a transfer.
    /// - Parameters:
    ///   - running: for how long it has run.
    ///   - hasBytes: whether it has brought any.
    static func stage(running: Duration, hasBytes: Bool) -> Stage {
        if hasBytes { return running >= probation ? .proven : .begun }
        return running >= patience ? .waiting : .begun
    }

    /// The crashes in a row during which a download was in transfer, with the run that has ended.
    /// - Parameters:
    ///   - before: those before it.
    ///   - stage: how far its transfer was; `nil`: it was not in transfer.
    ///   - isMarked: whether that run left the mark of a crash.
    static func crashes(before: Int, stage: Stage?, isMarked: Bool) -> Int {
        switch stage {
        case nil: before
        case .waiting: min(before + 1, limit)
        case .begun: isMarked ? min(before + 1, limit) : before
        case .proven: isMarked ? min(before + 1, limit) : 0
        }
    }
}

/// Lets downloads that are suspected of crashes transfer one after another, so that a crash tells which of them it was.
struct SuspectQueue: Sendable {
    private var active: DownloadID?
    private var waiting: [DownloadID] = []

    /// Whether a suspect may enter the queue now; otherwise it waits here.
    mutating func admits(_ id: DownloadID) -> Bool {
        if active == nil || active == id {
            active = id
            return true
        }
        if !waiting.contains(id) { waiting.append(id) }
        return false
    }

    /// Takes out a download that has stopped, or is no suspect any more.
    /// - Returns: the suspect that may enter the queue instead.
    mutating func remove(_ id: DownloadID) -> DownloadID? {
        if active != id {
            if !waiting.isEmpty { waiting.removeAll { $0 == id } }
            return nil
        }
        active = waiting.isEmpty ? nil : waiting.removeFirst()
        return active
    }
}
