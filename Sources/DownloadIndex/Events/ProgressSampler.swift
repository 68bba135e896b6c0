internal import DownloadCore
internal import System

/// Reads the progress of all transfers from their counters, once for all readers. The readers then receive the same
/// version of a download, which is encoded once.
package final class ProgressSampler: Sendable {
    /// The maximum age of a sample: half of the shortest interval between two progress events.
    private static let longestAge: Duration = .milliseconds(25)

    private struct State {
        var sample = ProgressSample(downloads: [])
        var taken: ContinuousClock.Instant?
    }

    private let index: SnapshotIndex
    private let state = Locked(State())

    init(_ index: SnapshotIndex) {
        self.index = index
    }

    /// Returns the latest sample.
    /// - Parameter now: The present time.
    func sample(now: ContinuousClock.Instant) -> ProgressSample {
        state.withLock { state in
            if let taken = state.taken, now - taken < Self.longestAge { return state.sample }
            state.taken = now
            state.sample = ProgressSample(downloads: index.view().transferringEntries.map(\.current))
            return state.sample
        }
    }
}

/// The downloads that transferred at one moment, by creation.
struct ProgressSample: Sendable {
    let downloads: [Download]

    subscript(id: RecordID) -> Download? {
        var low = 0
        var high = downloads.count
        while low < high {
            let middle = (low + high) / 2
            if downloads[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < downloads.count && downloads[low].id == id ? downloads[low] : nil
    }
}
