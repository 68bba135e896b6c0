internal import System

/// The key of one client's request: an `Idempotency-Key` and a digest of the request.
///
/// With it, a repetition of the request is recognised and gets the same response.
public struct RequestKey: Sendable, Hashable {
    /// The client's name for the request.
    public let name: String
    /// The SHA-256 of the request.
    package let digest: [UInt8]
    /// The faults despite which the request is carried out, in sentences, for the response to its repetition.
    public var warnings: [String] = []

    /// Creates a key.
    /// - Parameters:
    ///   - name: The client's name for the request.
    ///   - request: All bytes that describe the request. Another request with the same name is refused.
    public init(_ name: String, request: [UInt8]) {
        self.name = name
        digest = SHA256.digest(of: request)
    }
}
