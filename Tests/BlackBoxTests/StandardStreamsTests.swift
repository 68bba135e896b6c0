import Foundation
import JSON
import TestSupport
import Testing

/// Standard streams as operators leave them: full, closed.
@Suite("Standard streams", .timeLimit(.minutes(5)))
@OffPool
struct StandardStreamsTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("A log that is not read stops nothing; what is missing is counted, and told once it is read")
    func unreadLog() throws {
        let log = Pipe()
        let pawl = try PawlProcess(
            ["demo", "--port", "0", "--data-dir", directory.path + "/data", "--access-log"], in: directory, standardError: log)
        func dropped() throws -> Int {
            let text = try pawl.client.send("GET", "/metrics").text
            let line = text.split(separator: "\n").first { $0.hasPrefix("pawl_log_lines_dropped_total ") }
            return try #require(line.flatMap { Int($0.dropFirst("pawl_log_lines_dropped_total ".count)) })
        }
        let track = try #require(try pawl.get("/search?term=prelude")["results"]?.array?.first)
        let url = try #require(track["downloadUrl"]?.string)
        let long = "/" + String(repeating: "a", count: 7_000)
        try untilBlocking {
            #expect(try pawl.client.send("GET", long).status == 404)
            return try dropped() > 0
        }
        #expect(try pawl.client.send("GET", "/healthz").status == 200)
        let id = try #require(try pawl.post("/downloads", #"{"url":"\#(url)"}"#)["id"]?.string)
        #expect(try pawl.follow(id) { $0["state"]?.string == "completed" }["state"]?.string == "completed")
        #expect(try pawl.client.send("GET", "/readyz").status == 200)

        var text = ""
        try untilBlocking {
            text += String(decoding: log.fileHandleForReading.availableData, as: UTF8.self)
            return text.contains(#/was not read count=\d+\n/#)
        }
        let count = text.split(separator: "was not read count=").last?.prefix { $0.isNumber }
        #expect(try count.flatMap { Int($0) } == dropped() && dropped() > 0)
        // What is queued at the end is written, and nothing waits for a reader that has stopped again.
        for _ in 0..<20 { _ = try pawl.client.send("GET", long) }
        #expect(pawl.terminate() == 0)
    }

    @Test("What is queued at the end is written")
    func end() throws {
        let pawl = try PawlProcess(
            ["serve", "--port", "0", "--data-dir", directory.path + "/data", "--access-log"], in: directory)
        for number in 0..<300 { _ = try pawl.client.send("GET", "/nothing/\(number)") }
        #expect(pawl.terminate() == 0)
        let log = try pawl.log()
        for number in 0..<300 { #expect(log.contains("path=/nothing/\(number) ")) }
        #expect(log.hasSuffix("stopped\n"))
    }

    @Test(
        "Commands work with closed standard streams, and write into no file in their place",
        arguments: ["<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
    func closedStreams(_ redirections: String) throws {
        func start(_ arguments: [String]) throws -> TestProcess {
            let process = TestProcess()
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", "exec \"$@\" \(redirections)", "sh", PawlProcess.executable.path] + arguments
            process.standardOutput = FileHandle(forWritingAtPath: "/dev/null")
            process.standardError = FileHandle(forWritingAtPath: "/dev/null")
            try process.run()
            return process
        }
        func status(_ arguments: String...) throws -> Int32 {
            let process = try start(arguments)
            process.waitUntilExit()
            return process.terminationStatus
        }
        let data = directory.path + "/data"
        let port = try { try ClosedPort().number }()
        let service = try start(["serve", "--port", String(port), "--data-dir", data, "--access-log", "--allow-private"])
        try untilBlocking { (try? TestClient(port: port).send("GET", "/healthz").status) == 200 }
        let body = #"{"url":"http://127.0.0.1:9/a","paused":true}"#
        #expect(try TestClient(port: port).send("POST", "/downloads", json: body).status == 201)
        #expect(try TestClient(port: port).send("GET", "/downloads").status == 200)
        #expect(service.isRunning)
        let backup = directory.path + "/backup.sqlite"
        #expect(try status("backup", backup, "--data-dir", data) == 0)
        #expect(try Data(contentsOf: URL(filePath: backup)).starts(with: Data("SQLite format 3".utf8)))
        service.terminate()
        service.waitUntilExit()
        #expect(service.terminationStatus == 0)
        #expect(try status("check", "--data-dir", data) == 0)
        let origin = try ScriptedOrigin { _ in [.response(body: Array("bytes".utf8))] }
        #expect(try status("get", origin.url("/file.bin"), "--directory", directory.path) == 0)
        #expect(try Data(contentsOf: URL(filePath: directory.path + "/file.bin")) == Data("bytes".utf8))
    }
}
