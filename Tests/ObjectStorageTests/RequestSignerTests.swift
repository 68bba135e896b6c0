import HTTPCore
import ObjectStorage
import Testing

/// The examples that AWS publishes, with its keys:
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>,
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html>.
@Suite
struct RequestSignerTests {
    let signer: RequestSigner
    let host = "examplebucket.s3.amazonaws.com"
    let now: Timestamp

    init() throws {
        let credentials = try #require(
            ObjectCredentials(
                accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"))
        signer = RequestSigner(credentials: credentials, region: "us-east-1")
        now = try #require(Timestamp(parsing: "2013-05-24T00:00:00Z"))
    }

    struct Example: Sendable {
        var method = "GET"
        var path = "/"
        var query: [QueryItem] = []
        var fields: [(name: String, value: String)] = []
        var digest = RequestSigner.emptyDigest
        let names: String
        let signature: String
    }

    static let examples = [
        Example(
            path: "/test.txt", fields: [("Range", "bytes=0-9")], names: "host;range;x-amz-content-sha256;x-amz-date",
            signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        Example(
            method: "PUT", path: "/test$file.text",
            fields: [("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
            digest: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
            names: "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
            signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
        Example(
            query: [QueryItem(name: "lifecycle", value: "")], names: "host;x-amz-content-sha256;x-amz-date",
            signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        Example(
            query: [QueryItem(name: "prefix", value: "J"), QueryItem(name: "max-keys", value: "2")],
            names: "host;x-amz-content-sha256;x-amz-date",
            signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ]

    @Test("Signs requests as in AWS's examples", arguments: examples)
    func requestsAreSigned(example: Example) {
        let fields = signer.fields(
            method: example.method, host: host, path: RequestSigner.encodePath(example.path), query: example.query,
            fields: example.fields, digest: example.digest, now: now)
        let expected = [
            "x-amz-content-sha256": example.digest, "x-amz-date": "20130524T000000Z",
            "Authorization": "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                + "SignedHeaders=\(example.names),Signature=\(example.signature)",
        ]
        #expect(Dictionary(fields.map { ($0.name, $0.value) }) { $1 } == expected)
    }

    @Test("Signs a URL as in AWS's example")
    func urlIsSigned() {
        let query = signer.signedQuery(host: host, path: "/test.txt", validFor: 86_400, now: now)
        #expect(
            query == "X-Amz-Algorithm=AWS4-HMAC-SHA256"
                + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z"
                + "&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
                + "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")
    }

    @Test("Each day has its own key, also after another day")
    func keyIsThatOfItsDay() throws {
        let later = try #require(Timestamp(parsing: "2013-05-25T00:00:00Z"))
        let queries = [now, later, now].map { signer.signedQuery(host: host, path: "/test.txt", validFor: 86_400, now: $0) }
        #expect(queries[0] == queries[2])
        // The result of a new signer.
        let fresh = RequestSigner(credentials: try #require(Self.credentials), region: "us-east-1")
        #expect(fresh.signedQuery(host: host, path: "/test.txt", validFor: 86_400, now: later) == queries[1])
    }

    static let credentials = ObjectCredentials(
        accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")

    @Test("Sends and signs a session token in fields and URLs")
    func tokenIsSigned() throws {
        let credentials = try #require(ObjectCredentials(accessKeyID: "id", secretAccessKey: "secret", sessionToken: "to/ken=="))
        let signer = RequestSigner(credentials: credentials, region: "r")
        let fields = signer.fields(method: "GET", host: "h", path: "/", digest: RequestSigner.emptyDigest, now: now)
        #expect(fields.contains { $0 == ("x-amz-security-token", "to/ken==") })
        #expect(fields.last?.value.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,") == true)
        let query = signer.signedQuery(host: "h", path: "/", validFor: 60, now: now)
        #expect(query.contains("&X-Amz-Security-Token=to%2Fken%3D%3D&"))
    }

    @Test(
        "Encodes paths and queries once, and sorts queries by bytes",
        arguments: [
            ("/a b/c~d+é", "/a%20b/c~d%2B%C3%A9"), ("/a//b/../%20", "/a//b/../%2520"), ("/", "/"), ("", ""),
        ])
    func pathIsEncoded(path: String, encoded: String) {
        #expect(RequestSigner.encodePath(path) == encoded)
        let items = [("b", "2"), ("a!", "'"), ("a", "y z"), ("a", "é"), ("A", "")].map { QueryItem(name: $0.0, value: $0.1) }
        #expect(RequestSigner.encodeQuery(items) == "A=&a=%C3%A9&a=y%20z&a%21=%27&b=2")
    }

    @Test(
        "Keeps the validity of a URL within the accepted range",
        arguments: [(0, 1), (-5, 1), (60, 60), (1 << 40, 604_800)])
    func validityIsClamped(asked: Int, used: Int) {
        #expect(signer.signedQuery(host: host, path: "/", validFor: asked, now: now).contains("&X-Amz-Expires=\(used)&"))
    }

    @Test("Reads credentials from the environment, and never prints them")
    func credentialsAreRead() throws {
        let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]
        for (values, isValid) in [
            (["id", "se+/cret", ""], true), (["id", "secret", "token"], true), (["", "secret", ""], false),
            (["id", "", ""], false),
            (["id", "sec\nret", ""], false), (["i/d", "secret", ""], false), (["id", "secret", "to ken"], false),
        ] {
            let environment = Dictionary(uniqueKeysWithValues: zip(names, values))
            #expect((ObjectCredentials(environment: environment) != nil) == isValid, "\(values)")
        }
        #expect(ObjectCredentials(environment: [:]) == nil)
        let credentials = try #require(Self.credentials)
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] {
            #expect(!text.contains("EXAMPLE"))
        }
    }
}
