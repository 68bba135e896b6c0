import Terminal
import Testing

@Suite("JSON on a terminal")
struct TerminalJSONTests {
    @Test(
        "Escapes characters that a terminal acts on, and no others",
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"b"}"#), (#""é ü 日本 👩‍🚀""#, #""é ü 日本 👩‍🚀""#), ("\"\u{9B}31m\"", #""\u009b31m""#),
            ("\"\u{7F}\"", #""\u007f""#), ("\"\u{202E}gpj.exe\"", #""\u202egpj.exe""#), ("\"a\u{2066}b\"", #""a\u2066b""#),
            ("\"\u{2028}\"", #""\u2028""#), ("\"\u{FEFF}\"", #""\ufeff""#), ("\"\u{E0041}\"", #""\udb40\udc41""#),
            ("{}\n{\"\u{202E}\":1}\n", "{}\n{\"\\u202e\":1}\n"),
        ])
    func escapes(json: String, escaped: String) {
        #expect(TerminalJSON.escaped(json) == escaped)
    }
}
