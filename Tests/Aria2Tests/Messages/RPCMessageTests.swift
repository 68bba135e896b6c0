import HTTPCore
import JSON
import Testing

@testable import Aria2

@Suite("Messages from clients")
struct RPCMessageTests {
    private func single(_ text: String) throws -> RPCMessage.Entry {
        guard case .single(let entry) = RPCMessage(parsing: Array(text.utf8)) else {
            throw RPCError("\(text) is a batch")
        }
        return entry
    }

    @Test(
        "Returns an id as it was sent",
        arguments: [
            ("1", "1"), ("-0.0", "-0.0"), ("1.50", "1.50"), ("1e5", "1e5"), ("9007199254740993", "9007199254740993"),
            ("1732350000000000001", "1732350000000000001"), ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("null", "null"), ("true", "true"), (#""""#, #""""#), (#""q\u00e9""#, #""qé""#), (#""a\"b""#, #""a\"b""#),
            (#"{"a": [1, 2.50]}"#, #"{"a": [1, 2.50]}"#), (#"[18446744073709551616]"#, #"[18446744073709551616]"#),
        ])
    func ids(written: String, told: String) throws {
        let call = #"{"method":"m", "x":[1.5,{"id":7}], "id" : \#(written) , "params":[]}"#
        #expect(String(decoding: try single(call).id, as: UTF8.self) == told)
        guard case .batch(let entries) = RPCMessage(parsing: Array("[5, \(call), {}]".utf8)) else {
            Issue.record("no batch")
            return
        }
        #expect(entries.map { String(decoding: $0.id, as: UTF8.self) } == ["null", told, "null"])
    }

    @Test(
        "Responds to invalid calls as aria2 does",
        arguments: [
            ("", "null", RPCError.parse), ("garbage", "null", .parse), (#"{"id":1"#, "null", .parse),
            (#"{"id":1,"method":"m"} x"#, "null", .parse), ("null", "null", .invalidRequest), (#""x""#, "null", .invalidRequest),
            ("{}", "null", .invalidRequest), (#"{"method":"m","params":[]}"#, "null", .invalidRequest),
            (#"{"id":1,"params":[]}"#, "1", .invalidRequest), (#"{"id":1,"method":4}"#, "1", .invalidRequest),
            (#"{"id":1,"method":"m","params":{}}"#, "1", .invalidParameters),
            (#"{"id":1,"method":"m","params":null}"#, "1", .invalidParameters),
        ])
    func faults(text: String, id: String, error: RPCError) throws {
        let entry = try single(text)
        #expect(String(decoding: entry.id, as: UTF8.self) == id)
        #expect(entry.call == .failure(error))
    }

    @Test(
        "Finds the first secret of a message before parsing it",
        arguments: [
            (#"{"id":1,"method":"m","params":["token:a b"]}"#, "a b"), (#"["token:x","token:y"]"#, "x"), (#"["token:"]"#, ""),
            (#"["token:x"#, nil), (#"["token:a\"b"]"#, nil), (#"["token"]"#, nil), (#""tok"token:z""#, "z"), ("", nil),
        ])
    func firstSecret(text: String, secret: String?) {
        #expect(RPCMessage.firstSecret(in: Array(text.utf8)) == secret)
    }

    @Test("Ignores jsonrpc, unknown members and missing params")
    func lenient() throws {
        for text in [
            #"{"jsonrpc":2,"id":1,"method":"m"}"#, #"{"json-rpc":"2.0","id":1,"method":"m","params":[],"more":[]}"#,
            #" {"method":"m","id":1} "#,
        ] {
            #expect(try single(text).call == .success(RPCCall(method: "m", parameters: [])))
        }
    }

    @Test("Removes a first parameter that begins with token:, and no other")
    func secret() {
        let cases: [([JSONValue], String?, Int)] = [
            ([], nil, 0), ([.string("token:")], "", 0), ([.string("token:a:b"), .integer(1)], "a:b", 1),
            ([.string("Token:a")], nil, 1), ([.string("x"), .string("token:a")], nil, 2), ([.integer(1)], nil, 1),
        ]
        for (parameters, secret, count) in cases {
            let call = RPCCall(method: "m", parameters: parameters)
            #expect(call.secret == secret)
            #expect(call.parameters.count == count)
        }
    }

    @Test("Errors have aria2's statuses")
    func statuses() {
        let cases: [(RPCError, Int)] = [
            (.parse, 500), (.invalidParameters, 500), (.invalidRequest, 400), (.unauthorized, 400), (RPCError("x"), 400),
        ]
        for (error, status) in cases { #expect(error.status.code == status) }
    }
}

@Suite("Calls in queries")
struct RPCQueryTests {
    private func read(_ query: String) throws -> RPCQuery {
        RPCQuery(try RequestTarget("/jsonrpc" + query))
    }

    private func described(_ query: RPCQuery) -> String {
        func text(_ entry: RPCMessage.Entry) -> String {
            let id = String(decoding: entry.id, as: UTF8.self)
            switch entry.call {
            case .success(let call): return "\(id) \(call.method)(\(call.parameters.count)) \(call.secret ?? "-")"
            case .failure(let error): return "\(id) \(error.code)"
            }
        }
        switch query.message {
        case .single(let entry): return text(entry)
        case .batch(let entries): return "[" + entries.map(text).joined(separator: ", ") + "]"
        }
    }

    @Test("Reads method, id and params in Base64, or a whole call")
    func forms() throws {
        // ["token:s"], [1,">>>"], [{"id":1,"method":"m"}] and {"id":1,"method":"m"}.
        let secret = "WyJ0b2tlbjpzIl0"
        let cases = [
            ("?method=m&id=foo&params=\(secret)%3D", #""foo" m(0) s"#), ("?method=m&id=foo&params=\(secret)=", #""foo" m(0) s"#),
            ("?method=m&id=foo", #""foo" m(0) -"#), ("?method=m&id=", #""" m(0) -"#),
            ("?method=m&id=a&params=WzEsIj4+PiJd", #""a" m(2) -"#),
            ("?method=m&params=\(secret)", "null -32600"), ("?id=foo", "null -32600"), ("", "null -32600"),
            ("?", "null -32600"),
            ("?method=m&id=foo&params=!", "null -32600"), ("?params=!", "null -32600"),
            ("?method=m&id=foo&params=Zm9v", "null -32700"), ("?params=W3siaWQiOjEsIm1ldGhvZCI6Im0ifV0=", "[1 m(0) -]"),
            ("?params=eyJpZCI6MSwibWV0aG9kIjoibSJ9", "1 m(0) -"), ("?params=W10=", "[]"),
        ]
        for (query, expected) in cases { #expect(described(try read(query)) == expected, "\(query)") }
    }

    @Test("Accepts callbacks that are names of at most 64 characters")
    func callbacks() throws {
        let name = String(repeating: "a", count: 64)
        for callback in ["f", "jQuery1_2.cb$", name] {
            #expect(try read("?method=m&id=1&jsoncallback=\(callback)").callback == callback)
        }
        for callback in ["", "f()", "a%20b", "%3Cscript%3E", "f%28", "%C3%A9", name + "a"] {
            let query = try read("?method=m&id=1&jsoncallback=\(callback)")
            #expect(query.callback == nil)
            #expect(described(query) == "null -32600")
        }
    }
}

@Suite("Parameters")
struct RPCParametersTests {
    private func message<Value>(_ body: () throws(RPCError) -> Value) -> String {
        do throws(RPCError) {
            return "\(try body())"
        } catch {
            return error.message
        }
    }

    @Test("Refuses missing and mistyped parameters with aria2's messages")
    func types() {
        let parameters = RPCParameters([
            .string("a"), .integer(2), .number(2.75), .array([.string("x"), .integer(1)]), .null, .integer(-1),
        ])
        #expect(message { () throws(RPCError) in try parameters.string(0) } == "a")
        #expect(message { () throws(RPCError) in try parameters.string(1) } == "The parameter at 1 has wrong type.")
        #expect(message { () throws(RPCError) in try parameters.string(4) } == "The parameter at 4 has wrong type.")
        #expect(message { () throws(RPCError) in try parameters.string(6) } == "The parameter at 6 is required but missing.")
        #expect(message { () throws(RPCError) in try parameters.integer(2) } == "2")
        #expect(message { () throws(RPCError) in try parameters.integer(0) } == "The parameter at 0 has wrong type.")
        #expect(
            message { () throws(RPCError) in try parameters.integer(5, atLeast: 0) }
                == "The integer parameter at 5 has invalid value: the value must be greater than or equal to 0.")
        #expect(message { () throws(RPCError) in try parameters.position(5) } == "Position must be greater than or equal to 0.")
        #expect(message { () throws(RPCError) in try parameters.position(6) } == "nil")
        #expect(message { () throws(RPCError) in try parameters.strings(3) } == #"["x"]"#)
        #expect(message { () throws(RPCError) in try parameters.optionalStrings(6) } == "nil")
        #expect(message { () throws(RPCError) in try parameters.optionalMembers(4) } == "The parameter at 4 has wrong type.")
    }

    @Test("A gid has 1 to 16 hexadecimal digits")
    func gids() throws {
        #expect(try GIDPrefix(parsing: "0aF") == (try GIDPrefix(parsing: "0Af")))
        #expect(try GIDPrefix(parsing: "00ab").value == 0xab)
        #expect(try GIDPrefix(parsing: "00ab").digits == 4)
        #expect(try GIDPrefix(parsing: "ffffffffffffffff").value == .max)
        for text in ["", "zz", "+1", "-1", "0x1", "00000000000000000", "é"] {
            #expect(message { () throws(RPCError) in try GIDPrefix(parsing: text) } == "Invalid GID \(text)")
        }
    }

    @Test("A negative offset counts from the end, backwards")
    func windows() {
        let cases: [(offset: Int, count: Int, total: Int, range: Range<Int>, backwards: Bool)] = [
            (0, 2, 5, 0..<2, false), (3, 10, 5, 3..<5, false), (5, 1, 5, 5..<5, false), (100, 2, 5, 5..<5, false),
            (0, 0, 5, 0..<0, false), (-1, 2, 5, 3..<5, true), (-3, 100, 5, 0..<3, true), (-5, 1, 5, 0..<1, true),
            (-6, 2, 5, 0..<0, true), (-100, 2, 5, 0..<0, true), (-1, 1000, 0, 0..<0, true), (0, .max, 3, 0..<3, false),
            (.min, .max, 3, 0..<0, true), (.max, .max, 3, 3..<3, false),
        ]
        for item in cases {
            let window = ListWindow(offset: item.offset, count: item.count, of: item.total)
            #expect(window.range == item.range && window.isBackwards == item.backwards, "\(item)")
        }
    }

    @Test("Ignores keys that are unknown or no strings; an empty list means all keys")
    func keys() {
        #expect(StatusKeys([]) == .all)
        #expect(StatusKeys([.string("gid"), .string("files"), .string("gid")]) == [.gid, .files])
        #expect(StatusKeys([.string("bittorrent"), .integer(1)]) == [])
    }
}
