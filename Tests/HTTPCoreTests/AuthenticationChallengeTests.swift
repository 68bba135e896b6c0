import Testing

@testable import HTTPCore

@Suite struct AuthenticationChallengeTests {
    /// The challenges as text: the scheme, and the parameters in the order of their names.
    static func summary(_ values: [String]) -> [String] {
        var fields = Fields()
        for value in values { fields.append(.wwwAuthenticate, value) }
        return AuthenticationChallenge.all(in: fields).map { challenge in
            challenge.scheme + challenge.parameters.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        }
    }

    @Test(
        "Reads challenges, several of a field and of several fields",
        arguments: [
            ([], []), ([""], []), (["Basic"], ["basic"]), (["Basic realm=\"a b\""], ["basic realm=a b"]),
            (["Digest realm=\"a\", nonce=\"b,c\" , QOP=\"auth,auth-int\""], ["digest nonce=b,c qop=auth,auth-int realm=a"]),
            (["Basic realm=a, Digest realm=b, nonce=c"], ["basic realm=a", "digest nonce=c realm=b"]),
            (["Digest realm=b,nonce=c,Basic realm=a"], ["digest nonce=c realm=b", "basic realm=a"]),
            (["Negotiate", "Digest realm = \"a\\\"b\\\\\""], ["negotiate", "digest realm=a\"b\\"]),
            (["Negotiate YII=, Basic realm=a"], ["negotiate yii=", "basic realm=a"]),
            // A parameter belongs to no challenge of another field.
            (["Digest realm=a", "nonce=b"], ["digest realm=a"]),
            (["nonce=b, Digest realm=a"], ["digest realm=a"]),
            (["Digest realm=a, realm=b, =c, \"d\", e"], ["digest realm=a", "e"]),
            (["Digest realm=\"unclosed, nonce=b"], ["digest realm=unclosed, nonce=b"]),
        ] as [([String], [String])])
    func reading(values: [String], expected: [String]) {
        #expect(Self.summary(values) == expected)
    }

    @Test("Reads at most 16 challenges")
    func bound() {
        let many = Array(repeating: "Basic realm=a", count: 10).joined(separator: ", ")
        #expect(Self.summary([many, many]).count == 16)
    }

    @Test(
        "Knows the fields that may go along to other hosts",
        arguments: [
            ("user-agent", true), ("Accept", true), ("ACCEPT-LANGUAGE", true), ("Referer", true), ("Authorization", false),
            ("Cookie", false), ("X-Api-Key", false), ("Proxy-Authorization", false), ("Accept-Encoding", false),
            ("Origin", false),
        ])
    func harmless(name: String, isHarmless: Bool) {
        #expect(FieldName(name)?.isHarmless == isHarmless)
    }
}
