import JSON
import Testing

@testable import Aria2

@Suite("Calls in XML")
struct XMLCallTests {
    private func call(_ text: String, charset: String? = nil) -> RPCCall? {
        call(Array(text.utf8), charset: charset)
    }

    private func call(_ bytes: [UInt8], charset: String? = nil) -> RPCCall? {
        guard case .single(let entry) = RPCMessage(parsing: bytes, as: .xml(charset: charset)) else { return nil }
        return try? entry.call.get()
    }

    private func parameters(_ values: String) -> String? {
        let text = "<methodCall><methodName>m</methodName><params>\(values)</params></methodCall>"
        return call(text).map { String(decoding: JSONValue.array($0.parameters).serialized(), as: UTF8.self) }
    }

    @Test(
        "Reads values of all types",
        arguments: [
            ("text", #""text""#), ("", #""""#), (" a\n", #"" a\n""#),
            ("<string> a&amp;&#xe9;<![CDATA[<b>]]></string>", #"" a&é<b>""#),
            ("<string/>", #""""#), ("\n <string>a</string>\n ", #""a""#), ("<int>-5</int>", "-5"), ("<i4> +7\n</i4>", "7"),
            ("<i8>9007199254740993</i8>", "9007199254740993"), ("<boolean>1</boolean>", "true"),
            ("<boolean>0</boolean>", "false"),
            ("<double>1.5</double>", #""1.5""#), ("<base64>aHR0\n cDo=</base64>", #""http:""#), ("<base64>!</base64>", #""""#),
            ("<dateTime.iso8601>19980717T14:08:55</dateTime.iso8601>", #""19980717T14:08:55""#),
            ("<array><data/></array>", "[]"), ("<array/>", "[]"), ("<struct/>", "{}"),
            (
                "<array><data><value>a</value> <value><int>1</int></value><value><array><data/></array></value></data></array>",
                #"["a",1,[]]"#
            ),
            (
                "<struct><member><name>a</name><value>1</value></member><member><value/><name>b</name></member></struct>",
                #"{"a":"1","b":""}"#
            ),
        ])
    func values(xml: String, json: String) {
        #expect(parameters("<param><value>\(xml)</value></param>") == "[\(json)]")
    }

    @Test(
        "Leaves empty values out",
        arguments: [
            "<nil/>", "<ex:nil/>", "<int/>", "<int>x</int>", "<i4>0x1</i4>", "<boolean>yes</boolean>", "<other>1</other>",
        ])
    func empty(value: String) {
        #expect(parameters("<param><value>\(value)</value></param><param><value>b</value></param>") == #"["b"]"#)
        #expect(
            parameters("<param><value><array><data><value>\(value)</value><value>b</value></data></array></value></param>")
                == #"[["b"]]"#)
        #expect(
            parameters("<param><value><struct><member><name>a</name><value>\(value)</value></member></struct></value></param>")
                == "[{}]")
    }

    @Test("Takes the secret from the first parameter, also in Base64")
    func secrets() {
        let first = "<methodCall><methodName>m</methodName><params><param><value>"
        let last = "</value></param><param><value>b</value></param></params></methodCall>"
        for secret in ["token:x", "<string>token:x</string>", "<base64>dG9rZW46eA==</base64>"] {
            let call = call(first + secret + last)
            #expect(call?.secret == "x" && call?.parameters == [.string("b")], "\(secret)")
        }
        for (text, secret) in [
            ("<value>token:a b</value>", "a b"), ("<string>token:x</string><value>token:y", "x"), (">token:<", ""),
            ("<value>token:x", nil), ("<value>token:a&amp;b</value>", nil), (#""token:x""#, nil),
        ] {
            #expect(RPCMessage.firstSecret(in: Array(text.utf8), as: .xml(charset: nil)) == secret, "\(text)")
        }
    }

    @Test("Finds the method wherever it is, with any prefix, and none in other documents")
    func methods() {
        let order =
            "<methodCall><params><param><value>a</value></param></params><x><y/></x><methodName>m</methodName></methodCall>"
        #expect(call(order) == RPCCall(method: "m", parameters: [.string("a")]))
        let prefixed = "<?xml version='1.0'?>\n<x:methodCall xmlns:x='y'><x:methodName>m</x:methodName></x:methodCall>\n"
        #expect(call(prefixed) == RPCCall(method: "m", parameters: []))
        for text in ["<a/>", "<methodCall/>", "<a><methodName>m</methodName></a>", "<methodCall><methodName/></methodCall>"] {
            #expect(call(text) == RPCCall(method: "", parameters: []), "\(text)")
        }
    }

    @Test("Reads other encodings")
    func encodings() {
        let text = "<methodCall><methodName>\u{E9}</methodName></methodCall>"
        let latin = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        #expect(call(latin, charset: "iso-8859-1")?.method == "\u{E9}")
        #expect(call(Array("<?xml version='1.0' encoding='latin1'?>".utf8) + latin)?.method == "\u{E9}")
        #expect(call([0xFF, 0xFE] + text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })?.method == "\u{E9}")
        #expect(call("\u{FEFF}" + text)?.method == "\u{E9}")
    }

    @Test(
        "Refuses documents that are not well-formed, and what they declare",
        arguments: [
            "", "garbage", "<methodCall>", "<methodCall></methodCall>x", "<methodCall><a></methodCall>",
            "<methodCall>&nope;</methodCall>",
            #"{"id":1,"method":"m"}"#, "<!DOCTYPE a [<!ENTITY b \"c\">]><methodCall>&b;</methodCall>",
            "<methodCall><params><param><value><struct><member><name>a</name><value/></member><member><name>a</name><value/></member>"
                + "</struct></value></param></params></methodCall>",
            String(repeating: "<a>", count: 100) + String(repeating: "</a>", count: 100),
        ])
    func invalid(text: String) {
        guard case .single(let entry) = RPCMessage(parsing: Array(text.utf8), as: .xml(charset: nil)) else { return }
        #expect(entry.call == .failure(.parse))
    }

    @Test("Refuses a message with too many calls")
    func limit() {
        func message(_ count: Int) -> Result<RPCCall, RPCError>? {
            let text =
                "<methodCall><methodName>system.multicall</methodName><params><param><value><array><data>"
                + String(repeating: "<value/>", count: count) + "</data></array></value></param></params></methodCall>"
            guard case .single(let entry) = RPCMessage(parsing: Array(text.utf8), as: .xml(charset: nil)) else { return nil }
            return entry.call
        }
        #expect(message(RPCMessage.maximumCalls + 1) == .failure(.tooManyCalls))
        #expect((try? message(RPCMessage.maximumCalls)?.get().inner?.count) == RPCMessage.maximumCalls)
    }
}
