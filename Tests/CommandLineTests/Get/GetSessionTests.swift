import Foundation
import HTTPCore
import JSON
import PawlConfiguration
import Synchronization
import System
import Terminal
import TestSupport
import TestUpstream
import Testing

@testable import CommandLine

@Suite("pawl get", .timeLimit(.minutes(3)))
struct GetSessionTests {
    private let directory: TemporaryDirectory
    private let upstream = TestUpstream()
    private let base: String

    init() throws {
        directory = try TemporaryDirectory()
        base = try upstream.start()
    }

    /// One run; `interruptWhen` receives the drawn text. Returns whether all completed, and the output.
    private func get(
        _ arguments: [String], mode: ProgressDisplay.Mode = .lines,
        interruptWhen: @escaping @Sendable (String) -> Bool = { _ in false }
    ) async throws -> (isComplete: Bool, text: String) {
        let invocation = try CommandLineParser.parse(["get", "-d", directory.path] + arguments, environment: [:])
        let urls = try urls(of: invocation)
        let (ticks, tick) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let interruption = Interruption()
        let written = Mutex("")
        var display = ProgressDisplay(mode: mode, size: { TerminalDevice.Size(columns: 100, rows: 24) }) { text in
            written.withLock { $0 += text }
            if interruptWhen(text) {
                interruption.signal.store(2, ordering: .releasing)
                tick.yield()
            }
        }
        let session = try await session(invocation, urls)
        let isComplete = await session.run(
            ticks: ticks, wake: { tick.yield() }, interval: .milliseconds(20), interruption: interruption, display: &display)
        display.end(isInterrupted: interruption.isRaised, after: .seconds(1))
        await session.end()
        return (isComplete, written.withLock { $0 })
    }

    private func session(_ invocation: Invocation, _ urls: [HTTPURL]) async throws -> GetSession {
        try await GetSession.open(invocation, urls: urls)
    }

    private func directories(_ invocation: Invocation) throws -> GetDirectories? {
        try GetDirectories(GetTarget(invocation), locking: ".pawl-get")
    }

    @Test("Fails at once if an origin cannot be reached at first; --retry goes on")
    func unreachable() async throws {
        let closed = try ClosedPort()
        let url = "http://127.0.0.1:\(closed.number)/a.bin"
        let (isComplete, text) = try await get([url])
        #expect(!isComplete)
        #expect(text.contains("a.bin: failed: ") && !text.contains("trying again"), "\(text)")
        #expect(try names == [])
        let patient = try await get(["--retry", url]) { $0.contains("trying again") }
        #expect(!patient.isComplete)
        #expect(!patient.text.contains("failed"), "\(patient.text)")
    }

