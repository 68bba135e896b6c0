import HTTPCore
import Testing

/// RFC 7239.
@Suite("The Forwarded field")
struct ForwardedTests {
    /// An element in short form: node, host, scheme.
    private func short(_ element: ForwardedElement) -> String {
        let node =
            switch element.node {
            case .address(let address, let port?): "\(address)|\(port)"
            case .address(let address, nil): "\(address)"
            case .hidden: "hidden"
            case nil: "-"
            }
        return [node, element.host ?? "-", element.scheme ?? "-"].joined(separator: " ")
    }

    @Test(
        "Reads the forms of the grammar",
        arguments: [
            ("", []), (",, ,", []), ("for=192.0.2.60", ["192.0.2.60 - -"]),
            ("for=192.0.2.60;proto=http;by=203.0.113.43", ["192.0.2.60 - http"]),
            ("For=\"[2001:db8:cafe::17]:4711\"", ["2001:db8:cafe::17|4711 - -"]),
            ("for=192.0.2.43, for=\"[2001:db8:cafe::17]\"", ["192.0.2.43 - -", "2001:db8:cafe::17 - -"]),
            ("for=\"_gazonk\"", ["hidden - -"]), ("for=_hidden, for=_SEVKISEK", ["hidden - -", "hidden - -"]),
            ("for=unknown;host=\"a.example:8443\";PROTO=HTTPS", ["hidden a.example:8443 https"]),
            ("for=\"unknown:_p\"", ["hidden - -"]), ("for=\"192.0.2.1:65535\"", ["192.0.2.1|65535 - -"]),
            ("for=\"192.0.2.1:_x\"", ["192.0.2.1 - -"]), ("for=\"[::ffff:192.0.2.1]\"", ["192.0.2.1 - -"]),
            ("host=\"[::1]:80\"", ["- [::1]:80 -"]), (";for=192.0.2.1;;proto=ftp;", ["192.0.2.1 - ftp"]),
            ("secret=abc;ext=\"a,b;c=\\\"d\\\"\";for=192.0.2.1", ["192.0.2.1 - -"]), ("for=\"192.0.2.\\1\"", ["192.0.2.1 - -"]),
            ("host=\"a.example\"\t ,\tproto=https ", ["- a.example -", "- - https"]),
        ] as [(String, [String])])
    func elements(field: String, expected: [String]) {
        #expect(ForwardedElement.list(parsing: field)?.map(short) == expected)
    }

    @Test(
        "Other forms make the whole field malformed",
        arguments: [
            "for", "for=", "=192.0.2.1", "for =192.0.2.1", "for= 192.0.2.1", "for=192.0.2.1; proto=http",
            "for=192.0.2.1 ;proto=http",
            "for=192.0.2.1:80", "host=a.example:80", "for=[::1]", "for=\"::1\"", "for=\"2001:db8::1\"", "for=\"[192.0.2.1]\"",
            "for=\"[::1\"",
            "for=\"[::1]x\"", "for=192.0.2.256", "for=192.0.2", "for=\"192.0.2.1:\"", "for=\"192.0.2.1:123456\"",
            "for=\"192.0.2.1:65536\"", "for=_", "for=_a$b", "for=name", "for=\"192.0.2.1", "for=\"192.0.2.1\\",
            "for=\"192.0.2.1\"x", "for=192.0.2.1;for=192.0.2.2", "For=192.0.2.1;fOR=192.0.2.1", "for=192.0.2.1 for=192.0.2.2",
            "host=", "host=\"a b\"", "host=\"a/b\"", "host=\"\"", "proto=\"ht tp\"", "proto=1http", "by=192.0.2.999",
            "for=192.0.2.1, garbage", "garbage, for=192.0.2.1", "\"", "for=192.0.2.1;\"",
        ])
    func malformed(field: String) {
        #expect(ForwardedElement.list(parsing: field) == nil)
    }
}
