/// What NOTIFY sent to a channel that the connection listens on.
public struct PostgresNotification: Sendable, Equatable {
    /// The channel's name.
    public let channel: String
    /// What came with it; empty if nothing did. The server takes less than 8,000 bytes.
    public let payload: String
    /// The server's process that sent it: another connection's `processID`, or one's own.
    public let processID: Int32
}
