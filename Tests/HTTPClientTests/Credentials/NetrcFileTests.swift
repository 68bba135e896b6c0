import Testing

@testable import HTTPClient

@Suite struct NetrcFileTests {
    static let file = """
        # a comment
        machine a.example login ada password one
        machine a.example:8080
            login port
            password two
        machine a.example login ada2 password three   # another comment
        machine B.Example login "b c" password "d\\"e #f" account ignored
        machine bare password only
        machine empty
        macdef init
        cd /tmp
        machine macro login m password n

        machine mark login m password #hash
        machine ::1 login six password s
        machine [::1]:81 login six81 password s
        default login any password thing
        default login other password else
        """

    @Test(
        "Finds the first login of host and port, of host, and of default",
        arguments: [
            ("http://a.example/", nil, "ada:one"), ("https://A.example:444/", nil, "ada:one"),
            ("http://a.example:8080/", nil, "port:two"), ("http://a.example/", "ada2", "ada2:three"),
            ("http://a.example:8080/", "ada", "ada:one"), ("http://a.example/", "other", "other:else"),
            ("http://a.example/", "absent", nil), ("http://b.example/", nil, "b c:d\"e #f"), ("http://bare/", nil, ":only"),
            ("http://empty/", nil, "any:thing"), ("http://macro/", nil, "any:thing"), ("http://mark/", nil, "m:#hash"),
            ("http://sub.a.example/", nil, "any:thing"),
            ("http://[::1]/", nil, "six:s"), ("http://[::1]:81/", nil, "six81:s"), ("http://a.example./", nil, "ada:one"),
        ] as [(String, String?, String?)])
    func lookup(address: String, user: String?, expected: String?) throws {
        let file = try NetrcFile(parsing: Array(Self.file.utf8))
        let login = file.login(for: try url(address), user: user)
        #expect(login.map { "\($0.user):\($0.password)" } == expected)
    }

    @Test("Without default, other hosts have no login")
    func noDefault() throws {
        let file = try NetrcFile(parsing: Array("machine a.example\r\nlogin x\r\npassword y\r\n".utf8))
        #expect(file.login(for: try url("http://a.example/")) == Login(user: "x", password: "y"))
        #expect(file.login(for: try url("http://b.example/")) == nil)
        #expect(NetrcFile().login(for: try url("http://b.example/")) == nil)
        #expect(try NetrcFile(parsing: []).login(for: try url("http://b.example/")) == nil)
    }

    @Test(
        "Names the line of an error, and no word of it",
        arguments: [
            ("machine a login x s3cret", 1, "expected machine"), ("\n\nmachine", 3, "needs a word"),
            ("login s3cret", 1, "machine or default before it"), ("machine a password \"s3cret", 1, "not closed"),
            ("machine a\nlogin \"s3cret\u{1}\"", 2, "control characters"), ("machine a password", 1, "needs a word"),
            ("\nmachine a login\n\n", 2, "needs a word"), ("machine http://s3cret/ login a", 1, "a host or an address"),
            ("machine s3cret:99999 login a", 1, "a host or an address"), ("machine *.s3cret login a", 1, "a host or an address"),
            ("machine 10.0.0.0/8 login a", 1, "a host or an address"),
        ])
    func faults(text: String, line: Int, reason: String) {
        do throws(CredentialFault) {
            _ = try NetrcFile(parsing: Array(text.utf8))
            Issue.record("accepted")
        } catch {
            #expect(error.line == line)
            #expect(error.description.hasPrefix("line \(line): "))
            #expect(error.reason.contains(reason))
            #expect(!error.reason.contains("s3cret"))
        }
    }

    @Test("Reads and writes the Basic scheme")
    func basic() {
        let login = Login(user: "Aladdin", password: "open:sesame")
        #expect(Login(user: "Aladdin", password: "open sesame").authorization == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(Login(authorization: login.authorization) == login)
        #expect(Login(authorization: "basic QTo=") == Login(user: "A", password: ""))
        for text in ["Bearer QTo=", "Basic", "Basic QQ==", "Basic !", ""] { #expect(Login(authorization: text) == nil) }
    }
}
