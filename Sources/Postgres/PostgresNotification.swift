/// A notification by NOTIFY on a channel that the connection listens on.
public struct PostgresNotification: Sendable, Equatable {
    /// The name of the channel.
    public let channel: String
    /// The payload; empty if there is none. The server accepts less than 8,000 bytes.
    public let payload: String
    /// The id of the server's process that sent it: another connection's `processID`, or the connection's own.
    public let processID: Int32
}
