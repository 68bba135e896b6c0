/// Decides which downloads may have crashed the service, by the transfers of an instance that had no clean stop.
///
/// An instance that left the mark of a crash counts against each transfer. An end by SIGKILL, power loss or lack of
/// memory leaves no mark, and looks almost like a crash. It counts only against a transfer that waited for its first
/// byte in vain.
package enum CrashSuspicion {
    /// The number of consecutive crashes that pause a download.
    package static let limit = 3
    /// The wait for its first byte after which a transfer is suspect even without a mark.
    package static let patience: Duration = .seconds(1)
    /// The time for which a transfer that brings bytes runs before the next suspect begins.
    package static let probation: Duration = .seconds(10)
    /// The sentence for users of a download that was paused for this reason.
    package static let message =
        "the service crashed \(limit) times in a row while this download was in transfer; resume tries again"

    /// The progress of a transfer since it began.
    package enum Stage: UInt8, Sendable, CaseIterable {
        /// The transfer has begun.
        case begun = 0x62
        /// No byte has arrived for ``CrashSuspicion/patience``.
        case waiting = 0x77
        /// Bytes have arrived, and the transfer has run for ``CrashSuspicion/probation``.
        case proven = 0x70
    }

    /// Returns the stage of a transfer.
    /// - Parameters:
    ///   - running: The time for which it has run.
    ///   - hasBytes: Whether it has received bytes.
    package static func stage(running: Duration, hasBytes: Bool) -> Stage {
        if hasBytes { return running >= probation ? .proven : .begun }
        return running >= patience ? .waiting : .begun
    }

    /// Returns the number of consecutive crashes during which a download was in transfer, including the last instance.
    /// - Parameters:
    ///   - before: The number before the last instance.
    ///   - stage: The stage of its transfer in that instance; `nil` if it was not in transfer.
    ///   - isMarked: Whether that instance left the mark of a crash.
    package static func crashes(before: Int, stage: Stage?, isMarked: Bool) -> Int {
        switch stage {
        case nil: before
        case .waiting: min(before + 1, limit)
        case .begun: isMarked ? min(before + 1, limit) : before
        case .proven: isMarked ? min(before + 1, limit) : 0
        }
    }
}

/// The suspects of crashes. They transfer one after another, so that a crash identifies the download that caused it.
package struct SuspectQueue: Sendable {
    private var active: RecordID?
    private var waiting: [RecordID] = []

    package init(active: RecordID? = nil, waiting: [RecordID] = []) {
        self.active = active
        self.waiting = waiting
    }

    /// Whether a suspect may enter the queue now. If not, it waits here.
    package mutating func admits(_ id: RecordID) -> Bool {
        if active == nil || active == id {
            active = id
            return true
        }
        if !waiting.contains(id) { waiting.append(id) }
        return false
    }

    /// Removes a download that has stopped, or that is no longer suspect.
    /// - Returns: The suspect that may enter the queue instead; `nil` for none.
    package mutating func remove(_ id: RecordID) -> RecordID? {
        if active != id {
            if !waiting.isEmpty { waiting.removeAll { $0 == id } }
            return nil
        }
        active = waiting.isEmpty ? nil : waiting.removeFirst()
        return active
    }
}
