import HTTPCore
import Testing

@testable import PawlService

@Suite("Paths")
struct RouterTests {
    private let router = Router()

    @Test("each endpoint is found by its own path", arguments: Endpoint.allCases)
    func endpoints(endpoint: Endpoint) throws {
        let path = endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("{") ? "01JD6Z0000000000000000000A" : $0 }.joined(separator: "/")
        let match = router.match(try RequestTarget(path + "?x=/y"))
        #expect(match.endpoint == endpoint)
        #expect(match.id.elementsEqual(endpoint.path.contains("{") ? "01JD6Z0000000000000000000A".utf8 : "".utf8))
    }

    @Test(
        "what nobody has named leads nowhere",
        arguments: [
            "/nothing", "/downloads/", "//", "//downloads", "/downloads//pause", "/downloads/x/y", "/downloads/x/pause/",
            "/Search",
            "/healthz/", "/search%2Fsources", "/a/b/c/d/e/f/g/h", "/downloads/%ff",
        ])
    func unknown(path: String) throws {
        #expect(router.match(try RequestTarget(path)).endpoint == nil)
    }

    @Test("an escaped letter is that letter")
    func escapes() throws {
        #expect(router.match(try RequestTarget("/%64ownloads/%65vents")).endpoint == .allEvents)
        #expect(router.match(try RequestTarget("/downloads/%41B/pause")).id.elementsEqual("AB".utf8))
    }

    @Test("Allow names what there is, with HEAD beside GET")
    func allow() {
        #expect(Endpoint.downloads.allow == "GET, HEAD, POST, DELETE, OPTIONS")
        #expect(Endpoint.pause.allow == "POST, OPTIONS")
        #expect(Endpoint.download.allow == "GET, HEAD, PATCH, DELETE, OPTIONS")
    }
}
