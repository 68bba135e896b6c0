internal import HTTPCore
internal import HTTPServer
internal import PawlConfiguration

/// Who sent a request, as far as its token says.
struct Caller: Sendable {
    /// What the log calls the token; `nil` where none is required.
    let name: String?
    let scope: TokenScope
    /// Lets streams, files and bodies go on until it is revoked.
    let permit: Permit?

    /// The sender of a request where no token is required.
    static let anyone = Caller(name: nil, scope: .full, permit: Permit())

    /// Whether the token is no longer one.
    var isRevoked: Bool { permit?.isRevoked ?? false }

    /// Refuses what the token's scope leaves out.
    func check(_ endpoint: Endpoint, _ method: HTTPMethod) throws(Problem) {
        guard !endpoint.isOpen(to: scope, method) else { return }
        throw Problem(
            .insufficientScope,
            "the scope of the token '\(name ?? "")' is \(scope.rawValue), which does not include \(method.name) \(endpoint.path)")
    }
}
