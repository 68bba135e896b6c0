import Glibc
import System
import TestSupport
import Testing

@Suite("Small files", .timeLimit(.minutes(3)))
@OffPool
struct SmallFileTests {
    private let temporary: TemporaryDirectory

    init() throws {
        temporary = try TemporaryDirectory()
    }

    private func makePipe() throws -> String {
        let path = temporary.path + "/pipe"
        let made = unsafe mkfifo(path, 0o600)
        try #require(made == 0)
        return path
    }

    private func expectFailure(_ path: String, _ reason: String) {
        do throws(SmallFile.Failure) {
            _ = try SmallFile.read(path, within: .seconds(1))
            Issue.record("it is read")
        } catch {
            #expect(error.description.contains(reason), "\(error)")
            #expect(error.description.contains(path), "\(error)")
            #expect(!error.isMissing)
        }
    }

    @Test("With a time limit, reads a regular file, also through a link, and an empty one at once")
    func regular() throws {
        let path = temporary.path + "/file"
        try SmallFile.write(Array("text".utf8), to: path)
        let linked = unsafe symlink(path, temporary.path + "/link")
        try #require(linked == 0)
        for name in ["/file", "/link"] {
            #expect(try SmallFile.read(temporary.path + name, within: .seconds(1)) == Array("text".utf8))
            #expect(try SmallFile.read(temporary.path + name, limit: 2, within: .seconds(1)) == Array("te".utf8))
        }
        try SmallFile.write([], to: path)
        #expect(try SmallFile.read(path, within: .seconds(1)).isEmpty)
    }

    @Test("With a time limit, refuses a device or directory; without one, reads a device")
    func notRegular() throws {
        expectFailure("/dev/null", "it is not a regular file")
        expectFailure(temporary.path, "it is not a regular file")
        #expect(try SmallFile.read("/dev/null").isEmpty)
    }

    @Test("Abandons a pipe without a writer, and one that stays open")
    func silentPipe() throws {
        let path = try makePipe()
        expectFailure(path, "no byte arrived within 1 s")
        let writer = unsafe open(path, O_RDWR | O_CLOEXEC)
        try #require(writer >= 0)
        defer { close(writer) }
        expectFailure(path, "no byte arrived within 1 s")
        let written = unsafe write(writer, "a", 1)
        try #require(written == 1)
        expectFailure(path, "it did not end within 1 s")
    }

    @Test("Reads a pipe to its end, even from a late writer")
    func latePipe() throws {
        let path = try makePipe()
        let thread = try Thread.startJoinable(name: "writer") {
            // A writer that opens the pipe and writes nothing does not count.
            close(unsafe open(path, O_WRONLY | O_CLOEXEC))
            let writer = unsafe open(path, O_WRONLY | O_CLOEXEC)
            _ = poll(nil, 0, 100)
            _ = unsafe write(writer, "on", 2)
            _ = poll(nil, 0, 100)
            _ = unsafe write(writer, "ce", 2)
            close(writer)
        }
        #expect(try SmallFile.read(path, within: .seconds(30)) == Array("once".utf8))
        thread.join()
    }

    @Test("Reads an unnamed pipe from a shell")
    func unnamedPipe() throws {
        var ends: [Int32] = [-1, -1]
        let made = unsafe pipe(&ends)
        try #require(made == 0)
        let (reader, writer) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(reader) }
        let written = unsafe write(writer, "text", 4)
        close(writer)
        try #require(written == 4)
        #expect(try SmallFile.read("/dev/fd/\(reader)", within: .seconds(30)) == Array("text".utf8))
        // On a second read the pipe is drained, which is different from an empty file.
        expectFailure("/dev/fd/\(reader)", "no byte arrived within 1 s")
    }
}
