internal import Synchronization

/// A revocable permission that a response depends on. After it is revoked, ``HTTPServer/endRevoked()`` ends the bodies,
/// streams and files in transfer that depend on it.
public final class Permit: Sendable {
    private let revoked = Atomic<Bool>(false)

    /// Creates a valid permit.
    public init() {}

    /// Whether the permit has been revoked.
    public var isRevoked: Bool { revoked.load(ordering: .acquiring) }

    /// Revokes the permit permanently. Any thread may call this.
    public func revoke() {
        revoked.store(true, ordering: .releasing)
    }
}
