internal import HTTPServer
internal import JSON

/// A step of a message, once its caller is known.
enum RPCStep: Sendable {
    /// A refused call.
    case failed(RPCError)
    case call(AuthorizedCall)
    /// `system.multicall`.
    case multicall([RPCStep])

    /// The calls of this step.
    var calls: [AuthorizedCall] {
        switch self {
        case .failed: []
        case .call(let call): [call]
        case .multicall(let steps): steps.flatMap(\.calls)
        }
    }
}

/// A call that the caller may make.
struct AuthorizedCall: Sendable {
    let method: RPCMethod
    let parameters: RPCParameters
    let caller: Aria2Caller
}

/// Turns the calls of one message into steps.
struct RPCPlanner {
    private let access: any Aria2Access
    private let peer: SocketAddress
    /// The secrets checked so far: all calls of a message usually have the same.
    private var known: [(secret: String?, caller: Aria2Caller?)] = []
    /// The maximum number of secrets that a message may try, so that guessing stays slow.
    private static let maximumSecrets = 3
    /// Whether a call had no right secret; such a message is answered late.
    private(set) var isUnauthorized = false
    /// The caller, if a call had the right secret or none is required.
    private(set) var caller: Aria2Caller?

    init(_ access: any Aria2Access, _ peer: SocketAddress) {
        self.access = access
        self.peer = peer
    }

    /// The maximum number of calls in a message that is planned without first finding a right secret in it.
    private static let maximumUnchecked = 16

    /// The steps for the calls of a message; `nil` if the whole message is refused: it has many calls, and no right secret.
    mutating func plan(_ calls: [Result<RPCCall, RPCError>]) -> [RPCStep]? {
        let count = calls.reduce(0) { $0 + ((try? $1.get())?.inner?.count ?? 1) }
        if access.needsSecret, count > Self.maximumUnchecked, !haveRightSecret(calls) {
            isUnauthorized = true
            return nil
        }
        return calls.map { call in
            switch call {
            case .success(let call): plan(call)
            case .failure(let error): .failed(error)
            }
        }
    }

    /// Whether one of the calls, or of those in a `system.multicall`, has the right secret.
    private mutating func haveRightSecret(_ calls: [Result<RPCCall, RPCError>]) -> Bool {
        for case .success(let call) in calls {
            if let secret = call.secret, authorize(secret) != nil { return true }
            for entry in call.inner ?? [] {
                if let secret = Self.call(entry)?.secret, authorize(secret) != nil { return true }
            }
        }
        return false
    }

    private mutating func plan(_ call: RPCCall) -> RPCStep {
        if call.method == RPCMethod.multicall.rawValue { return planMulticall(call) }
        return planSingle(call)
    }

    /// The call in an entry of a `system.multicall`; `nil` if it has no method name.
    private static func call(_ entry: JSONValue) -> RPCCall? {
        entry["methodName"]?.string.map { RPCCall(method: $0, parameters: entry["params"]?.array ?? []) }
    }

    private mutating func planSingle(_ call: RPCCall) -> RPCStep {
        let method = RPCMethod(rawValue: call.method)
        if let method, method.isPublic {
            let anyone = Aria2Caller(name: nil, scope: .none, permit: nil)
            return .call(AuthorizedCall(method: method, parameters: RPCParameters(call.parameters), caller: anyone))
        }
        // Checked before the method's name, so that callers without a secret do not learn which methods exist.
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
        guard known.count < Self.maximumSecrets else { return nil }
        let found = access.caller(withSecret: secret, from: peer)
        known.append((secret, found))
        if let found { caller = found }
        return found
    }

    private mutating func planMulticall(_ call: RPCCall) -> RPCStep {
        do throws(RPCError) {
            let entries = try RPCParameters(call.parameters).list(0)
            var steps: [RPCStep] = []
            steps.reserveCapacity(entries.count)
            for entry in entries {
                guard entry.members != nil else {
                    steps.append(.failed(RPCError("system.multicall expected struct.")))
                    continue
                }
                guard let call = Self.call(entry) else {
                    steps.append(.failed(RPCError("Missing methodName.")))
                    continue
                }
                guard call.method != RPCMethod.multicall.rawValue else {
                    steps.append(.failed(RPCError("Recursive system.multicall forbidden.")))
                    continue
                }
                steps.append(planSingle(call))
            }
            return .multicall(steps)
        } catch {
            return .failed(error)
        }
    }
}
