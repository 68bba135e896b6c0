import DownloadCore
import Downloads
import Foundation
import HTTPClient
import HTTPCore
import JSON
import PawlConfiguration
import System
import TestSupport
import Testing

@testable import PawlService

/// The files of credentials for origins: reading, reading again, and the requests that they apply to.
@Suite("Credentials for origins", .timeLimit(.minutes(3)))
struct OriginCredentialsTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Writes a file, and returns its path.
    @discardableResult
    private func write(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
        let path = directory.path + "/" + name
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test(
        "A file that all users can read is refused naming 0600; one of the group is taken",
        arguments: [(0o600, true), (0o640, true), (0o440, true), (0o644, false), (0o604, false), (0o666, false)])
    func modes(mode: Int, isTaken: Bool) throws {
        let files: [(WritableKeyPath<Configuration, String?>, String)] = [
            (\.netrcFile, "machine a login b password s3cret"), (\.cookieFile, "a.example\tFALSE\t/\tFALSE\t0\tc\ts3cret"),
            (\.headerFile, "a.example X: s3cret"),
        ]
        for (property, text) in files {
            var configuration = Configuration()
            configuration[keyPath: property] = try write("file", text, mode: mode)
            do throws(StartError) {
                try configuration.makeClient().shutdown()
                #expect(isTaken)
            } catch {
                #expect(!isTaken)
                #expect(error.description.contains("0600") && error.description.contains(directory.path))
            }
        }
    }

    @Test("A malformed file, a large one and none end the start, with the path and the line and without a word of it")
    func faults() throws {
        var configuration = Configuration()
        configuration.netrcFile = try write("netrc", "machine a\nlogin x\nshibboleth s3cret\n")
        let error = #expect(throws: StartError.self) { try configuration.makeClient() }
        #expect(error?.description.contains("netrc file \(directory.path)/netrc, line 3: ") == true)
        #expect(error?.description.contains("s3cret") == false)
        configuration.netrcFile = try write("netrc", "\u{FEFF}machine a login b password c")
        configuration.cookieFile = try write("cookies", "a b c s3cret")
        #expect(throws: StartError.self) { try configuration.makeClient() }
        configuration.cookieFile = nil
        configuration.headerFile = try write("headers", "a.example Host: s3cret")
        #expect(throws: StartError.self) { try configuration.makeClient() }
        configuration.headerFile = try write("headers", String(repeating: "#\n", count: CredentialLimits.fileBytes / 2 + 1))
        #expect(throws: StartError.self) { try configuration.makeClient() }
        configuration.headerFile = directory.path + "/none"
        #expect(throws: StartError.self) { try configuration.makeClient() }
        configuration.headerFile = nil
        try configuration.makeClient().shutdown()
    }

    private func with(
        _ origins: [ScriptedOrigin], log: Log = Log(level: .error, format: .text, now: { .now() }, sink: { _ in }),
        _ configure: (inout Configuration) -> Void, _ body: (RunningService) async throws -> Void
    ) async throws {
        let rules = try origins.map { try DestinationRule(parsing: "127.0.0.1:\($0.port)") }
        try await RunningService.with(log: log) { configuration in
            configuration.downloads.destinationGuard.allowed += rules
            configure(&configuration)
        } _: {
            try await body($0)
        }
    }

    private func download(_ running: RunningService, _ url: String, _ members: String = "") async throws {
        let made = try await running.send("POST", "/downloads", json: #"{"url":"\#(url)","onDuplicate":"new"\#(members)}"#)
        try await running.complete(try #require(made.json["id"]?.string, "\(made.text)"))
    }

    @Test("SIGHUP reads the files again; a bad one or a bad mode keeps the old contents, with an error in the log")
    func reload() async throws {
        let lines = Locked<[String]>([])
        let log = Log(level: .info, format: .text, now: { .now() }) { bytes in
            lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        }
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        let netrc = try write("netrc", "machine 127.0.0.1 login a password 1")
        let cookies = try write("cookies", "127.0.0.1\tFALSE\t/\tFALSE\t0\tc\t1")
        let headers = try write("headers", "127.0.0.1 X-Key: 1")
        try await with([origin], log: log) {
            $0.netrcFile = netrc
            $0.cookieFile = cookies
            $0.headerFile = headers
            $0.userAgent = "operator/1"
        } _: { running in
            func sent() async throws -> [String?] {
                try await download(running, origin.url("/f"))
                let request = try #require(origin.requests.last)
                return ["Authorization", "Cookie", "X-Key", "User-Agent"].map { request[$0] }
            }
            #expect(try await sent() == ["Basic YTox", "c=1", "1", "operator/1"])
            try write("netrc", "machine 127.0.0.1 login a password 2")
            try write("cookies", "127.0.0.1\tFALSE\t/\tFALSE\t0\tc\t2")
            try write("headers", "127.0.0.1 X-Key: 2")
            running.service.reloadSecrets()
            #expect(try await sent() == ["Basic YToy", "c=2", "2", "operator/1"])
            // One is malformed, one has a bad mode, and one is changed.
            try write("netrc", "machine 127.0.0.1 shibboleth")
            try write("cookies", "127.0.0.1\tFALSE\t/\tFALSE\t0\tc\t3", mode: 0o644)
            try write("headers", "127.0.0.1 X-Key: 3")
            running.service.reloadSecrets()
            #expect(try await sent() == ["Basic YToy", "c=2", "3", "operator/1"])
            try FileManager.default.removeItem(atPath: headers)
            running.service.reloadSecrets()
            #expect(try await sent() == ["Basic YToy", "c=2", "3", "operator/1"])
        }
        let logged = lines.withLock { $0 }
        let errors = logged.filter { $0.contains(" error ") || $0.contains("ERROR") || $0.contains("remains in use") }
        #expect(errors.count { $0.contains("netrc file") && $0.contains("line 1") } == 2)
        #expect(errors.count { $0.contains("cookie file") && $0.contains("0600") } == 2)
        #expect(errors.count { $0.contains("header file") } == 1)
        #expect(!logged.contains { $0.contains("shibboleth") })
    }

    @Test("Downloads, mirrors, feeds and catalogues have the credentials of their hosts; webhooks have none, not even default")
    func requests() async throws {
        let digest = "Repr-Digest"
        let body = Array("hello".utf8)
        let value = "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:"
        let failing = try ScriptedOrigin { _ in [.response(503)] }
        let origin = try ScriptedOrigin { request in
            switch request.target {
            case "/feed":
                [
                    .response(
                        200, [("Content-Type", "application/rss+xml")],
                        body: Array("<rss version=\"2.0\"><channel><title>T</title></channel></rss>".utf8))
                ]
            case "/hook": [.response(204)]
            default: [.response(200, [(digest, value)], body: body)]
            }
        }
        let netrc = try write("netrc", "default login a password 1")
        let headers = try write("headers", "127.0.0.1:\(origin.port) X-Key: k")
        try await with([origin, failing]) {
            $0.netrcFile = netrc
            $0.headerFile = headers
            $0.userAgent = "operator/1"
            $0.archiveURL = HTTPURL(origin.url("")) ?? $0.archiveURL
        } _: { running in
            try await download(running, origin.url("/f"), #","webhook":"\#(origin.url("/hook"))""#)
            try await download(
                running, failing.url("/m"),
                #","checksum":"sha-256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","mirrors":["\#(origin.url("/m"))"]"#
            )
            _ = try await running.send("GET", "/search?source=feed&term=\(origin.url("/feed"))")
            _ = try await running.send("GET", "/search?source=archive&term=x")
            let made = try await running.send("POST", "/subscriptions", json: #"{"feedUrl":"\#(origin.url("/feed"))"}"#)
            let id = try #require(made.json["id"]?.string)
            _ = try await running.send("POST", "/subscriptions/\(id)/refresh")
            let all = try await origin.requests(atLeast: 6)
            let hooks = all.filter { $0.target == "/hook" }
            let others = all.filter { $0.target != "/hook" }
            #expect(hooks.count == 1)
            for request in hooks {
                #expect(request["Authorization"] == nil && request["X-Key"] == nil)
                #expect(request["User-Agent"]?.hasPrefix("pawl/") == true)
            }
            #expect(Set(others.map { $0.target.prefix { $0 != "?" } }).count >= 4, "\(others.map(\.target))")
            for request in others {
                #expect(request["Authorization"] == "Basic YTox" && request["X-Key"] == "k", "\(request.head)")
                #expect(request["User-Agent"] == "operator/1")
            }
            #expect(failing.requests.allSatisfy { $0["Authorization"] == "Basic YTox" && $0["X-Key"] == nil })
        }
    }

    @Test("Headers of a batch go to the first host of each part; of a feed to the feed's host alone, harmless ones to all")
    func partsOf() async throws {
        let other = try ScriptedOrigin { _ in [.response(200, [("Content-Type", "audio/mpeg")], body: [1])] }
        let feed = try ScriptedOrigin { request in
            guard request["X-Key"] == "s3cret" else { return [.response(401)] }
            if request.target.hasPrefix("/own") { return [.response(200, [("Content-Type", "audio/mpeg")], body: [1])] }
            let items = ["/own.mp3", other.url("/other.mp3")].enumerated().map {
                "<item><guid>\($0)</guid><title>\($0)</title><enclosure type=\"audio/mpeg\" url=\"\($1)\"/></item>"
            }
            return [
                .response(
                    200, [("Content-Type", "application/rss+xml")],
                    body: Array("<rss version=\"2.0\"><channel><title>T</title>\(items.joined())</channel></rss>".utf8))
            ]
        }
        try await with([feed, other], { _ in }) { running in
            let work = #""partsOf":"feed:\#(feed.url("/feed"))""#
            let members = #"{\#(work),"headers":{"X-Key":"s3cret","User-Agent":"mine"}}"#
            let made = try await running.send("POST", "/downloads/batch", json: members)
            #expect(made.status == 200, "\(made.text)")
            let ids = (made.json["items"]?.array ?? []).compactMap { $0["download"]?["id"]?.string }
            #expect(ids.count == 2)
            for id in ids { try await running.complete(id) }
            #expect(feed.requests.allSatisfy { $0["User-Agent"] == "mine" })
            #expect(other.requests.count == 1)
            #expect(other.requests.allSatisfy { $0["X-Key"] == nil && $0["User-Agent"] == "mine" })
            // The listing of a private feed is not shared with requests without its headers.
            #expect(try await running.send("POST", "/downloads/batch", json: "{\(work)}").status >= 400)
            let page = try await running.send("GET", "/search?source=feed&term=\(feed.url("/feed"))")
            #expect(page.status >= 400)
            let refused = try await running.send(
                "POST", "/downloads/batch", json: #"{"partsOf":"archive:x","headers":{"Range":"s3cret"}}"#)
            #expect(refused.status == 400 && refused.detail.contains("Range") && !refused.text.contains("s3cret"))
        }
    }

    @Test("Checks of a feed send harmless headers to other hosts, and cookies of a redirect back to their host")
    func feedRedirects() async throws {
        let final = try ScriptedOrigin { request in
            request["Cookie"] == nil && request.target == "/1"
                ? [.response(302, [("Location", "/2"), ("Set-Cookie", "seen=1; Path=/")])]
                : [
                    .response(
                        200, [("Content-Type", "application/rss+xml")],
                        body: Array("<rss version=\"2.0\"><channel><title>T</title></channel></rss>".utf8))
                ]
        }
        let first = try ScriptedOrigin { _ in [.redirect(to: final.url("/1"))] }
        try await with([final, first], { _ in }) { running in
            let made = try await running.send(
                "POST", "/subscriptions",
                json: #"{"feedUrl":"\#(first.url("/feed"))","headers":{"X-Key":"s3cret","User-Agent":"mine"}}"#)
            let id = try #require(made.json["id"]?.string)
            let checked = try await running.send("POST", "/subscriptions/\(id)/refresh")
            #expect(checked.json["error"]?.isNull == true, "\(checked.text)")
            #expect(first.requests.allSatisfy { $0["X-Key"] == "s3cret" && $0["User-Agent"] == "mine" })
            #expect(final.requests.allSatisfy { $0["X-Key"] == nil && $0["User-Agent"] == "mine" })
            #expect(final.requests.prefix(2).map { $0["Cookie"] } == [nil, "seen=1"])
            #expect(final.requests.allSatisfy { $0["Accept"]?.hasPrefix("application/rss+xml") == true })
        }
    }
}
