public import HTTPServer

/// Identifies callers by their secrets, which this module does not hold.
public protocol Aria2Access: Sendable {
    /// Whether calls have to carry a secret.
    var needsSecret: Bool { get }

    /// Whether a secret is right. A wrong one is neither counted nor logged.
    func isSecret(_ secret: String) -> Bool

    /// The sender of a call; `nil` if the secret is missing or wrong. Counts and logs a refusal.
    /// - Parameters:
    ///   - secret: The secret without `token:`; `nil` if the call has none.
    ///   - peer: The address of the sender.
    func caller(withSecret secret: String?, from peer: SocketAddress) -> Aria2Caller?

    /// Logs a change that operators have to account for.
    /// - Parameters:
    ///   - change: The change, as a clause.
    ///   - caller: The sender of the call.
    ///   - peer: The address of the sender.
    func log(_ change: String, by caller: Aria2Caller, from peer: SocketAddress)
}

/// The sender of a call, identified by its secret.
public struct Aria2Caller: Sendable {
    /// The calls that a caller may make.
    public enum Scope: Sendable {
        /// All calls.
        case full
        /// Calls and notifications that only read, without possible secrets in URLs.
        case read
        /// No calls.
        case none
    }

    /// The name of the secret in the log; `nil` if none is required.
    public let name: String?
    /// The caller's scope.
    public let scope: Scope
    /// The permit whose revocation ends the caller's notifications; `nil` if no secret is required.
    public let permit: Permit?

    /// Creates a caller from its parts.
    public init(name: String?, scope: Scope, permit: Permit?) {
        self.name = name
        self.scope = scope
        self.permit = permit
    }
}
