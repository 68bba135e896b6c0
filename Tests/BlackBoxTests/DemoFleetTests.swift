import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// `pawl demo --replicas 3`, as a stranger would try it.
@Suite(
    "A fleet to be tried", .timeLimit(.minutes(5)),
    .enabled(if: PrivatePostgres.isWanted && PrivateStorage.isWanted, "PAWL_FLEET_TESTS is not set: Tests/Fleet/run runs them"))
@OffPool
struct DemoFleetTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func demo() throws -> PawlProcess {
        // The demo looks for programs in PATH alone.
        let environment = ProcessInfo.processInfo.environment
        let storage = environment["PAWL_JUICEFS"].map { URL(filePath: $0).deletingLastPathComponent().path + ":" } ?? ""
        return try PawlProcess(
            ["demo", "--replicas", "3", "--port", "0", "--data-dir", directory.path + "/data"], in: directory,
            environment: ["PATH": storage + (environment["PATH"] ?? "")])
    }

    /// Waits until the log has what is looked for, and returns what that captures.
    private func find(_ text: Regex<(Substring, Substring)>, in pawl: PawlProcess) throws -> String {
        let deadline = ContinuousClock.now + .seconds(90)
        while true {
            let log = try pawl.log()
            if let match = log.firstMatch(of: text) { return String(match.1) }
            try #require(.now < deadline, "\(log)")
            usleep(20_000)
        }
    }

    /// The processes that it has told of.
    private func processes(_ pawl: PawlProcess) throws -> [Int32] {
        try pawl.log().matches(of: /\bpid[ =](\d+)/).compactMap { Int32($0.1) }
    }

    /// Whether a process runs; one that has ended and was not waited for does not.
    private func runs(_ process: Int32) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
        return status.split(separator: ")").last?.split(separator: " ").first != "Z"
    }

    /// Adds a large file of the demo's own upstream, slow enough for a replica to die on the way.
    private func add(_ pawl: PawlProcess) throws -> String {
        let track = try #require(
            try pawl.get("/search?term=prelude")["results"]?.array?.first { $0["downloadUrl"]?.string != nil })
        let base = try #require(track["downloadUrl"]?.string?.split(separator: "/media").first)
        return try #require(
            try pawl.post("/downloads", #"{"url":"\#(base)/entity?size=6000000&seed=5&pace=1500000","segments":1}"#)["id"]?.string
        )
    }

    /// What is at a URL.
    private func get(_ url: String?) throws -> [UInt8] {
        let parts = try #require(url.flatMap { URLComponents(string: $0) })
        let target = parts.percentEncodedPath + "?" + (parts.percentEncodedQuery ?? "")
        let answer = try TestClient(port: try #require(parts.port)).send("GET", target)
        #expect(answer.status == 200)
        return answer.body
    }

    /// A connection through the balancer that has come to the replica on a port.
    private func connection(to port: Int, through pawl: PawlProcess) throws -> TestConnection {
        func instance(_ answer: TestResponse) throws -> String? { try JSONValue(parsing: answer.body)["instanceId"]?.string }
        let wanted = try instance(TestClient(port: port).send("GET", "/stats"))
        for _ in 0..<30 {
            let connection = try TestConnection(pawl.port)
            if try instance(connection.get("/stats")) == wanted { return connection }
        }
        throw TestConnection.Failure.malformed("the balancer leaves a replica out")
    }

    /// Reads events of a download until one of them satisfies the condition; nil if the stream ends before.
    private func read(
        _ connection: TestConnection, _ lastID: inout String?, until condition: (JSONValue) -> Bool
    ) throws -> JSONValue? {
        var pending: [UInt8] = []
        while let chunk = try? connection.readChunk() {
            pending += chunk
            while let end = pending.firstIndex(of: 0x0A) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeSubrange(...end)
                if line.hasPrefix("id: ") { lastID = String(line.dropFirst(4)) }
                guard line.hasPrefix("data: ") else { continue }
                let value = try JSONValue(parsing: Array(line.utf8.dropFirst(6)))
                let download = value.array?.first ?? value
                if condition(download) { return download }
            }
        }
        return nil
    }

    @Test("a replica that is killed comes back; its download, and whoever watches it, go on; and no process stays behind")
    func replicaKilled() throws {
        let pawl = try demo()
        let id = try add(pawl)
        let worker = try find(try Regex("(?m)^replica (\\d): .* download is downloading id=\(id)"), in: pawl)
        let port = try find(try Regex("(?m)^replica \(worker) .*127\\.0\\.0\\.1:(\\d+)$"), in: pawl)
        let process = try #require(Int32(try find(try Regex("(?m)^replica \(worker) +pid (\\d+),"), in: pawl)))

        let watcher = try connection(to: try #require(Int(port)), through: pawl)
        var lastID: String?
        try watcher.send("GET", "/downloads/\(id)/events?interval=50")
        #expect(try watcher.readHead().status == 200)
        let before = try #require(try read(watcher, &lastID) { ($0["bytesReceived"]?.integer ?? 0) > 500_000 })
        #expect(before["state"]?.string == "downloading")
        #expect(kill(process, SIGKILL) == 0)
        #expect(try read(watcher, &lastID) { _ in false } == nil)

        // As a browser does, with the last event that it has.
        let fields = lastID.map { [("Last-Event-ID", $0)] } ?? []
        let next = try pawl.client.open("GET", "/downloads/\(id)/events?interval=50", fields: fields)
        #expect(try next.readHead().status == 200)
        let done = try #require(try read(next, &lastID) { $0["state"]?.string == "completed" })
        #expect(done["bytesReceived"]?.integer == 6_000_000)
        #expect(
            try find(/(replica \d was ended by signal 9; it is started again in 5 s)/, in: pawl).hasPrefix("replica \(worker)"))
        let back = try find(try Regex("replica \(worker) is back pid=(\\d+)"), in: pawl)
        #expect(Int32(back) != process)

        // The file comes from the storage, and is the origin's. The replica that is asked may hear of its end a moment later.
        let deadline = ContinuousClock.now + .seconds(30)
        var answer = try pawl.client.send("GET", "/downloads/\(id)/file")
        while answer.status == 409, .now < deadline { answer = try pawl.client.send("GET", "/downloads/\(id)/file") }
        #expect(answer.status == 302)
        #expect(try Bytes(get(answer["Location"])) == Bytes(get(done["url"]?.string)))

        let all = try processes(pawl)
        // PostgreSQL, the storage, three replicas, one of them twice more: its end and its return.
        #expect(all.count == 7)
        #expect(pawl.terminate() == 0)
        for process in all { #expect(!runs(process)) }
    }

    @Test("a replica that hangs loses its downloads to the others and gets no requests, until it answers again")
    func replicaStopped() throws {
        let pawl = try demo()
        let id = try add(pawl)
        let worker = try find(try Regex("(?m)^replica (\\d): .* download is downloading id=\(id)"), in: pawl)
        let process = try #require(Int32(try find(try Regex("(?m)^replica \(worker) +pid (\\d+),"), in: pawl)))
        #expect(kill(process, SIGSTOP) == 0)
        _ = try find(try Regex("(replica \(worker) does not answer)"), in: pawl)
        for _ in 0..<6 { #expect(try pawl.client.send("GET", "/downloads/\(id)").status == 200) }
        #expect(try pawl.follow(id) { $0["state"]?.string == "completed" }["bytesTotal"]?.integer == 6_000_000)
        #expect(kill(process, SIGCONT) == 0)
        _ = try find(try Regex("(?m)^replica \(worker): .* (the lease is lost)"), in: pawl)
        _ = try find(try Regex("(replica \(worker) answers again)"), in: pawl)
        #expect(pawl.terminate() == 0)
    }

    @Test("a second run goes on with what the first has left, also after kill -9, which leaves no process behind")
    func demoKilled() throws {
        let first = try demo()
        let id = try add(first)
        _ = try first.follow(id) { ($0["bytesReceived"]?.integer ?? 0) > 500_000 }
        let all = try processes(first)
        #expect(all.count == 5)
        for process in all { #expect(runs(process)) }
        first.kill()
        let deadline = ContinuousClock.now + .seconds(30)
        while all.contains(where: runs), .now < deadline { usleep(10_000) }
        #expect(!all.contains(where: runs))

        let second = try demo()
        #expect(try second.follow(id) { $0["state"]?.string == "completed" }["bytesTotal"]?.integer == 6_000_000)
        #expect(second.terminate() == 0)
    }
}
