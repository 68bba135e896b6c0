import HTTPCore
import Testing

/// Messages about invalid URLs.
struct HTTPURLFaultTests {
    @Test(
        "Names the fault of a text",
        arguments: [
            ("http://h/my file.zip", "has a space; write it as %20"), (" http://h/", "has a space; write it as %20"),
            ("http://h/a\nb", "has a control character, such as a line break"),
            ("http://h\\a", "has a backslash; write it as %5C, or as / between names"),
            ("http://b\u{FC}cher.example/", "has a host name with characters outside ASCII; write its xn-- form"),
            ("https://user@b\u{FC}cher.example:8443?x", "has a host name with characters outside ASCII; write its xn-- form"),
            ("http://", "has no host"), ("http://user@/x", "has no host"),
            ("http://h:99999/", "has an invalid host or port"), ("http://-.example/", "has an invalid host or port"),
            ("ftp://h/", "is not an absolute http or https URL"),
            ("h/x", "is not an absolute http or https URL"),
            ("", "is not an absolute http or https URL"),
        ])
    func faultIsNamed(text: String, fault: String) {
        #expect(HTTPURL(text) == nil)
        #expect(HTTPURL.fault(of: text) == fault)
    }
}
