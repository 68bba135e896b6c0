import Downloads
import Foundation
import JSON
import PawlConfiguration
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore
@testable import PawlService

extension RunningService {
    /// Calls a method as clients do, and returns the response.
    func rpc(
        _ method: String, _ parameters: String = "", id: String = "1", secret: String? = nil, fields: [(String, String)] = []
    ) async throws -> TestResponse {
        let all = [secret.map { #""token:\#($0)""# }, parameters.isEmpty ? nil : parameters].compactMap { $0 }.joined(
            separator: ",")
        return try await send(
            "POST", "/jsonrpc", fields: fields, body: Array(#"{"id":\#(id),"method":"\#(method)","params":[\#(all)]}"#.utf8))
    }

    func result(_ method: String, _ parameters: String = "", secret: String? = nil) async throws -> JSONValue {
        let response = try await rpc(method, parameters, secret: secret)
        return try #require(response.json["result"], "\(method): \(response.text)")
    }

    /// The message of a call's error.
    func refusal(_ method: String, _ parameters: String = "", secret: String? = nil) async throws -> String {
        let response = try await rpc(method, parameters, secret: secret)
        #expect(response.status == 400)
        #expect(response.json["error"]?["code"]?.integer == 1)
        return response.json["error"]?["message"]?.string ?? response.text
    }

    /// Adds an entity of the upstream, and returns its gid.
    func addURI(_ target: String, _ options: String = "{}", secret: String? = nil) async throws -> String {
        let gid = try await result("aria2.addUri", #"["\#(upstreamURL)\#(target)"],\#(options)"#, secret: secret)
        return try #require(gid.string)
    }

    /// Requests the status until it has this value.
    func status(_ status: String, of gid: String, secret: String? = nil) async throws -> JSONValue {
        while true {
            let statuses = try await result("aria2.tellStatus", #""\#(gid)""#, secret: secret)
            if statuses["status"]?.string == status { return statuses }
            try #require(!["error", "removed", "complete"].contains(statuses["status"]?.string), "\(statuses)")
            try await nextTurn()
        }
    }
}

@Suite("aria2's methods over HTTP", .timeLimit(.minutes(3)))
struct Aria2RouteTests {
    /// Slow enough not to end while a test observes it.
    private static let slow = "/entity?size=50000000&pace=20000"

    @Test("Adds a download, reports it, and stores its file; REST returns the same one")
    func life() async throws {
        try await RunningService.with { running in
            let gid = try await running.addURI("/entity?size=3000000", #"{"dir":"music/new","out":"a.bin","split":"1"}"#)
            let statuses = try await running.status("complete", of: gid)
            #expect(statuses["completedLength"]?.string == "3000000")
            #expect(statuses["bitfield"]?.string == "e0")
            #expect(statuses["errorCode"]?.string == "0")
            let path = try #require(statuses["files"]?.array?.first?["path"]?.string)
            #expect(path == (try #require(statuses["dir"]?.string)) + "/a.bin")
            #expect(path.hasSuffix("/files/music/new/a.bin") && path.hasPrefix("/"))
            #expect(try Data(contentsOf: URL(filePath: path)).count == 3_000_000)
            let listed = try await running.send("GET", "/downloads").json["items"]?.array
            #expect(listed?.first?["filename"]?.string == "a.bin")
            // And in the opposite direction.
            let id = try await running.add("/entity?size=10")
            try await running.complete(id)
            let stopped = try await running.result("aria2.tellStopped", "-1,1,[\"gid\",\"status\"]").array
            let other = try #require(stopped?.first?["gid"]?.string)
            #expect(other != gid && other.utf8.count == 16)
            #expect(try await running.result("aria2.removeDownloadResult", #""\#(other)""#).string == "OK")
            #expect(try await running.send("GET", "/downloads/\(id)").status == 404)
            #expect(try await running.refusal("aria2.tellStatus", #""\#(other)""#) == "GID \(other) is not found")
            #expect(try await running.result("aria2.purgeDownloadResult").string == "OK")
            #expect(try await running.result("aria2.tellStopped", "0,10").array == [])
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("A waiting, failed or removed download has all of its URIs, so that clients can add it again")
    func uris() async throws {
        try await RunningService.with { running in
            let targets = (0..<3).map { "\(running.upstreamURL)/entity?size=1000&seed=\($0)&fault=404" }
            let list = "[" + targets.map { "\"\($0)\"" }.joined(separator: ",") + "]"
            let text = try await running.result("aria2.addUri", #"\#(list),{"pause":"true"}"#).string
            let gid = try #require(text)
            func statuses(_ method: String, _ keys: String = "") async throws -> [[String?]]? {
                let answer = try await running.result("aria2.\(method)", #""\#(gid)"\#(keys)"#)
                let files = method == "getFiles" ? answer : answer["files"]
                return files?.array?.first?["uris"]?.array?.map { [$0["uri"]?.string, $0["status"]?.string] }
            }
            #expect(try await statuses("tellStatus") == targets.map { [$0, "waiting"] })
            _ = try await running.result("aria2.unpause", #""\#(gid)""#)
            // The last attempt has failed.
            while try await running.result("aria2.tellStatus", #""\#(gid)",["status"]"#)["status"]?.string != "error" {
                try await nextTurn()
            }
            let used = targets.enumerated().map { [$1, $0 == 0 ? "used" : "waiting"] }
            for keys in ["", #",["files"]"#, #",["gid","files","status"]"#] {
                #expect(try await statuses("tellStatus", keys) == used)
            }
            #expect(try await statuses("getFiles") == used)
            // After its removal, it was tried anyway.
            let slow = try await running.addURI("/entity?size=1000000&pace=1000")
            while try await running.result("aria2.tellStatus", #""\#(slow)",["completedLength"]"#)["completedLength"]?.string
                == "0"
            {
                try await nextTurn()
            }
            for method in ["getUris", "tellStatus"] {
                let answer = try await running.result("aria2.\(method)", #""\#(slow)""#)
                let uris = method == "getUris" ? answer.array : answer["files"]?.array?.first?["uris"]?.array
                #expect(uris?.map { $0["status"]?.string } == ["used"], "\(method)")
            }
            let multicall = #"[{"methodName":"aria2.tellStatus","params":["\#(gid)",["files"]]}]"#
            let answer = try await running.result("system.multicall", multicall).array?.first?.array?.first
            #expect(answer?["files"]?.array?.first?["uris"]?.array?.count == 3)
            let whole = try await running.addURI("/entity?size=1000")
            _ = try await running.status("complete", of: whole)
            for method in ["tellStatus", "getFiles"] {
                let answer = try await running.result("aria2.\(method)", #""\#(whole)""#)
                let uris = (method == "getFiles" ? answer : answer["files"])?.array?.first?["uris"]?.array
                #expect(uris?.map { $0["status"]?.string } == ["used"], "\(method)")
            }
        }
    }

    @Test("Commands have their effect, or are refused with aria2's messages")
    func commands() async throws {
        try await RunningService.with {
            $0.downloads.maxConcurrent = 1
        } _: { running in
            let gid = try await running.addURI(Self.slow, #"{"gid":"00000000000000aB"}"#)
            #expect(gid == "00000000000000ab")
            _ = try await running.status("active", of: gid)
            let waiting = try await running.addURI(Self.slow, #"{"out":"w.bin"}"#)
            let paused = try await running.addURI(Self.slow, #"{"pause":"true"}"#)
            func list(_ method: String, _ parameters: String) async throws -> [String?] {
                try await running.result(method, parameters).array?.map { $0["gid"]?.string } ?? []
            }
            #expect(try await list("aria2.tellActive", #"["gid"]"#) == [gid])
            #expect(try await list("aria2.tellWaiting", #"0,10,["gid"]"#) == [waiting, paused])
            #expect(try await list("aria2.tellWaiting", #"-1,10,["gid"]"#) == [paused, waiting])
            #expect(try await running.result("aria2.changePosition", #""\#(paused)",0,"POS_SET""#).integer == 0)
            #expect(try await list("aria2.tellWaiting", #"0,1,["gid"]"#) == [paused])
            let statistics = try await running.result("aria2.getGlobalStat")
            #expect(["numActive", "numWaiting", "numStopped"].map { statistics[$0]?.string } == ["1", "2", "0"])
            // Any unique prefix in any case.
            #expect(try await running.result("aria2.tellStatus", #""00000000000000A",["gid"]"#)["gid"]?.string == gid)
            #expect(try await running.refusal("aria2.tellStatus", #""zz""#) == "Invalid GID zz")
            #expect(
                try await running.refusal("aria2.changePosition", #""\#(gid)",0,"POS_SET""#)
                    == "GID#\(gid) not found in the waiting queue.")
            #expect(try await running.refusal("aria2.changePosition", #""\#(paused)",0,"X""#) == "Illegal argument.")
            #expect(try await running.refusal("aria2.pause", #""\#(paused)""#) == "GID#\(paused) cannot be paused now")
            #expect(try await running.refusal("aria2.unpause", #""\#(gid)""#) == "GID#\(gid) cannot be unpaused now")
            #expect(
                try await running.refusal("aria2.removeDownloadResult", #""\#(gid)""#)
                    == "Could not remove download result of GID#\(gid)")
            let servers = try await running.result("aria2.getServers", #""\#(gid)""#).array
            #expect(servers?.first?["index"]?.string == "1")
            #expect(servers?.first?["servers"]?.array?.first?["uri"]?.string == running.upstreamURL + Self.slow)
            #expect(
                try await running.refusal("aria2.getServers", #""\#(paused)""#) == "No active download for GID#\(paused)")
            #expect(try await running.result("aria2.getPeers", #""\#(gid)""#).array == [])
            #expect(try await running.result("aria2.forcePause", #""\#(gid)""#).string == gid)
            _ = try await running.status("paused", of: gid)
            #expect(try await running.result("aria2.unpause", #""\#(paused)""#).string == paused)
            #expect(try await running.result("aria2.pauseAll").string == "OK")
            #expect(try await list("aria2.tellActive", "") == [])
            #expect(try await running.result("aria2.remove", #""\#(gid)""#).string == gid)
            let removed = try await running.result("aria2.tellStatus", #""\#(gid)""#)
            #expect(removed["status"]?.string == "removed" && removed["errorCode"]?.string == "31")
            for (method, message) in [
                ("aria2.remove", "Active Download not found for GID#\(gid)"), ("aria2.pause", "GID#\(gid) cannot be paused now"),
                ("aria2.getUris", "No URI data is available for GID#\(gid)"),
                ("aria2.getPeers", "No peer data is available for GID#\(gid)"),
            ] { #expect(try await running.refusal(method, #""\#(gid)""#) == message) }
            #expect(try await running.refusal("aria2.changeOption", #""\#(gid)",{}"#) == "Cannot change option for GID#\(gid)")
            #expect(
                try await running.refusal("aria2.changeUri", #""\#(gid)",1,[],[]"#) == "Cannot remove URIs from GID#\(gid)")
            #expect(
                try await running.rpc("aria2.addUri", #"["\#(running.upstreamURL)/entity?size=1"],{"gid":"\#(gid)"}"#).status
                    == 400)
        }
    }

    @Test("Options are reported as given or applied, changed, and never with secrets")
    func options() async throws {
        try await RunningService.with { running in
            let gid = try await running.addURI(
                "/entity?size=10",
                #"{"pause":"true","header":["Cookie: s3cret","Authorization: Bearer s3cret","Accept-Language: de"],"#
                    + #""http-user":"u","http-passwd":"s3cret","split":"2","max-connection-per-server":"3","out":"o.bin"}"#)
            let response = try await running.rpc("aria2.getOption", #""\#(gid)""#)
            let statuses = try #require(response.json["result"])
            #expect(
                statuses["split"]?.string == "2" && statuses["out"]?.string == "o.bin"
                    && statuses["max-download-limit"]?.string == "0")
            #expect(statuses["dir"]?.string?.hasSuffix("/files") == true)
            #expect(!response.text.contains("s3cret"))
            // A client repeats a download with every reported option.
            let again = try await running.rpc(
                "aria2.addUri",
                #"["\#(running.upstreamURL)/entity?size=10"],\#(String(decoding: statuses.serialized(), as: UTF8.self))"#)
            #expect(again.json["result"]?.string?.utf8.count == 16, "\(again.text)")
            #expect(
                try await running.result("aria2.changeOption", #""\#(gid)",{"max-download-limit":"1K","dir":"sub","nope":"x"}"#)
                    .string == "OK")
            let changed = try await running.result("aria2.getOption", #""\#(gid)""#)
            #expect(changed["max-download-limit"]?.string == "1024")
            #expect(changed["dir"]?.string?.hasSuffix("/files/sub") == true)
            for path in ["/tmp", "../x", "/"] {
                let message = try await running.refusal("aria2.changeOption", #""\#(gid)",{"dir":"\#(path)"}"#)
                #expect(message.contains("'--dir'"))
            }
            let uris = try await running.result(
                "aria2.changeUri", #""\#(gid)",1,[],["\#(running.upstreamURL)/entity?size=10&m=1","x"]"#)
            #expect(uris.array?.map(\.integer) == [0, 1])
            #expect(try await running.result("aria2.getUris", #""\#(gid)""#).array?.count == 2)
            #expect(
                try await running.result(
                    "aria2.changeGlobalOption", #"{"max-concurrent-downloads":"3","max-overall-download-limit":"1M"}"#
                )
                .string == "OK")
            let global = try await running.result("aria2.getGlobalOption")
            #expect(global["max-concurrent-downloads"]?.string == "3")
            #expect(global["max-overall-download-limit"]?.string == "1048576")
            #expect(try await running.send("GET", "/settings").json["maxConcurrent"]?.integer == 3)
            #expect(try await running.refusal("aria2.changeGlobalOption", #"{"dir":"/tmp"}"#).contains("'--dir'"))
        }
    }

    @Test("Batches and multicalls get responses in order, call by call")
    func together() async throws {
        try await RunningService.with { running in
            let url = running.upstreamURL + Self.slow
            let add = #"{"methodName":"aria2.addUri","params":[["\#(url)"],{"pause":"true"}]}"#
            let calls = [
                add, #"{"methodName":"aria2.addUri","params":[[]]}"#, add, "4", "{}", #"{"methodName":"system.multicall"}"#,
            ]
            let results = try await running.result("system.multicall", "[\(calls.joined(separator: ","))]").array ?? []
            #expect(results.count == 6)
            let gids = [results[0], results[2]].map { $0.array?.first?.string ?? "" }
            #expect(gids.allSatisfy { $0.utf8.count == 16 } && gids[0] != gids[1])
            #expect(
                results.map { $0["message"]?.string } == [
                    nil, "URI is not provided.", nil, "system.multicall expected struct.", "Missing methodName.",
                    "Recursive system.multicall forbidden.",
                ])
            let commands = gids.flatMap { gid in
                ["unpause", "pause", "forceRemove", "removeDownloadResult"].map {
                    #"{"id":"\#($0)","method":"aria2.\#($0)","params":["\#(gid)"]}"#
                }
            }
            let body = "[\(commands.joined(separator: ",")),5,{\"method\":\"aria2.getVersion\"}]"
            let response = try await running.send("POST", "/jsonrpc", body: Array(body.utf8))
            #expect(response.status == 200)
            let answers = response.json.array ?? []
            #expect(answers.map { $0["result"] != nil } == Array(repeating: true, count: 8) + [false, false], "\(response.text)")
            #expect(answers.suffix(2).allSatisfy { $0["error"]?["code"]?.integer == -32600 && $0["id"]?.isNull == true })
            #expect(try await running.send("POST", "/jsonrpc", body: Array("[]".utf8)).text == "[]")
            let many = "[" + Array(repeating: "0", count: 5_000).joined(separator: ",") + "]"
            #expect(try await running.send("POST", "/jsonrpc", body: Array(many.utf8)).status == 400)
        }
    }

    @Test("Calls that wait for held records are answered in the time of one call")
    func heldRecords() async throws {
        try await RunningService.with { running in
            let gid = try await running.addURI("/entity?size=10", #"{"pause":"true"}"#)
            let held = try SQLiteConnection(path: running.directory.path + "/pawl.sqlite")
            try held.execute("BEGIN EXCLUSIVE")
            let calls = (1...3).flatMap { number in
                [
                    #"{"methodName":"aria2.addUri","params":[["\#(running.upstreamURL)/entity?size=\#(number)"]]}"#,
                    #"{"methodName":"aria2.unpause","params":["\#(gid)"]}"#,
                    #"{"methodName":"aria2.changeGlobalOption","params":[{"max-concurrent-downloads":"3"}]}"#,
                    #"{"methodName":"aria2.tellStatus","params":["\#(gid)"]}"#,
                ]
            }
            let begun = ContinuousClock.now
            let results = try await running.result("system.multicall", "[\(calls.joined(separator: ","))]").array ?? []
            // One after another, they would take forty seconds.
            #expect(.now - begun < .seconds(20))
            try held.execute("ROLLBACK")
            #expect(results.map { $0["code"] == nil } == (0..<12).map { $0 % 4 == 3 })
        }
    }

    @Test("Responses have aria2's types and statuses, exact ids, and GET and JSONP with a token")
    func wire() async throws {
        try await RunningService.with {
            $0.token = AccessToken("s3cret-token")
        } _: { running in
            let big = "123456789012345678901234567890"
            let response = try await running.rpc("aria2.getVersion", id: big, secret: "s3cret-token")
            #expect(response.status == 200)
            #expect(response["Content-Type"] == "application/json-rpc")
            #expect(response.text.hasPrefix(#"{"id":\#(big),"jsonrpc":"2.0","result":{"#))
            #expect(response.json["result"]?["version"]?.string == "1.37.0")
            #expect(response.json["result"]?["enabledFeatures"]?.array?.contains(.string("BitTorrent")) == false)
            for (type, body) in [(nil, "x"), ("text/plain", "{}"), ("application/x-www-form-urlencoded", "")]
                as [(String?, String)]
            {
                let fields = type.map { [("Content-Type", $0)] } ?? []
                let response = try await running.send("POST", "/jsonrpc", fields: fields, body: Array(body.utf8))
                #expect(response.status == (body == "{}" ? 400 : 500))
                #expect(response.json["id"]?.isNull == true)
            }
            // The mark is ignored, as in a body.
            let parameters = Data("\u{FEFF}[\"token:s3cret-token\"]".utf8).base64EncodedString().replacing("=", with: "%3D")
            let got = try await running.send("GET", "/jsonrpc?method=aria2.getVersion&id=foo&params=\(parameters)")
            #expect(got.status == 200 && got.json["id"]?.string == "foo")
            let script = try await running.send(
                "GET", "/jsonrpc?method=aria2.getVersion&id=foo&params=\(parameters)&jsoncallback=cb.x")
            #expect(script["Content-Type"] == "text/javascript")
            #expect(script["X-Content-Type-Options"] == "nosniff")
            #expect(script.text.hasPrefix(#"cb.x({"id":"foo""#) && script.text.hasSuffix(")"))
            #expect(try await running.send("PUT", "/jsonrpc", body: []).status == 405)
            #expect(try await running.send("POST", "/jsonrpc/", body: Array("{}".utf8)).status != 200)
        }
    }

    @Test("--no-aria2 disables /jsonrpc")
    func absent() async throws {
        try await RunningService.with {
            $0.leavesOutAria2 = true
        } _: { running in
            let posted = try await running.send("POST", "/jsonrpc", json: "{}")
            let got = try await running.send("GET", "/jsonrpc")
            #expect(posted.status == 404 && got.status == 404)
        }
    }

    @Test("Refuses torrents, Metalink, unknown methods and the end of the service")
    func notServed() async throws {
        try await RunningService.with { running in
            #expect(try await running.refusal("aria2.addTorrent", #""YWJj""#) == "BitTorrent is not supported.")
            #expect(try await running.refusal("aria2.addMetalink", #""YWJj""#) == "Metalink is not supported.")
            #expect(try await running.refusal("aria2.addTorrent") == "The parameter at 0 is required but missing.")
            #expect(try await running.refusal("aria2.nope") == "No such method: aria2.nope")
            for method in ["aria2.shutdown", "aria2.forceShutdown"] {
                #expect(try await running.refusal(method).contains("refused"))
            }
            #expect(try await running.result("aria2.saveSession").string == "OK")
            #expect(try await running.result("aria2.getSessionInfo")["sessionId"]?.string?.utf8.count == 40)
            let methods = try await running.result("system.listMethods").array?.compactMap(\.string) ?? []
            #expect(methods.contains("aria2.addUri") && !methods.contains("aria2.shutdown"))
            #expect(try await running.result("system.listNotifications").array?.count == 5)
        }
    }

    @Test("Guards destinations, mirrors and changeUri included")
    func guarded() async throws {
        try await RunningService.with { running in
            let allowed = running.upstreamURL + "/entity?size=10"
            for uris in [#"["http://169.254.169.254/"]"#, #"["\#(allowed)","http://10.0.0.1/"]"#] {
                #expect(try await running.refusal("aria2.addUri", uris).contains("guard"))
            }
            let gid = try await running.addURI("/entity?size=10", #"{"pause":"true"}"#)
            #expect(
                try await running.refusal("aria2.changeUri", #""\#(gid)",1,[],["http://10.0.0.1/"]"#).contains("guard"))
        }
    }
}
