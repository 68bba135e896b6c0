import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// An operator's actions on a service, and their visible results.
@Suite("Operation", .timeLimit(.minutes(5)))
@OffPool
struct OperationTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func demo(_ flags: [String] = [], environment: [String: String] = [:]) throws -> PawlProcess {
        try PawlProcess(
            ["demo", "--port", "0", "--data-dir", directory.path + "/data"] + flags, in: directory, environment: environment)
    }

    /// The address of the demo's upstream.
    private func origin(_ pawl: PawlProcess) throws -> String {
        let url = try #require(
            try pawl.get("/search?term=prelude")["results"]?.array?.first?["downloadUrl"]?.string.flatMap { URL(string: $0) })
        return "http://127.0.0.1:\(try #require(url.port))"
    }

    @Test("Responds to probes and other clients despite hundreds of idle connections")
    func squatters() throws {
        // 256 descriptors leave 74 connections.
        let pawl = try PawlProcess(
            ["serve", "--port", "0", "--data-dir", directory.path + "/data"], in: directory,
            launcher: ["prlimit", "--nofile=256:256", "--"])
        var squatters: [TestConnection] = []
        for number in 0..<300 {
            let squatter = try TestConnection(pawl.port)
            switch number % 3 {
            case 0: break
            case 1: try squatter.send("GET /stats HTTP/1.1\r\nHo")
            // The process may have ended by the time its response arrives.
            default: try squatter.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            }
            squatters.append(squatter)
        }
        for path in ["/healthz", "/readyz", "/stats", "/downloads"] {
            #expect(try TestConnection(pawl.port).get(path).status == 200, "\(path)")
        }
        #expect(pawl.terminate() == 0)
    }

    @Test("Reports that descriptors are used up, responds to new clients, and recovers")
    func withoutDescriptors() throws {
        let upstream = try demo()
        let origin = try origin(upstream)
        let pawl = try PawlProcess(
            [
                "serve", "--port", "0", "--data-dir", directory.path + "/other", "--allow-private", "--max-concurrent", "64",
                "--max-per-host", "64", "--segments", "16",
            ], in: directory, launcher: ["prlimit", "--nofile=128:128", "--"])
        let downloads = (0..<64).map { #"{"url":"\#(origin)/entity?size=20000000&seed=\#($0)&pace=1000"}"# }
        _ = try pawl.post("/downloads/batch", #"{"downloads":[\#(downloads.joined(separator: ","))]}"#)
        try untilBlocking { try pawl.get("/readyz")["degraded"]?.array?.map(\.string) == ["descriptors-used-up"] }
        let idle = try (0..<100).map { _ in try TestConnection(pawl.port) }
        for path in ["/healthz", "/readyz", "/stats", "/downloads"] {
            #expect(try TestConnection(pawl.port).get(path).status == 200, "\(path)")
        }
        #expect(idle.count == 100)
        _ = try pawl.post("/downloads/cancel")
        try untilBlocking { try pawl.get("/readyz")["degraded"]?.array?.isEmpty == true }
        let made = try pawl.post("/downloads", #"{"url":"\#(origin)/entity?size=3000000&seed=1"}"#)
        _ = try pawl.follow(try #require(made["id"]?.string)) { $0["state"]?.string == "completed" }
        #expect(pawl.terminate() == 0 && upstream.terminate() == 0)
    }

    @Test("Responds with 503 beyond --max-connections-per-address, except to probes")
    func connectionsOfAnAddress() throws {
        let pawl = try PawlProcess(
            ["serve", "--port", "0", "--data-dir", directory.path + "/data", "--max-connections-per-address", "5"], in: directory)
        let clients = try (0..<5).map { _ in try TestConnection(pawl.port) }
        for client in clients { #expect(try client.get("/stats").status == 200) }
        let refused = try TestConnection(pawl.port).get("/stats")
        #expect(refused.status == 503)
        #expect(refused["connection"] == "close")
        #expect(refused["retry-after"] != nil)
        #expect(try JSONValue(parsing: refused.body)["code"]?.string == "unavailable")
        for path in ["/healthz", "/readyz"] { #expect(try TestConnection(pawl.port).get(path).status == 200) }
        for client in clients { #expect(try client.get("/stats").status == 200) }
        #expect(pawl.terminate() == 0)
    }

    @Test(
        "--unix-socket refuses a socket in use, replaces a stale one, and removes its own"
    )
    func unixSocket() throws {
        let path = directory.path + "/pawl.sock"
        func start(_ data: String) throws -> PawlProcess {
            try PawlProcess(["serve", "--port", "0", "--data-dir", directory.path + data, "--unix-socket", path], in: directory)
        }
        let first = try start("/data")
        #expect(try TestConnection(unixSocket: path).get("/stats").status == 200)
        #expect(try first.client.send("GET", "/stats").status == 200)
        #expect(throws: PawlProcess.DidNotStart.self) { try start("/other") }
        first.kill()
        #expect(throws: TestConnection.Failure.cannotConnect(ECONNREFUSED)) { try TestConnection(unixSocket: path) }
        let second = try start("/data")
        #expect(try TestConnection(unixSocket: path).get("/stats").status == 200)
        #expect(second.terminate() == 0)
        #expect(throws: TestConnection.Failure.cannotConnect(ENOENT)) { try TestConnection(unixSocket: path) }
    }

    @Test("Each line of a JSON log is an object, with one for each request and transition")
    func jsonLog() throws {
        let pawl = try demo(["--log-format", "json", "--log-level", "debug"])
        let named = try pawl.client.send("GET", "/stats?secret=1", fields: [("X-Request-Id", "mine-1")])
        #expect(named["x-request-id"] == "mine-1")
        let unnamed = try pawl.client.send("GET", "/downloads")
        let url = try origin(pawl) + "/entity?size=1000"
        let id = try #require(try pawl.post("/downloads", #"{"url":"\#(url)"}"#)["id"]?.string)
        _ = try pawl.follow(id) { $0["state"]?.string == "completed" }
        let lost = try #require(try pawl.post("/downloads", #"{"url":"\#(try origin(pawl))/missing"}"#)["id"]?.string)
        let error = try #require(try pawl.follow(lost) { $0["state"]?.string == "failed" }["error"]?["message"]?.string)
        #expect(pawl.terminate() == 0)

        // The demo's suggestions precede the log's lines.
        let lines = try pawl.log().split(separator: "\n").drop { $0.hasPrefix("curl") }.filter { !$0.hasPrefix("curl") }
        let entries = try lines.map { try JSONValue(parsing: Array($0.utf8)) }
        for entry in entries {
            #expect(entry["time"]?.string?.hasSuffix("Z") == true)
            #expect(["debug", "info", "warning", "error"].contains(entry["level"]?.string))
            #expect(entry["message"]?.string?.isEmpty == false)
        }
        let requests = entries.filter { $0["message"]?.string == "request" }
        let first = try #require(requests.first { $0["requestId"]?.string == "mine-1" })
        #expect(first["level"]?.string == "debug")
        #expect(first["path"]?.string == "/stats")
        #expect(first["status"]?.integer == 400)
        #expect(requests.contains { $0["requestId"]?.string == unnamed["x-request-id"] })
        let transitions = entries.filter { $0["id"]?.string == id }
        #expect(transitions.allSatisfy { $0["level"]?.string == "info" })
        let messages = transitions.compactMap { $0["message"]?.string }
        #expect(messages == ["download is queued", "download is downloading", "download is completed"], "\(messages)")
        let failure = try #require(entries.first { $0["message"]?.string == "download is failed" })
        #expect(failure["level"]?.string == "warning")
        #expect(failure["reason"]?.string == error)
    }

    @Test("Only --proxy and PAWL_PROXY name a proxy, and only --no-proxy excludes destinations")
    func environmentNamesNoProxy() throws {
        let closed = try ClosedPort()
        let nowhere = "http://127.0.0.1:\(closed.number)"
        let direct = try demo(environment: [
            "http_proxy": nowhere, "https_proxy": nowhere, "all_proxy": nowhere, "HTTP_PROXY": nowhere, "ALL_PROXY": nowhere,
        ])
        let url = try origin(direct) + "/entity?size=1000"
        let id = try #require(try direct.post("/downloads", #"{"url":"\#(url)"}"#)["id"]?.string)
        _ = try direct.follow(id) { $0["state"]?.string == "completed" }
        #expect(direct.terminate() == 0)

        let proxy = try RelayProxy(credentials: ("user", "s3cret"))
        let environment = ["PAWL_PROXY": "http://user:s3cret@127.0.0.1:\(proxy.port)", "no_proxy": "*", "NO_PROXY": "*"]
        let proxied = try demo(environment: environment)
        let upstream = try origin(proxied)
        #expect(proxy.requests.map { "http://" + $0.target }.contains(upstream))
        #expect(proxied.terminate() == 0)

        let before = proxy.requests.count
        let excepted = try demo(["--no-proxy", "127.0.0.0/8"], environment: environment)
        _ = try origin(excepted)
        #expect(proxy.requests.count == before)
    }

    @Test("SIGHUP reloads the token file")
    func reload() throws {
        let file = directory.path + "/token"
        try Data("first\n".utf8).write(to: URL(filePath: file))
        let pawl = try demo(["--token-file", file])
        func status(_ token: String) throws -> Int {
            try pawl.client.send("GET", "/stats", fields: [("Authorization", "Bearer \(token)")]).status
        }
        #expect(try status("first") == 200)
        try Data("second\n".utf8).write(to: URL(filePath: file))
        pawl.signal(SIGHUP)
        while try !pawl.log().contains("the token file is read again") {}
        #expect(try status("second") == 200)
        #expect(try status("first") == 401)
        #expect(pawl.terminate() == 0)
    }

    @Test(
        "SIGHUP reloads the tokens file and ends streams of removed tokens; a bad file at the start is reported with its line"
    )
    func reloadTokens() throws {
        let file = directory.path + "/tokens"
        func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: file)) }
        try write("# two\nops full\n")
        #expect(throws: PawlProcess.DidNotStart.self) { try demo(["--tokens-file", file]) }
        try write("# two\nold read first-token\nops full second-token\n")
        let pawl = try demo(["--tokens-file", file, "--access-log"])
        let stream = try pawl.client.open("GET", "/downloads/events", fields: [("Authorization", "Bearer first-token")])
        #expect(try stream.readHead().status == 200)
        try write("old read first-token extra\n")
        pawl.signal(SIGHUP)
        while try !pawl.log().contains("the old tokens remain valid") {}
        #expect(try pawl.client.send("GET", "/stats", fields: [("Authorization", "Bearer first-token")]).status == 200)
        try write("ops full second-token\n")
        pawl.signal(SIGHUP)
        while try stream.readChunk() != nil {}
        #expect(try pawl.client.send("GET", "/stats", fields: [("Authorization", "Bearer first-token")]).status == 401)
        #expect(try pawl.client.send("GET", "/stats", fields: [("Authorization", "Bearer second-token")]).status == 200)
        #expect(pawl.terminate() == 0)
        #expect(try pawl.log().contains("token=old"))
        #expect(try !pawl.log().contains("-token\n") && !pawl.log().contains("first-token"))
    }

    @Test("SIGHUP reloads the webhook secret's file, even without a token file")
    func reloadWebhookSecret() throws {
        let file = directory.path + "/secret"
        try Data("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n".utf8).write(to: URL(filePath: file))
        let pawl = try demo(["--webhook-secret-file", file])
        pawl.signal(SIGHUP)
        while try !pawl.log().contains("the webhook secret file is read again") {}
        try Data("not-a-s3cret\n".utf8).write(to: URL(filePath: file))
        pawl.signal(SIGHUP)
        while try !pawl.log().contains("the old webhook secret remains in use") {}
        while try !pawl.log().contains("whsec_ and the base64 of 24 to 64 bytes") {}
        #expect(try !pawl.log().contains("s3cret"))
        #expect(try pawl.client.send("GET", "/stats").status == 200)
        #expect(pawl.terminate() == 0)
    }

    @Test("60 clients without a token that send or announce bodies of 1 MiB use hardly any memory")
    func bodiesOfStrangers() throws {
        let pawl = try demo(["--token", "s3cret"])
        func kibibytes(_ name: String) throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(pawl.identifier)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name + ":") })
            return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        }
        func head(_ line: String) -> String {
            "\(line) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1048576\r\n\r\n"
        }
        #expect(try pawl.client.send("POST", "/downloads", json: "{}").status == 401)
        let before = try kibibytes("VmHWM")
        // All bytes but the last: an optimised server would wait for the end.
        let body = [UInt8](repeating: UInt8(ascii: " "), count: 1_048_575)
        var clients: [(TestConnection, Int)] = []
        for (line, status) in [("POST /downloads", 401), ("GET /healthz", 200), ("POST /healthz", 405)] {
            for index in 0..<60 {
                let client = try TestConnection(pawl.port)
                try client.send(head(line))
                if index % 2 == 0 { try client.send(body) }
                clients.append((client, status))
            }
        }
        for (client, status) in clients { #expect(try client.readResponse().status == status) }
        let peak = try kibibytes("VmHWM")
        #expect(peak - before < 16 * 1024, "\(before) KiB became \(peak) KiB")
        #expect(pawl.terminate() == 0)
    }

    @Test("SIGHUP ends a service without a token file in order")
    func hangUp() throws {
        let pawl = try demo()
        pawl.signal(SIGHUP)
        #expect(pawl.waitForExit() == 0)
        #expect(try pawl.log().contains("stopped"))
    }

    @Test("Reports unreadiness for the drain delay before the end")
    func draining() throws {
        let pawl = try demo(["--drain-delay", "60"])
        pawl.signal(SIGTERM)
        while try pawl.client.send("GET", "/readyz").status != 503 {}
        #expect(try pawl.client.send("GET", "/downloads").status == 200)
        // Another signal ends the service at once, a second after the first.
        while (try? pawl.client.send("GET", "/healthz")) != nil { pawl.signal(SIGTERM) }
        #expect(pawl.waitForExit() == 128 + SIGTERM)
    }

    @Test("Two signals at the same time, as from timeout(1), end a service in order")
    func repeatedSignal() throws {
        let pawl = try demo()
        for _ in 1...5 { pawl.signal(SIGTERM) }
        #expect(pawl.waitForExit() == 0)
        #expect(try pawl.log().contains("stopped"))
    }

    @Test(
        "The end of a service during verification loses no bytes and fetches none again",
        arguments: [SIGTERM, SIGKILL])
    func endWhileFinishing(signal: Int32) throws {
        let size = 24_000_000
        var pawl = try demo()
        let url = try origin(pawl) + "/entity?size=\(size)&seed=7&pace=0"
        let id = try #require(try pawl.post("/downloads", #"{"url":"\#(url)"}"#)["id"]?.string)
        // A file that was started before a restart is hashed from its first byte when it is complete, which takes a
        // while.
        _ = try pawl.follow(id) { ($0["bytesReceived"]?.integer ?? 0) > 1_000_000 }
        pawl.kill()
        pawl = try demo()
        _ = try pawl.follow(id) { $0["bytesReceived"]?.integer == Int64(size) || $0["state"]?.string == "completed" }
        pawl.signal(signal)
        let status = pawl.waitForExit()
        #expect(signal == SIGKILL || status == 0)

        pawl = try demo()
        let done = try pawl.follow(id) { ["completed", "failed"].contains($0["state"]?.string) }
        #expect(done["state"]?.string == "completed")
        #expect(done["bytesReceived"]?.integer == Int64(size))
        if signal == SIGTERM {
            // At most one request for further bytes: all had arrived.
            let asked = try pawl.log().split(separator: "\n").filter { $0.contains("upstream: GET /entity") }
            #expect(!asked.contains { $0.contains("→ 200") || $0.contains("→ 206") }, "\(asked)")
        }
        let again = try #require(
            try pawl.post("/downloads", #"{"url":"\#(url)","onDuplicate":"new"}"#)["id"]?.string)
        let other = try pawl.follow(again) { $0["state"]?.string == "completed" }
        #expect(done["sha256"]?.string == other["sha256"]?.string)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path + "/data/incomplete") == [])
        #expect(pawl.terminate() == 0)
    }

    @Test("Batches of tracks with existing ones have a result for each item, in order")
    func tracks() throws {
        let pawl = try demo()
        // Optimised code once confused the results of failed and successful lookups.
        let names = ["posts:2", "posts:9520", "itunes:1", "nonsense", "posts:1", "posts:2", "posts:3"]
        let statuses = ["posts:2": [200, 201], "posts:1": [200, 201], "posts:3": [200, 201], "nonsense": [400]]
        for round in 0..<30 {
            var batch = (0..<names.count).map { names[($0 * 3 + round) % names.count] }
            if round % 2 == 0 { batch.reverse() }
            let requests =
                batch.map { #"{"trackId":"\#($0)","paused":true}"# } + [#"{"url":"http://127.0.0.1:9/a","paused":true}"#]
            let answer = try pawl.client.send(
                "POST", "/downloads/batch", json: #"{"downloads":[\#(requests.joined(separator: ","))]}"#)
            #expect(answer.status == 200)
            let items = try JSONValue(parsing: answer.body)["items"]?.array ?? []
            #expect(items.count == requests.count)
            for (name, item) in zip(batch, items) {
                let status = try #require(item["status"]?.integer)
                #expect(statuses[name, default: [404, 503]].contains(Int(status)), "\(name): \(status)")
                if let url = item["download"]?["url"]?.string {
                    #expect(url.hasSuffix(name.replacing("posts:", with: "/posts/")))
                }
            }
        }
        #expect(pawl.terminate() == 0)
    }

    @Test("pawl check finds a changed finished file and repairs its record; the download can be retried")
    func check() throws {
        var pawl = try demo()
        let url = try origin(pawl) + "/entity?size=50000&seed=3"
        let id = try #require(try pawl.post("/downloads", #"{"url":"\#(url)","filename":"a.bin"}"#)["id"]?.string)
        _ = try pawl.follow(id) { $0["state"]?.string == "completed" }
        #expect(try run("check").status == 5, "a service has the directory")
        #expect(pawl.terminate() == 0)
        let sound = try run("check")
        #expect(sound.status == 0)
        #expect(sound.output == "1 record, 1 finished file (48.8 KiB hashed): no faults\n")

        let path = directory.path + "/data/files/a.bin"
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[100] ^= 1
        try bytes.write(to: URL(filePath: path))
        let found = try run("check")
        #expect(found.status == 1)
        #expect(found.output.contains("\(id): files/a.bin has the SHA-256 "))
        #expect(try run("check", "--repair").status == 0)
        #expect(try run("check").status == 0)
        #expect(try run("check", "--data-dir", directory.path + "/nowhere").status == 5)

        pawl = try demo()
        #expect(try pawl.get("/downloads/\(id)")["error"]?["code"]?.string == "checksum-mismatch")
        _ = try pawl.post("/downloads/\(id)/retry")
        let done = try pawl.follow(id) { ["completed", "failed"].contains($0["state"]?.string) }
        #expect(done["state"]?.string == "completed")
        #expect(done["filename"]?.string == "a.bin")
        #expect(pawl.terminate() == 0)
    }

    @Test("pawl health asks the running service, whatever its flags are; the command's own flags take precedence")
    func health() throws {
        // Only processes of the same executable count, so this test has its own copy.
        let executable = directory.path + "/pawl-of-a-container"
        try FileManager.default.copyItem(atPath: PawlProcess.executable.path, toPath: executable)
        // No service listens there.
        func health(_ flags: [String] = []) throws -> (status: Int32, output: String) {
            try run(["health"] + flags, ["PAWL_PORT": "1"], executable: executable, mergesErrors: true)
        }
        #expect(try health().status == 1)
        func start(_ number: Int) throws -> PawlProcess {
            try PawlProcess(
                ["serve", "--port", "0", "--base-path", "/x", "--data-dir", "\(directory.path)/data-\(number)"], in: directory,
                executable: executable)
        }
        let pawl = try start(1)
        #expect(try health() == (0, ""))
        #expect(try health(["--port", "\(pawl.port)"]) == (0, ""))
        #expect(try health(["--port", "1"]).status == 1)
        let other = try start(2)
        let ambiguous = try health()
        #expect(ambiguous.status == 1)
        #expect(ambiguous.output.contains("2 services run on this machine: --port selects one"))
        #expect(other.terminate() == 0)
        #expect(try health().status == 0)
        pawl.signal(SIGSTOP)
        #expect(try health().status == 1)
        pawl.signal(SIGCONT)
        #expect(pawl.terminate() == 0)
    }

    @Test("A TZ that names no time zone ends the start", arguments: [("Europe/Belin", false), ("CET-1CEST", true), ("", true)])
    func timeZone(value: String, isKnown: Bool) throws {
        func start() throws -> PawlProcess {
            try PawlProcess(
                ["serve", "--port", "0", "--data-dir", directory.path + "/data"], in: directory, environment: ["TZ": value])
        }
        if isKnown { return #expect(try start().terminate() == 0) }
        #expect(throws: PawlProcess.DidNotStart.self) { try start() }
        let logs = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasPrefix("log-") }
        let log = try String(contentsOfFile: "\(directory.path)/\(try #require(logs.first))", encoding: .utf8)
        // The service may have warned of other variables of these tests.
        let line = try #require(log.split(separator: "\n").last)
        #expect(line.hasPrefix("pawl: TZ=Europe/Belin is not a time zone on this machine: TZ takes a name such as Europe/Berlin"))
    }

    @Test("Slow senders, slow readers and waiting sockets without a token make room for a client with one")
    func strangers() throws {
        let pawl = try PawlProcess(
            ["serve", "--port", "0", "--data-dir", directory.path + "/data", "--token", "a-token-of-this-test"], in: directory,
            launcher: ["prlimit", "--nofile=256:256", "--"])
        var strangers: [TestConnection] = []
        for number in 0..<300 {
            let stranger = try TestConnection(pawl.port)
            switch number % 3 {
            case 0: try stranger.send("POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n[")
            case 1:
                try stranger.send(
                    "GET /jsonrpc HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
            // Many at once, so that the kernel's buffer cannot hold all responses.
            default: try stranger.send(String(repeating: "GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 100))
            }
            strangers.append(stranger)
        }
        for path in ["/stats", "/downloads", "/settings"] {
            let response = try TestConnection(pawl.port).get(path, "Authorization: Bearer a-token-of-this-test")
            #expect(response.status == 200, "\(path)")
        }
        withExtendedLifetime(strangers) {}
        #expect(pawl.terminate() == 0)
    }

    private func run(_ arguments: String...) throws -> (status: Int32, output: String) { try run(arguments) }

    /// Runs the program to its end on this test's data directory.
    private func run(
        _ arguments: [String], _ environment: [String: String] = [:], executable: String = PawlProcess.executable.path,
        mergesErrors: Bool = false
    ) throws -> (status: Int32, output: String) {
        let process = TestProcess()
        process.executableURL = URL(filePath: executable)
        process.arguments = arguments
        process.environment = ["PAWL_DATA_DIR": directory.path + "/data"].merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = mergesErrors ? pipe : FileHandle.nullDevice
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
