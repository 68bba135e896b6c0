package import DownloadCore
internal import Postgres

/// The change log of a fleet, and the messages of other instances.
///
/// Changes are published in the order of their commits. A commit succeeds once the follower has received it and all
/// earlier commits of other replicas. A client that gets a response therefore finds its change on this replica.
package final class ChangeLog {
    /// Receives all changes in order, by this and other replicas. Set before the first write.
    var follower: (([FleetChange]) -> Void)?

    private let instance: PostgresInstance
    /// The sequence number of the last change that the follower has received.
    private var followed: UInt64 = 0

    private static let pageSize: Int64 = 1_000

    init(_ instance: PostgresInstance) {
        self.instance = instance
    }

    private enum Statements {
        static let recent = """
            SELECT sequence, download_id, download FROM pawl.changes
                ORDER BY sequence DESC LIMIT \(StoredEventHistory.recentChanges)
            """
        static let changes = PostgresStatement("changes", file: PackageResources.postgres_changes_sql)
        static let messages = PostgresStatement(
            "messages", "DELETE FROM pawl.messages WHERE recipient = $1::bigint RETURNING number, sender, body")
    }
}

extension ChangeLog {
    /// Reads the latest changes, from which on this replica follows.
    func load(into fleet: inout FleetContents, _ reader: PostgresSnapshot) throws(StoreError) {
        try reader.rows("feed_end", "SELECT sequence FROM pawl.feed_end", [[]]) {
            fleet.base = UInt64(clamping: $0.integer(0) ?? 0)
        }
        try reader.rows("recent", Statements.recent, [[]]) { row in
            guard let id = row.text(1).flatMap(RecordID.init) else { throw StoreError.damaged("a change cannot be read") }
            var download: Download?
            do {
                download = try row.text(2).map { text in try FleetChange.decode(text) }
            } catch {
                // The download's record is refused as well. The change is kept, because sequence numbers have no gaps.
                instance.options.log(.warning("a change to download \(id) is refused: \(error)"))
            }
            fleet.recent.append(FleetChange(sequence: UInt64(clamping: row.integer(0) ?? 0), id: id, download: download))
        }
        fleet.recent.reverse()
        followed = fleet.base
        fleet.base -= min(UInt64(fleet.recent.count), fleet.base)
    }

    /// Passes all committed changes to the follower.
    package func follow() throws(StoreError) {
        while true {
            let values: [PostgresValue] = [.integer(Int64(followed)), .integer(Self.pageSize)]
            let command = PostgresCommand(Statements.changes, values)
            guard let rows = try instance.run([command]).first?.rows, !rows.isEmpty else { return }
            // The missing changes have been deleted, because this replica was away for too long.
            guard rows.first?.integer(0) == Int64(followed) + 1 else { throw instance.fence() }
            do throws(StoreError) {
                deliver(try rows.map { row throws(StoreError) in try Self.change(row) })
            } catch {
                // A replica that cannot decode the change log must leave the fleet.
                instance.options.log(.warning("a change by a replica of another release cannot be read: \(error)"))
                instance.fenced?()
                throw error
            }
            instance.options.log(.followed(lags: rows.map { .microseconds($0.integer(3) ?? 0) }))
            if rows.count < Self.pageSize { return }
        }
    }

    /// Passes changes that this instance has just published to the follower, after earlier ones of other replicas.
    /// - Parameter base: The sequence number before the first of the changes.
    package func deliver(_ published: [(id: RecordID, download: Download?)], after base: Int64?) throws(StoreError) {
        // Usually no other replica has changed anything in between.
        guard base == Int64(followed) else { return try follow() }
        let first = followed + 1
        deliver(
            published.enumerated().map { index, change in
                FleetChange(
                    sequence: first + UInt64(index), id: change.id, download: change.download.map(FleetChange.shared))
            })
    }

    /// Removes and returns the messages for this instance, oldest first, after following all changes that were
    /// committed before them. The sender repeats remote commands whose message or reply gets lost.
    package func messages() throws(StoreError) -> [(sender: Int64, text: String)] {
        let command = PostgresCommand(Statements.messages, [.integer(instance.id)])
        guard let rows = try instance.run([command]).first?.rows, !rows.isEmpty else { return [] }
        try follow()
        let messages = rows.compactMap { row in
            row.integer(0).flatMap { number in row.integer(1).flatMap { sender in row.text(2).map { (number, sender, $0) } } }
        }
        return messages.sorted { $0.0 < $1.0 }.map { ($0.1, $0.2) }
    }

    private func deliver(_ changes: [FleetChange]) {
        followed = changes.last?.sequence ?? followed
        follower?(changes)
    }

    private static func change(_ row: PostgresRow) throws(StoreError) -> FleetChange {
        guard let number = row.integer(0), let id = row.text(1).flatMap(RecordID.init) else {
            throw .damaged("a change cannot be read")
        }
        let download = try row.text(2).map { text throws(StoreError) in try FleetChange.decode(text) }
        return FleetChange(sequence: UInt64(clamping: number), id: id, download: download)
    }
}
