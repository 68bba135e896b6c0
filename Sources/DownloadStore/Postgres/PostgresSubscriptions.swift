internal import DownloadCore
internal import Postgres

/// The subscriptions of a fleet. Each replica follows all of them, and changes those that it has claimed.
final class PostgresSubscriptions {
    private let instance: PostgresInstance
    private var follower: (([ChangedSubscription]) -> Void)?
    /// The versions that the follower has received.
    private var known: [RecordID: Int64] = [:]

    init(_ instance: PostgresInstance) {
        self.instance = instance
    }

    /// Notes a version that was read at the start.
    func note(_ stored: StoredSubscription) {
        known[stored.id] = stored.version
    }

    /// Begins to pass all changes since the start to a follower.
    func follow(_ receive: @escaping ([ChangedSubscription]) -> Void) throws(StoreError) {
        follower = receive
        try follow()
    }

    /// Passes all committed changes to the follower; none if only a claim has ended.
    func follow() throws(StoreError) {
        guard let follower else { return }
        let present = Array(known)
        let values = [present.map(\.key.description), present.map(\.value.description)].map {
            PostgresValue.text(PostgresGroup.array($0))
        }
        guard let rows = try instance.run([PostgresCommand(Statements.changed, values)]).first?.rows else { return }
        var changes: [ChangedSubscription] = []
        for row in rows {
            guard let id = row.text(0).flatMap(RecordID.init) else { continue }
            guard row.text(1) != nil else {
                known[id] = nil
                changes.append(.removed(id))
                continue
            }
            let stored = try SubscriptionRow.subscription(from: PostgresRowDecoder(row: row))
            known[id] = stored.version
            changes.append(.saved(stored))
        }
        follower(changes)
    }

    /// Claims a subscription for this instance.
    /// - Parameters:
    ///   - host: The host of its work. Unless `forced`, nothing is claimed while another subscription of the host is.
    ///   - forced: Whether another live instance loses its claim.
    /// - Returns: The claim and the present subscription; `nil` if another instance has the claim or the host, and if
    ///   the subscription is gone.
    func claim(_ id: RecordID, host: String, forced: Bool) throws(StoreError) -> ClaimedSubscription? {
        let values: [PostgresValue] = [.integer(instance.id), .text(id.description), .text(host), .boolean(forced)]
        guard let row = try instance.transact([PostgresCommand(Statements.claim, values)]).first?.rows.first,
            let number = row.integer(4)
        else { return nil }
        let stored = try SubscriptionRow.subscription(from: PostgresRowDecoder(row: row))
        return ClaimedSubscription(claim: SubscriptionClaim(id: id, number: number), stored: stored)
    }

    private enum Statements {
        static let changed = PostgresStatement(
            "changed_subscriptions", file: PackageResources.postgres_changed_subscriptions_sql)
        static let claim = PostgresStatement(
            "claim_subscription",
            "SELECT \(SubscriptionRow.fleetColumns), number FROM pawl.claim_subscription($1::bigint, $2, $3, $4::boolean)")
    }
}
