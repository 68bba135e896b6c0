import HTTPCore
import JSON
import Foundation
import PawlConfiguration
import TestSupport
import Testing

@testable import PawlService

@Suite("The console's files", .timeLimit(.minutes(3)))
struct ConsoleRouteTests {
    @Test("Serves each file with its media type, a strict policy and a validator to every client")
    func files() async throws {
        try await RunningService.with({ $0.token = AccessToken("secret") }) { running in
            let types = ["html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"]
            for path in ["/"] + ConsoleFile.all.keys.map({ "/console/" + $0 }) {
                let file = try await running.send("GET", path)
                let suffix = path.hasPrefix("/console/") ? path.split(separator: ".").last.map(String.init) : "html"
                #expect(file.status == 200, "\(path)")
                #expect(file["content-type"]?.hasPrefix(try #require(types[suffix ?? ""])) == true, "\(path)")
                #expect(file["x-content-type-options"] == "nosniff")
                let policy = try #require(file["content-security-policy"])
                #expect(policy.contains("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"))
                #expect(!policy.contains("unsafe"))
                let tag = try #require(file["etag"], "\(path)")
                let again = try await running.send("GET", path, fields: [("If-None-Match", tag)])
                #expect(again.status == 304, "\(path)")
                #expect(again.body.isEmpty)
            }
            #expect(try await running.send("GET", "/console/nothing.js").status == 404)
            for path in ["/?q=x", "/console/console.css?q=x"] {
                #expect(try await running.send("GET", path).status == 400, "\(path)")
            }
            #expect(try await running.send("GET", "/downloads").status == 401)
        }
    }

    @Test("Pages of every origin may import the module for front ends, the one in Clients/JavaScript")
    func client() async throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Clients/JavaScript")
        let package = try JSONValue(parsing: Array(Data(contentsOf: folder.appending(path: "package.json"))))
        #expect(package["version"]?.string == Program.version)
        try await RunningService.with({ $0.token = AccessToken("secret") }) { running in
            for (name, type) in [
                ("pawl.js", "text/javascript"), ("element.js", "text/javascript"), ("pawl.d.ts", "text/plain"),
                ("element.d.ts", "text/plain"),
            ] {
                let origin = [("Origin", "https://any.example"), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "cors")]
                let file = try await running.send("GET", "/client/\(name)", fields: origin)
                #expect(file.status == 200, "\(name)")
                #expect(file["content-type"]?.hasPrefix(type) == true, "\(name)")
                #expect(file["access-control-allow-origin"] == "*", "\(name)")
                #expect(file["cross-origin-resource-policy"] == "cross-origin", "\(name)")
                let isKept = try Array(Data(contentsOf: folder.appending(path: name))) == file.body
                #expect(isKept, "\(name)")
                let again = try await running.send("GET", "/client/\(name)", fields: [("If-None-Match", file["etag"] ?? "")])
                #expect(again.status == 304, "\(name)")
            }
            #expect(try await running.send("GET", "/client/nothing.js").json["detail"]?.string?.contains("pawl.js") == true)
        }
    }

    @Test("Images come from the catalogues only")
    func pictures() throws {
        let sources = try ["https://itunes.apple.com", "http://127.0.0.1:8081", "http://[::1]:8082"].map {
            try #require(HTTPURL($0))
        }
        let policy = ConsoleFile.contentSecurityPolicy(sources: sources)
        let directive = try #require(policy.split(separator: ";").first { $0.contains("img-src") })
        #expect(
            directive.split(separator: " ").dropFirst() == [
                "'self'", "https://*.mzstatic.com", "https://*.archive.org", "https://itunes.apple.com", "http://127.0.0.1:8081",
            ])
    }

    @Test("Each reference in a file has a target, and each file is referenced")
    func references() throws {
        let page = String(decoding: ConsoleFile.page.bytes, as: UTF8.self)
        var wanted = Set(page.matches(of: #/"console/([a-z.]+)"/#).map { String($0.1) })
        for (name, file) in ConsoleFile.all where name.hasSuffix(".js") {
            let script = String(decoding: file.bytes, as: UTF8.self)
            wanted.formUnion(script.matches(of: #/(?:from |import |import\()"\./([a-z.]+)"/#).map { String($0.1) })
        }
        #expect(wanted == Set(ConsoleFile.all.keys))
    }

    @Test("All files together are at most 88 KiB")
    func size() {
        let total = ConsoleFile.all.values.reduce(ConsoleFile.page.bytes.count) { $0 + $1.bytes.count }
        #expect(total <= 90_112)
        let longest = ConsoleFile.all.values.flatMap { $0.bytes.split(separator: UInt8(ascii: "\n")) }.map(\.count).max() ?? 0
        #expect(longest < 400, "small because little is in them, not because nobody can read them")
    }

    @Test("The files have no inline scripts or styles, make no markup from text, and load nothing foreign")
    func nothingInline() {
        let page = String(decoding: ConsoleFile.page.bytes, as: UTF8.self)
        #expect(page.firstMatch(of: #/<style| style=| on[a-z]+=|<script(?![^>]*\bsrc=)/#) == nil)
        for (name, file) in ConsoleFile.all {
            let text = String(decoding: file.bytes, as: UTF8.self)
            #expect(
                text.firstMatch(of: #/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/#) == nil,
                "\(name)")
            #expect(text.firstMatch(of: #/(?:src|href|url\(|from|import)\W{1,3}https?:/#) == nil, "\(name)")
        }
    }
}
