import Foundation
import JSON
import TestSupport
import Testing

/// A limit on the size of files simulates a full disk: writes beyond it fail, and it can be lifted.
@Suite("A store without space", .timeLimit(.minutes(5)))
@OffPool
struct FullDiskTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("A full disk is reported without ending readiness, until there is room")
    func readiness() throws {
        let pawl = try PawlProcess(
            ["serve", "--port", "0", "--data-dir", directory.path + "/data", "--allow-private"], in: directory,
            launcher: ["prlimit", "--fsize=400000:unlimited", "--"])
        try waitForDegraded([], pawl)

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
        // SQLite reports an input/output error.
        #expect(refusal?.status == 507)
        #expect(try JSONValue(parsing: try #require(refusal).body)["code"]?.string == "insufficient-storage")
        #expect(refusal?["content-type"] == "application/problem+json")

        try waitForDegraded(["disk-full"], pawl)
        #expect(try pawl.client.send("GET", "/metrics").text.contains("\npawl_storage_degraded 1\n"))
        try untilBlocking { try pawl.log().contains("storage is degraded") }
        #expect(try pawl.client.send("GET", "/healthz").status == 200)

        let lift = TestProcess()
        lift.executableURL = URL(filePath: "/usr/bin/env")
        lift.arguments = ["prlimit", "--pid", String(pawl.identifier), "--fsize=unlimited:unlimited"]
        try lift.run()
        lift.waitUntilExit()
        #expect(lift.terminationStatus == 0)
        try waitForDegraded([], pawl)
        #expect(try pawl.client.send("GET", "/metrics").text.contains("\npawl_storage_degraded 0\n"))
        try untilBlocking { try pawl.log().contains("storage works again") }
        let count = try pawl.get("/downloads?limit=1")["total"]?.integer
        #expect(count == Int64(kept.count))
        #expect(try pawl.client.send("GET", "/downloads/\(try #require(kept.last))").status == 200)
        #expect(pawl.terminate() == 0)
    }

    /// Waits until `degraded` has this value. The service stays ready throughout.
    private func waitForDegraded(_ expected: [String], _ pawl: PawlProcess) throws {
        try untilBlocking {
            let answer = try pawl.client.send("GET", "/readyz")
            try #require(answer.status == 200)
            let body = try JSONValue(parsing: answer.body)
            #expect(body["status"]?.string == "ready")
            return body["degraded"]?.array?.map(\.string) == expected
        }
    }
}
