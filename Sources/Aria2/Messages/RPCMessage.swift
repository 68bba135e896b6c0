internal import JSON

/// One call of a method (JSON-RPC 2.0 §4).
struct RPCCall: Sendable, Equatable {
    let method: String
    /// The parameters without the secret.
    let parameters: [JSONValue]
    /// The text after `token:` in the first parameter; `nil` if there is none.
    let secret: String?

    /// - Parameter parameters: The parameters, including the secret if there is one.
    init(method: String, parameters: [JSONValue]) {
        self.method = method
        if case .string(let text)? = parameters.first, text.utf8.starts(with: "token:".utf8) {
            // Cut by bytes, since a secret may begin with a combining character.
            secret = String(Substring(text.utf8.dropFirst("token:".utf8.count)))
            self.parameters = Array(parameters.dropFirst())
        } else {
            secret = nil
            self.parameters = parameters
        }
    }

    /// The entries of a `system.multicall`; `nil` for other calls, and if the first parameter is not a list.
    var inner: [JSONValue]? { method == RPCMethod.multicall.rawValue ? parameters.first?.array : nil }
}

/// The form of a message and of its response.
public enum RPCForm: Sendable {
    /// JSON-RPC 2.0.
    case json
    /// The same, with a response that calls a function of a script (JSONP).
    case script(function: String)
    /// XML-RPC. The media type may name the encoding.
    case xml(charset: String?)
}

/// A client's message: one call, or a batch (JSON-RPC 2.0 §6).
enum RPCMessage: Sendable {
    /// A call or its error, with the `id` of its response.
    struct Entry: Sendable {
        /// The call's `id` as JSON, exactly as written; `null` if it had none.
        let id: [UInt8]
        let call: Result<RPCCall, RPCError>
    }

    case single(Entry)
    case batch([Entry])

    /// Parses a message in a form. An error becomes an entry.
    init(parsing text: [UInt8], as form: RPCForm) {
        guard case .xml(let charset) = form else {
            self.init(parsing: text)
            return
        }
        var reader = XMLCallReader(text, charset: charset)
        guard let call = try? reader.read() else {
            self = .failed(.parse)
            return
        }
        let isTooLong = call.inner?.count ?? 1 > Self.maximumCalls
        self = .single(Entry(id: Entry.null, call: isTooLong ? .failure(.tooManyCalls) : .success(call)))
    }

    /// Parses a message in JSON. An error becomes an entry.
    init(parsing text: [UInt8]) {
        guard let value = try? JSONValue(parsing: text) else {
            self = .failed(.parse)
            return
        }
        let isTooLong = Self.callCount(of: value) > Self.maximumCalls
        guard case .array(let elements) = value else {
            let entry = Entry(value) { text }
            self = .single(isTooLong ? Entry(id: entry.id, call: .failure(.tooManyCalls)) : entry)
            return
        }
        guard !isTooLong else {
            self = .failed(.tooManyCalls)
            return
        }
        var located: [JSONDocument.Element]?
        self = .batch(
            elements.enumerated().map { number, element in
                Entry(element) {
                    if located == nil { located = (try? JSONDocument(parsing: text))?.elements ?? [] }
                    guard let located, number < located.count else { return [] }
                    return Array(text[located[number].range])
                }
            })
    }

    static func failed(_ error: RPCError) -> RPCMessage {
        .single(Entry(id: Entry.null, call: .failure(error)))
    }

    /// The maximum number of calls in a message, including those in `system.multicall`. Clients send one for each
    /// selected download.
    static let maximumCalls = 4_096

    /// The text after the first `"token:` of a message that has not been parsed, or after `>token:` in XML; `nil` if there
    /// is none, or if it has an escape.
    static func firstSecret(in text: [UInt8], as form: RPCForm = .json) -> String? {
        let isXML = if case .xml = form { true } else { false }
        let prefix = Array(isXML ? ">token:".utf8 : "\"token:".utf8)
        let (end, escape) = isXML ? (UInt8(ascii: "<"), UInt8(ascii: "&")) : (prefix[0], UInt8(ascii: "\\"))
        guard let quote = text.indices.first(where: { text[$0] == prefix[0] && text[$0...].starts(with: prefix) }) else {
            return nil
        }
        let secret = text[(quote + prefix.count)...].prefix { $0 != end }
        guard secret.endIndex < text.endIndex, !secret.contains(escape) else { return nil }
        return String(decoding: secret, as: UTF8.self)
    }

    /// The number of calls in a message. An invalid entry counts as one.
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
    static let null = Array("null".utf8)
    /// The maximum length of an `id`, in bytes of JSON. A response repeats the `id`, and each call of a batch has one.
    static let maximumIDLength = 1_024

    /// - Parameter text: The bytes from which the value was parsed.
    fileprivate init(_ value: JSONValue, text: () -> [UInt8]) {
        // Unknown members and `jsonrpc` are ignored: clients leave out `jsonrpc`, or write the number 2.
        guard let id = value["id"] else {
            self.init(id: Self.null, call: .failure(.invalidRequest))
            return
        }
        let encoded = Self.encoded(id, text: text)
        guard encoded.count <= Self.maximumIDLength else {
            self.init(id: Self.null, call: .failure(.longID))
            return
        }
        self.init(id: encoded, call: Self.call(value))
    }

    private static func call(_ value: JSONValue) -> Result<RPCCall, RPCError> {
        guard let method = value["method"]?.string else { return .failure(.invalidRequest) }
        guard let parameters = value["params"] else { return .success(RPCCall(method: method, parameters: [])) }
        guard let list = parameters.array else { return .failure(.invalidParameters) }
        return .success(RPCCall(method: method, parameters: list))
    }

    /// An `id` as written. Numbers that are not 64-bit integers are copied from the text, since a double would lose
    /// digits.
    private static func encoded(_ id: JSONValue, text: () -> [UInt8]) -> [UInt8] {
        switch id {
        case .null, .bool, .integer, .string: return id.serialized()
        case .number, .array, .object:
            let text = text()
            guard let range = (try? JSONDocument(parsing: text))?.member("id")?.range else { return id.serialized() }
            return Array(text[range])
        }
    }
}
