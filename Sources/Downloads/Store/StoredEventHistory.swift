import HTTPCore

/// What earlier runs have saved of their events.
struct StoredEventHistory: Sendable {
    /// The newest stamp of a saved change.
    var newest = EventID.none
    /// All removals with a later stamp are known; `nil`: none is.
    var knownSince: EventID?
    /// In order of their stamps.
    var removals: [RemovalHistory.Removal] = []

    /// What names the next run: more than any run before, also if the clock was set back.
    func nextEpoch(now: Timestamp) -> UInt64 {
        let now = UInt64(clamping: now.millisecondsSinceEpoch)
        // Another program has written the epoch: it leaves too few for later runs.
        return newest.epoch < EventHistoryRow.largestEpoch / 2 ? max(newest.epoch + 1, now) : now
    }
}

/// A run's beginning or a removal as a row of the table, and back.
enum EventHistoryRow {
    /// The largest epoch that is accepted. It leaves enough for later runs.
    static let largestEpoch: Int64 = 1 << 61

    static let insertStatement = "INSERT INTO event_history (epoch, sequence, removed_id) VALUES (?1, ?2, ?3)"
    /// As many as are kept in memory stay.
    static let trimStatement =
        "DELETE FROM event_history WHERE number <= (SELECT max(number) FROM event_history) - \(RemovalHistory.capacity)"
    static let loadStatement = "SELECT epoch, sequence, removed_id, number FROM event_history ORDER BY number"

    /// Puts a row together for `insertStatement`.
    static func encode<Row: RowEncoder>(
        _ stamp: EventID, removed: DownloadID?, to row: inout Row
    ) throws(Row.Failure) {
        try row.put(Int64(bitPattern: stamp.epoch))
        try row.put(Int64(bitPattern: stamp.sequence))
        try row.put(removed?.description)
    }

    /// Adds the current row of `loadStatement`.
    ///
    /// - Throws: `StoreError.damaged` if a column holds what was never written there.
    static func read(_ row: some RowDecoder, into history: inout StoredEventHistory) throws(StoreError) {
        let id = row.text(2).flatMap { DownloadID($0) }
        guard let epoch = row.integer(0), let sequence = row.integer(1), (0...largestEpoch).contains(epoch),
            (0...(1 << 62)).contains(sequence), id != nil || row.isNull(2)
        else {
            // What it tells of is not known: neither are all removals before the next row.
            (history.knownSince, history.removals) = (nil, [])
            throw .damaged("an event of the history cannot be read")
        }
        let stamp = EventID(epoch: UInt64(clamping: epoch), sequence: UInt64(clamping: sequence))
        history.newest = max(history.newest, stamp)
        if history.knownSince == nil { history.knownSince = stamp }
        guard let id else { return }
        history.removals.append(RemovalHistory.Removal(stamp: stamp, id: id))
    }
}
