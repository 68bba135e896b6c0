import PawlConfiguration
import Testing

@testable import PawlClient

@Suite("pawl aria2")
struct Aria2CommandTests {
    @Test("Lists the addresses, with the token's key in the address of the notifications")
    func addresses() {
        let key = TokenDigest(of: "s3cret-token".utf8).notificationKey
        #expect(key.utf8.count == 32 && key != TokenDigest(of: "other".utf8).notificationKey)
        let open = ClientCommand.addresses(ofService: "http://127.0.0.1:8080", key: nil)
        #expect(open.map(\.use) == ["jsonrpc", "xmlrpc", "websocket", "notifications"])
        #expect(
            open.map(\.address) == [
                "http://127.0.0.1:8080/jsonrpc", "http://127.0.0.1:8080/rpc", "ws://127.0.0.1:8080/jsonrpc",
                "ws://127.0.0.1:8080/jsonrpc",
            ])
        let secure = ClientCommand.addresses(ofService: "https://h/base", key: key)
        #expect(
            secure.map(\.address) == [
                "https://h/base/jsonrpc", "https://h/base/rpc", "wss://h/base/jsonrpc", "wss://h/base/jsonrpc/listen/\(key)",
            ])
    }
}
