import Foundation
import JSON
import TestSupport
import Testing

/// A limit on the size of files stands for a disk that is full: writes beyond it fail, and it can be lifted.
@Suite("A store that cannot write", .timeLimit(.minutes(5)))
@OffPool
struct FullDiskTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("the service says that it is not ready, goes on living, and is ready again when there is room")
    func readiness() throws {
        let pawl = try PawlProcess(
            ["serve", "--port", "0", "--data-dir", directory.path + "/data", "--allow-private"], in: directory,
            launcher: ["prlimit", "--fsize=400000:unlimited", "--"])
        #expect(try pawl.client.send("GET", "/readyz").status == 200)

        var kept: [String] = []
        var refusal: TestResponse?
        for number in 0..<20_000 {
            let answer = try pawl.client.send(
                "POST", "/downloads", json: #"{"url":"http://127.0.0.1:9/\#(number)","paused":true}"#)
            guard answer.status == 201 else {
                refusal = answer
                break
            }
            kept.append(try #require(try JSONValue(parsing: answer.body)["id"]?.string))
        }
        // SQLite calls it an error of input and output.
        #expect(refusal?.status == 507)
        #expect(try JSONValue(parsing: try #require(refusal).body)["code"]?.string == "insufficient-storage")
        #expect(refusal?["content-type"] == "application/problem+json")

        let unready = try waitForReadiness(503, pawl)
        #expect(unready["content-type"] == "application/problem+json")
        #expect(unready["retry-after"] != nil)
        #expect(try JSONValue(parsing: unready.body)["code"]?.string == "unavailable")
        #expect(unready.text.contains("the store takes no writes"))
        #expect(try pawl.client.send("GET", "/healthz").status == 200)

        let lift = Process()
        lift.executableURL = URL(filePath: "/usr/bin/env")
        lift.arguments = ["prlimit", "--pid", String(pawl.identifier), "--fsize=unlimited:unlimited"]
        try lift.run()
        lift.waitUntilExit()
        #expect(lift.terminationStatus == 0)
        _ = try waitForReadiness(200, pawl)
        let count = try pawl.get("/downloads?limit=1")["total"]?.integer
        #expect(count == Int64(kept.count))
        #expect(try pawl.client.send("GET", "/downloads/\(try #require(kept.last))").status == 200)
        #expect(pawl.terminate() == 0)
    }

    private func waitForReadiness(_ status: Int, _ pawl: PawlProcess) throws -> TestResponse {
        while true {
            let answer = try pawl.client.send("GET", "/readyz")
            if answer.status == status { return answer }
        }
    }
}
