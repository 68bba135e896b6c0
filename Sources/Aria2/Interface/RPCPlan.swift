internal import HTTPServer
internal import JSON

/// What a call is carried out as, once it is known who calls.
enum RPCStep: Sendable {
    /// It is refused already.
    case failed(RPCError)
    case call(AuthorizedCall)
    /// `system.multicall`.
    case multicall([RPCStep])
}

/// A call that may be carried out.
struct AuthorizedCall: Sendable {
    let method: RPCMethod
    let parameters: RPCParameters
    let caller: Aria2Caller
}

/// Turns the calls of one message into steps.
struct RPCPlanner {
    private let access: any Aria2Access
    private let peer: SocketAddress
    /// The secrets that were looked at: all calls of a message usually have the same.
    private var known: [(secret: String?, caller: Aria2Caller?)] = []
    /// A message tries so many secrets at most: one that tried thousands would make guessing cheap.
    private static let mostSecrets = 3
    /// Whether any call has come without the right secret: such a message is answered late.
    private(set) var isUnauthorized = false
    /// Who has shown the right secret, or needed none.
    private(set) var caller: Aria2Caller?

    init(_ access: any Aria2Access, _ peer: SocketAddress) {
        self.access = access
        self.peer = peer
    }

    mutating func plan(_ call: RPCCall) -> RPCStep {
        if call.method == RPCMethod.multicall.rawValue { return planMulticall(call) }
        return planSingle(call)
    }

    private mutating func planSingle(_ call: RPCCall) -> RPCStep {
        let method = RPCMethod(rawValue: call.method)
        if let method, method.isPublic {
            let anyone = Aria2Caller(name: nil, scope: .none, permit: nil)
            return .call(AuthorizedCall(method: method, parameters: RPCParameters(call.parameters), caller: anyone))
        }
        // Before the method's name is looked at: what there is, is told to nobody else.
        guard let caller = authorize(call.secret) else {
            isUnauthorized = true
            return .failed(.unauthorized)
        }
        guard let method else { return .failed(RPCError("No such method: \(call.method.prefix(256))")) }
        let isAllowed =
            switch caller.scope {
            case .full: true
            case .read: method.onlyReads
            case .none: false
            }
        guard isAllowed else {
            return .failed(RPCError("The scope of the token '\(caller.name ?? "")' does not include \(method.rawValue)."))
        }
        return .call(AuthorizedCall(method: method, parameters: RPCParameters(call.parameters), caller: caller))
    }

    private mutating func authorize(_ secret: String?) -> Aria2Caller? {
        if let found = known.first(where: { $0.secret == secret }) { return found.caller }
        guard known.count < Self.mostSecrets else { return nil }
        let found = access.caller(withSecret: secret, from: peer)
        known.append((secret, found))
        if let found { caller = found }
        return found
    }

    private mutating func planMulticall(_ call: RPCCall) -> RPCStep {
        do throws(RPCError) {
            let entries = try RPCParameters(call.parameters).list(0)
            guard entries.count <= RPCMessage.mostCalls else {
                return .failed(RPCError("system.multicall takes at most \(RPCMessage.mostCalls) calls."))
            }
            var steps: [RPCStep] = []
            steps.reserveCapacity(entries.count)
            for entry in entries {
                guard entry.members != nil else {
                    steps.append(.failed(RPCError("system.multicall expected struct.")))
                    continue
                }
                guard let name = entry["methodName"]?.string else {
                    steps.append(.failed(RPCError("Missing methodName.")))
                    continue
                }
                guard name != RPCMethod.multicall.rawValue else {
                    steps.append(.failed(RPCError("Recursive system.multicall forbidden.")))
                    continue
                }
                steps.append(planSingle(RPCCall(method: name, parameters: entry["params"]?.array ?? [])))
            }
            return .multicall(steps)
        } catch {
            return .failed(error)
        }
    }
}
