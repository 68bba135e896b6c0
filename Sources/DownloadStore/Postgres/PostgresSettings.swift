internal import DownloadCore
internal import Postgres

/// The settings of a fleet, which all replicas share.
package struct PostgresSettings {
    let instance: PostgresInstance

    /// Returns the settings by their names.
    func all() throws(StoreError) -> [String: String] {
        Self.settings(try instance.run([PostgresCommand(Statements.all, [])]).first)
    }

    /// Changes settings if the present settings are as expected.
    /// - Returns: Whether they were, and the settings afterwards.
    func change(
        _ changes: [String: String], from expected: [String: String]
    ) throws(StoreError) -> (isDone: Bool, settings: [String: String]) {
        let values = [expected, changes].flatMap { values in
            let values = Array(values)
            return [values.map(\.key), values.map(\.value)].map { PostgresValue.text(PostgresGroup.array($0)) }
        }
        let results = try instance.transact([
            PostgresCommand(Statements.lock, []), PostgresCommand(Statements.change, values),
            PostgresCommand(Statements.notify, []), PostgresCommand(Statements.all, []),
        ])
        return (results.dropFirst().first?.rows.isEmpty == false, Self.settings(results.last))
    }

    private static func settings(_ result: PostgresResult?) -> [String: String] {
        var settings: [String: String] = [:]
        guard let result else { return settings }
        for row in result.rows { if let name = row.text(0), let value = row.text(1) { settings[name] = value } }
        return settings
    }

    enum Statements {
        static let all = PostgresStatement("settings", "SELECT name, value FROM pawl.settings")
        /// Held from the comparison of settings to their change.
        static let lock = PostgresStatement(
            "lock_settings", "SELECT pg_advisory_xact_lock(\(PostgresSchema.settingsLock))")
        static let change = PostgresStatement("change_settings", file: PackageResources.postgres_change_settings_sql)
        static let notify = PostgresStatement("notify_settings", "SELECT pg_notify('pawl_settings', '')")
    }
}