    @Test("Refuses a hidden directory that other users can write to, and fetches nothing")
    func foreignDirectory() async throws {
        let invocation = try CommandLineParser.parse(["get", "-d", directory.path, base + "/entity?size=10"], environment: [:])
        let work = directory.path + "/.pawl-get"
        try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: work)
        let error = #expect(throws: PrivateDirectoryError.self) { try directories(invocation) }
        #expect(error?.isRefusal == true)
        #expect(error?.description.contains("chmod go-w") == true)
        #expect(await GetCommand.run(invocation) == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: work).isEmpty)
        #expect(try names == [".pawl-get"])
    }

    @Test(
        "Exchanging both directories during a run changes nothing: file, mode and clean-up stay in the opened ones"
    )
    func exchangedDirectories() async throws {
        let files = FileManager.default
        let (target, elsewhere) = (directory.path + "/target", directory.path + "/elsewhere")
        let url = base + "/entity?size=1000&seed=1"
        let invocation = try CommandLineParser.parse(["get", "-d", target, url], environment: [:])
        let directories = try #require(try directories(invocation))
        // The target directory and the hidden one in it, as another user would prepare them.
        let moved = directory.path + "/moved"
        try files.moveItem(atPath: target, toPath: moved)
        try files.createDirectory(atPath: target + "/.pawl-get/files", withIntermediateDirectories: true)
        try files.moveItem(atPath: moved + "/.pawl-get", toPath: moved + "/taken")
        try files.createDirectory(atPath: moved + "/.pawl-get/files", withIntermediateDirectories: true)
        try files.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
        let key = elsewhere + "/key"
        try SmallFile.write(Array("secret".utf8), to: key)
        for parent in [target, moved] {
            try files.createSymbolicLink(atPath: parent + "/.pawl-get/files/entity", withDestinationPath: key)
        }
        let session = try await GetSession(invocation, urls: urls(of: invocation), in: directories)
        let (ticks, tick) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        var display = ProgressDisplay(mode: .lines, size: { TerminalDevice.Size(columns: 100, rows: 24) }, write: { _ in })
        let isComplete = await session.run(
            ticks: ticks, wake: { tick.yield() }, interval: .milliseconds(20), interruption: Interruption(), display: &display)
        await session.end()
        #expect(isComplete)
        #expect(
            files.contents(atPath: moved + "/entity").map(Array.init)
                == TestUpstream.content(of: "/entity?size=1000&seed=1")?.bytes)
        #expect(try files.contentsOfDirectory(atPath: moved).sorted() == [".pawl-get", "entity", "taken"])
        #expect(try files.contentsOfDirectory(atPath: moved + "/taken").isEmpty)
        #expect(try files.contentsOfDirectory(atPath: target) == [".pawl-get"])
        for parent in [target, moved] {
            #expect(try files.contentsOfDirectory(atPath: parent + "/.pawl-get") == ["files"])
        }
        #expect(try SmallFile.read(key) == Array("secret".utf8))
        #expect(try files.attributesOfItem(atPath: key)[.posixPermissions] as? Int == 0o600)
    }

    @Test("Links with the file's name are not followed: the user's name replaces one, the origin's avoids one")
    func linksInTheWay() async throws {
        let files = FileManager.default
        let key = directory.path + "/key"
        try SmallFile.write(Array("secret".utf8), to: key)
        for name in ["mine.bin", "entity"] {
            try files.createSymbolicLink(atPath: directory.path + "/" + name, withDestinationPath: key)
        }
        #expect(try await get([base + "/entity?size=10&seed=1", "-o", "mine.bin"]).isComplete)
        #expect(try await get([base + "/entity?size=10&seed=2"]).isComplete)
        #expect(try files.attributesOfItem(atPath: directory.path + "/mine.bin")[.type] as? FileAttributeType == .typeRegular)
        #expect(contents("mine.bin") == TestUpstream.content(of: "/entity?size=10&seed=1")?.bytes)
        #expect(contents("entity (2)") == TestUpstream.content(of: "/entity?size=10&seed=2")?.bytes)
        #expect(contents("key") == Array("secret".utf8))
        #expect(try files.attributesOfItem(atPath: key)[.posixPermissions] as? Int == 0o600)
    }

    @Test("A pipe or directory is refused as a file's name, and stays", arguments: [true, false])
    func specialFile(isPipe: Bool) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/out"
        let status = unsafe isPipe ? mkfifo(path, 0o600) : mkdir(path, 0o700)
        #expect(status == 0)
        let invocation = try CommandLineParser.parse(["get", "-o", path, "http://127.0.0.1:9/x"], environment: [:])
        let error = #expect(throws: PrivateDirectoryError.self) { try directories(invocation) }
        #expect(error?.isRefusal == true)
        #expect(
            error?.description
                == "\(path) is \(isPipe ? "a pipe, a socket or a device" : "a directory"): -o takes the name of a file")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["out"])
    }

    @Test("A link in place of a file that an interrupted run saved does not count as that file")
    func linkInsteadOfSaved() async throws {
        let small = base + "/entity?size=1000&seed=6"
        let slow = base + "/entity?size=10000&seed=7&fault=stall@5000;times=1"
        #expect(try await !get([small, slow]) { $0.contains("saved ") }.isComplete)
        let saved = try #require(try names.first { $0 != ".pawl-get" })
        let other = directory.path + "/other"
        try Data(count: 1000).write(to: URL(filePath: other))
        try FileManager.default.removeItem(atPath: directory.path + "/" + saved)
        try FileManager.default.createSymbolicLink(atPath: directory.path + "/" + saved, withDestinationPath: other)
        #expect(try await get([small, slow]).isComplete)
        #expect(upstream.requests.count { $0.target.contains("seed=6") } == 2)
    }

    @Test(
        "A name is in the given directory, unless it has a path",
        arguments: [
            (nil, ".", ".", nil), (nil, "d", "d", nil), ("n", ".", ".", "n"), ("n", "d", "d", "n"), ("a/n", ".", "a", "n"),
            ("a/n", "d", "d/a", "n"), ("/a/n", "d", "/a", "n"), ("/n", "d", "/", "n"), ("./n", "d", "d/.", "n"),
        ] as [(String?, String, String, String?)])
    func target(output: String?, given: String, directory: String, name: String?) {
        let target = GetTarget.parts(of: output, in: given)
        #expect(target.directory == directory)
        #expect(target.name == name)
    }

    private func urls(of invocation: Invocation) throws -> [HTTPURL] {
        try URLList.operands(of: invocation).compactMap { if case .url(let url) = $0 { url } else { nil } }
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
    }

    private func contents(_ name: String) -> [UInt8] {
        FileManager.default.contents(atPath: directory.path + "/" + name).map(Array.init) ?? []
    }

    @Test("Sends headers, user and password, and the credentials of files; another run has its own headers")
    func headers() async throws {
        let origin = try ScriptedOrigin { request in
            let isRight = request["X-Key"] == "right" && request["Authorization"] == "Basic YTox"
            return [isRight ? .response(body: [1]) : .response(403)]
        }
        let url = origin.url("/file")
        #expect(try await !get([url, "-H", "X-Key: wrong", "-u", "a:1"]).isComplete)
        #expect(try await get([url, "-H", "X-Key: right", "--user", "a:1"]).isComplete)
        #expect(contents("file") == [1])
        let (netrc, keys) = (directory.path + "/netrc", directory.path + "/keys")
        try SmallFile.write(Array("machine 127.0.0.1 login a password 1".utf8), to: netrc)
        try SmallFile.write(Array("127.0.0.1 X-Key: right".utf8), to: keys)
        #expect(try await get([url + "?2", "--netrc-file", netrc, "--header-file", keys, "--user-agent", "mine"]).isComplete)
        #expect(origin.requests.last?["User-Agent"] == "mine")
    }

    @Test("Files are in the target directory, and nothing else stays")
    func plain() async throws {
        let result = try await get([base + "/entity?size=1000&seed=1", base + "/entity?size=2000&seed=2"])
        #expect(result.isComplete)
        #expect(try names.count == 2)
        let found = Set(try names.map(contents))
        let expected = ["/entity?size=1000&seed=1", "/entity?size=2000&seed=2"].compactMap { TestUpstream.content(of: $0)?.bytes }
        #expect(found == Set(expected))
        #expect(result.text.contains("saved "))
        #expect(!result.text.contains("\u{1B}"))
    }

    @Test("With --remote-time, a saved file has its origin's time", arguments: [true, false])
    func remoteTime(isWanted: Bool) async throws {
        let start = SystemTime.sinceEpoch
        let result = try await get([base + "/entity?size=1000&seed=1", "-o", "a"] + (isWanted ? ["--remote-time"] : []))
        #expect(result.isComplete)
        let modified = try Directory(opening: directory.path).status(of: "a")?.identity.modified
        if isWanted {
            #expect(modified == 1_761_984_000_000_000_000)
        } else {
            // File systems have coarser clocks.
            #expect(try #require(modified) >= start - 1_000_000_000)
        }
    }

    @Test("In a pipe, lines report the start and the end of each download")
    func pipe() async throws {
        let result = try await get([base + "/entity?size=100000&seed=1&pace=50000"])
        #expect(result.isComplete)
        let lines = result.text.split(separator: "\n")
        #expect(lines.count >= 2)
        #expect(lines.first?.contains("of 97.6 KiB") == true, "\(lines)")
        #expect(lines.last?.hasPrefix("saved ") == true)
    }

    @Test("A name from the origin replaces no file; one from the user does")
    func names() async throws {
        #expect(try await get([base + "/entity?size=1000&seed=1"]).isComplete)
        #expect(try await get([base + "/entity?size=1000&seed=1"]).isComplete)
        #expect(try names.count == 2)
        #expect(try names.contains { $0.contains("(2)") })
        let output = directory.path + "/sub/mine.bin"
        for seed in 3...4 { #expect(try await get([base + "/entity?size=10&seed=\(seed)", "-o", output]).isComplete) }
        #expect(contents("sub/mine.bin") == TestUpstream.content(of: "/entity?size=10&seed=4")?.bytes)
    }

    @Test("Reports a failed download, and completes the others")
    func failure() async throws {
        let result = try await get([base + "/nothing-here", base + "/entity?size=10"])
        #expect(!result.isComplete)
        #expect(result.text.contains("failed"))
        #expect(try names.count == 1)
    }

    @Test("Resumes an interrupted download when the command is repeated")
    func resuming() async throws {
        let url = base + "/entity?size=100000&seed=5&fault=stall@50000;times=1"
        let first = try await get([url], mode: .terminal) { $0.contains(" 50%") }
        #expect(!first.isComplete)
        #expect(try names == [".pawl-get"])
        // Another run for another URL leaves it unchanged.
        #expect(try await get([base + "/entity?size=10"]).isComplete)
        #expect(try names.contains(".pawl-get"))
        #expect(try await get([url]).isComplete)
        #expect(upstream.requests.last?.range == "bytes=33616-")
        let expected = try #require(TestUpstream.content(of: "/entity?size=100000&seed=5")).bytes
        #expect(try names.contains { contents($0) == expected })
        #expect(try !names.contains(".pawl-get"))
    }

    @Test("Does not fetch files again that were saved before an interruption")
    func resumingSeveral() async throws {
        let small = base + "/entity?size=1000&seed=6"
        let slow = base + "/entity?size=10000&seed=7&fault=stall@5000;times=1"
        let first = try await get([small, slow]) { $0.contains("saved ") }
        #expect(!first.isComplete)
        let second = try await get([small, slow])
        #expect(second.isComplete)
        #expect(second.text.split(separator: "\n").count { $0.hasPrefix("saved ") } == 2)
        #expect(upstream.requests.count { $0.target.contains("seed=6") } == 1)
        #expect(try names.count == 2)
        #expect(try !names.contains(".pawl-get"))
        // Nothing can be resumed: the next run starts anew.
        #expect(try await get([small, slow]).isComplete)
        #expect(try names.count == 4)
    }

    @Test("Commands work in one directory at a time, and each resumes its own download")
    func together() async throws {
        let urls = (1...3).map { base + "/entity?size=100000&seed=\(10 + $0)&fault=stall@50000;times=1" }
        async let first = get([urls[0]], mode: .terminal) { $0.contains(" 50%") }
        async let second = get([urls[1]], mode: .terminal) { $0.contains(" 50%") }
        async let third = get([urls[2]], mode: .terminal) { $0.contains(" 50%") }
        let isAnyComplete = try await [first, second, third].contains { $0.isComplete }
        #expect(!isAnyComplete)
        #expect(try Set(names) == [".pawl-get", ".pawl-get-2", ".pawl-get-3"])
        // In another order, and at the same time.
        async let last = get([urls[2]])
        async let middle = get([urls[1]])
        async let earliest = get([urls[0]])
        let areComplete = try await [last, middle, earliest].allSatisfy { $0.isComplete }
        #expect(areComplete)
        #expect(upstream.requests.suffix(3).map(\.range) == ["bytes=33616-", "bytes=33616-", "bytes=33616-"])
        #expect(try names.count == 3)
        #expect(try !names.contains { $0.hasPrefix(".pawl-get") })
    }

    @Test("A command leaves a hidden directory that another one has locked since its engine was closed")
    func takenOver() async throws {
        let invocation = try CommandLineParser.parse(["get", "-d", directory.path, base + "/entity?size=10"], environment: [:])
        let other = try Directory(opening: directory.path).openPrivateDirectory(".pawl-get", at: directory.path + "/.pawl-get")
        let mine = try #require(try GetDirectories(GetTarget(invocation), locking: ".pawl-get"))
        mine.work.unlock()
        #expect(try other.lock())
        mine.removeWork()
        #expect(try names == [".pawl-get"])
        #expect(try directories(invocation) == nil)
    }

    @Test("A link in the place of the hidden directory is refused")
    func link() async throws {
        let invocation = try CommandLineParser.parse(["get", "-d", directory.path, base + "/entity?size=10"], environment: [:])
        let elsewhere = try TemporaryDirectory()
        try FileManager.default.createSymbolicLink(
            atPath: directory.path + "/.pawl-get", withDestinationPath: elsewhere.path)
        let error = await #expect(throws: PrivateDirectoryError.self) { _ = try await session(invocation, urls(of: invocation)) }
        #expect(error?.isRefusal == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path).isEmpty)
    }

    @Test("The 65th command in a directory ends with one line")
    func crowded() async throws {
        let invocation = try CommandLineParser.parse(["get", "-d", directory.path, base + "/entity?size=10"], environment: [:])
        let target = try GetTarget(invocation)
        let others = try GetTarget.workNames.map { try GetDirectories(target, locking: $0) }
        #expect(others.count == 64)
        await #expect(throws: StartError.self) { _ = try await session(invocation, urls(of: invocation)) }
    }

    @Test("With JSON, each line is an event, and the last one is a summary")
    func json() async throws {
        let result = try await get(
            [base + "/entity?size=100000&seed=1&pace=50000", base + "/nothing-here", "--json"], mode: .json)
        #expect(!result.isComplete)
        let events = try result.text.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        let names = events.compactMap { $0["event"]?.string }
        #expect(names.count == events.count)
        #expect(names.contains("progress"))
        let saved = try #require(events.first { $0["event"]?.string == "saved" })
        #expect(saved["bytes"]?.integer == 100_000)
        #expect(saved["sha256"]?.string?.count == 64)
        let failed = try #require(events.first { $0["event"]?.string == "failed" })
        #expect(failed["error"]?["code"]?.string == "http-status")
        #expect(failed["error"]?["httpStatus"]?.integer == 404)
        let last = try #require(events.last)
        #expect(last["event"]?.string == "done")
        #expect(last["completed"]?.integer == 1)
        #expect(last["failed"]?.integer == 1)
        #expect(last["interrupted"]?.bool == false)
    }

    @Test("A list adds URLs; a repeated one is one download")
    func list() async throws {
        let list = directory.path + "/list.txt"
        let lines = [
            "# two", "", base + "/entity?size=10&seed=1", "  " + base + "/entity?size=20&seed=2\r",
            base + "/entity?size=10&seed=1",
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: list))
        let result = try await get(["-i", list, base + "/entity?size=30&seed=3"])
        #expect(result.isComplete)
        #expect(try names.filter { $0 != "list.txt" }.count == 3)
        #expect(result.text.contains("total: 3 of 3 downloads, 60 B"))
    }

    @Test("Names an invalid line of a list")
    func badList() throws {
        let list = directory.path + "/list.txt"
        try Data("http://a.example/1\n\nftp://a.example/2\n".utf8).write(to: URL(filePath: list))
        let invocation = try CommandLineParser.parse(["get", "-i", list], environment: [:])
        do throws(UsageError) {
            _ = try URLList.operands(of: invocation)
            Issue.record("it is taken")
        } catch {
            #expect(error.description.contains("list.txt, line 3: 'ftp://a.example/2'"))
        }
    }

    @Test("Requires the given checksum; bytes that were fetched without one start over")
    func checksum() async throws {
        let expected = try #require(TestUpstream.content(of: "/entity?size=100000&seed=5")).bytes
        let url = base + "/entity?size=100000&seed=5&fault=stall@50000;times=1"
        #expect(try await !get([url], mode: .terminal) { $0.contains(" 50%") }.isComplete)
        let other = try await get([base + "/entity?size=100000&seed=5&x=1", "--json"], mode: .json)
        let lines = try other.text.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        let saved = lines.first { $0["event"]?.string == "saved" }
        let digest = try #require(saved?["sha256"]?.string)
        #expect(try await !get([url, "--checksum", "sha-256:" + String(repeating: "0", count: 64)]).isComplete)
        #expect(try await get([url, "--checksum", "sha-256:" + digest]).isComplete)
        #expect(try names.contains { contents($0) == expected })
    }

    @Test(
        "Numbered names keep their extension",
        arguments: [
            ("a.txt", "a (2).txt"), ("a", "a (2)"), (".a", ".a (2)"), ("a (2).txt", "a (3).txt"),
            ("a (9) b.txt", "a (9) b (2).txt"),
            ("a(2)", "a(2) (2)"), ("a (02).x", "a (3).x"), ("a (-1)", "a (-1) (2)"), ("(2)", "(2) (2)"),
            (String(repeating: "a", count: 139) + ".txt", String(repeating: "a", count: 135) + " (2).txt"),
            (String(repeating: "é", count: 70) + " (9).x", String(repeating: "é", count: 69) + " (10).x"),
        ])
    func numbered(name: String, expected: String) {
        #expect(GetDirectories.numbered(name) == expected)
    }
}
