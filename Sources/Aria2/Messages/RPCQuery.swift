internal import HTTPCore
internal import JSON

/// A call in the query of a GET: `method`, `id` and `params`, a JSON list in Base64. Without `method` and `id`,
/// `params` is a whole message.
struct RPCQuery: Sendable {
    let message: RPCMessage
    /// The function that a script calls with the response (JSONP); `nil` if none is given.
    let callback: String?

    init(_ target: borrowing RequestTarget) {
        let items = (target.rawQuery == nil ? [] : try? target.queryItems()) ?? []
        func value(_ name: String) -> String? { items.first { $0.name == name }?.value }
        let callback = value("jsoncallback")
        // The name becomes part of a script, so nothing but a name is accepted.
        guard callback.map(Self.isName) ?? true else {
            self.callback = nil
            message = .failed(.invalidRequest)
            return
        }
        self.callback = callback
        // A plus sign of Base64 is a space in the decoded query unless it was escaped.
        let parameters = value("params").flatMap { Base64.decode($0.replacing(" ", with: "+").utf8) }
        let id = value("id")
        guard let method = value("method") else {
            message = id == nil ? parameters.map(RPCMessage.init) ?? .failed(.invalidRequest) : .failed(.invalidRequest)
            return
        }
        guard parameters != nil || value("params") == nil else {
            message = .failed(.invalidRequest)
            return
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("method", method)
        if let id { writer.member("id", id) }
        if let parameters, !parameters.isEmpty {
            writer.name("params")
            writer.raw(parameters.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(parameters.dropFirst(3)) : parameters)
        }
        writer.endObject()
        message = RPCMessage(parsing: writer.bytes)
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
