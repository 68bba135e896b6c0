internal import DownloadCore
internal import System

/// The written bytes and the open connections of a running transfer, for readers on any thread.
///
/// It has a lock of its own, which is held only to insert a range or to copy a value. A reader always gets the present
/// state, and never waits for a disk. Only the transfer changes it, in the order of its own changes.
package final class TransferProgress: CoverageSource {
    private struct State {
        var written: Coverage
        var connections: [SegmentConnection] = []
    }

    private let state: Locked<State>

    /// Creates the progress of a transfer.
    /// - Parameter written: The bytes in the part file.
    init(written: Coverage) {
        state = Locked(State(written: written))
    }

    /// The bytes in the part file that belong to the version of the file that is being fetched.
    var written: Coverage { state.withLock { $0.written } }

    /// The connections that are open or being opened.
    var connections: [SegmentConnection] { state.withLock { $0.connections } }

    /// Adds bytes that have been written.
    package func insert(_ range: Range<Int64>) {
        state.withLock { $0.written.insert(range) }
    }

    /// Replaces the coverage, for a response that does not continue from the earlier bytes.
    func set(_ written: Coverage) {
        state.withLock { $0.written = written }
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
