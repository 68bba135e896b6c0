internal import DownloadCore

/// Decides when a replica requests slots from the database. Pure.
struct SlotRequests: Sendable, Equatable {
    /// Whether the database may have a slot for this replica.
    private var mayHaveSlots = true
    /// Whether a request is under way.
    private var isPending = false
    /// Downloads that were released since slots were requested.
    private var released: Set<RecordID> = []

    /// Notes that more slots may be free, or that more downloads may be queued.
    mutating func noteFreeSlots() { mayHaveSlots = true }

    /// Begins a request.
    /// - Parameter free: The number of slots that the replica can use; 0 or less: none.
    /// - Returns: Whether slots have to be requested.
    mutating func begin(free: Int) -> Bool {
        guard mayHaveSlots, !isPending, free > 0 else { return false }
        (mayHaveSlots, isPending) = (false, true)
        return true
    }

    /// Notes the release of a download. The database may have granted it a slot in the request under way.
    mutating func noteRelease(of id: RecordID) {
        if isPending { released.insert(id) }
    }

    /// Ends the request under way.
    /// - Parameters:
    ///   - granted: The number of granted slots; `nil`: the request has failed.
    ///   - requested: The number of requested slots.
    /// - Returns: The downloads that were released during the request: their slots count no more.
    mutating func end(granted: Int?, of requested: Int) -> Set<RecordID> {
        isPending = false
        defer { released = [] }
        // With all slots granted, there may be more. The slots of released downloads are free again.
        if let granted, granted == requested || !released.isEmpty { mayHaveSlots = true }
        return released
    }
}
