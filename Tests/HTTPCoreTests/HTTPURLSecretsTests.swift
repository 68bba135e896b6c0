import Testing

@testable import HTTPCore

@Suite("Secrets in URLs")
struct HTTPURLSecretsTests {
    @Test(
        "Removes user information, query and fragment from every URL in a text, and nothing else",
        arguments: [
            ("https://a.example/b?sig=s3cret", "https://a.example/b"), ("https://a.example?s3cret", "https://a.example"),
            ("https://a.example/b#s3cret", "https://a.example/b"), ("https://u:s3cret@a.example:8/b", "https://a.example:8/b"),
            ("https://u@v:s3cret@a.example/", "https://a.example/"), ("ftp://s3cret@a.example/?s3cret", "ftp://a.example/"),
            ("https://a.example/@b", "https://a.example/@b"), ("HTTPS://A.example/b?s3cret", "HTTPS://A.example/b"),
            (
                "see https://a.example/b?s3cret\"> or https://c.example/?d=s3cret e?",
                "see https://a.example/b or https://c.example/ e?"
            ),
            ("https://a.example/https://u:s3cret@b.example/?s3cret", "https://a.example/https://b.example/"),
            ("https://a.example/?next=https://b.example/s3cret", "https://a.example/"), ("https://", "https://"),
            ("https://s3cret@", "https://"), ("what? at 5:30", "what? at 5:30"), ("", ""), ("://?s3cret", "://"),
            ("https://a.example/\u{e9}?\u{e9}", "https://a.example/\u{e9}"), ("a@b.example?", "a@b.example?"),
            ("http://[::1]:80/x?s3cret\nnext?", "http://[::1]:80/x\nnext?"),
        ])
    func leftOut(text: String, expected: String) {
        #expect(HTTPURL.withoutSecrets(in: text) == expected)
    }
}
