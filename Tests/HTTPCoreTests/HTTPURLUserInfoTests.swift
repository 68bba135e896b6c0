import Testing

@testable import HTTPCore

@Suite("User information in URLs")
struct HTTPURLUserInfoTests {
    @Test("User names become a field, and are never displayed")
    func userInfo() throws {
        let url = try #require(HTTPURL("http://aladdin:open%20sesame@a.example:81/x?y=1"))
        #expect(url.withoutUserInfo.string == "http://a.example:81/x?y=1")
        #expect(url.basicAuthorization == "Basic YWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(HTTPURL("http://a.example/")?.basicAuthorization == nil)
        #expect(HTTPURL("http://ab@a.example/")?.basicAuthorization == "Basic YWI6")
        #expect(HTTPURL("http://na%40me:p%3Ass@[::1]/x")?.withoutUserInfo.string == "http://[::1]/x")
    }
}
