import System
import TestSupport
import Testing

@Suite struct FileIdentityTests {
    @Test func `an identity is read as it was written`() {
        let identity = FileIdentity(device: .max, inode: 7, size: 1 << 40, modified: -5)
        #expect(FileIdentity(identity.description) == identity)
    }

    @Test(arguments: ["", "1:2:3", "1:2:3:4:5", "1:2:-3:4", "a:2:3:4", "1:2:3:", "1::3:4", " 1:2:3:4"])
    func `what is no identity is none`(text: String) {
        #expect(FileIdentity(text) == nil)
    }
}
