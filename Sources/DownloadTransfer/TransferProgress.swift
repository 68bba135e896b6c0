internal import DownloadCore
internal import System

/// The written bytes and the open connections of a running transfer, for readers on any thread.
///
/// It has a lock of its own, which is held only to insert a range or to copy a value. A reader always gets the present
/// state, and never waits for a disk. Only the transfer changes it, in the order of its own changes.
package final class TransferProgress: CoverageSource {
    private struct State {
        var written: Coverage
        var seams: Set<Int64> = []
        var connections: [SegmentConnection] = []
    }

    private let state: Locked<State>

    /// Creates the progress of a transfer.
    /// - Parameter written: The bytes in the part file.
    init(written: Coverage) {
        state = Locked(State(written: written))
    }

    /// The bytes in the part file that belong to the version of the file that is being fetched (``SegmentPlan/proven``).
    var written: Coverage {
        let (written, seams) = state.withLock { ($0.written, $0.seams) }
        return written.opened(at: seams)
    }

    /// The connections that are open or being opened.
    var connections: [SegmentConnection] { state.withLock { $0.connections } }

    /// Adds bytes that have been written.
    /// - Parameter seams: The unproven seams from now on.
    package func insert(_ range: Range<Int64>, seams: Set<Int64>) {
        state.withLock { state in
            state.written.insert(range)
            state.seams = seams
        }
    }

    /// Replaces the coverage, for a response that does not continue from the earlier bytes.
    func set(_ plan: SegmentPlan) {
        state.withLock { ($0.written, $0.seams) = (plan.written, plan.seams) }
    }

    /// Adds a connection.
    func opened(_ connection: SegmentConnection) {
        state.withLock { $0.connections.append(connection) }
    }

    /// Removes a connection that has ended.
    func ended(_ connection: SegmentConnection) {
        state.withLock { $0.connections.removeAll { $0 === connection } }
    }
}
