import System
import TestSupport
import Testing

@Suite struct FileIdentityTests {
    @Test("An identity survives a round trip")
    func identityIsReadAsWritten() {
        let identity = FileIdentity(device: .max, inode: 7, size: 1 << 40, modified: -5)
        #expect(FileIdentity(identity.description) == identity)
    }

    @Test(
        "Refuses invalid identities",
        arguments: [
            "", "1:2:3", "1:2:3:4:5", "1:2:-3:4", "a:2:3:4", "1:2:3:", "1::3:4", " 1:2:3:4", "18446744073709551616:2:3:4",
            "1:2:9223372036854775808:4", "1:2:3:9223372036854775808", "1:2:3:4-", "1:2:3:--4", "1:-2:3:4", "1:2:3:-",
        ])
    func badIdentityIsNone(text: String) {
        #expect(FileIdentity(text) == nil)
    }
}
