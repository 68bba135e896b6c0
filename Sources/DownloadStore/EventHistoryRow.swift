internal import DownloadCore

/// The row of the beginning of an epoch, or of a removal.
enum EventHistoryRow {
    static let insertStatement = "INSERT INTO event_history (epoch, sequence, removed_id) VALUES (?1, ?2, ?3)"
    /// Keeps as many rows as removals are kept in memory.
    static let trimStatement =
        "DELETE FROM event_history WHERE number <= (SELECT max(number) FROM event_history) - \(RemovalHistory.capacity)"
    static let loadStatement = "SELECT epoch, sequence, removed_id, number FROM event_history ORDER BY number"

    /// Encodes a row for `insertStatement`.
    static func encode<Row: RowEncoder>(
        _ event: (changeID: EventID, removed: String?), to row: inout Row
    ) throws(Row.Failure) {
        try row.put(Int64(bitPattern: event.changeID.epoch))
        try row.put(Int64(bitPattern: event.changeID.sequence))
        try row.put(event.removed)
    }

    /// Adds the current row of `loadStatement` to the history.
    ///
    /// - Throws: `StoreError.damaged` if a column has a value that no release writes.
    static func read(_ row: some RowDecoder, into history: inout StoredEventHistory) throws(StoreError) {
        let id = row.text(2).flatMap { RecordID($0) }
        guard let epoch = row.integer(0), let sequence = row.integer(1),
            (0...Int64(StoredEventHistory.largestEpoch)).contains(epoch),
            (0...(1 << 62)).contains(sequence), id != nil || row.isNull(2)
        else {
            // The row may have been a removal, so the history is complete only from the next row on.
            (history.knownSince, history.removals) = (nil, [])
            throw .damaged("an event of the history cannot be read")
        }
        let changeID = EventID(epoch: UInt64(clamping: epoch), sequence: UInt64(clamping: sequence))
        history.newest = max(history.newest, changeID)
        if history.knownSince == nil { history.knownSince = changeID }
        guard let id else { return }
        history.removals.append(RemovalHistory.Removal(changeID: changeID, id: id))
    }
}
