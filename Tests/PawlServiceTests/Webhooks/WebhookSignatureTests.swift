import DownloadCore
import HTTPCore
import PawlConfiguration
import Testing

@testable import PawlService

@Suite("Signatures of messages to webhooks")
struct WebhookSignatureTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// The vector of the libraries of Standard Webhooks.
    @Test("A signature covers id, time and body, as the libraries of Standard Webhooks compute it")
    func vector() throws {
        let signature = try #require(WebhookSecret(Self.secret)).signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", seconds: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    /// The base64 of some bytes.
    private static func base64(_ count: Int) -> String { Base64.encode([UInt8](repeating: 7, count: count)) }

    private static let texts: [(text: String, isAccepted: Bool)] = [
        (secret, true), ("whsec_" + base64(24), true), ("whsec_" + base64(64), true), ("whsec_" + base64(23), false),
        ("whsec_" + base64(65), false), ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", false),
        ("WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", false), (secret + " ", false), (secret + "=", false),
        (secret + "A", false), ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-_", false), ("whsec_", false), ("", false),
    ]

    @Test("A secret is whsec_ and the base64 of 24 to 64 bytes", arguments: texts)
    func secrets(_ text: String, _ isAccepted: Bool) {
        #expect((WebhookSecret(text) != nil) == isAccepted)
        #expect((WebhookSecret.list(text) != nil) == isAccepted)
        #expect((WebhookSecret.list("\(Self.secret),\(text)")?.count == 2) == isAccepted)
    }

    @Test("Takes up to eight secrets")
    func bound() {
        func list(_ count: Int) -> String { Array(repeating: Self.secret, count: count).joined(separator: ",") }
        #expect(WebhookSecret.list(list(8))?.count == 8)
        #expect(WebhookSecret.list(list(9)) == nil)
        #expect(WebhookSecret.list("\(Self.secret), \(Self.secret)")?.count == 2)
        #expect(WebhookSecret.list("\(Self.secret),") == nil)
    }

    @Test("The fields of an attempt name the message and the second, with a signature of each secret")
    func fields() throws {
        let now = Timestamp(millisecondsSinceEpoch: 1_700_000_000_999)
        let body = WebhookDelivery.body(.downloadFailed, at: now, data: Array("{}".utf8))
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"type":"download.failed","timestamp":"2023-11-14T22:13:20.999Z","data":{}}"#)
        let delivery = WebhookDelivery(id: RecordID(value: 5), url: "http://a/", subject: nil, body: body, due: now)
        let secrets = try [Self.secret, "whsec_" + Self.base64(32)].map {
            try #require(WebhookSecret($0))
        }
        let fields = Dictionary(uniqueKeysWithValues: SignedWebhookSender.fields(of: delivery, secrets: secrets, at: now))
        #expect(fields["Content-Type"] == "application/json")
        #expect(fields["webhook-id"] == delivery.id.description)
        #expect(fields["webhook-timestamp"] == "1700000000")
        let signatures = secrets.map { $0.signature(id: delivery.id.description, seconds: 1_700_000_000, body: body) }
        #expect(fields["webhook-signature"] == signatures.joined(separator: " ") && Set(signatures).count == 2)
        #expect(SignedWebhookSender.fields(of: delivery, secrets: [], at: now).count == 3)
    }
}
