internal import HTTPCore
internal import System

/// What a download waits for: one that is queued, or one that has all its bytes.
public enum WaitingReason: String, Sendable, CaseIterable {
    /// As many downloads transfer as may.
    case turn
    /// As many as may transfer from its host.
    case host
    /// There is less free room on the disk than has to stay free.
    case disk
    /// What is kept takes all the room that it may.
    case quota
    /// The object storage, which does not take its file.
    case storage
    /// The downloads directory, which is away.
    case volume = "downloads-directory"
}

/// What downloads wait for, for readers on any thread: the service writes it down whenever it has given turns.
final class QueueStatus: Sendable {
    struct State: Sendable, Equatable {
        /// Why nothing new starts, if that is so.
        var gate: WaitingReason?
        /// Whether no turn is free, whatever the host.
        var isFull = false
        /// Hosts, with their ports, from which no more may transfer.
        var fullHosts: Set<String> = []
        /// Whether the object storage takes no files.
        var isStorageAway = false
    }

    private let state = Locked(State())

    func set(_ new: State) {
        state.withLock { $0 = new }
    }

    var isStorageAway: Bool { state.withLock { $0.isStorageAway } }

    /// What a queued download of this URL waits for.
    func reason(for url: String) -> WaitingReason {
        let state = state.withLock { $0 }
        if let gate = state.gate { return gate }
        guard !state.isFull, !state.fullHosts.isEmpty, let url = HTTPURL(url) else { return .turn }
        return state.fullHosts.contains("\(url.host):\(url.port)") ? .host : .turn
    }
}
