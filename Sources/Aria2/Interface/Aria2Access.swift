public import HTTPServer

/// Decides who calls: the module leaves secrets to whoever knows them.
public protocol Aria2Access: Sendable {
    /// Whether calls have to carry a secret.
    var needsSecret: Bool { get }

    /// Who sends a call; `nil` if the secret is missing or wrong. What is refused has been counted and logged when this returns.
    /// - Parameters:
    ///   - secret: without `token:`; `nil` if the call carries none.
    ///   - peer: where it comes from.
    func caller(withSecret secret: String?, from peer: SocketAddress) -> Aria2Caller?

    /// Logs what an operator may have to account for.
    /// - Parameters:
    ///   - change: what was done, as the begin of a sentence.
    ///   - caller: by whom.
    ///   - peer: from where.
    func log(_ change: String, by caller: Aria2Caller, from peer: SocketAddress)
}

/// Who calls, as far as the secret says.
public struct Aria2Caller: Sendable {
    /// What a caller may do.
    public enum Scope: Sendable {
        /// Everything.
        case full
        /// To list and to listen, without what may be secret in URLs.
        case read
        /// Nothing of this.
        case none
    }

    /// What the log calls the secret; `nil` where none is needed.
    public let name: String?
    /// What it is good for.
    public let scope: Scope
    /// What goes on by it ends when this is revoked; `nil` where none is needed.
    public let permit: Permit?

    /// A caller from its parts.
    public init(name: String?, scope: Scope, permit: Permit?) {
        self.name = name
        self.scope = scope
        self.permit = permit
    }
}
