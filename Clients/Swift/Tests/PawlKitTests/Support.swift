import Foundation
import Testing

@testable import PawlKit

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The surroundings that `Tests/Clients/swift` provides.
enum Surroundings {
    /// The address of a running `pawl demo`.
    static let service = address("PAWL_URL")
    /// The address of `Tests/Clients/stub.py`.
    static let stub = address("PAWL_STUB")
    /// The executable, for tests that end its process.
    static let executable = ProcessInfo.processInfo.environment["PAWL_BINARY"].map { URL(fileURLWithPath: $0) }

    private static func address(_ name: String) -> URL? {
        ProcessInfo.processInfo.environment[name].flatMap { URL(string: $0) }
    }

    /// A client of the demo.
    static func client() throws -> Pawl { Pawl(try #require(service)) }

    /// A client of the stub, with a behaviour as the base path.
    static func client(of behaviour: String, token: String? = nil, silence: TimeInterval = 40) throws -> Pawl {
        Pawl(try #require(stub).appendingPathComponent(behaviour), token: token, silence: silence)
    }
}

extension Trait where Self == ConditionTrait {
    /// The condition that the test was started by `Tests/Clients/swift`.
    static var surrounded: Self {
        .enabled(
            if: Surroundings.service != nil && Surroundings.stub != nil && Surroundings.executable != nil,
            "Tests/Clients/swift runs it")
    }
}

/// A `pawl demo` of one test, on a free port and with a directory of its own.
final class DemoService {
    private(set) var url = URL(fileURLWithPath: "/")
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("service-\(UUID().uuidString)")
    private var process = Process()

    init(_ options: String...) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try start(port: 0, options)
    }

    private func start(port: Int, _ options: [String]) throws {
        process = Process()
        process.executableURL = Surroundings.executable
        let data = directory.appendingPathComponent("data").path
        process.arguments = ["demo", "--port", String(port), "--data-dir", data] + options
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var line = ""
        while !line.contains("\n"), let byte = try output.fileHandleForReading.read(upToCount: 1) {
            line += String(decoding: byte, as: UTF8.self)
        }
        let address = line.dropFirst("listening on ".count).dropLast()
        url = try #require(URL(string: String(address)), "the service does not start: \(line)")
    }

    /// Ends the process without a warning, and starts another one at the same port.
    func restart(isEmpty: Bool = false, _ options: String...) throws {
        end()
        if isEmpty { try FileManager.default.removeItem(at: directory.appendingPathComponent("data")) }
        try start(port: try #require(url.port), options)
    }

    /// Ends the process by `kill -9`.
    func end() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit {
        end()
        try? FileManager.default.removeItem(at: directory)
    }
}

/// A URL of the demo's own origin for a file of this size, sent at this speed.
func file(of pawl: Pawl, size: Int, bytesPerSecond: Int = 1 << 30) async throws -> URL {
    let results = try await pawl.search("prelude", limit: 1).results
    var components = try #require(results.first?.downloadUrl.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) })
    components.path = "/entity"
    components.query = "size=\(size)&pace=\(bytesPerSecond)&seed=\(UInt32.random(in: 0...(.max)))"
    return try #require(components.url)
}

/// Waits until a condition holds.
func wait(until condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(nanoseconds: 20_000_000) }
}

/// The download of an id in a list.
extension [Download] {
    subscript(id id: Download.ID) -> Download? { first { $0.id == id } }
}
