import Foundation
import Glibc
import JSON
import TestSupport

/// The built executable in its own process, which is killed when the value is freed.
final class PawlProcess {
    let port: Int
    private let process: TestProcess
    private let logPath: String

    struct DidNotStart: Error {
        let output: String
    }

    /// The path of the built executable; `PAWL_BINARY` overrides it.
    static var executable: URL {
        if let path = ProcessInfo.processInfo.environment["PAWL_BINARY"] { return URL(filePath: path) }
        return URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "pawl")
    }

    /// Starts the executable and waits until it listens.
    /// - Parameters:
    /// - launcher: a program that executes its arguments, such as `prlimit`, with its own arguments.
    /// - environment: variables in addition to the tests'.
    ///   - executable: another path of the executable.
    ///   - standardError: the target of the log in the place of ``log()``.
    init(
        _ arguments: [String], in directory: TemporaryDirectory, launcher: [String] = [], environment: [String: String] = [:],
        executable: String = PawlProcess.executable.path, standardError: (any TestProcess.Stream)? = nil
    ) throws {
        process = TestProcess()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["-C", directory.path] + launcher + [executable] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        logPath = directory.path + "/log-\(UUID().uuidString)"
        try Data().write(to: URL(filePath: logPath))
        process.standardError = standardError ?? FileHandle(forWritingAtPath: logPath)
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard line.hasPrefix("listening on http://127.0.0.1:"), line.hasSuffix("\n"),
            let port = Int(line.dropFirst("listening on http://127.0.0.1:".count).dropLast())
        else { throw DidNotStart(output: line) }
        self.port = port
    }

    deinit {
        kill()
    }

    var client: TestClient { TestClient(port: port) }

    /// The process id.
    var identifier: Int32 { process.processIdentifier }

    /// Sends a signal.
    func signal(_ number: Int32) { process.signal(number) }

    /// Kills the process, as a power failure would.
    func kill() {
        process.signal(SIGKILL)
        process.waitUntilExit()
    }

    /// Ends the process as an operator does, and returns its exit status.
    func terminate() -> Int32 {
        process.terminate()
        return waitForExit()
    }

    /// Waits for the end, and returns the exit status.
    func waitForExit() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// The text on standard error.
    func log() throws -> String {
        try String(contentsOfFile: logPath, encoding: .utf8)
    }

    // MARK: - Client

    func get(_ path: String) throws -> JSONValue {
        try JSONValue(parsing: client.send("GET", path).body)
    }

    func post(_ path: String, _ json: String? = nil) throws -> JSONValue {
        let answer = try json.map { try client.send("POST", path, json: $0) } ?? client.send("POST", path)
        return try JSONValue(parsing: answer.body)
    }

    /// Follows a download's events until its resource satisfies the condition.
    func follow(_ id: String, until condition: (JSONValue) -> Bool) throws -> JSONValue {
        let stream = try client.open("GET", "/downloads/\(id)/events?interval=50")
        let head = try stream.readHead()
        guard head.status == 200 else { throw TestConnection.Failure.malformed("status \(head.status)") }
        var pending: [UInt8] = []
        while let chunk = try stream.readChunk() {
            pending += chunk
            while let end = pending.firstIndex(of: 0x0A) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeSubrange(...end)
                guard line.hasPrefix("data: ") else { continue }
                let value = try JSONValue(parsing: Array(line.utf8.dropFirst(6)))
                let download = value.array?.first ?? value
                if condition(download) { return download }
            }
        }
        throw TestConnection.Failure.malformed("the event stream ended early")
    }
}
