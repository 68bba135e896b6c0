import TestSupport
import Testing

@testable import Postgres

struct ConnectionParametersTests {
    private static let isLoadable = (try? PostgresLibrary.load()) != nil

    private static func read(_ conninfo: String) throws(PostgresError) -> ConnectionParameters {
        try ConnectionParameters(conninfo, application: "pawl")
    }

    @Test("Given parameters override the defaults, except the encoding", .enabled(if: isLoadable, "libpq is not installed"))
    func precedence() throws {
        let ours = try Self.read("postgres://alice:secret@db/pawl")
        #expect(ours.values["target_session_attrs"] == "read-write")
        #expect(ours.values["fallback_application_name"] == "pawl")
        #expect(ours.values["tcp_user_timeout"] == "10000")
        #expect(ours.values["client_encoding"] == "UTF8")
        #expect(ours.values["password"] == "secret")
        #expect(ours.values["application_name"] == nil)
        let given = try Self.read(
            "host=db target_session_attrs=any application_name=mine tcp_user_timeout=0 client_encoding=LATIN1 sslmode=verify-full "
                + "passfile=/p service=s")
        #expect(given.values["target_session_attrs"] == "any")
        #expect(given.values["application_name"] == "mine")
        #expect(given.values["tcp_user_timeout"] == "0")
        #expect(given.values["client_encoding"] == "UTF8")
        #expect(given.values["sslmode"] == "verify-full")
        #expect(given.values["passfile"] == "/p")
        #expect(given.values["service"] == "s")
    }

    @Test(
        "Reports an invalid string without the password", .enabled(if: isLoadable, "libpq is not installed"),
        arguments: [
            "postgres://alice:pa@SECRET@db/pawl", "postgres://alice:pa/SECRET@db/pawl", "postgres//alice:SECRET@db/pawl",
            "host=db password=pass SECRET", "host=db password=pass SECRET=1", "postgres://alice:SECRET",
            "postgres://alice:%ZSECRET@db",
            "postgres://alice:SECRET@[::1/pawl", "postgres://alice:x@db/pawl?password=x&SECRET=1",
            "postgres://alice:SECRET@db/pawl?sslmod=require",
        ])
    func unreadable(conninfo: String) throws {
        let error = #expect(throws: PostgresError.self) { try Self.read(conninfo) }
        let message = try #require(error?.invalid)
        #expect(!message.contains("SECRET"))
        #expect(!message.contains("\n"))
        if conninfo.contains("sslmod=") { #expect(message.contains("\"sslmod\"")) }
    }

    @Test(
        "Requires a certificate of a remote server, unless string or environment disable it",
        arguments: [
            // given parameters, the environment, the mode, whether it is exposed
            (["host": "db"], [:], "verify-full", false), (["hostaddr": "10.0.0.1"], [:], "verify-full", false),
            (["host": "localhost", "hostaddr": "10.0.0.1"], [:], "verify-full", false),
            (["host": "localhost.example"], [:], "verify-full", false), (["host": "127.example"], [:], "verify-full", false),
            ([:], ["PGHOST": "db"], "verify-full", false),
            (["host": "db", "sslmode": "require"], [:], "require", true),
            (["host": "db", "sslmode": "disable"], [:], "disable", true),
            (["host": "db", "sslmode": "verify-full"], [:], "verify-full", false),
            (["host": "db"], ["PGSSLMODE": "prefer"], nil, true), (["host": "db", "service": "s"], [:], nil, false),
            ([:], [:], nil, false), (["host": "/run/postgresql"], [:], nil, false), (["host": "@pg"], [:], nil, false),
            (["host": "localhost"], [:], nil, false), (["host": "127.0.0.1"], [:], nil, false),
            (["host": "::1"], [:], nil, false),
            (["host": "localhost", "sslmode": "disable"], [:], "disable", false),
        ] as [([String: String], [String: String], String?, Bool)])
    func verification(given: [String: String], environment: [String: String], mode: String?, isExposed: Bool) throws {
        let bundle = "/etc/pki/tls/certs/ca-bundle.crt"
        let attempts = try ConnectionParameters(given: given, application: "pawl")
            .attempts(environment: { environment[$0] }, isFile: { $0 == bundle })
        #expect(attempts.map { $0.values["sslmode"] } == [mode])
        #expect(attempts.map { $0.values["sslrootcert"] } == [mode == "verify-full" && given["sslmode"] == nil ? bundle : nil])
        #expect(attempts.map { $0.exposure { environment[$0] } != nil } == [isExposed])
    }

    @Test("Tries the hosts of a list one by one, with their ports")
    func hosts() throws {
        func places(_ given: [String: String], _ environment: [String: String] = [:]) throws -> [String] {
            try ConnectionParameters(given: given, application: "pawl").attempts { environment[$0] }
                .map { "\($0.values["host"] ?? "") \($0.values["hostaddr"] ?? "") \($0.values["port"] ?? "")" }
        }
        #expect(try places(["host": "a"]) == ["a  "])
        #expect(try places([:]) == ["  "])
        #expect(try places(["host": "a,b"]) == ["a  ", "b  "])
        #expect(try places(["host": "a,b", "port": "1"]) == ["a  1", "b  1"])
        #expect(try places(["host": "a,b", "port": "1,"]) == ["a  1", "b  5432"])
        #expect(try places(["host": "a,b", "hostaddr": "1.1.1.1,2.2.2.2", "port": "1,2"]) == ["a 1.1.1.1 1", "b 2.2.2.2 2"])
        #expect(try places(["hostaddr": "1.1.1.1,2.2.2.2"]) == [" 1.1.1.1 ", " 2.2.2.2 "])
        // Left to libpq.
        for (given, environment) in [
            (["host": "a,b", "port": "1,2,3"], [:]), (["host": "a,b", "hostaddr": "1.1.1.1"], [:]), (["host": "a,"], [:]),
            (["host": "a,b", "target_session_attrs": "prefer-standby"], [:]),
            (["host": "a,b", "load_balance_hosts": "random"], [:]),
            (["host": "a,b", "service": "s"], [:]), (["host": "a,b"], ["PGPORT": "1,2"]), (["host": "a,b"], ["PGSERVICE": "s"]),
        ] as [([String: String], [String: String])] {
            #expect(try places(given, environment).count == 1, "\(given) \(environment)")
        }
        // An abstract socket is a host.
        #expect(try places(["host": "@socket"]) == ["@socket  "])
    }
}
