internal import Aria2
internal import HTTPCore
internal import HTTPServer
internal import PawlConfiguration

/// The secrets of aria2's clients, which are the tokens of the API.
struct Aria2Secrets: Aria2Access {
    let access: AccessPolicy
    let metrics: ServiceMetrics
    let log: Log

    var needsSecret: Bool { access.needsToken }

    func isSecret(_ secret: String) -> Bool { access.isToken(secret) }

    func caller(withSecret secret: String?, from peer: SocketAddress) -> Aria2Caller? {
        do throws(Problem) {
            let caller = try access.caller(withToken: secret, of: peer)
            return Aria2Caller(caller)
        } catch {
            metrics.recordAuthenticationFailure()
            log.write(
                .warning, "authentication failed",
                [("address", .text(peer.host)), ("path", .text("/jsonrpc")), ("reason", .text(error.detail))])
            return nil
        }
    }

    func log(_ change: String, by caller: Aria2Caller, from peer: SocketAddress) {
        let token: [(name: String, value: Log.Value)] = caller.name.map { [("token", .text($0))] } ?? []
        log.writeAlways(change, token + [("address", .text(peer.host)), ("path", .text("/jsonrpc"))])
    }
}

extension Aria2Caller {
    /// The sender of a request as aria2's interface sees it.
    init(_ caller: Caller) {
        self.init(name: caller.name, scope: Scope(caller.scope), permit: caller.permit)
    }
}

extension Aria2Caller.Scope {
    fileprivate init(_ scope: TokenScope) {
        self =
            switch scope {
            case .full: .full
            case .read: .read
            case .metrics: .none
            }
    }
}
