import Foundation
import HTTPServer
import TestSupport
import Testing

/// The echo server for `Tests/WebSocket/run`, which has the location of Autobahn's cases.
@Suite(.timeLimit(.minutes(30))) struct AutobahnTests {
    private nonisolated static let environment = ProcessInfo.processInfo.environment

    @Test("Autobahn's cases pass", .enabled(if: environment["PAWL_AUTOBAHN_CASES"] != nil))
    func autobahnsCasesPass() async throws {
        let python = try #require(Self.environment["PAWL_AUTOBAHN_PYTHON"])
        let cases = try #require(Self.environment["PAWL_AUTOBAHN_CASES"])
        let prefixes = Self.environment["PAWL_AUTOBAHN_PREFIXES"]?.split(separator: " ").map(String.init) ?? []
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "WebSocket/cases.py").path
        let status = try await withServer(limits: { $0.webSocket.message = 32 << 20 }, opening()) { port in
            let process = TestProcess()
            process.executableURL = URL(filePath: python)
            process.arguments = ["-B", script, cases, "\(port)"] + prefixes
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus
        }
        #expect(status == 0)
    }
}
