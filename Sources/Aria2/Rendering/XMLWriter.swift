internal import XML

/// Writes values of XML-RPC (http://xmlrpc.com/spec.md), without white space between the elements.
struct XMLWriter: ValueWriter {
    var bytes: [UInt8] = []
    /// The open structs and arrays, the innermost last: whether each is a struct.
    private var open: [Bool] = []

    mutating func beginObject() {
        append("<value><struct>")
        open.append(true)
    }

    mutating func endObject() { end("</struct></value>") }

    mutating func beginArray() {
        append("<value><array><data>")
        open.append(false)
    }

    mutating func endArray() { end("</data></array></value>") }

    mutating func name(_ name: String) { append("<member><name>\(name.xmlEscaped)</name>") }

    mutating func value(_ string: String) { scalar("string", string.xmlEscaped) }

    mutating func value(_ integer: Int) { scalar("int", String(integer)) }

    /// Writes a fault. As in aria2, its code is always 1.
    mutating func value(_ error: RPCError) {
        beginObject()
        name("faultCode")
        value(1)
        member("faultString", error.message)
        endObject()
    }

    mutating func digits(_ integer: Int64) { scalar("string", String(integer)) }

    mutating func attempt(limit: Int, _ write: (inout XMLWriter) -> Void) -> Bool {
        let count = bytes.count
        write(&self)
        guard bytes.count > limit else { return true }
        bytes.removeLast(bytes.count - count)
        return false
    }

    /// Writes the response to a call.
    mutating func response(_ result: Result<Answer, RPCError>, _ view: DownloadView) {
        append("<?xml version=\"1.0\"?><methodResponse>")
        switch result {
        case .success(let answer):
            // The limit is checked for each result of a `system.multicall`.
            let limit = if case .results = answer { Int.max } else { Answer.maximumBytes }
            let fits = attempt(limit: limit) { writer in
                writer.append("<params><param>")
                answer.encode(into: &writer, view)
                writer.append("</param></params>")
            }
            if !fits { fault(.tooLarge) }
        case .failure(let error): fault(error)
        }
        append("</methodResponse>")
    }

    private mutating func fault(_ error: RPCError) {
        append("<fault>")
        value(error)
        append("</fault>")
    }

    private mutating func scalar(_ type: String, _ text: String) {
        append("<value><\(type)>")
        append(text)
        append("</\(type)></value>")
        endMember()
    }

    private mutating func end(_ tags: String) {
        append(tags)
        _ = open.popLast()
        endMember()
    }

    /// Ends the member to which the last value belongs, if it is in a struct.
    private mutating func endMember() {
        if open.last == true { append("</member>") }
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
}
