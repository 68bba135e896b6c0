internal import HTTPCore
internal import JSON

/// A call in the query of a GET: `method`, `id` and `params`, the last as the Base64 of a JSON list; or all of a message in `params`.
struct RPCQuery: Sendable {
    let message: RPCMessage
    /// The function that a script calls with the response (JSONP).
    let callback: String?

    init(_ target: borrowing RequestTarget) {
        let items = (target.rawQuery == nil ? [] : try? target.queryItems()) ?? []
        func value(_ name: String) -> String? { items.first { $0.name == name }?.value }
        let callback = value("jsoncallback")
        // What is called stands in a script: nothing but a name gets there.
        guard callback.map(Self.isName) ?? true else {
            self.callback = nil
            message = .failed(.invalidRequest)
            return
        }
        self.callback = callback
        // Base64 has plus signs, which a query decodes to spaces unless they were escaped.
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
            writer.raw(parameters)
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
