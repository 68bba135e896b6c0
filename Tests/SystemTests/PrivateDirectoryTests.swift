import Glibc
import System
import TestSupport
import Testing

@Suite("Private directories", .timeLimit(.minutes(3)))
@OffPool
struct PrivateDirectoryTests {
    private let temporary: TemporaryDirectory
    private let parent: Directory

    init() throws {
        temporary = try TemporaryDirectory()
        parent = try Directory(reaching: temporary.path)
    }

    private func path(_ name: String) -> String { "\(temporary.path)/\(name)" }

    private func objection(_ name: String) -> String? {
        do throws(PrivateDirectoryError) {
            _ = try parent.openPrivateDirectory(name, at: "./" + name)
            return nil
        } catch {
            #expect(error.isRefusal)
            #expect(error.description.contains("./" + name))
            return error.description
        }
    }

    private func mode(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(unsafe stat(path, &status) == 0)
        return status.st_mode & 0o7777
    }

    @Test(
        "Opens a directory of this user that no other user may write to",
        arguments: [
            (0o700, true), (0o755, true), (0o500, true), (0o770, false), (0o707, false), (0o777, false), (0o1777, false),
            (0o2775, false),
        ] as [(mode_t, Bool)])
    func opens(mode: mode_t, isOwn: Bool) throws {
        #expect(objection("work") == nil)
        #expect(try self.mode(path("work")) == 0o700)
        try #require(unsafe chmod(path("work"), mode) == 0)
        #expect((objection("work") == nil) == isOwn)
        // Also through a link of this user.
        try #require(unsafe symlink("work", path("link")) == 0)
        #expect((objection("link") == nil) == isOwn)
    }

    @Test("Creates a missing directory only on request")
    func missing() throws {
        let error = #expect(throws: PrivateDirectoryError.self) {
            try parent.openPrivateDirectory("work", at: "work", makes: false)
        }
        #expect(error?.isRefusal == false)
        #expect(try parent.status(of: "work") == nil)
    }

    @Test("Refuses files and directories of other users")
    func foreign() throws {
        try SmallFile.write([], to: path("file"))
        #expect(objection("file")?.contains("not a directory") == true)
        guard geteuid() == 0 else { return }
        try #require(unsafe mkdir(path("theirs"), 0o700) == 0)
        try #require(unsafe symlink(temporary.path, path("link")) == 0)
        try #require(unsafe symlink("nowhere", path("dangling")) == 0)
        try #require(unsafe mkfifo(path("pipe"), 0o666) == 0)
        for name in ["theirs", "link", "dangling", "pipe"] {
            try #require(unsafe lchown(path(name), 1234, 1234) == 0)
            #expect(objection(name)?.contains("another user (1234)") == true)
        }
        // A link of this user to another user's directory.
        try #require(unsafe symlink("theirs", path("own")) == 0)
        #expect(objection("own")?.contains("another user (1234)") == true)
    }

    @Test("A link to nothing or to a file is a system error, not a refusal")
    func badLinks() throws {
        try SmallFile.write([], to: path("file"))
        for target in ["nowhere", "file", "link"] {
            try #require(unsafe symlink(target, path("link")) == 0)
            let error = #expect(throws: PrivateDirectoryError.self) { try parent.openPrivateDirectory("link", at: "link") }
            #expect(error?.isRefusal == false)
            try #require(unsafe unlink(path("link")) == 0)
        }
    }

    @Test("A private directory stays the same after a rename, also for libraries that take paths")
    func exchanged() throws {
        let opened = try parent.openPrivateDirectory("work", at: "work")
        let before = try opened.descriptorPath(of: "file")
        try #require(unsafe rename(path("work"), path("taken")) == 0)
        try #require(unsafe mkdir(path("work"), 0o700) == 0)
        try opened.write([1], to: "file")
        #expect(try SmallFile.read(path("taken/file")) == [1])
        #expect(try SmallFile.read(before) == [1])
        #expect(try Directory(opening: path("work")).entries().isEmpty)
    }

    @Test("Writes a small file anew without following links; reading does not follow them either")
    func links() throws {
        try SmallFile.write(Array("secret".utf8), to: path("key"))
        try #require(unsafe symlink("key", path("port.new")) == 0)
        try #require(unsafe symlink("key", path("port")) == 0)
        #expect(throws: SystemError.self) { try parent.contents(of: "port") }
        try parent.write(Array("1".utf8), to: "port")
        #expect(try parent.contents(of: "port") == Array("1".utf8))
        #expect(try SmallFile.read(path("key")) == Array("secret".utf8))
        #expect(try parent.contents(of: "nothing") == nil)
        #expect(try parent.contents(of: "key", limit: 3) == Array("sec".utf8))
    }

    @Test("Renames a file to a free name only, and links count as names")
    func freeNames() throws {
        let work = try parent.openPrivateDirectory("work", at: "work")
        try work.write([1], to: "a")
        try #require(unsafe symlink("nowhere", path("taken")) == 0)
        #expect(try !work.renameIfFree("a", to: parent, as: "taken"))
        #expect(try work.renameIfFree("a", to: parent, as: "free"))
        #expect(try parent.contents(of: "free") == [1])
        #expect(throws: SystemError.self) { try work.renameIfFree("a", to: parent, as: "other") }
        #expect(try parent.status(of: "other") == nil)
    }
}
