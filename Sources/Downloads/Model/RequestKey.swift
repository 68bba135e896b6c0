internal import System

/// Names one request of a client, so that a repetition of it is recognised and gets the same response: an `Idempotency-Key` and
/// what was asked for with it.
public struct RequestKey: Sendable, Hashable {
    /// The client's own name for the request.
    public let name: String
    /// The SHA-256 of what is asked for.
    let digest: [UInt8]

    /// - Parameters:
    ///   - name: the client's own name for the request.
    ///   - request: all bytes that say what is asked for; another request with the same name is refused.
    public init(_ name: String, request: [UInt8]) {
        self.name = name
        digest = SHA256.digest(of: request)
    }
}
