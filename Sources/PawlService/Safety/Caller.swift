internal import HTTPCore
internal import HTTPServer
internal import PawlConfiguration

/// The sender of a request, identified by its token.
final class Caller: Sendable {
    /// The name of the token in the log; `nil` if no token is required.
    let name: String?
    let scope: TokenScope
    /// The permit of the caller's streams, files and bodies: they end when it is revoked.
    let permit: Permit?
    /// The key of a feed that the request has in place of a token, not yet compared; `nil` for other requests.
    let key: String?

    init(name: String?, scope: TokenScope, permit: Permit?, key: String? = nil) {
        self.name = name
        self.scope = scope
        self.permit = permit
        self.key = key
    }

    /// The sender of a request where no token is required.
    static let anyone = Caller(name: nil, scope: .full, permit: Permit())

    /// Whether the token is no longer accepted.
    var isRevoked: Bool { permit?.isRevoked ?? false }
}
