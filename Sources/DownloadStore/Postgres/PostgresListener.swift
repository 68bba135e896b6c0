internal import DownloadCore
internal import Postgres
internal import System

/// Listens to notifications of other replicas, on a connection and a thread of its own. Notifications may get lost, so
/// it also ticks once a second.
final class PostgresListener: Sendable {
    enum Event: Sendable {
        /// Downloads have changed, up to the change with this sequence number. `session` is the server process that
        /// committed it.
        case changed(UInt64, session: Int32)
        /// The progress of another replica's transfers.
        case progress(String)
        /// The settings have changed.
        case settings
        /// Subscriptions have changed, or claims on them have ended.
        case subscriptions
        /// Remote commands or replies have arrived.
        case messages
        /// A second has passed.
        case tick
    }

    private static let interval: Duration = .seconds(1)
    /// The pause before a new connection.
    private static let reconnectPause: Duration = .milliseconds(200)

    private let database: String
    private let instance: Int64
    private let limit: Duration
    private let connection: Locked<PostgresConnection?>
    private let isStopping = Monitor(false)

    /// Connects, and sends a notification to itself as a test. A pooler that gives each transaction another session
    /// would lose notifications unnoticed.
    init(_ database: String, instance: Int64, within limit: Duration) throws(StoreError) {
        self.database = database
        self.instance = instance
        self.limit = limit
        let made = try Self.connect(database, instance, limit)
        let deadline = ContinuousClock.now + .seconds(5)
        let isHeard = try StoreError.translating {
            try made.execute("NOTIFY pawl_instance_\(instance), 'here'", within: limit)
            while ContinuousClock.now < deadline {
                if try made.notifications(within: .seconds(1), interruptedBy: nil).contains(where: { $0.payload == "here" }) {
                    return true
                }
            }
            return false
        }
        guard isHeard else {
            made.close()
            let reason = "notifications do not arrive: a pooler in transaction mode cannot be used"
            throw .unavailable(path: "the database", reason: reason)
        }
        connection = Locked(made)
    }

    /// Starts the thread.
    /// - Parameter receive: Called on the thread; must not block.
    func start(_ receive: @escaping @Sendable (Event) -> Void) throws(SystemError) {
        try Thread.start(name: "pawl listener") { self.listen(receive) }
    }

    /// Ends the thread within a second.
    func stop() {
        isStopping.withLock { isStopping in
            isStopping = true
            return ((), wake: true)
        }
    }

    private func listen(_ receive: (Event) -> Void) {
        var lastTick = ContinuousClock.now
        var lastProof = lastTick
        while !isStopping.withLock({ ($0, wake: false) }) {
            do {
                try connection.withLock { connection in
                    if connection == nil {
                        connection = try Self.connect(database, instance, limit)
                        // Remote commands may have been sent before this connection. Changes are read every second anyway.
                        receive(.settings)
                        receive(.subscriptions)
                        receive(.messages)
                    }
                    // Only a query shows that the connection is dead.
                    if ContinuousClock.now - lastProof > Self.interval * 5 {
                        try connection?.execute("SELECT 1", within: limit)
                        lastProof = .now
                    }
                    for notification in try connection?.notifications(within: Self.interval, interruptedBy: nil) ?? [] {
                        Self.event(notification, instance).map(receive)
                    }
                }
            } catch {
                connection.withLock { connection in
                    connection?.close()
                    connection = nil
                }
                pause()
            }
            let now = ContinuousClock.now
            if now - lastTick >= Self.interval {
                lastTick = now
                receive(.tick)
            }
        }
        connection.withLock { connection in
            connection?.close()
            connection = nil
        }
    }

    private func pause() {
        let due = ContinuousClock.now + Self.reconnectPause
        isStopping.wait { isStopping in
            let remaining = ContinuousClock.now.duration(to: due)
            return isStopping || remaining <= .zero ? .done(()) : .wait(remaining)
        }
    }

    private static func event(_ notification: PostgresNotification, _ instance: Int64) -> Event? {
        switch notification.channel {
        case "pawl_changes": .changed(UInt64(notification.payload) ?? .max, session: notification.processID)
        case "pawl_progress": .progress(notification.payload)
        case "pawl_settings": .settings
        case "pawl_subscriptions": .subscriptions
        case "pawl_instance_\(instance)": .messages
        default: nil
        }
    }

    private static func connect(_ database: String, _ instance: Int64, _ limit: Duration) throws(StoreError) -> PostgresConnection
    {
        try StoreError.translating {
            let connection = try PostgresConnection(database, application: "pawl listener", within: limit)
            try connection.execute(
                "SET application_name = '\(PostgresInstance.sessionName(of: instance))'; LISTEN pawl_changes; LISTEN pawl_progress; LISTEN pawl_settings; LISTEN pawl_subscriptions; LISTEN pawl_instance_\(instance)",
                within: limit)
            return connection
        }
    }
}
