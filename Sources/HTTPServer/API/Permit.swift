internal import Synchronization

/// What a response goes on by. Once it is revoked and ``HTTPServer/endRevoked()`` is called, the server ends what still goes on by it:
/// bodies that arrive, streams, and files that are being sent.
public final class Permit: Sendable {
    private let revoked = Atomic<Bool>(false)

    /// One that holds.
    public init() {}

    /// Whether it holds no more.
    public var isRevoked: Bool { revoked.load(ordering: .acquiring) }

    /// Takes it back, for good. May be called on any thread.
    public func revoke() {
        revoked.store(true, ordering: .releasing)
    }
}
