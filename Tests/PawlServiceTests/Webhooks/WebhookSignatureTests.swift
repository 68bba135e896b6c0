import HTTPCore
import System
import Testing

@testable import PawlService

@Suite("Signatures")
struct WebhookSignatureTests {
    @Test("A signature covers time, dot and body")
    func signature() {
        let now = Timestamp(millisecondsSinceEpoch: 1_700_000_000_999)
        let digest = Hexadecimal.encode(HMAC.sha256(key: Array("s".utf8), Array("1700000000.{}".utf8)))
        #expect(SignedWebhookSender.signature(of: Array("{}".utf8), secret: "s", at: now) == "t=1700000000,v1=\(digest)")
    }
}
