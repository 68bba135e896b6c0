internal import CPostgres

extension PostgresConnection {
    /// Waits for notifications of the channels that the connection listens on. Those that arrived during other calls
    /// are returned immediately.
    ///
    /// - Parameters:
    ///   - limit: The maximum wait; zero to return without waiting.
    ///   - wake: A descriptor that ends the wait when it becomes readable. It is not read.
    /// - Returns: The notifications in order; empty if the time is over or the wait was ended.
    /// - Throws: `.unavailable`.
    public func notifications(
        within limit: Duration, interruptedBy wake: Int32? = nil
    ) throws(PostgresError) -> [PostgresNotification] {
        let deadline = ContinuousClock.now + limit
        let handle = unsafe try opened()
        while true {
            let arrived = unsafe taken(from: handle)
            if !arrived.isEmpty { return arrived }
            let ready = unsafe SocketWait.wait(for: pawl_PQsocket(handle), .readable, wake: wake, until: deadline)
            if ready.contains(.readable) { try check(unsafe pawl_PQconsumeInput(handle) == 1) }
            // Server parameters and TLS keepalives also make the socket readable, so the time is checked after each
            // wait.
            if ready.contains(.woken) || ready.isEmpty || ContinuousClock.now >= deadline { return unsafe taken(from: handle) }
        }
    }

    /// The notifications that libpq has read.
    private func taken(from handle: OpaquePointer) -> [PostgresNotification] {
        var notifications: [PostgresNotification] = []
        while let notification = unsafe pawl_PQnotifies(handle) {
            unsafe notifications.append(
                PostgresNotification(
                    channel: String(cString: notification.pointee.relname), payload: String(cString: notification.pointee.extra),
                    processID: notification.pointee.be_pid))
            unsafe pawl_PQfreemem(notification)
        }
        return notifications
    }
}
