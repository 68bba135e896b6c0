import DemoUpstream
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PawlService

@Suite("pawl get", .timeLimit(.minutes(3)))
struct GetSessionTests {
    private let directory: TemporaryDirectory
    private let upstream = DemoUpstream(configuration: DemoUpstream.Configuration(pace: 0))
    private let base: String

    init() throws {
        directory = try TemporaryDirectory()
        base = try upstream.start()
    }

    /// One run; `interruptWhen` is shown what is drawn. Returns whether all completed, and what was written.
    private func get(
        _ arguments: [String], isTerminal: Bool = false, interruptWhen: @escaping @Sendable (String) -> Bool = { _ in false }
    ) async throws -> (isComplete: Bool, text: String) {
        let invocation = try CommandLineParser.parse(["get", "-d", directory.path] + arguments, environment: [:])
        let (ticks, tick) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let interruption = Interruption()
        let written = Mutex("")
        var display = ProgressDisplay(isTerminal: isTerminal, columns: 100) { text in
            written.withLock { $0 += text }
            if interruptWhen(text) {
                interruption.signal.store(2, ordering: .releasing)
                tick.yield()
            }
        }
        let session = try await open(invocation)
        let isComplete = await session.run(
            ticks: ticks, wake: { tick.yield() }, interval: .milliseconds(20), interruption: interruption, display: &display)
        await session.end()
        return (isComplete, written.withLock { $0 })
    }

    /// The engine's lock goes with its last reference, which in one process may be a moment after its end.
    private func open(_ invocation: Invocation) async throws -> GetSession {
        for _ in 0..<10_000 {
            if let session = try? await GetSession(invocation) { return session }
            await Task.yield()
        }
        return try await GetSession(invocation)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
    }

    private func contents(_ name: String) -> [UInt8] {
        FileManager.default.contents(atPath: directory.path + "/" + name).map(Array.init) ?? []
    }

    @Test("files get to the directory, and nothing else stays")
    func plain() async throws {
        let result = try await get([base + "/entity?size=1000&seed=1", base + "/entity?size=2000&seed=2"])
        #expect(result.isComplete)
        #expect(try names.count == 2)
        let found = Set(try names.map(contents))
        let expected = ["/entity?size=1000&seed=1", "/entity?size=2000&seed=2"].compactMap { DemoUpstream.content(of: $0)?.bytes }
        #expect(found == Set(expected))
        #expect(result.text.contains("saved "))
        #expect(!result.text.contains("\u{1B}"))
    }

    @Test("in a pipe, each is told of when it begins and when it is done, in plain lines")
    func pipe() async throws {
        let result = try await get([base + "/entity?size=100000&seed=1&pace=50000"])
        #expect(result.isComplete)
        let lines = result.text.split(separator: "\n")
        #expect(lines.count >= 2)
        #expect(lines.first?.contains("of 97.6 KiB") == true, "\(lines)")
        #expect(lines.last?.hasPrefix("saved ") == true)
    }

    @Test("a name of the origin's choice replaces nothing; one of the user's does")
    func names() async throws {
        #expect(try await get([base + "/entity?size=1000&seed=1"]).isComplete)
        #expect(try await get([base + "/entity?size=1000&seed=1"]).isComplete)
        #expect(try names.count == 2)
        #expect(try names.contains { $0.contains("(2)") })
        let output = directory.path + "/sub/mine.bin"
        for seed in 3...4 { #expect(try await get([base + "/entity?size=10&seed=\(seed)", "-o", output]).isComplete) }
        #expect(contents("sub/mine.bin") == DemoUpstream.content(of: "/entity?size=10&seed=4")?.bytes)
    }

    @Test("one that fails does not keep the others, and is told")
    func failure() async throws {
        let result = try await get([base + "/nothing-here", base + "/entity?size=10"])
        #expect(!result.isComplete)
        #expect(result.text.contains("failed"))
        #expect(try names.count == 1)
    }

    @Test("what is interrupted goes on from its bytes when it is run again")
    func resuming() async throws {
        let url = base + "/entity?size=10000&seed=5&fault=stall@5000;times=1"
        let first = try await get([url], isTerminal: true) { $0.contains("50% of") }
        #expect(!first.isComplete)
        #expect(try names == [".pawl-get"])
        // Another run for something else leaves it alone.
        #expect(try await get([base + "/entity?size=10"]).isComplete)
        #expect(try names.contains(".pawl-get"))
        #expect(try await get([url]).isComplete)
        #expect(upstream.requests.last?.range == "bytes=5000-")
        let expected = try #require(DemoUpstream.content(of: "/entity?size=10000&seed=5")).bytes
        #expect(try names.contains { contents($0) == expected })
        #expect(try !names.contains(".pawl-get"))
    }

    @Test("two at a time in one directory are refused in one line")
    func locked() async throws {
        let invocation = try CommandLineParser.parse(["get", "-d", directory.path, base + "/entity?size=10"], environment: [:])
        let session = try await GetSession(invocation)
        await #expect(throws: ServiceStartError.self) { _ = try await GetSession(invocation) }
        await session.end()
    }

    @Test("numbered names keep their extension", arguments: [("a.txt", "a (2).txt"), ("a", "a (2)"), (".a", ".a (2)")])
    func numbered(name: String, expected: String) {
        #expect(GetSession.numbered(name, 2) == expected)
    }
}
