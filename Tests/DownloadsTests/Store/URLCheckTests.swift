import HTTPCore
import Testing

@testable import DownloadStore

struct URLCheckTests {
    private static let urls = [
        "http://a", "http://a/", "HTTP://Example.ORG/Path", "https://a:443/x", "http://a?q", "http://a/b?c?d#e", "http://a?q/b",
        "http://[::1]:8080/x", "http://u:p@a/", "http://a//b", "http://a/%c3%A9",
    ]
    private static let refused = [
        "", "a", "//a", "http:", "http://", "http:///a", "ftp://a/", "http://a b/", "http://a\\b/", "http://a:0/",
    ]
    private static let endings = ["", "a", "/a", "a b", "a~_.-/9", "\\", "@b", "\u{e9}", "?a/", "\n", ":1/", "%2"]

    @Test("A check accepts the same URLs as the parser, whichever came before", arguments: urls)
    func check(first: String) {
        for second in Self.urls + Self.refused + Self.endings.map({ first + $0 }) {
            var check = URLCheck()
            let accepted = [check.accepts(first), check.accepts(second)]
            #expect(accepted == [true, HTTPURL(second) != nil], "\(second) after \(first)")
        }
    }
}
