import Glibc
import System
import TestSupport
import Testing

@Suite("Programs as children", .timeLimit(.minutes(3)))
struct ChildProcessTests {
    /// Runs a script to its end.
    private func run(
        _ script: String, environment: [String: String] = [:], directory: String = "/"
    ) async throws -> [ChildProcess.Output] {
        let child = try await ChildProcess.start(
            ChildProcess.Program("/bin/sh", ["-c", script, "sh"], environment: environment, directory: directory))
        var output: [ChildProcess.Output] = []
        for await item in child.output { output.append(item) }
        return output
    }

    @Test("lines of both outputs come in order, and then the end")
    func lines() async throws {
        #expect(
            try await run("echo one; echo two >&2; printf 'three\\n\\nlast'; exit 7")
                == [.line("one"), .line("two"), .line("three"), .line(""), .line("last"), .ended(.exited(7))])
        #expect(try await run("kill -9 $$") == [.ended(.signalled(9))])
    }

    @Test("a long line comes in pieces")
    func longLine() async throws {
        let output = try await run("head -c 20000 /dev/zero | tr '\\0' x")
        let lengths = output.map { if case .line(let line) = $0 { line.utf8.count } else { 0 } }
        #expect(lengths == [8192, 8192, 3616, 0])
    }

    @Test("it gets the variables, the directory and an empty input, and none of what is open here")
    func surroundings() async throws {
        let directory = try TemporaryDirectory()
        // Not closed by itself when another program begins.
        let leak = dup(STDERR_FILENO)
        defer { close(leak) }
        let script = "echo \"$A-$HOME-\"; pwd; cat; [ -e /proc/self/fd/\(leak) ] && echo leaked; :"
        #expect(
            try await run(script, environment: ["A": "b c=d"], directory: directory.path)
                == [.line("b c=d--"), .line(directory.path), .ended(.exited(0))])
    }

    @Test("it has a process group of its own, and no signal is blocked or ignored")
    func signals() async throws {
        signal(SIGPIPE, SIG_IGN)
        let output = try await run("ps -o pgid= -p $$ | tr -d ' '; echo $$; grep -E '^Sig(Blk|Ign)' /proc/self/status | cut -f2")
        guard case .line(let group) = output.first else {
            Issue.record("\(output)")
            return
        }
        #expect(output.count == 5 && output[1] == .line(group) && output.last == .ended(.exited(0)))
        // The C library keeps 32 and 33 to itself: whoever started the tests may have left them ignored.
        let reserved: UInt64 = 0b11 << 31
        for case .line(let mask) in output.dropFirst(2) {
            #expect(UInt64(mask, radix: 16).map { $0 & ~reserved } == 0, "\(mask)")
        }
    }

    @Test("a signal reaches it, and nobody once it has ended")
    func signalled() async throws {
        let child = try await ChildProcess.start(
            ChildProcess.Program("/bin/sh", ["-c", "echo ready; exec sleep 600"], environment: [:], directory: "/"))
        var output: [ChildProcess.Output] = []
        for await item in child.output {
            output.append(item)
            if item == .line("ready") { child.signal(.interrupt) }
        }
        #expect(output == [.line("ready"), .ended(.signalled(SIGINT))])
        child.signal(.kill)
        #expect(kill(child.identifier, 0) == -1)
    }

    @Test("what is no program is an error")
    func missing() async throws {
        for (path, error) in [("/nowhere/program", ENOENT), ("/etc/passwd", EACCES)] {
            await #expect(throws: SystemError(error)) {
                _ = try await ChildProcess.start(ChildProcess.Program(path, [], environment: [:], directory: "/"))
            }
        }
        await #expect(throws: SystemError(ENOENT)) {
            _ = try await ChildProcess.start(ChildProcess.Program("/bin/sh", [], environment: [:], directory: "/nowhere"))
        }
    }
}
