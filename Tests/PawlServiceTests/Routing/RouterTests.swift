import HTTPCore
import Testing

@testable import PawlService

@Suite("Paths")
struct RouterTests {
    private let router = Router()

    @Test("each endpoint is found by its own path", arguments: Endpoint.all)
    func endpoints(endpoint: Endpoint) throws {
        let path = endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("{") ? "01JD6Z0000000000000000000A" : $0 }.joined(separator: "/")
        let match = router.match(try RequestTarget(path + "?x=/y"))
        #expect(match.endpoint === endpoint)
        #expect(match.segment.elementsEqual(endpoint.path.contains("{") ? "01JD6Z0000000000000000000A".utf8 : "".utf8))
    }

    @Test(
        "other paths have no endpoint",
        arguments: [
            "/nothing", "/downloads/", "//", "//downloads", "/downloads//pause", "/downloads/x/y", "/downloads/x/pause/",
            "/Search",
            "/healthz/", "/search%2Fsources", "/a/b/c/d/e/f/g/h", "/downloads/%ff",
        ])
    func unknown(path: String) throws {
        #expect(router.match(try RequestTarget(path)).endpoint == nil)
    }

    @Test("an escaped letter equals the letter")
    func escapes() throws {
        #expect(router.match(try RequestTarget("/%64ownloads/%65vents")).endpoint?.path == "/downloads/events")
        #expect(router.match(try RequestTarget("/downloads/%41B/pause")).segment.elementsEqual("AB".utf8))
    }

    @Test(
        "Allow lists the methods, with HEAD beside GET",
        arguments: [
            ("/downloads", "GET, HEAD, POST, DELETE, OPTIONS"), ("/downloads/{id}/pause", "POST, OPTIONS"),
            ("/downloads/{id}", "GET, HEAD, PATCH, DELETE, OPTIONS"),
        ])
    func allow(path: String, allow: String) {
        #expect(Endpoint.all.first { $0.path == path }?.allow == allow)
    }

    @Test("each path is in the table once, and each of its methods")
    func uniqueness() {
        #expect(Set(Endpoint.all.map(\.path)).count == Endpoint.all.count)
        for endpoint in Endpoint.all {
            #expect(Set(endpoint.methods.map(\.name)).count == endpoint.methods.count, "\(endpoint.path)")
        }
    }
}
