package import DownloadCore
internal import HTTPCore
internal import System

/// The reasons why downloads wait, for readers on any thread. The service updates them after each assignment of slots.
package final class QueueStatus: Sendable {
    package struct State: Sendable, Equatable {
        /// The reason why nothing new starts; `nil` if there is none.
        package var gate: WaitingReason?
        /// Whether no slot is free for any host.
        package var isFull = false
        /// Hosts, with their ports, whose slots are all in use.
        package var fullHosts: Set<String> = []
        /// Downloads for whose files the disk has no room.
        package var lackingRoom: Set<RecordID> = []
        /// Whether the object storage accepts no files.
        package var isStorageAway = false

        package init(
            gate: WaitingReason? = nil, isFull: Bool = false, fullHosts: Set<String> = [], lackingRoom: Set<RecordID> = [],
            isStorageAway: Bool = false
        ) {
            self.gate = gate
            self.isFull = isFull
            self.fullHosts = fullHosts
            self.lackingRoom = lackingRoom
            self.isStorageAway = isStorageAway
        }
    }

    private let state = Locked(State())

    /// Creates the status of a service in which no download waits for more than a slot.
    package init() {}

    package func set(_ new: State) {
        state.withLock { $0 = new }
    }

    package var isStorageAway: Bool { state.withLock { $0.isStorageAway } }

    /// Returns the reason why a queued download waits.
    package func reason(of download: Download) -> WaitingReason {
        let state = state.withLock { $0 }
        if let gate = state.gate { return gate }
        if state.lackingRoom.contains(download.id) { return .disk }
        guard !state.isFull, !state.fullHosts.isEmpty, let url = HTTPURL(download.url) else { return .slot }
        return state.fullHosts.contains(url.hostAndPort) ? .host : .slot
    }
}
