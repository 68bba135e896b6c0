internal import JSON

/// One call of a method: JSON-RPC 2.0 §4.
struct RPCCall: Sendable, Equatable {
    let method: String
    /// Without the secret.
    let parameters: [JSONValue]
    /// What the first parameter had behind `token:`; `nil` if there was none.
    let secret: String?

    /// - Parameter parameters: with the secret, if it is among them.
    init(method: String, parameters: [JSONValue]) {
        self.method = method
        if case .string(let text)? = parameters.first, text.utf8.starts(with: "token:".utf8) {
            // By bytes: a secret may begin with a combining character.
            secret = String(Substring(text.utf8.dropFirst("token:".utf8.count)))
            self.parameters = Array(parameters.dropFirst())
        } else {
            secret = nil
            self.parameters = parameters
        }
    }

    /// The entries of a `system.multicall`; `nil` for other calls, and if there is no list of them.
    var inner: [JSONValue]? { method == RPCMethod.multicall.rawValue ? parameters.first?.array : nil }
}

/// What a client sends: one call, or a batch of them (JSON-RPC 2.0 §6).
enum RPCMessage: Sendable {
    /// A call, or why it is none, with what it is answered under.
    struct Entry: Sendable {
        /// The call's `id` as JSON: what it was, to the last digit. `null` if it had none.
        let id: [UInt8]
        let call: Result<RPCCall, RPCError>
    }

    case single(Entry)
    case batch([Entry])

    /// Reads a text. What is wrong with it becomes an entry of its own.
    init(parsing text: [UInt8]) {
        guard let value = try? JSONValue(parsing: text) else {
            self = .failed(.parse)
            return
        }
        let isTooLong = Self.callCount(of: value) > Self.mostCalls
        guard case .array(let elements) = value else {
            let entry = Entry(value) { text }
            self = .single(isTooLong ? Entry(id: entry.id, call: .failure(.tooManyCalls)) : entry)
            return
        }
        guard !isTooLong else {
            self = .failed(.tooManyCalls)
            return
        }
        var places: [JSONDocument.Element]?
        self = .batch(
            elements.enumerated().map { number, element in
                Entry(element) {
                    if places == nil { places = (try? JSONDocument(parsing: text))?.elements ?? [] }
                    guard let places, number < places.count else { return [] }
                    return Array(text[places[number].range])
                }
            })
    }

    static func failed(_ error: RPCError) -> RPCMessage {
        .single(Entry(id: Entry.null, call: .failure(error)))
    }

    /// The most calls in a message, those in `system.multicall` included. Clients send one for each selected download.
    static let mostCalls = 4_096

    /// The calls in a message. An entry that is no call counts as one.
    private static func callCount(of value: JSONValue) -> Int {
        switch value {
        case .array(let elements): elements.reduce(0) { $0 + callCount(ofEntry: $1) }
        default: callCount(ofEntry: value)
        }
    }

    private static func callCount(ofEntry entry: JSONValue) -> Int {
        guard entry["method"]?.string == RPCMethod.multicall.rawValue, let parameters = entry["params"]?.array else { return 1 }
        return max(1, RPCCall(method: RPCMethod.multicall.rawValue, parameters: parameters).inner?.count ?? 0)
    }
}

extension RPCMessage.Entry {
    fileprivate static let null = Array("null".utf8)

    /// - Parameter text: the bytes that the value was read from.
    fileprivate init(_ value: JSONValue, text: () -> [UInt8]) {
        // Unknown members are ignored, and so is `jsonrpc`: clients leave it out, or write 2.
        guard let id = value["id"] else {
            self.init(id: Self.null, call: .failure(.invalidRequest))
            return
        }
        self.init(id: Self.encoded(id, text: text), call: Self.call(value))
    }

    private static func call(_ value: JSONValue) -> Result<RPCCall, RPCError> {
        guard let method = value["method"]?.string else { return .failure(.invalidRequest) }
        guard let parameters = value["params"] else { return .success(RPCCall(method: method, parameters: [])) }
        guard let list = parameters.array else { return .failure(.invalidParameters) }
        return .success(RPCCall(method: method, parameters: list))
    }

    /// An identifier as it was written. Numbers have more digits than a double keeps: those are taken from the text.
    private static func encoded(_ id: JSONValue, text: () -> [UInt8]) -> [UInt8] {
        switch id {
        case .null, .bool, .integer, .string: return id.serialized()
        case .number, .array, .object:
            let text = text()
            guard let place = (try? JSONDocument(parsing: text))?.member("id")?.range else { return id.serialized() }
            return Array(text[place])
        }
    }
}
